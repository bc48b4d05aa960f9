from __future__ import annotations

from penstock.algebra.plan import Map, Node, Window


def push_map_through_window(node: Node) -> Node | None:
    """map_f(window(S)) = window(map_f(S)): the window looks at times only.

    What is append-only stays so under a map.
    """
    match node:
        case Map(Window(source) as below, outputs):
            return below.with_inputs(Map(source, outputs))
    return None
