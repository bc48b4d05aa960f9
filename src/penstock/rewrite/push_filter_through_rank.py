from __future__ import annotations

from penstock.algebra.plan import Filter, Node, Rank
from penstock.rewrite.conditions import push_below


def push_filter_through_rank(node: Node) -> Node | None:
    """filter_p(rank_K(S)) = rank_K(filter_p(S)), for parts p that read only the partition K.

    Partitions are ranked independently, and are kept or dropped as a whole.
    """
    match node:
        case Filter(Rank() as below):
            return push_below(node, below.partition)
    return None
