"""Distinct, difference, intersection and their relatives: one kernel, a different weight function.

Meaning: per record, the multiplicity of the result at each time is `f(m1, m2)` of its
multiplicities in the inputs (equations 4, 5, 13, 14 and 15 of the temporal algebra; W-Distinct and
W-Minus of the negative-tuples paper).
Law: f(0, 0) = 0, so a record that is nowhere is nowhere in the result.
State: `current`, the multiplicities per record, each until the time `until`, from which on it has
no changes; `schedule`, the ends to come.
Cost: follows the changes of the step; a record that does not change is not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.algebra.expr import Expr
from penstock.element import Elements, concat
from penstock.kinds import operator
from penstock.physical.kernel import (
    Result,
    Timeline,
    Write,
    at,
    before,
    distinct_hashes,
    due_changes,
    kept,
    net_change,
    timeline,
    until,
)
from penstock.record import Ints, Mask
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable

Weigh = Callable[[Ints, Ints], Ints]
_SECOND = "m2"


def _ones(mask: Mask) -> Ints:
    return mask.astype(np.int64)


WEIGHTS: dict[str, Weigh] = {
    "distinct": lambda m1, m2: _ones(m1 > 0),
    "difference": lambda m1, m2: np.maximum(m1 - m2, 0),
    "intersection": np.minimum,
    "max union": np.maximum,
    "strict difference": lambda m1, m2: np.where(m2 == 0, m1, 0),
    "semi": lambda m1, m2: np.where(m2 > 0, m1, 0),
    "except": lambda m1, m2: _ones((m1 > 0) & (m2 == 0)),
    "intersect": lambda m1, m2: _ones((m1 > 0) & (m2 > 0)),
}


@operator("multiplicity")
@dataclass(frozen=True)
class Multiplicity:
    """Per record, a weight that is a function of the inputs' weights; `kind` names the function."""

    schema: pa.Schema
    kind: str
    until: Expr | None = None

    @property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        names = tuple(self.schema.names)
        return (
            StateTableSpec("current", self.schema, names, until=self.until),
            StateTableSpec("schedule", self.schema, names, order="time"),
        )

    @property
    def partition_by(self) -> tuple[tuple[str, ...], ...]:
        return (tuple(self.schema.names),) * 2

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        changes, later = due_changes(state_tables["schedule"], self._side_by_side(deltas), w0, w1)
        if len(changes) == 0:
            return Result(changes, {"schedule": later, "current": Write(changes)})
        hashes = record.hash_rows(changes.columns, len(changes))
        known, known_hashes = state_tables["current"].rows_with(distinct_hashes(hashes))
        both = concat(self.schema, [changes, at(known, before(w0))])
        frames = timeline(both.columns, np.concatenate([hashes, known_hashes]), both.ts)
        first = frames.running(both.n)
        second = {name: frames.running(weight) for name, weight in both.sums.items()}
        weight = WEIGHTS[self.kind](first, second.get(_SECOND, np.zeros_like(first)))
        out = _emit(both, frames, weight, w0)
        current = net_change(both, frames, first, second, w0)
        return Result(out, {"schedule": later, "current": kept(current, self.until, w1)})

    def _side_by_side(self, deltas: Sequence[Elements]) -> Elements:
        """Both inputs as one: the second input's weight stands beside the first's."""
        moved = [replace(x, n=np.zeros_like(x.n), sums={_SECOND: x.n}) for x in deltas[1:]]
        return concat(self.schema, [deltas[0], *moved])


def _emit(x: Elements, frames: Timeline, weight: Ints, w0: int) -> Elements:
    """Elements for the difference to the weight before the step; closed but for the last."""
    old = frames.old(weight, w0)
    changed = np.empty(len(frames), dtype=np.bool_)
    changed[1:] = weight[1:] != weight[:-1]
    changed[frames.first] = weight[frames.first] != 0
    changed &= frames.time >= w0
    group, time = frames.group[changed], frames.time[changed]
    n = weight[changed] - old[group]
    end = until(time, record.starts_of(group))
    visible = n != 0
    columns = record.take(x.columns, frames.row[group[visible]])
    return Elements(x.schema, columns, time[visible], end[visible], n[visible])
