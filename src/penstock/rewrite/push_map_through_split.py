from __future__ import annotations

from penstock.algebra.plan import Map, Node, Split


def push_map_through_split(node: Node) -> Node | None:
    """map_f(split(S)) = split(map_f(S)): splitting changes no snapshot."""
    match node:
        case Map(Split(source) as below, outputs):
            return below.with_inputs(Map(source, outputs))
    return None
