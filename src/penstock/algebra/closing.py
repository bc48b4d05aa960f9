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
    substitute,
)
from penstock.algebra.operators.node import Node, Offsets
from penstock.algebra.operators.sort_key import SortKey
from penstock.algebra.times import micros, most_offset, moved_by, shifted
from penstock.element import BEGIN

Kind: TypeAlias = Word["gain", "loss", "any"]
OPPOSITE: Mapping[Kind, Kind] = {"gain": "loss", "loss": "gain", "any": "any"}

ALWAYS = Literal(BEGIN, pa.int64())

UNKNOWN = (type(None), Inverse)
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

    def after(self, time: str | None) -> Expr | None:
        """The time after that of a record, where that is known."""
        most = None if time is None else self.most(time)
        return None if most is None else shifted(most, "+", 1)

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


def closes(plan: Node, names: Sequence[str] | None = None, kind: Kind = "any") -> Expr | None:
    """From when on records with the values of a record in these columns, all if not said, change
    no more; None where not even the end of the streams can see to that."""
    chosen = plan.schema.names if names is None else names
    return closes_given(plan, {n: Column(n, plan.schema.field(n).type) for n in chosen}, kind)


def closes_given(plan: Node, exact: Mapping[str, Expr], kind: Kind = "any") -> Expr | None:
    return plan.when_closed(Known(exact), kind)


def closes_up_to(plan: Node, key: SortKey) -> Expr | None:
    """From when on no record can come that sorts before a record, or as it, by a column."""
    column = Column(key.column, plan.schema.field(key.column).type)
    flags = (Literal(flag, pa.bool_()) for flag in (key.descending, key.nulls_first))
    return closes_given(plan, {key.column: Call(UP_TO, (column, *flags), column.type)}, "gain")


def ended(plan: Node) -> Expr:
    """When all streams that a plan reads have ended."""
    names = sorted(plan.source_names)
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


def inverse(known: Expr, function: Expr, column: Column) -> Expr:
    """What is known of a column where the value of a function of it is known."""
    argument = substitute(function, {column.name: Column(ARGUMENT, column.type)})
    match known:
        case Call(up_to, (value, *order)) if up_to == UP_TO:
            return Call(UP_TO, (inverse(value, function, column), *order), column.type)
        case Inverse(value, outer):
            return Inverse(value, substitute(outer, {ARGUMENT: argument}), column.type)
    return Inverse(known, argument, column.type)


def final_from(plan: Node, order: SortKey | None = None) -> Expr | None:
    """From when on a record cannot be lost again; at the latest from the end of all streams on.

    In an order, a record also waits for all that come before it.
    """
    found = closes(plan, kind="loss")
    if order is not None:
        found = latest(found, closes_up_to(plan, order))
    if found is None or found == ALWAYS:
        return found
    return Call("coalesce", (found, ended(plan)), pa.int64())


# --- what time itself closes ----------------------------------------------------------------------
# Rows come in the order of their event time, as far as their delay allows for: so there are columns
# that rows still to come can only have larger values in. Grouping, joins and DISTINCT on them need
# not remember what is closed. Operators say what holds of their columns (`progress`, `ahead`).


def closed_by_time(plan: Node, columns: tuple[str, ...] | None = None) -> Expr | None:
    """From when on no record with the values of a record in these columns can change."""
    for column, k in plan.progress.items():
        if columns is None or column in columns:
            return shifted(micros(Column(column, plan.schema.field(column).type)), "+", 1 - k)
    return None


def span(plan: Node, until: Expr) -> int | None:
    """For how long at most a record of the plan is needed, if it is until then.

    Law: if a record that comes at t has `c <= t + k`, it is past any time `c + d` at `t + k + d`.
    What is kept until then at most, are the records that came in a span of k + d.
    """
    found = [
        k + offset
        for column, k in plan.ahead.items()
        if (offset := most_offset(until, column)) is not None
    ]
    return max(min(found), 1) if found else None


def in_common(
    plan: Node, sides: Sequence[Offsets], chosen: Callable[[Sequence[int]], int]
) -> Offsets:
    """Columns of which something is known on all sides, by their place."""
    names = [node.schema.names for node in plan.inputs]
    found: dict[str, int] = {}
    for i, name in enumerate(plan.schema.names):
        known = [side[own[i]] for side, own in zip(sides, names, strict=True) if own[i] in side]
        if len(known) == len(sides):
            found[name] = chosen(known)
    return found


def with_closing(plan: Node, done: dict[int, Node] | None = None) -> Node:
    """The plan in which operators know when what they remember is closed, so that they forget it.

    What several of its nodes read stays one node.
    """
    done = {} if done is None else done
    if id(plan) not in done:
        inputs = plan.with_inputs(*(with_closing(source, done) for source in plan.inputs))
        done[id(plan)] = inputs.with_closing()
    return done[id(plan)]


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


def later(time: Expr | None, by: int) -> Expr | None:
    return time if time is None or time == ALWAYS else shifted(time, "+", by)


def is_up_to(value: Expr) -> bool:
    return isinstance(value, Call) and value.function == UP_TO


def _is_value(value: Expr) -> bool:
    return not is_up_to(value) and not isinstance(value, Inverse)


def _is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_timestamp(kind) or pa.types.is_date(kind))
