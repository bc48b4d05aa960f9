"""A query answered from the rows or groups of a view: what is missing, and what is left to do.

Law: what is left to do, over the view, has the snapshots of the query at all times. Where that is
not known, the view does not match; there is no guess.

Groups of a view can be put together to larger ones where aggregates can: counts and sums add up,
and so averages follow; the least of the least is the least. Sums of floats are rounded, and do not.
What does not depend on how often a value is there can be computed from the keys of groups. A union
is answered from a view that is one, where the same is left to do with each of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Call, Column, Expr, Literal, cast, compare, conjunction
from penstock.algebra.times import last_multiple, micros, shifted
from penstock.reasoning.identity import Identities
from penstock.reasoning.implication import UNTIL, Conjunction, canonical, is_exact
from penstock.reasoning.points import Points, are_periodic, contains, same
from penstock.reasoning.printing import expression
from penstock.reasoning.products import (
    Aggregation,
    Form,
    Forms,
    Groups,
    Relation,
    Rows,
    Window,
    has_aggregate,
    is_aggregate,
    is_temporal,
    placed,
    renumbered,
    rows_of,
    selected,
)
from penstock.sharing.expression_matching import ExpressionMatcher, MissingError, named

_MOST_ASSIGNMENTS = 24


class NoMatchError(Exception):
    """Why a view does not answer a query."""


@dataclass(frozen=True)
class Remainder:
    """What is left to do with the rows of a view: conditions, over its columns and those of the
    other relations that the query reads, and the points to look at."""

    conditions: tuple[Expr, ...]
    moments: tuple[Expr, ...]
    points: Points | None
    rest: tuple[tuple[int, Relation], ...]
    facts: Conjunction
    table: tuple[tuple[Expr, str], ...]

    def over(self, view: p.Node) -> p.Node:
        """Rows with the columns of the view, and of the other relations, under their own names.

        Where nothing comes before them, the points are those of the view: many may look at it then.
        """
        points = self.points
        if points is not None and not (self.rest or self.moments):
            view, points = p.Sync(view, points), None
        node: p.Node = p.Map(
            view, tuple((view_column(f.name), Column(f.name, f.type)) for f in view.schema)
        )
        for number, relation in self.rest:
            node = p.Join(node, rows_of(number, relation))
        return selected(node, (*self.conditions, *self.moments), points)


def view_column(name: str) -> str:
    return f"view:{name}"


def assignments(query: Rows, view: Rows) -> Iterator[dict[int, int]]:
    """Which relation of the query each one of the view may be."""
    places = [
        [j for j, relation in enumerate(query.relations) if relation.identity == mine.identity]
        for mine in view.relations
    ]
    yield from _assigned(places, {}, [_MOST_ASSIGNMENTS])


def _assigned(
    places: list[list[int]], chosen: dict[int, int], left: list[int]
) -> Iterator[dict[int, int]]:
    if len(chosen) == len(places):
        if left[0] > 0:
            left[0] -= 1
            yield dict(chosen)
        return
    for j in places[len(chosen)]:
        if j not in chosen.values() and left[0] > 0:
            yield from _assigned(places, {**chosen, len(chosen): j}, left)


def remainder(
    query: Rows,
    view: Rows,
    outputs: Mapping[str, Expr],
    numbers: Mapping[int, int],
    known: Identities,
) -> Remainder:
    """What is left to do with the rows of a view; `outputs` are those of its columns to be used."""
    facts = Conjunction(query.conditions)
    theirs = [renumbered(c, numbers) for c in view.conditions]
    for condition in theirs:
        if not facts.implies(condition):
            raise NoMatchError(f"it has only rows where {expression(condition)}")
    held = Conjunction(theirs)
    covered = set(numbers.values())
    rest = tuple((i, relation) for i, relation in enumerate(query.relations) if i not in covered)
    table = [(renumbered(e, numbers), view_column(name)) for name, e in outputs.items()]
    for number, relation in rest:
        for name, own in relation.names.items():
            column = placed(number, name)
            table.append((Column(column, relation.plan.schema.field(own).type), column))
    left = [c for c in query.conditions if not held.implies(c)]
    left += _shorter_windows(query, view, numbers)
    try:
        derived = [_condition(c, table, facts, held) for c in left]
    except MissingError as missing:
        raise NoMatchError(
            f"it does not have {expression(missing.expr)}, to select rows by"
        ) from None
    moments = tuple(c for c in derived if is_temporal(c))
    conditions = tuple(c for c in derived if not is_temporal(c))
    points = _points(query.points, view.points, bool(moments or rest), known)
    return Remainder(conditions, moments, points, rest, facts, tuple(table))


def _condition(
    condition: Expr, table: list[tuple[Expr, str]], facts: Conjunction, held: Conjunction
) -> Expr:
    """A condition over what there is; columns are not equal before it is seen to that they are."""
    match condition:
        case Call("=" | "<=>", (Column(_, kind), Column())) if is_exact(kind):
            return ExpressionMatcher(table, held)(condition)
    return ExpressionMatcher(table, facts, certain=False)(condition)


def _shorter_windows(query: Rows, view: Rows, numbers: Mapping[int, int]) -> list[Expr]:
    """The ends of windows that are shorter than those of the view."""
    found: list[Expr] = []
    for i, mine in enumerate(view.relations):
        other = query.relations[numbers[i]]
        if mine.window == other.window:
            continue
        if other.window is None or not _is_within(other.window, mine.window):
            raise NoMatchError("its window ends too early")
        if other.time is None:
            raise NoMatchError("its window is another")
        name, kind = other.time
        own = next(n for n, column in other.names.items() if column == name)
        found.append(_end(other.window, Column(placed(numbers[i], own), kind)))
    return found


def _is_within(window: Window, other: Window | None) -> bool:
    """Whether rows never leave the one window later than the other."""
    if other is None:
        return True
    match window, other:
        case ("sliding" | "fixed", size, "UTC"), ("sliding", longer, _):
            return size <= longer
        case ("fixed", size, "UTC"), ("fixed", longer, "UTC"):
            return longer % size == 0
    return False


def _end(window: Window, time: Column) -> Expr:
    kind, size, _ = window
    begun = micros(time)
    begun = begun if kind == "sliding" else last_multiple(begun, size)
    return canonical(Call(UNTIL, (shifted(begun, "+", size),), pa.bool_()))


def _points(
    wanted: Points | None, there: Points | None, changed: bool, known: Identities
) -> Points | None:
    """The points to look at anew, None where the view shows what is to be seen already."""
    if same(wanted, there, known):
        return wanted if changed else None
    if there is None:
        return wanted
    if wanted is None:
        raise NoMatchError("it changes only at its points of synchronization")
    if not contains(there, wanted, known):
        raise NoMatchError("it is not synchronized at all the points of the query")
    return wanted


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
            reasons.append(NoMatchError(f"it does not have {expression(missing.expr)}"))
    if reasons:
        raise reasons[0]
    raise NoMatchError("it reads other streams, or reads them in another way")


def _from_rows(query: Form, left: Remainder, leaf: p.Node) -> p.Node:
    derive = ExpressionMatcher(left.table, left.facts)
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
    if len(numbers) < len(query.rows.relations):
        raise NoMatchError("it has groups, and the query joins their rows with others")
    outputs = {name: renumbered(e, numbers) for name, e in view.outputs.items()}
    of_keys = {name: e for name, e in view.outputs.items() if not has_aggregate(e)}
    left = remainder(query.rows, view.rows, of_keys, numbers, known)
    if not view.keys and (left.conditions or left.moments or query.keys):
        raise NoMatchError("it has one group of all rows")
    if not view.keys and left.points is not None and not are_periodic(left.points):
        raise NoMatchError("it has a group before the first point of synchronization")
    facts, keys = left.facts, ExpressionMatcher(left.table, left.facts)
    for key in query.keys:
        if not keys.can(key):
            raise NoMatchError(f"its groups are not by {expression(key)}")
    table = [(e, view_column(name)) for name, e in outputs.items()]
    their_keys = [renumbered(key, numbers) for key in view.keys]
    having = [renumbered(c, numbers) for c in view.conditions]
    from_keys = ExpressionMatcher([(key, "key") for key in query.keys], facts)
    always_there = bool(their_keys) and not query.keys  # the one group of all rows, be they none
    if not always_there and all(map(from_keys.can, their_keys)):
        return _same_groups(query, left, table, having, leaf)
    if having:
        raise NoMatchError(f"it has only groups where {expression(having[0])}")
    return _larger_groups(query, left, ExpressionMatcher(table, facts), keys, leaf)


def _same_groups(
    query: Groups,
    left: Remainder,
    table: list[tuple[Expr, str]],
    having: list[Expr],
    leaf: p.Node,
) -> p.Node:
    facts = Conjunction((*query.conditions, *query.rows.conditions))
    for condition in having:
        if not facts.implies(condition):
            raise NoMatchError(f"it has only groups where {expression(condition)}")
    derive = ExpressionMatcher(table, left.facts)
    derive = ExpressionMatcher(table, left.facts, special=lambda e: _average(e, derive.find))
    held = Conjunction(having)
    node = left.over(leaf)
    conditions = tuple(derive(c) for c in query.conditions if not held.implies(c))
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
    query: Groups, left: Remainder, there: ExpressionMatcher, keys: ExpressionMatcher, leaf: p.Node
) -> p.Node:
    groups = _Grouping(query, keys)
    for expr in query.aggregates:
        groups.add(expr, _put_together(Aggregation.of(expr), expr.type, groups, there, keys))
    return groups.over(left.over(leaf), left.facts)


def _put_together(
    call: Aggregation,
    kind: pa.DataType,
    groups: _Grouping,
    there: ExpressionMatcher,
    keys: ExpressionMatcher,
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
            raise NoMatchError(f"it does not have {expression(_other(call, function).expr(type))}")
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
    derive: ExpressionMatcher
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

    def over(self, node: p.Node, facts: Conjunction) -> p.Node:
        outputs = [(name, self.derive(key)) for name, key in self.keys.items()]
        outputs += [(name, e) for e, name in self.columns.items()]
        if not outputs:
            outputs = [("row", Literal(True, pa.bool_()))]
        calls = tuple(self.calls.values())
        grouped: p.Node = p.Aggregate(p.Map(node, tuple(outputs)), tuple(self.keys), calls)
        after = ExpressionMatcher(named(self.keys), facts, special=lambda e: self.results.get(e))
        if self.query.conditions:
            conditions = tuple(map(after, self.query.conditions))
            grouped = p.Filter(grouped, conjunction(conditions))
        made = tuple((name, after(e)) for name, e in self.query.outputs.items())
        return p.Map(grouped, made)


_MOST_PARTS = 4


def answered_union(query: p.Union, view: p.Node, leaf: p.Node, forms: Forms) -> p.Node | None:
    """The query over the view; None where it is not known to be the same."""
    parts = _parts(view)
    if parts is None or len(parts) != len(query.parts) or len(parts) > _MOST_PARTS:
        return None
    for order in permutations(parts):
        found = [_answered(q, v, leaf, forms) for q, v in zip(query.parts, order, strict=True)]
        first = found[0]
        if first is not None and _linear(first) and all(_same(first, other) for other in found):
            return first
    return None


def _parts(view: p.Node) -> tuple[p.Node, ...] | None:
    """The parts of a union, with what is done to all of it done to each."""
    match view:
        case p.Union(parts):
            names = view.schema.names
            return tuple(_named(part, names) for part in parts)
        case p.Filter(source) | p.Map(source):
            below = _parts(source)
            return None if below is None else tuple(view.with_inputs(part) for part in below)
    return None


def _named(part: p.Node, names: Sequence[str]) -> p.Node:
    fields = zip(names, part.schema, strict=True)
    return p.Map(part, tuple((name, Column(f.name, f.type)) for name, f in fields))


def _answered(query: p.Node, view: p.Node, leaf: p.Node, forms: Forms) -> p.Node | None:
    try:
        return answered(forms.of(query), forms.of(view), leaf, forms.identities)
    except NoMatchError:
        return None


def _linear(plan: p.Node) -> bool:
    """Whether what is done to a union is done to its parts."""
    kinds = (p.Map, p.Filter, p.Restrict, p.Scan)
    return all(isinstance(node, kinds) for node in plan.walk())


def _same(plan: p.Node, other: p.Node | None) -> bool:
    """Whether the same is done, whatever the columns of the result are called."""
    match plan, other:
        case p.Map(a, outputs), p.Map(b, others):
            return a == b and [e for _, e in outputs] == [e for _, e in others]
    return False
