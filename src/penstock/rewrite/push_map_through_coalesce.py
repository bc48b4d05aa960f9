from __future__ import annotations

from penstock.algebra.plan import Coalesce, Map, Node


def push_map_through_coalesce(node: Node) -> Node | None:
    """map_f(coalesce(S)) = coalesce(map_f(S)): coalescing changes no snapshot."""
    match node:
        case Map(Coalesce(source) as below, outputs):
            return below.with_inputs(Map(source, outputs))
    return None
