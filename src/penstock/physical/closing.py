"""What punctuations say, put into the expressions that ask for it.

Plans ask when records are closed (`penstock.algebra.closing`). For a step, the host looks up what
the punctuations of the streams have said so far, and gives kernels and state tables the answers in
place of the questions. Where nothing was said, nothing is left to compute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import pyarrow as pa

from penstock.algebra.closing import ALWAYS, earliest, latest, question
from penstock.algebra.expr import (
    CLOSED,
    EARLIEST,
    ENDED,
    LATEST,
    UP_TO,
    Call,
    Expr,
    Inverse,
    Literal,
    Lookup,
)
from penstock.physical.kernel import Kernel
from penstock.punctuation.closings import Closings, Times
from penstock.punctuation.derived import through
from penstock.punctuation.prefixes import Prefixes
from penstock.record import Columns, Direction
from penstock.state.run import StateTableSpec

Said = Mapping[str, Closings]
"""The punctuations of streams, by name."""


def answered(kernel: Kernel, said: Said) -> Kernel:
    """The kernel with expressions that know what was said."""
    assert is_dataclass(kernel)
    values = {f.name: getattr(kernel, f.name) for f in fields(kernel)}
    found: dict[str, Any] = {
        name: known(value, said)
        for name, value in values.items()
        if isinstance(value, Call) and asks(value)
    }
    return replace(kernel, **found) if found else kernel


def reviewed(state_table: StateTableSpec) -> StateTableSpec:
    """The state table as compaction sees it: what was known when rows were written is known of
    them."""
    if state_table.until is None or is_answered(state_table.until):
        return state_table
    return replace(state_table, until=None)


def asks(expr: Expr) -> bool:
    """Whether punctuations have something to say."""
    match expr:
        case Call(function, args):
            return function in (CLOSED, ENDED) or any(map(asks, args))
    return False


def is_answered(expr: Expr | None) -> bool:
    """Whether the value of an expression depends on what was said.

    A stream that is over closes everything, rows that were written before it was too.
    """
    match expr:
        case Lookup():
            return True
        case Literal():
            return expr == ALWAYS
        case Call(args=args):
            return any(map(is_answered, args))
    return False


def known(expr: Expr, said: Said) -> Expr | None:
    """The expression with what was said in it; None where it is NULL for all records."""
    match expr:
        case Call(function) if function == CLOSED:
            return _closed(expr, said)
        case Call(function, names) if function == ENDED:
            return _ended([name.value for name in names if isinstance(name, Literal)], said)
        case Call(function, args) if function == EARLIEST:
            return earliest(*(known(arg, said) for arg in args))
        case Call(function, args) if function == LATEST:
            return latest(*(known(arg, said) for arg in args))
        case Call("coalesce", args, kind):
            left = [arg for arg in (known(arg, said) for arg in args) if arg is not None]
            return Call("coalesce", tuple(left), kind) if len(left) > 1 else next(iter(left), None)
        case Call("if", (test, then, otherwise), kind):
            both = [known(then, said), known(otherwise, said)]
            if both == [None, None]:
                return None
            chosen = (Literal(None, kind) if branch is None else branch for branch in both)
            return Call("if", (test, *chosen), kind)
        case Call("+", (time, by), kind):
            found = known(time, said)
            return found if found in (None, ALWAYS) else Call("+", (found, by), kind)
        case Literal(None):
            return None
    return expr


def _closed(call: Call, said: Said) -> Expr | None:
    stream, columns, values = question(call)
    closings = said.get(stream)
    times = closings.over(columns) if closings is not None and closings.schedule else None
    if not times:
        return None
    if times.always:
        return ALWAYS
    match values:
        case (Call(function, (value, Literal(descending), Literal(nulls_first))),) if (
            function == UP_TO
        ):
            times, args = _direct(times, (value,))
            prefixes = Prefixes(times, Direction(descending, nulls_first))
            return Lookup(prefixes, args, pa.int64()) if prefixes else None
    times, args = _direct(times, values)
    return Lookup(times, args, pa.int64()) if times else None


def _direct(times: Times, values: tuple[Expr, ...]) -> tuple[Times, tuple[Expr, ...]]:
    """The same question about values of functions, where those are known and their columns not."""
    args = list(values)
    for at, value in enumerate(values):
        if isinstance(value, Inverse):
            times, args[at] = through(times, at, value.function), value.value
    return times, tuple(args)


def _ended(names: list[str], said: Said) -> Expr | None:
    ends = [said[name].ended if name in said else None for name in names]
    times = [end for end in ends if end is not None]
    complete = len(times) == len(ends) > 0
    return Lookup(_Always(max(times)), (), pa.int64()) if complete else None


@dataclass(frozen=True)
class _Always:
    """A table with one time for all records."""

    time: int

    def find(self, columns: Columns, length: int) -> pa.Array:
        return pa.repeat(pa.scalar(self.time, pa.int64()), length)
