from __future__ import annotations

from dataclasses import replace

from penstock.algebra.expr import Expr
from penstock.algebra.plan import Filter, Join, JoinKind, Node
from penstock.reasoning.implication import never_true

_WITHOUT_PADDED_RIGHT: dict[JoinKind, JoinKind] = {"left": "inner", "full": "right"}
_WITHOUT_PADDED_LEFT: dict[JoinKind, JoinKind] = {"right": "inner", "full": "left"}


def strengthen_outer_join(node: Node) -> Node | None:
    """filter_p(S1 left join S2) = filter_p(S1 join S2), where p is never true of a padded record.

    That is, p is not true where all columns of S2 are NULL, whatever those of S1 are. Likewise for
    right joins, and a full join becomes a right, left or inner join.
    """
    match node:
        case Filter(Join(left, right, kind) as join, predicate):
            strengthened = _strengthened(kind, predicate, left, right)
            if strengthened != kind:
                return Filter(replace(join, kind=strengthened), predicate)
    return None


def _strengthened(kind: JoinKind, predicate: Expr, left: Node, right: Node) -> JoinKind:
    if kind in _WITHOUT_PADDED_RIGHT and never_true(predicate, frozenset(right.schema.names)):
        kind = _WITHOUT_PADDED_RIGHT[kind]
    if kind in _WITHOUT_PADDED_LEFT and never_true(predicate, frozenset(left.schema.names)):
        kind = _WITHOUT_PADDED_LEFT[kind]
    return kind
