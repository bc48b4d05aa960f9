from __future__ import annotations

from penstock.algebra.inlining import inlined, is_expensive, uses
from penstock.algebra.plan import Map, Node


def merge_maps(node: Node) -> Node | None:
    """map_g(map_f(S)) = map_(g of f)(S), where g uses no expensive output of f more than once."""
    match node:
        case Map(Map(source, inner), outer):
            by_name = dict(inner)
            used = uses(*(expression for _, expression in outer))
            if any(count > 1 and is_expensive(by_name[name]) for name, count in used.items()):
                return None
            outputs = [(name, inlined(expression, by_name)) for name, expression in outer]
            merged = tuple((name, found) for name, found in outputs if found is not None)
            return Map(source, merged) if len(merged) == len(outer) else None
    return None
