from __future__ import annotations

from penstock.algebra.plan import Map, Node, Union
from penstock.rewrite.positions import renamed


def push_map_through_union(node: Node) -> Node | None:
    """map_f(S1 union ... union Sn) = map_f(S1) union ... union map_f(Sn)."""
    match node:
        case Map(Union(parts) as union, outputs):
            return Union(
                tuple(
                    Map(part, tuple((n, renamed(e, union.schema, part.schema)) for n, e in outputs))
                    for part in parts
                )
            )
    return None
