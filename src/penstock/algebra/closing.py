"""When records are closed: from when on nothing that can still come can change them.

Two things close records. Time does: rows of a stream come in the order of their event time, so
from some time on no change can concern a record with a given event time, or with a value computed
from it such as the end of a window. And punctuations do: no more rows of a stream with some values.

What closes a record of a plan is an expression over its columns. `closed(s, a, x, ...)` is the time
at which the punctuations of the stream s close the rows in which column a is x, and so on; it is
looked up when a step runs. `closed(s)` asks about all rows: the end of a stream is the punctuation
that matches everything. `earliest` and `latest` put times together, and NULL is never.

Asked about `up to(x)` instead of x, it is the time at which x and all that sorts before it are
closed.

A result may lose a record, gain one, or change in either way. A record is final, and EMIT FINAL
passes it on, when no more can be lost; an operator may forget what can no longer change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal as Word
from typing import NamedTuple, TypeAlias, TypeGuard

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.calendar import Midnights
from penstock.algebra.expr import (
    ARGUMENT,
    CLOSED,
    EARLIEST,
    ENDED,
    LATEST,
    UP_TO,
    Call,
    Column,
    Expr,
    Inverse,
    Literal,
    columns,
    conjuncts,
    substitute,
)
from penstock.algebra.monotone import monotone
from penstock.algebra.times import least_offset, micros, moved_by, shifted
from penstock.element import BEGIN

Kind: TypeAlias = Word["gain", "loss", "any"]
_OPPOSITE: Mapping[Kind, Kind] = {"gain": "loss", "loss": "gain", "any": "any"}
_CHANGES: Mapping[str, Kind] = {"inserted": "gain", "deleted": "loss", "changed": "any"}
_DIFFERENCES = ("difference", "strict difference", "except")

ALWAYS = Literal(BEGIN, pa.int64())

_UNKNOWN = (type(None), Inverse)
"""A column has one value that is not, or not exactly, known."""


@dataclass(frozen=True)
class Known:
    """What is known of a record: the values of some columns, and bounds on times in others."""

    exact: Mapping[str, Expr] = field(default_factory=dict)
    upper: Mapping[str, Expr] = field(default_factory=dict)

    def only(self, names: Sequence[str]) -> Known:
        return Known(
            {name: value for name, value in self.exact.items() if name in names},
            {name: value for name, value in self.upper.items() if name in names},
        )

    def most(self, name: str) -> Expr | None:
        """The largest time that the column can have."""
        value = self.exact.get(name)
        match value:
            case None | Inverse() | Call(_, (Inverse(), *_)):
                return self.upper.get(name)
            case Call(function, (inner, Literal(descending), _)) if function == UP_TO:
                return micros(inner) if _is_time(inner.type) and not descending else None
        return micros(value) if _is_time(value.type) else None

    @property
    def values(self) -> Mapping[str, Expr]:
        """The columns whose values are known, not just that they are among some."""
        return {name: value for name, value in self.exact.items() if _is_value(value)}

    def renamed(self, names: Sequence[str], others: Sequence[str]) -> Known:
        new = dict(zip(names, others, strict=True))
        return Known(
            {new[name]: value for name, value in self.exact.items()},
            {new[name]: value for name, value in self.upper.items()},
        )


def closes(plan: p.Node, names: Sequence[str] | None = None, kind: Kind = "any") -> Expr | None:
    """From when on records with the values of a record in these columns, all if not said, change
    no more; None where not even the end of the streams can see to that."""
    chosen = plan.schema.names if names is None else names
    return closes_given(plan, {n: Column(n, plan.schema.field(n).type) for n in chosen}, kind)


def closes_given(plan: p.Node, exact: Mapping[str, Expr], kind: Kind = "any") -> Expr | None:
    return _when(plan, Known(exact), kind)


def closes_up_to(plan: p.Node, key: p.SortKey) -> Expr | None:
    """From when on no record can come that sorts before a record, or as it, by a column."""
    column = Column(key.column, plan.schema.field(key.column).type)
    flags = (Literal(flag, pa.bool_()) for flag in (key.descending, key.nulls_first))
    return closes_given(plan, {key.column: Call(UP_TO, (column, *flags), column.type)}, "gain")


def meets(join: p.Join, left: bool) -> Expr | None:
    """Until when a record of one side may meet a change of the other."""
    own, other = (join.left, join.right) if left else (join.right, join.left)
    known = Known({f.name: Column(f.name, f.type) for f in own.schema})
    sides = _sides(join, known if left else Known(), Known() if left else known)
    return _when(other, sides[1] if left else sides[0], "any")


def ended(plan: p.Node) -> Expr:
    """When all streams that a plan reads have ended."""
    names = sorted({node.name for node in plan.walk() if isinstance(node, p.Scan)})
    return Call(ENDED, tuple(Literal(name, pa.string()) for name in names), pa.int64())


class Question(NamedTuple):
    """When the punctuations of a stream close rows with these values in these columns."""

    stream: str
    columns: tuple[str, ...]
    values: tuple[Expr, ...]

    def __str__(self) -> str:
        return f"{', '.join(self.columns) or 'all'} of {self.stream}"


def question(closed: Call) -> Question:
    """What a call of `closed` asks."""
    name, *rest = closed.args
    names = [arg.value for arg in (name, *rest[::2]) if isinstance(arg, Literal)]
    return Question(names[0], tuple(names[1:]), tuple(rest[1::2]))


def questions(expr: Expr) -> Iterator[Question]:
    """All that an expression asks of punctuations."""
    match expr:
        case Call(function) if function == CLOSED:
            yield question(expr)
        case Call(args=args):
            for arg in args:
                yield from questions(arg)


def ends_needed(time: Expr) -> frozenset[str]:
    """The streams that must end before a time comes, whatever punctuations close."""
    match time:
        case Call(function) if function == CLOSED:
            asked = question(time)
            return frozenset() if asked.columns else frozenset({asked.stream})
        case Call(function, args) if function == EARLIEST:
            return min(map(ends_needed, args), key=len)
        case Call("coalesce", (first, *_)):
            return ends_needed(first)
        case Call(args=args):
            return frozenset().union(*map(ends_needed, args))
    return frozenset()


# --- by kind of node ------------------------------------------------------------------------------


def _when(plan: p.Node, known: Known, kind: Kind) -> Expr | None:
    """Remembered by the node: of one that many read, the same is asked many times."""
    answers = plan.__dict__.setdefault("_closing", {})
    question = (frozenset(known.exact.items()), frozenset(known.upper.items()), kind)
    if question not in answers:
        answers[question] = _asked(plan, known, kind)
    found: Expr | None = answers[question]
    return found


def _asked(plan: p.Node, known: Known, kind: Kind) -> Expr | None:
    match plan:
        case p.Scan():
            return ALWAYS if kind == "loss" and plan.append_only else _scanned(plan, known)
        case p.Filter(source, predicate):
            return _when(source, _with_constants(known, predicate, source.schema), kind)
        case p.Group() | p.Coalesce() | p.Split() | p.Distinct():
            return _when(plan.input, known, kind)
        case p.Session(source):
            return (
                ALWAYS if kind == "loss" else _when(source, known.only(source.schema.names), kind)
            )
        case p.Map(source, outputs):
            return _when(source, _below(known, outputs), kind)
        case p.Window(source):
            begins = _when(source, known, "gain")
            return begins if kind == "gain" else _later(begins, plan.longest)
        case p.Sync(source, (p.Periodic() | Midnights() as points,)):
            return _later(_when(source, known, kind), points.longest)
        case p.Union(parts):
            return latest(*(_when(part, _named(known, plan, part), kind) for part in parts))
        case p.SetOperation(operation, left, right):
            turned = _OPPOSITE[kind] if operation in _DIFFERENCES else kind
            there = _when(right, _named(known, plan, right), turned)
            return latest(_when(left, known, kind), there)
        case p.Aggregate(source, keys):
            return _when(source, known.only(keys), "any")
        case p.Rank(source, partition):
            return _when(source, known.only(partition), "any")
        case p.RowWindow(source, _, key) | p.Upsert(source, key):
            return _when(source, known if kind == "gain" else known.only(key), "gain")
        case p.Changes():
            return _changes(plan, known, kind)
        case p.Restrict():
            return _restricted(plan, known, kind)
        case p.Join():
            return _joined(plan, known, kind)
    return None


def _scanned(scan: p.Scan, known: Known) -> Expr | None:
    name = Literal(scan.name, pa.string())
    exact = {c: v for c, v in known.exact.items() if _is_up_to(v)} or known.exact
    values = [arg for c in sorted(exact) for arg in (Literal(c, pa.string()), exact[c])]
    marks = Call(CLOSED, (name, *values), pa.int64())
    return earliest(_after(scan.time if scan.append_only else None, known), marks)


def _after(time: str | None, known: Known) -> Expr | None:
    """The time after that of a record, where that is known."""
    most = None if time is None else known.most(time)
    return None if most is None else shifted(most, "+", 1)


def _with_constants(known: Known, predicate: Expr, schema: pa.Schema) -> Known:
    """Columns that a filter makes equal to a constant."""
    exact = dict(known.exact)
    for test in conjuncts(predicate):
        match test:
            case Call("=", (Column(name, kind), Literal(_, other) as value)) if kind == other:
                if not pa.types.is_nested(kind) and isinstance(exact.get(name), _UNKNOWN):
                    exact[name] = value
    return Known(exact, known.upper)


def _below(known: Known, outputs: tuple[tuple[str, Expr], ...]) -> Known:
    exact: dict[str, Expr] = {}
    upper: dict[str, Expr] = {}
    for name, value in outputs:
        if isinstance(value, Column) and name in known.exact:
            exact[value.name] = known.exact[name]
        most = known.most(name)
        for column in columns(value) if most is not None else ():
            offset = least_offset(value, column)
            if offset is not None and most is not None:
                upper.setdefault(column, shifted(most, "-", offset))
    for name, value in outputs:
        found = monotone(value) if name in known.exact else None
        if found is not None and found.column.name not in exact:
            exact[found.column.name] = _inverse(known.exact[name], value, found.column)
    return Known(exact, upper)


def _inverse(known: Expr, function: Expr, column: Column) -> Expr:
    """What is known of a column where the value of a function of it is known."""
    argument = substitute(function, {column.name: Column(ARGUMENT, column.type)})
    match known:
        case Call(up_to, (value, *order)) if up_to == UP_TO:
            return Call(UP_TO, (_inverse(value, function, column), *order), column.type)
        case Inverse(value, outer):
            return Inverse(value, substitute(outer, {ARGUMENT: argument}), column.type)
    return Inverse(known, argument, column.type)


def _changes(plan: p.Changes, known: Known, kind: Kind) -> Expr | None:
    if kind == "loss":
        return ALWAYS
    source = plan.input
    below = _when(source, known.only(source.schema.names), _CHANGES[plan.kind])
    return earliest(_after(plan.time, known), below)


def _restricted(plan: p.Restrict, known: Known, kind: Kind) -> Expr | None:
    """What begins or ends at a time of the record changes then."""
    exact = known.values
    if kind == "loss" and plan.end is None and plan.start == final_from(plan.input):
        return ALWAYS
    times = [_when(plan.input, known, kind)]
    for bound, mine in ((plan.start, "gain"), (plan.end, "loss")):
        if bound is not None and kind in (mine, "any"):
            there = columns(bound) <= exact.keys()
            times.append(shifted(substitute(bound, exact), "+", 1) if there else None)
    return latest(*times)


def final_from(plan: p.Node, order: p.SortKey | None = None) -> Expr | None:
    """From when on a record cannot be lost again; at the latest from the end of all streams on.

    In an order, a record also waits for all that come before it.
    """
    found = closes(plan, kind="loss")
    if order is not None:
        found = latest(found, closes_up_to(plan, order))
    if found is None or found == ALWAYS:
        return found
    return Call("coalesce", (found, ended(plan)), pa.int64())


# --- joins ----------------------------------------------------------------------------------------


def _joined(plan: p.Join, known: Known, kind: Kind) -> Expr | None:
    left, right = known.only(plan.left.schema.names), known.only(plan.right.schema.names)
    match plan.kind:
        case "inner":
            return _paired(plan, left, right, kind, kind)
        case "semi":
            return _paired(plan, left, Known(), kind, kind)
        case "anti":
            return _paired(plan, left, Known(), kind, _OPPOSITE[kind])
    found = _paired(plan, left, right, kind, kind)
    for side in ("right", "left"):
        if plan.kind in (_other(side), "full"):
            marker, alone = _marker(plan, known, side), _alone(plan, left, right, kind, side)
            found = latest(alone, found) if marker is None else _either(marker, alone, found)
    return found


def _paired(plan: p.Join, left: Known, right: Known, kind: Kind, other: Kind) -> Expr | None:
    left, right = _sides(plan, left, right)
    return latest(_when(plan.left, left, kind), _when(plan.right, right, other))


def _alone(plan: p.Join, left: Known, right: Known, kind: Kind, missing: str) -> Expr | None:
    """For rows without a partner on one side: they go when one comes."""
    if missing == "right":
        return _paired(plan, left, Known(), kind, _OPPOSITE[kind])
    return _paired(plan, Known(), right, _OPPOSITE[kind], kind)


def _marker(plan: p.Join, known: Known, side: str) -> Expr | None:
    """A value that is NULL just where a row has no partner on this side."""
    for equality in plan.on:
        name = equality.right if side == "right" else equality.left
        if not equality.null_safe and name in known.values:
            return known.values[name]
    return None


def _either(marker: Expr, missing: Expr | None, pair: Expr | None) -> Expr | None:
    if missing == pair:
        return pair
    never = Literal(None, pa.int64())
    test = Call("is null", (marker,), pa.bool_())
    return Call("if", (test, missing or never, pair or never), pa.int64())


def _other(side: str) -> str:
    return "left" if side == "right" else "right"


def _sides(plan: p.Join, left: Known, right: Known) -> tuple[Known, Known]:
    """What is known of the partners: what they have in common, and how far apart they can be."""
    exact = dict(left.exact), dict(right.exact)
    for on in plan.on:
        if on.right in right.exact and isinstance(left.exact.get(on.left), _UNKNOWN):
            exact[0][on.left] = right.exact[on.right]
        if on.left in left.exact and isinstance(right.exact.get(on.right), _UNKNOWN):
            exact[1][on.right] = left.exact[on.left]
    upper = dict(left.upper), dict(right.upper)
    for high, low, most in plan.distances:
        for mine, other in ((0, 1), (1, 0)):
            bound = (left, right)[other].most(high)
            if bound is not None and low in (plan.left, plan.right)[mine].schema.names:
                upper[mine].setdefault(low, shifted(bound, "+", most))
    return Known(exact[0], upper[0]), Known(exact[1], upper[1])


# --- times ----------------------------------------------------------------------------------------


def earliest(*times: Expr | None) -> Expr | None:
    """The first of some times; those that are never do not count."""
    known = tuple(dict.fromkeys(time for time in times if time is not None))
    if ALWAYS in known:
        return ALWAYS
    known = _extremes(known, min)
    return Call(EARLIEST, known, pa.int64()) if len(known) > 1 else next(iter(known), None)


def latest(*times: Expr | None) -> Expr | None:
    """The last of some times; never where one of them is."""
    known = tuple(dict.fromkeys(time for time in times if time != ALWAYS))
    if None in known:
        return None
    needed = _extremes([time for time in known if time is not None], max)
    parts = [set(_choices(time)) for time in needed]
    if len(parts) > 1 and (shared := set.intersection(*parts)):
        own = [earliest(*(arg for arg in _choices(time) if arg not in shared)) for time in needed]
        common = tuple(arg for arg in _choices(needed[0]) if arg in shared)
        return earliest(*common) if None in own else earliest(latest(*own), *common)
    return Call(LATEST, needed, pa.int64()) if len(needed) > 1 else next(iter(needed), ALWAYS)


def _extremes(times: Sequence[Expr], chosen: Callable[[int, int], int]) -> tuple[Expr, ...]:
    """Of times that are one time moved by constants, the first or the last."""
    found: dict[Expr, int] = {}
    for time in times:
        base, by = moved_by(time)
        found[base] = chosen(found[base], by) if base in found else by
    return tuple(shifted(base, "+", by) for base, by in found.items())


def _is_earliest(time: Expr) -> TypeGuard[Call]:
    return isinstance(time, Call) and time.function == EARLIEST


def _choices(time: Expr) -> tuple[Expr, ...]:
    return time.args if _is_earliest(time) else (time,)


def _later(time: Expr | None, by: int) -> Expr | None:
    return time if time is None or time == ALWAYS else shifted(time, "+", by)


def _named(known: Known, plan: p.Node, part: p.Node) -> Known:
    return known.renamed(plan.schema.names, part.schema.names)


def _is_up_to(value: Expr) -> bool:
    return isinstance(value, Call) and value.function == UP_TO


def _is_value(value: Expr) -> bool:
    return not _is_up_to(value) and not isinstance(value, Inverse)


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_timestamp(kind) or pa.types.is_date(kind))
