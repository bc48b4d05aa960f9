"""Queries over views: rows of rows, groups of rows, groups of groups.

Groups of a view can be put together to larger ones where aggregates can: counts and sums add up,
and so averages follow; the least of the least is the least. Sums of floats are rounded, and do not.
What does not depend on how often a value is there can be computed from the keys of groups.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Call, Column, Expr, Literal, cast, compare, conjunction
from penstock.sharing.deriving import Deriver, MissingError, named
from penstock.sharing.expressions import has_aggregate, is_aggregate
from penstock.sharing.facts import Facts
from penstock.sharing.form import Aggregation, Form, Groups, Rows, renumbered
from penstock.sharing.identity import Identities
from penstock.sharing.matching import (
    NoMatchError,
    Remainder,
    assignments,
    remainder,
    view_column,
)
from penstock.sharing.points import are_periodic
from penstock.sharing.wording import shown, told

_WHOLE = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
_DOUBLE = pa.float64()


def answered(query: Form, view: Form, leaf: p.Node, known: Identities) -> p.Node:
    """The query over a view, which is read as `leaf`; raises NoMatchError where that cannot be."""
    rows = query if isinstance(query, Rows) else query.rows
    their_rows = view if isinstance(view, Rows) else view.rows
    reasons: list[NoMatchError] = []
    for numbers in assignments(rows, their_rows):
        try:
            if isinstance(view, Rows):
                left = remainder(rows, view, view.outputs, numbers, known)
                return _from_rows(query, left, leaf)
            if isinstance(query, Rows):
                raise NoMatchError("it has groups, and the query needs their rows")
            return _from_groups(query, view, leaf, numbers, known)
        except NoMatchError as reason:
            reasons.append(reason)
        except MissingError as missing:
            reasons.append(NoMatchError(f"it does not have {shown(missing.expr)}"))
    if reasons:
        raise reasons[0]
    raise NoMatchError("it reads other streams, or reads them in another way")


def _from_rows(query: Form, left: Remainder, leaf: p.Node) -> p.Node:
    derive = Deriver(left.table, left.facts)
    node = left.over(leaf)
    if isinstance(query, Rows):
        return p.Map(node, tuple((name, derive(e)) for name, e in query.outputs.items()))
    groups = _Grouping(query, derive)
    for expr in query.aggregates:
        call = Aggregation.of(expr)
        args = tuple(groups.column(derive(arg)) for arg in call.args)
        where = None if call.where is None else groups.column(derive(call.where))
        groups.add(expr, groups.call(call, args, where))
    return groups.over(node, left.facts)


def _from_groups(
    query: Groups, view: Groups, leaf: p.Node, numbers: dict[int, int], known: Identities
) -> p.Node:
    if len(numbers) < len(query.rows.atoms):
        raise NoMatchError("it has groups, and the query joins their rows with others")
    outputs = {name: renumbered(e, numbers) for name, e in view.outputs.items()}
    of_keys = {name: e for name, e in view.outputs.items() if not has_aggregate(e)}
    left = remainder(query.rows, view.rows, of_keys, numbers, known)
    if not view.keys and (left.conditions or left.moments or query.keys):
        raise NoMatchError("it has one group of all rows")
    if not view.keys and left.points is not None and not are_periodic(left.points):
        raise NoMatchError("it has a group before the first point of synchronization")
    facts, keys = left.facts, Deriver(left.table, left.facts)
    for key in query.keys:
        if not keys.can(key):
            raise NoMatchError(f"its groups are not by {shown(key)}")
    table = [(e, view_column(name)) for name, e in outputs.items()]
    their_keys = [renumbered(key, numbers) for key in view.keys]
    having = [renumbered(c, numbers) for c in view.conditions]
    from_keys = Deriver([(key, "key") for key in query.keys], facts)
    always_there = bool(their_keys) and not query.keys  # the one group of all rows, be they none
    if not always_there and all(map(from_keys.can, their_keys)):
        return _same_groups(query, left, table, having, leaf)
    if having:
        raise NoMatchError(f"it has only groups where {told(having[0])}")
    return _larger_groups(query, left, Deriver(table, facts), keys, leaf)


def _same_groups(
    query: Groups,
    left: Remainder,
    table: list[tuple[Expr, str]],
    having: list[Expr],
    leaf: p.Node,
) -> p.Node:
    facts = Facts((*query.conditions, *query.rows.conditions))
    for condition in having:
        if not facts.imply(condition):
            raise NoMatchError(f"it has only groups where {told(condition)}")
    derive = Deriver(table, left.facts)
    derive = Deriver(table, left.facts, special=lambda e: _average(e, derive.find))
    held = Facts(having)
    node = left.over(leaf)
    conditions = tuple(derive(c) for c in query.conditions if not held.imply(c))
    if conditions:
        node = p.Filter(node, conjunction(conditions))
    return p.Map(node, tuple((name, derive(e)) for name, e in query.outputs.items()))


def _average(expr: Expr, find: Callable[[Expr], Expr | None]) -> Expr | None:
    """An average from a sum, rounded as that of an average is before it is divided, and a count."""
    if not is_aggregate(expr):
        return None
    assert isinstance(expr, Call)
    call = Aggregation.of(expr)
    if call.function != "avg" or expr.type != _DOUBLE:
        return None
    total = find(_other(call, "sum").expr(_sum_type(call)))
    count = find(_other(call, "count").expr(pa.int64()))
    return None if total is None or count is None else _quotient(total, count)


def _other(call: Aggregation, function: str) -> Aggregation:
    return Aggregation(function, call.args, call.where, call.distinct, None)


def _sum_type(call: Aggregation) -> pa.DataType:
    return pa.int64() if call.args[0].type in _WHOLE else _DOUBLE


def _quotient(total: Expr, count: Expr) -> Expr:
    whole = total if total.type == _DOUBLE else cast(total, _DOUBLE)
    none = compare("=", count, Literal(0, pa.int64()))
    divided = Call("/", (whole, cast(count, _DOUBLE)), _DOUBLE)
    return Call("if", (none, Literal(None, _DOUBLE), divided), _DOUBLE)


def _larger_groups(
    query: Groups, left: Remainder, there: Deriver, keys: Deriver, leaf: p.Node
) -> p.Node:
    groups = _Grouping(query, keys)
    for expr in query.aggregates:
        groups.add(expr, _put_together(Aggregation.of(expr), expr.type, groups, there, keys))
    return groups.over(left.over(leaf), left.facts)


def _put_together(
    call: Aggregation, kind: pa.DataType, groups: _Grouping, there: Deriver, keys: Deriver
) -> Expr:
    """An aggregate of a group from those of the groups that it is made of."""

    def part(function: str, type: pa.DataType) -> tuple[str, str | None]:
        """The column with an aggregate of the smaller groups, and the one that filters them."""
        found = there.find(_other(call, function).expr(type))
        if found is not None:
            return groups.column(found), None
        whole = Aggregation(function, call.args, None, call.distinct, None)
        found = there.find(whole.expr(type))
        if found is None or call.where is None or not keys.can(call.where):
            raise NoMatchError(f"it does not have {shown(_other(call, function).expr(type))}")
        return groups.column(found), groups.column(keys(call.where))

    def total(function: str, type: pa.DataType) -> Expr:
        column, where = part(function, type)
        return groups.made("sum", (column,), where, pa.int64())

    counts_once = call.distinct or call.function in ("min", "max", "collect_set")
    needed = (*call.args, *(() if call.where is None else (call.where,)))
    if counts_once and all(map(keys.can, needed)):
        where = None if call.where is None else groups.column(keys(call.where))
        args = tuple(groups.column(keys(arg)) for arg in call.args)
        return groups.call(call, args, where)
    if call.distinct:
        raise NoMatchError("different values cannot be counted from those of its groups")
    zero = Literal(0, pa.int64())
    match call.function:
        case "count":
            return Call("coalesce", (total("count", pa.int64()), zero), pa.int64())
        case "sum" if call.args[0].type in _WHOLE:
            return total("sum", pa.int64())
        case "avg" if call.args[0].type in _WHOLE:
            return _quotient(
                total("sum", pa.int64()),
                Call("coalesce", (total("count", pa.int64()), zero), pa.int64()),
            )
        case "min" | "max":
            column, where = part(call.function, kind)
            return groups.made(call.function, (column,), where, kind)
    raise NoMatchError(f"{call.function} of its groups cannot be put together")


@dataclass
class _Grouping:
    """An aggregation in the making: the columns that it reads, its calls, what its results are."""

    query: Groups
    derive: Deriver
    columns: dict[Expr, str] = field(default_factory=dict)
    calls: dict[tuple[object, ...], AggregateCall] = field(default_factory=dict)
    results: dict[Expr, Expr] = field(default_factory=dict)
    keys: dict[str, Expr] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for key in self.query.keys:
            self.keys.setdefault(f"key {len(self.keys)}", key)

    def column(self, expr: Expr) -> str:
        return self.columns.setdefault(expr, f"column {len(self.columns)}")

    def call(self, call: Aggregation, args: tuple[str, ...], where: str | None) -> Expr:
        same = (call.function, args, where, call.distinct, call.parameter)
        name = f"call {len(self.calls)}"
        found = self.calls.setdefault(
            same,
            AggregateCall(call.function, args, name, call.distinct, where, call.parameter),
        )
        return Column(found.name, pa.null())

    def made(
        self, function: str, args: tuple[str, ...], where: str | None, kind: pa.DataType
    ) -> Expr:
        found = self.call(Aggregation(function, (), None, False, None), args, where)
        assert isinstance(found, Column)
        return Column(found.name, kind)

    def add(self, expr: Expr, result: Expr) -> None:
        if isinstance(result, Column):
            result = Column(result.name, expr.type)
        self.results[expr] = result

    def over(self, node: p.Node, facts: Facts) -> p.Node:
        outputs = [(name, self.derive(key)) for name, key in self.keys.items()]
        outputs += [(name, e) for e, name in self.columns.items()]
        if not outputs:
            outputs = [("row", Literal(True, pa.bool_()))]
        calls = tuple(self.calls.values())
        grouped: p.Node = p.Aggregate(p.Map(node, tuple(outputs)), tuple(self.keys), calls)
        after = Deriver(named(self.keys), facts, special=lambda e: self.results.get(e))
        if self.query.conditions:
            conditions = tuple(map(after, self.query.conditions))
            grouped = p.Filter(grouped, conjunction(conditions))
        made = tuple((name, after(e)) for name, e in self.query.outputs.items())
        return p.Map(grouped, made)
