"""The first and the last value of groups that only grow.

Law: a value that has come stays, so the best of a group during a frame is the best of all that came
in its frames so far. Groups are numbered so that any value of a later one is better than all of the
earlier ones: then one pass over all rows, in order, finds the best of each group.
State: per group its first and its last value, each once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.element import Elements
from penstock.physical.kernel import Timeline
from penstock.record import Direction, Ints, Mask, starts_of

_MOST = 1 << 62


@dataclass(frozen=True)
class Extremes:
    """`row` are the rows of `x` in the order of the timeline, each with its `frame`; the first
    `new` rows of `x` are the step's own. The second of `args`, if any, orders the values."""

    x: Elements
    new: int
    args: tuple[str, ...]
    frames: Timeline
    row: Ints
    frame: Ints

    def extreme(self, greatest: bool) -> pa.Array:
        """The first or last value of each frame, NULL where there is none."""
        values = self.x.column(self.args[0])
        if len(self.row) == 0:
            return pa.nulls(len(self.frames), values.type)
        high, none = self._until
        best = self._best[greatest]
        best = best if high is None else best[np.maximum(high - 1, 0)]
        if self._least is not None:
            return pa.array(best + self._least, mask=none).cast(values.type)
        holder = np.empty(self._width, dtype=np.int64)
        holder[self._code] = np.arange(len(self._code))
        return values.take(pa.array(holder[best], mask=none))

    @cached_property
    def _until(self) -> tuple[Ints | None, Mask | None]:
        """How many rows came up to each frame, and whether none of its group did; None where each
        frame has a row of its own."""
        if len(self.frame) == len(self.frames) and np.all(starts_of(self.frame)):
            return None, None
        count = np.bincount(self.frame, minlength=len(self.frames))
        high = np.cumsum(count)
        return high, high == (high - count)[self.frames.first][self.frames.group]

    @cached_property
    def _least(self) -> int | None:
        """The least value, where values are whole numbers and so need none to have an order."""
        values = self.x.column(self.args[0])
        if len(self.args) > 1 or not pa.types.is_signed_integer(values.type) or values.null_count:
            return None
        numbers = record.numpy(values)
        least, most = int(numbers.min(initial=0)), int(numbers.max(initial=0))
        return least if (most - least + 1) * len(self.frames.row) < _MOST else None

    @cached_property
    def _code(self) -> Ints:
        """Numbers for the values of rows, not negative and in their order."""
        if self._least is None:
            return value_codes(self.x, self.args)
        return record.numpy(self.x.column(self.args[0])).astype(np.int64) - self._least

    def net(self, sides: Collection[bool]) -> Elements:
        """What the step changes in the values that are kept: `sides` says which are asked for."""
        group, code = self._group, self._code[self.row]
        begins = starts_of(group)
        wanted = np.zeros(len(self.row), dtype=np.bool_)
        for greatest in sides:
            better = np.flatnonzero(begins | starts_of(self._best[greatest]))
            wanted[better[np.append(begins[better[1:]], True)[: len(better)]]] = True
        held = self.row >= self.new
        rows = np.flatnonzero(wanted | held)
        n: Ints = wanted[rows] - np.where(held[rows], self.x.n[self.row[rows]], 0)
        _, first, which = np.unique(
            group[rows] * self._width + code[rows], return_index=True, return_inverse=True
        )
        change = np.zeros(len(first), dtype=np.int64)
        np.add.at(change, which, n)
        changed = self.row[rows[first[change != 0]]]
        return replace(self.x.take(changed), n=change[change != 0])

    @cached_property
    def _group(self) -> Ints:
        """The group of each row, in order."""
        return self.frames.group[self.frame]

    @cached_property
    def _width(self) -> int:
        return int(self._code.max(initial=-1)) + 1

    @cached_property
    def _best(self) -> tuple[Ints, Ints]:
        """The least and the greatest code so far, for each row in order."""
        code, better = self._code[self.row], self._group * self._width
        least = np.minimum.accumulate(code - better) + better
        return least, np.maximum.accumulate(code + better) - better


def value_codes(x: Elements, args: tuple[str, ...]) -> Ints:
    """Numbers for the values of rows, in their order, about as many as there are rows at most."""
    return record.order_codes(x.key(args[::-1]), [Direction()] * len(args), len(x))
