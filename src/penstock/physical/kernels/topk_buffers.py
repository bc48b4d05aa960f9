"""The first rows of partitions that only grow: rows take turns, one of each partition at a time.

Meaning: a top-k buffer has the first rows of a partition so far, in their order. A row that comes
is put where it belongs, and those behind it move on by a place; who is beyond the last is out for
ever.
Law: equal rows are one as far as places go: one that takes the place of another changes nothing.
Cost: a pass over the top-k buffers for each place and turn. A partition has as many turns as rows
that come near its top-k buffer: those that are behind as many earlier ones as it has places are
left out, found by what the first part of the partition has, then by its double, and so on. Where
one partition has most of the rows there are many turns and little to do in each: then it is not
worth it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from penstock import sorting
from penstock.element import INF
from penstock.record import Ints, Mask, starts_of

_FEW = 64
_ROWS_PER_PLACE = 8


class Versions(NamedTuple):
    """Rows, by their numbers, that have a place on a top-k buffer: those that are there last, for
    ever."""

    number: Ints
    place: Ints
    since: Ints
    until: Ints


class Passages(NamedTuple):
    """Rows, by their numbers, that come to a top-k buffer or leave it (`n`), and the unit that does
    it."""

    number: Ints
    n: Ints
    cause: Ints


@dataclass(frozen=True)
class TopKBuffers:
    """Rows of partitions: `number` tells them apart and has their order. Those of a partition lie
    together, in the order of time. `turns` are the rows that come near a top-k buffer, likewise,
    and `start` and `size` say where those of each partition are."""

    number: Ints
    ts: Ints
    limit: int
    turns: Ints
    start: Ints
    size: Ints

    @property
    def width(self) -> int:
        return min(self.limit, int(self.size.max(initial=0)))

    def passages(self) -> Passages:
        """Who comes to a top-k buffer, and who has to leave it for them."""
        comes, pushed, pushing = [], [], []
        topk_buffers = self._empty()
        for unit in self._turns():
            carried = self.number[unit]
            for topk_buffer in topk_buffers:
                here = topk_buffer[: len(unit)]
                carried, here[:] = np.maximum(carried, here), np.minimum(carried, here)
            stays = carried != self.number[unit]
            out = stays & (carried != INF)
            comes.append(unit[stays])
            pushed.append(carried[out])
            pushing.append(unit[out])
        came, gone, cause = map(_joined, (comes, pushed, pushing))
        n = np.repeat(np.array([1, -1]), [len(came), len(gone)])
        numbers = np.concatenate([self.number[came], gone])
        return Passages(numbers, n, np.concatenate([came, cause]))

    def versions(self) -> Versions:
        """Who has which place, and from when to when: never for no time."""
        topk_buffers, since = self._empty(), self._empty()
        found: list[tuple[Ints, Ints, Ints, Ints]] = []
        for turn, unit in enumerate(self._turns()):
            carried, time = self.number[unit], self.ts[unit]
            for place in range(min(turn + 1, self.width)):
                here, began = topk_buffers[place][: len(unit)], since[place][: len(unit)]
                better = carried < here
                over = np.flatnonzero(better & (began < time))
                found.append((here[over], np.full(len(over), place), began[over], time[over]))
                np.copyto(began, time, where=better)
                carried, here[:] = np.maximum(carried, here), np.minimum(carried, here)
        for place, (topk_buffer, began) in enumerate(zip(topk_buffers, since, strict=True)):
            there = np.flatnonzero(topk_buffer != INF)
            ends = np.full(len(there), INF)
            found.append((topk_buffer[there], np.full(len(there), place), began[there], ends))
        return Versions(*map(_joined, zip(*found, strict=True)))

    def _empty(self) -> list[Ints]:
        return [np.full(len(self.size), INF) for _ in range(self.width)]

    def _turns(self) -> list[Ints]:
        """The units of each turn; partitions with many turns come first, so that others fall out
        at the end."""
        by_size = np.argsort(-self.size, kind="stable")
        start, left = self.start[by_size], np.sort(self.size)
        still = len(left) - np.searchsorted(left, np.arange(left.max(initial=0)), side="right")
        return [self.turns[start[:count] + turn] for turn, count in enumerate(still.tolist())]


def topk_buffers(number: Ints, low: Ints, ts: Ints, limit: int) -> TopKBuffers | None:
    """Rows on their way to top-k buffers with so many places, or None if it is not worth it."""
    turns = np.flatnonzero(_near(number, low, limit))
    start = np.flatnonzero(starts_of(low[turns]))
    size = np.diff(start, append=len(turns))
    found = TopKBuffers(number, ts, limit, turns, start, size)
    effort = int(size.max(initial=0)) * found.width
    return found if effort <= max(_FEW, len(number) // _ROWS_PER_PLACE) else None


def _near(number: Ints, low: Ints, limit: int) -> Mask:
    """Whether a row may be among the first of its partition when it comes."""
    near = np.ones(len(number), dtype=np.bool_)
    index = np.arange(len(number)) - low
    size = np.bincount(low, minlength=len(number))[low]
    known = 2 * limit
    ordered = np.flatnonzero(size > known)
    ordered = ordered[sorting.sort_by(number[ordered])]
    while len(ordered):
        first = ordered[index[ordered] < known].reshape(-1, known)
        border = np.empty(len(number), dtype=np.int64)
        border[low[first[:, 0]]] = number[first[:, limit - 1]]
        later = ordered[(index[ordered] >= known) & (index[ordered] < 2 * known)]
        near[later] = number[later] < border[low[later]]
        known *= 2
        ordered = ordered[size[ordered] > known]
    return near


def _joined(parts: list[Ints] | tuple[Ints, ...]) -> Ints:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])
