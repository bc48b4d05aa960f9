from __future__ import annotations

from penstock.algebra.plan import Filter, Node, Window
from penstock.rewrite.conditions import push_below


def push_filter_through_window(node: Node) -> Node | None:
    """filter_p(window(S)) = window(filter_p(S)): the window looks at times only.

    What is append-only stays so under a filter.
    """
    match node:
        case Filter(Window() as below):
            return push_below(node, below.schema.names)
    return None
