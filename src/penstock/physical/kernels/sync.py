"""Synchronization: the input as it was at the latest synchronization point.

Meaning: both ends of a validity move to the next synchronization point at or after them; an element
whose ends meet vanishes. So does a record that came and went between two points.
Law: linear. Points may be periodic, listed, the times at which records of a stream begin, and all
of several of these.
State: `schedule`, the ends to come; `held`, the changes that wait for a point, added up: what came
and went since the last point is not held.
Cost: follows the changes of the step and what a point releases.

Where the input only transforms what comes from sources, and the points are known beforehand, no
operator is needed: rows wait in their input buffer, which is in the order of time, until their
point comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from penstock.algebra.calendar import Midnights
from penstock.algebra.plan import Periodic, TimePoints
from penstock.element import BEGIN, INF, Elements, concat, consolidate, intervals, next_of
from penstock.kinds import operator
from penstock.physical.kernel import Result, Write, at, due_changes
from penstock.record import Ints
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable

Points: TypeAlias = tuple[Periodic | TimePoints | Midnights, ...]


@operator("to points")
@dataclass(frozen=True)
class ToPoints:
    """Moves both ends of a validity to points that are known beforehand."""

    points: Points

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def apply(self, *inputs: Elements) -> Elements:
        x = inputs[0]
        te = np.full(len(x), INF)
        finite = np.flatnonzero(x.te < INF)
        te[finite] = next_points(self.points, x.te[finite])
        return x.valid_during(next_points(self.points, x.ts), te)


@operator("synchronization")
@dataclass(frozen=True)
class Synchronization:
    """The records of as many further inputs as there are `marks` mark points, too."""

    schema: pa.Schema
    key: tuple[str, ...]
    points: Points
    marks: int = 0
    append_only: bool = False
    """Whether no record of the input ends or goes."""

    @property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        return (
            StateTableSpec("schedule", self.schema, self.key, order="time"),
            StateTableSpec("held", self.schema, self.key),
        )

    @property
    def partition_by(self) -> tuple[tuple[str, ...] | None, ...]:
        return self.key, *(None,) * self.marks

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        new, later = due_changes(state_tables["schedule"], deltas[0], w0, w1)
        waiting = concat(self.schema, [new, at(state_tables["held"].needed(), w0)])
        point = self._next_points(waiting.ts, deltas[1:])
        reached = point < w1
        freed = waiting.where(reached)
        out = replace(freed, ts=point[reached])
        # a point frees all that was held before the step, so what stays is new
        stays = at(new.where(~reached[: len(new)]), BEGIN)
        if not self.append_only:
            out, stays = intervals(out), consolidate(stays)
        held = Write(stays, np.full(len(stays), w1), frontier=w0 if len(freed) else BEGIN)
        return Result(out, {"schedule": later, "held": held})

    def _next_points(self, time: Ints, marks: Sequence[Elements]) -> Ints:
        point = next_points(self.points, time)
        for x in marks:
            point = np.minimum(point, next_of(np.unique(x.ts), time))
        return point


def next_points(points: Points, time: Ints) -> Ints:
    """The first synchronization point at or after each time, INF where none is known."""
    point = np.full(len(time), INF, dtype=np.int64)
    for each in points:
        point = np.minimum(point, _next_point(each, time))
    return point


def _next_point(points: Periodic | TimePoints | Midnights, time: Ints) -> Ints:
    match points:
        case Periodic(period, offset):
            past = np.maximum(time, BEGIN + period + abs(offset))
            return np.where(time == BEGIN, BEGIN, past + (offset - past) % period)
        case Midnights():
            return points.at_or_after(time)
        case TimePoints(listed):
            return next_of(np.array(listed, dtype=np.int64), time)
