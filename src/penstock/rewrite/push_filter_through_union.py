from __future__ import annotations

from penstock.algebra.plan import Filter, Node, Union
from penstock.rewrite.positions import renamed


def push_filter_through_union(node: Node) -> Node | None:
    """filter_p(S1 union ... union Sn) = filter_p(S1) union ... union filter_p(Sn)."""
    match node:
        case Filter(Union(parts) as union, predicate):
            return Union(
                tuple(Filter(part, renamed(predicate, union.schema, part.schema)) for part in parts)
            )
    return None
