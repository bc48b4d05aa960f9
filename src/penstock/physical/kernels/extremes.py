"""The first and the last value of groups that only grow.

Law: a value that has come stays, so the best of a group during a frame is the best of all that came
in its frames so far. Groups are numbered so that any value of a later one is better than all of the
earlier ones: then one pass over all rows, in order, finds the best of each group.
State: per group its first and its last value, each once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from penstock.element import Elements
from penstock.physical.kernel import Timeline
from penstock.record import Ints, starts_of


@dataclass(frozen=True)
class Extremes:
    """`code` numbers the values of the rows of `x` in their order; `row` are its rows in the order
    of the timeline, each with its `frame`. The first `new` rows of `x` are the step's own.
    """

    x: Elements
    new: int
    column: str
    frames: Timeline
    row: Ints
    frame: Ints
    code: Ints

    @property
    def values(self) -> pa.Array:
        return self.x.column(self.column)

    @property
    def total(self) -> Ints:
        """How many rows there are in each frame's group so far."""
        count = np.bincount(self.frame, minlength=len(self.frames))
        high = np.cumsum(count)
        return high - (high - count)[self.frames.first][self.frames.group]

    def extreme(self, greatest: bool) -> Ints:
        """A row with the first or last value of each frame; arbitrary for empty ones."""
        if len(self.row) == 0:
            return np.zeros(len(self.frames), dtype=np.int64)
        holder = np.empty(self._width, dtype=np.int64)
        holder[self.code] = np.arange(len(self.code))
        last = np.searchsorted(self.frame, np.arange(len(self.frames)), side="right") - 1
        return holder[self._best(greatest)[np.maximum(last, 0)]]

    def net(self, sides: Collection[bool]) -> Elements:
        """What the step changes in the values that are kept: `sides` says which are asked for."""
        group, code = self.frames.group[self.frame], self.code[self.row]
        ends = np.flatnonzero(np.append(group[1:] != group[:-1], len(group) > 0))
        wanted = np.zeros(len(self.row), dtype=np.bool_)
        for greatest in sides:
            best = np.full(len(self.frames.row), -1)
            best[group[ends]] = self._best(greatest)[ends]
            mine = np.flatnonzero(code == best[group])
            wanted[mine[starts_of(group[mine])]] = True
        held = self.row >= self.new
        rows = np.flatnonzero(wanted | held)
        n = wanted.astype(np.int64) - np.where(held, self.x.n[self.row], 0)
        _, first, which = np.unique(
            group[rows] * self._width + code[rows], return_index=True, return_inverse=True
        )
        change = np.zeros(len(first), dtype=np.int64)
        np.add.at(change, which, n[rows])
        changed = self.row[rows[first[change != 0]]]
        return replace(self.x.take(changed), n=change[change != 0])

    @property
    def _width(self) -> int:
        return int(self.code.max(initial=-1)) + 1

    def _best(self, greatest: bool) -> Ints:
        """The best code so far, for each row in order."""
        better = self.frames.group[self.frame] * self._width
        if greatest:
            best: Ints = np.maximum.accumulate(self.code[self.row] + better) - better
        else:
            best = np.minimum.accumulate(self.code[self.row] - better) + better
        return best
