from __future__ import annotations

from dataclasses import replace

from penstock.algebra.aggregates import CHOICES, TIMED, AggregateCall
from penstock.algebra.plan import Aggregate, Distinct, Node

_OF_DIFFERENT = (*CHOICES, *TIMED, "collect_set")


def drop_distinct_in_aggregate(node: Node) -> Node | None:
    """aggregate_K(distinct(S)) = aggregate_K(S), where no call counts equal records.

    min, max, first, last and whatever is DISTINCT see which values there are, and not how often.
    distinct(S) has the same groups. Not where either says until when records
    change: equal ones may come later.
    """
    match node:
        case Aggregate(Distinct(below, None), _, calls, None) if all(map(_sees_no_copies, calls)):
            return replace(node, input=below)
    return None


def _sees_no_copies(call: AggregateCall) -> bool:
    return call.distinct or call.function in _OF_DIFFERENT
