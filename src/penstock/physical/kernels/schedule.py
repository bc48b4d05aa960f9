"""Operators that only move validity: restriction to a time of the record's own, and splitting.

Meaning: a restriction cuts `[ts, te)` down to the times at which a predicate on now holds; a split
leaves all snapshots as they are, in shorter elements (algorithm 11 of the temporal algebra).
Law: linear, one element at a time. What begins later than the step waits for the step it begins in,
and what begins when a punctuation says so waits for that.
State: `schedule`, the elements that are still to begin.
Cost: follows the delta and what begins; where punctuations say when, also what waits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from penstock.algebra.evaluate import evaluate_ints
from penstock.algebra.expr import Expr
from penstock.algebra.times import shifted
from penstock.element import BEGIN, INF, Elements, concat, intersect
from penstock.kinds import operator
from penstock.physical.closing import is_answered
from penstock.physical.kernel import Result, Write
from penstock.record import Ints
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable

UNKNOWN = INF - 1
"""When that begins of which nothing is known yet."""


@dataclass(frozen=True)
class Scheduled:
    """Where elements wait for the step they begin in, in tasks by a key."""

    schema: pa.Schema
    key: tuple[str, ...]

    @property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        return (StateTableSpec("schedule", self.schema, self.key, order="time"),)

    @property
    def partition_by(self) -> tuple[tuple[str, ...], ...]:
        return (self.key,)


@operator("restriction")
@dataclass(frozen=True)
class Restriction(Scheduled):
    """Keeps each record from `start` until `end`, which are times of its own."""

    start: Expr | None
    end: Expr | None
    asked: bool = False
    """Whether a punctuation may say that a record begins."""

    @property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        gone = None if self.start is None else shifted(self.start, "+", 1)
        return (StateTableSpec("schedule", self.schema, self.key, order="time", until=gone),)

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        x = deltas[0]
        end = np.full(len(x), INF) if self.end is None else evaluate_ints(self.end, x, BEGIN)
        start = starts(x, self.start, self.asked)
        x = x.valid_during(*intersect(x.ts, x.te, start, end))
        begun = x.ts < w1
        due = beginning(state_tables["schedule"], self.start, self.asked, w0, w1)
        out = concat(self.schema, [x.where(begun), due])
        return Result(out, {"schedule": Write(x.where(~begun))})


def starts(x: Elements, start: Expr | None, asked: bool) -> Ints:
    """When each record begins; `asked` where a punctuation may say so, and until then nothing is
    known."""
    if start is None:
        return np.full(len(x), UNKNOWN if asked else BEGIN)
    return evaluate_ints(start, x, UNKNOWN if asked else INF)


def beginning(schedule: StateTable, start: Expr | None, asked: bool, w0: int, w1: int) -> Elements:
    """What begins in the step; a record begins when a punctuation says so, if that is first."""
    if not (asked and is_answered(start)):
        due = schedule.begun_between(w0, w1)
        return due.where(due.ts < UNKNOWN)
    waiting = schedule.begun_between(w0, INF)
    time = starts(waiting, start, asked)
    now = (time >= w0) & (time < min(w1, UNKNOWN))
    return replace(waiting.where(now), ts=time[now])


@operator("splitting")
@dataclass(frozen=True)
class Splitting(Scheduled):
    """Cuts each validity into pieces of at most `size`."""

    size: int

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        x = concat(self.schema, [deltas[0], state_tables["schedule"].begun_between(w0, w1)])
        endless = (x.ts == BEGIN) | (x.te == INF)
        whole, finite = x.where(endless), x.where(~endless)
        stop = np.minimum(finite.te, w1)
        count = -(-(stop - finite.ts) // self.size)
        owner = np.repeat(np.arange(len(finite)), count)
        place = np.arange(len(owner)) - (np.cumsum(count) - count)[owner]
        ts = finite.ts[owner] + place * self.size
        te = np.minimum(ts + self.size, finite.te[owner])
        pieces = replace(finite.take(owner), ts=ts, te=te)
        rest = finite.valid_during(finite.ts + count * self.size, finite.te)
        return Result(concat(self.schema, [whole, pieces]), {"schedule": Write(rest)})
