from __future__ import annotations

from penstock.algebra.plan import Filter, Node, Session
from penstock.rewrite.conditions import push_below


def push_filter_through_session(node: Node) -> Node | None:
    """filter_p(session_K(S)) = session_K(filter_p(S)), for parts p that read only the partition K.

    Partitions have independent sessions, and are kept or dropped as a whole.
    """
    match node:
        case Filter(Session() as below):
            return push_below(node, below.partition)
    return None
