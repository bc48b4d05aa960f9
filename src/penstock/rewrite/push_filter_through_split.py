from __future__ import annotations

from penstock.algebra.plan import Filter, Node, Split
from penstock.rewrite.conditions import push_below


def push_filter_through_split(node: Node) -> Node | None:
    """filter_p(split(S)) = split(filter_p(S)): splitting changes no snapshot."""
    match node:
        case Filter(Split() as below):
            return push_below(node, below.schema.names)
    return None
