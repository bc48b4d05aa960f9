from __future__ import annotations

from penstock.algebra.plan import Coalesce, Filter, Node
from penstock.rewrite.conditions import push_below


def push_filter_through_coalesce(node: Node) -> Node | None:
    """filter_p(coalesce(S)) = coalesce(filter_p(S)): coalescing changes no snapshot."""
    match node:
        case Filter(Coalesce() as below):
            return push_below(node, below.schema.names)
    return None
