from __future__ import annotations

from dataclasses import replace

from penstock.algebra.plan import Map, Node, Sync


def push_map_through_sync(node: Node) -> Node | None:
    """map_f(S as of the latest point) = map_f(S) as of the latest point.

    The map goes to the input alone: the points are times at which whole records begin.
    """
    match node:
        case Map(Sync(source) as sync, outputs):
            return replace(sync, input=Map(source, outputs))
    return None
