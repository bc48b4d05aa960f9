from __future__ import annotations

from penstock.algebra.plan import Aggregate, Filter, Node
from penstock.rewrite.conditions import push_below


def push_filter_through_aggregate(node: Node) -> Node | None:
    """filter_p(aggregate_K(S)) = aggregate_K(filter_p(S)), for parts p that read only K, not empty.

    All records of a group agree on its keys, so a group is kept or dropped as a whole. Without
    keys there is a record even for no input, which a filter below could not drop.
    """
    match node:
        case Filter(Aggregate() as below) if below.keys:
            return push_below(node, below.keys)
    return None
