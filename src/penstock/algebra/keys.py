"""Keys: columns whose values no two records of a plan share at any time."""

from __future__ import annotations

from penstock.algebra.expr import Column
from penstock.algebra.plan import (
    Aggregate,
    Coalesce,
    Distinct,
    Filter,
    Group,
    Join,
    Map,
    Node,
    Rank,
    Restrict,
    SetOperation,
    Split,
    Sync,
    Upsert,
)


def key_of(plan: Node) -> tuple[str, ...] | None:
    """A key as short as the plan shows it to be; () where there is never more than one record."""
    match plan:
        case Aggregate(_, keys):
            return keys
        case Upsert(_, key):
            return key
        case Distinct(source):
            return _known(key_of(source), plan)
        case Filter() | Group() | Restrict() | Sync() | Split() | Coalesce():
            return key_of(plan.input)
        case Map(source, outputs):
            return _renamed(key_of(source), outputs)
        case Join():
            return _joined(plan)
        case Rank(source, partition, _, limit, kind, number):
            if kind == "row_number" and limit == 1:
                return partition
            if key_of(source) is not None or kind != "row_number" or number is None:
                return key_of(source)
            return (*partition, number)
        case SetOperation("except" | "intersect", left):
            return _known(key_of(left), plan)
        case SetOperation("difference" | "intersection" | "strict difference", left):
            return key_of(left)
    return None


def _known(key: tuple[str, ...] | None, plan: Node) -> tuple[str, ...]:
    return tuple(plan.schema.names) if key is None else key


def _renamed(
    key: tuple[str, ...] | None, outputs: tuple[tuple[str, object], ...]
) -> tuple[str, ...] | None:
    if key is None:
        return None
    names = {e.name: name for name, e in reversed(outputs) if isinstance(e, Column)}
    return tuple(names[k] for k in key) if all(k in names for k in key) else None


def _joined(plan: Join) -> tuple[str, ...] | None:
    """The keys of both sides; one alone where each record finds at most one partner."""
    left, right = key_of(plan.left), key_of(plan.right)
    if plan.kind in ("semi", "anti"):
        return left
    to_right = {e.right for e in plan.on}
    to_left = {e.left for e in plan.on}
    if left is not None and right is not None:
        if plan.kind in ("inner", "left") and set(right) <= to_right:
            return left
        if plan.kind in ("inner", "right") and set(left) <= to_left:
            return right
        if plan.kind == "inner":
            return (*left, *right)
    return None
