from __future__ import annotations

from penstock.algebra.plan import Filter, Node, RowWindow
from penstock.rewrite.conditions import push_below


def push_filter_through_row_window(node: Node) -> Node | None:
    """filter_p(latest_K(S)) = latest_K(filter_p(S)), for parts p that read only the partition K.

    Partitions have independent windows, and are kept or dropped as a whole.
    """
    match node:
        case Filter(RowWindow() as below):
            return push_below(node, below.partition)
    return None
