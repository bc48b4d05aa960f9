from __future__ import annotations

from penstock.algebra.plan import Filter, Node, Restrict
from penstock.rewrite.conditions import push_below


def push_filter_through_restrict(node: Node) -> Node | None:
    """filter_p(S while start <= now < end) = filter_p(S) while start <= now < end.

    Both conditions are on one record and the time, and hold together in either order.
    """
    match node:
        case Filter(Restrict() as below):
            return push_below(node, below.schema.names)
    return None
