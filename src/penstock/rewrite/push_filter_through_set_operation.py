from __future__ import annotations

from penstock.algebra.plan import Filter, Node, SetOperation
from penstock.rewrite.positions import renamed


def push_filter_through_set_operation(node: Node) -> Node | None:
    """filter_p(S1 op S2) = filter_p(S1) op filter_p(S2), for every kind of set operation.

    Each kind maps the multiplicities (m1, m2) of one record to another multiplicity, and (0, 0)
    to 0; filter_p leaves both multiplicities of a record as they are or makes both 0. Filtering the
    left alone would do for all kinds but the max union, and would keep more of the right.
    """
    match node:
        case Filter(SetOperation(kind, left, right), predicate):
            other = renamed(predicate, left.schema, right.schema)
            return SetOperation(kind, Filter(left, predicate), Filter(right, other))
    return None
