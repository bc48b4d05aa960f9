from __future__ import annotations

from penstock.algebra.plan import Filter, Group, Node
from penstock.rewrite.conditions import push_below


def push_filter_through_group(node: Node) -> Node | None:
    """filter_p(group(S)) = group(filter_p(S)): both keep or drop each record by itself."""
    match node:
        case Filter(Group() as below):
            return push_below(node, below.schema.names)
    return None
