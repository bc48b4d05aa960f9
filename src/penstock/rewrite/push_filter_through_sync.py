from __future__ import annotations

from penstock.algebra.plan import Filter, Node, Sync
from penstock.rewrite.conditions import push_below


def push_filter_through_sync(node: Node) -> Node | None:
    """filter_p(S as of the latest point) = filter_p(S) as of the latest point.

    The filter goes to the input alone; the stream of points stays as it is.
    """
    match node:
        case Filter(Sync() as below):
            return push_below(node, below.schema.names)
    return None
