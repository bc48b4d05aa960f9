"""The kernel interface and the view of time that the kernels share.

A step `[w0, w1)` gives an operator its complete input for those times: elements with
`w0 <= ts < w1`, whose ends may lie anywhere after. It answers with its complete output for the same
times. What it must remember it returns as writes, which the host appends to its state tables.

An element's end is a change that is known before it happens. Operators that answer per record or
group with a step function over time keep such changes in a time-ordered *schedule* and take out of
it, in each step, those that fall due: so time alone moves them, with or without new input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.algebra.evaluate import evaluate_ints
from penstock.algebra.expr import Expr
from penstock.element import BEGIN, INF, Elements, concat
from penstock.record import Columns, Hashes, Ints, Mask
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable


@dataclass(frozen=True, slots=True)
class Write:
    """What to append to a state table, and from when on its rows matter: the step's end if not
    said."""

    elements: Elements
    keep: Ints | None = None
    frontier: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """`late`: by how much later than they came ends were noticed, where that was not at once.
    What comes out may have columns of picks (`record.pick`)."""

    out: Elements
    writes: Mapping[str, Write] = field(default_factory=dict)
    late: Ints | None = None


@runtime_checkable
class Kernel(Protocol):
    """An operator with state: from state tables and changes to changes and new state."""

    @property
    def schema(self) -> pa.Schema:
        """Of the records that come out."""
        ...

    @property
    def state_tables(self) -> tuple[StateTableSpec, ...]: ...

    @property
    def partition_by(self) -> tuple[tuple[str, ...] | None, ...]:
        """Per input, the columns whose equal values must meet; None where all rows go to all."""
        ...

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result: ...


def due_changes(schedule: StateTable, delta: Elements, w0: int, w1: int) -> tuple[Elements, Write]:
    """All changes of the step, as open elements, and what is to be scheduled for later steps."""
    ends = delta.where(delta.te < INF).negated()
    ends = _open(ends, ends.te)
    soon = ends.ts < w1
    scheduled = schedule.begun_between(w0, w1)
    changes = concat(delta.schema, [_open(delta, delta.ts), ends.where(soon), scheduled])
    return changes, Write(ends.where(~soon))


def kept(x: Elements, until: Expr | None, w1: int) -> Write:
    """Rows of state that matter until a time computed from them; without one, or NULL, for ever."""
    if until is None:
        return Write(x)
    end = evaluate_ints(until, x)
    needed = end > w1
    return Write(x.where(needed), end[needed])


def passing(state_tables: Sequence[StateTableSpec], until: Expr | None) -> dict[str, Write]:
    """The writes of a step without changes: where rows are let go in time, that it goes on."""
    if until is None:
        return {}
    return {
        state_table.name: Write(Elements.empty(state_table.schema)) for state_table in state_tables
    }


def at(x: Elements, time: int) -> Elements:
    """The same records as if all of them changed at one time."""
    return _open(x, np.full(len(x), time, dtype=np.int64))


def _open(x: Elements, ts: Ints) -> Elements:
    return replace(x, ts=ts, te=np.full(len(x), INF, dtype=np.int64))


def distinct_hashes(hashes: record.Hashes) -> record.Hashes:
    """Sorted, each once: the needles of a probe."""
    found = hashes[sorting.sort_hashes(hashes)]
    return found[record.starts_of(found)]


@dataclass(frozen=True)
class Timeline:
    """Changes in order, as frames: one per group and time at which anything in the group changes.

    `order` sorts the changes by group and time; frame i begins at `start[i]` in that order and
    lasts from `time` to `until`, the next change of its group, or INF for the last. `first` marks
    the first frame of each group; groups are in the order of their hashes, and `row[g]` is a row of
    group g. What was there before the step enters as changes at `before`, so that the frame a group
    had before the step is like any other, and is the one to compare with.
    """

    order: Ints
    start: Ints
    group: Ints
    time: Ints
    first: Mask
    row: Ints

    def __len__(self) -> int:
        return len(self.group)

    @cached_property
    def frame(self) -> Ints:
        """The frame of each change, in order."""
        return np.repeat(np.arange(len(self)), np.diff(self.start, append=len(self.order)))

    @cached_property
    def _heads(self) -> Ints:
        """The first frame of each group."""
        return np.flatnonzero(self.first)

    @cached_property
    def _lasts(self) -> Ints:
        """The last frame of each group."""
        return np.append(self._heads[1:], len(self)) - 1

    @cached_property
    def _ends(self) -> Ints:
        """The last change of each frame, in order."""
        return np.append(self.start[1:], len(self.order)) - 1

    def running(self, weight: Ints) -> Ints:
        """Each group's sum of a weight during each frame."""
        total = np.cumsum(weight[self.order])
        if len(self) < len(total):
            total = total[self._ends]
        if len(self._heads) > 1:
            before, sizes = total[self._lasts[:-1]], self._lasts[1:] - self._lasts[:-1]
            total[self._heads[1] :] -= np.repeat(before, sizes)
        return total

    def old(self, running: Ints, w0: int) -> Ints:
        """What each group had before the step, zero where it was not there."""
        return np.where(self.time[self._heads] < w0, running[self._heads], 0)

    def net(self, running: Ints, w0: int) -> Ints:
        """What the step changes per group, all times together."""
        return running[self._lasts] - self.old(running, w0)

    def placed(self, place: Ints) -> tuple[Ints, Ints]:
        """Rows that are at these places among the changes: in order, each with its frame."""
        row = np.full(len(self.order), -1, dtype=np.int64)
        row[place] = np.arange(len(place))
        row = row[self.order]
        if len(place) == len(row):
            return row, self.frame
        mine = np.flatnonzero(row >= 0)
        return row[mine], self.frame[mine]


def timeline(columns: Columns, hashes: Hashes, time: Ints) -> Timeline:
    """The frames of changes to the groups of equal rows."""
    order, fresh = record.arrange(columns, hashes, time)
    time = time[order]
    start = np.flatnonzero(fresh | record.starts_of(time))
    group = np.cumsum(fresh, dtype=np.int64)
    group -= 1
    return Timeline(order, start, group[start], time[start], fresh[start], order[fresh])


def net_change(
    x: Elements, frames: Timeline, n: Ints, sums: Mapping[str, Ints], w0: int
) -> Elements:
    """What the step changes per group, from the weights of each frame, as open elements."""
    n = frames.net(n, w0)
    sums = {name: frames.net(weight, w0) for name, weight in sums.items()}
    moved = n != 0
    for weight in sums.values():
        moved |= weight != 0
    n, sums = n[moved], {name: weight[moved] for name, weight in sums.items()}
    columns = record.take(x.columns, frames.row[moved])
    return at(Elements(x.schema, columns, n, n, n, sums), w0)


def before(w0: int) -> int:
    """The time that stands for all that was before the step."""
    return max(w0, BEGIN + 1) - 1


def ended_first(te: Ints) -> Ints:
    """An order of results in which those that end come first. Views write them apart from those
    that stay, and need not copy what lies together."""
    stays = te == INF
    return np.concatenate([np.flatnonzero(~stays), np.flatnonzero(stays)])


def until(time: Ints, first: Mask) -> Ints:
    """Where each frame ends: at the next one of its group, or never."""
    end = np.full(len(time), INF, dtype=np.int64)
    end[:-1] = np.where(first[1:], INF, time[1:])
    return end
