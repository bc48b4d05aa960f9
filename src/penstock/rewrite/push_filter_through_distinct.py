from __future__ import annotations

from penstock.algebra.plan import Distinct, Filter, Node
from penstock.rewrite.conditions import push_below


def push_filter_through_distinct(node: Node) -> Node | None:
    """filter_p(distinct(S)) = distinct(filter_p(S))."""
    match node:
        case Filter(Distinct() as below):
            return push_below(node, below.schema.names)
    return None
