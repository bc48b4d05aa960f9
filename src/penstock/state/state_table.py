"""A sweep area: the runs of one operator's state, as a kernel sees them.

Law: a state table is the union of its runs. Every row is additive, so appending a run never needs
to read the others, and compacting runs never changes what the state table means from its frontier
on.
Cost: a probe is a binary search per run, so it follows the number of needles and the logarithm of
the state table. A time-ordered state table is read as a range of its runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from penstock import record
from penstock.element import BEGIN, INF, Elements, concat
from penstock.record import Hashes, Ints
from penstock.state.run import Run, StateTableSpec

_PAIRS = 1 << 22


@dataclass(frozen=True, slots=True)
class StateTable:
    """The runs of a state as of one frontier, with the lookups that kernels make."""

    spec: StateTableSpec
    runs: tuple[Run, ...] = ()
    frontier: int = BEGIN
    lookups: list[int] = field(default_factory=list, compare=False)
    """How many keys were looked up, each time that some were."""

    def __len__(self) -> int:
        return sum(len(run) for run in self.runs)

    def rows_with(self, hashes: Hashes) -> tuple[Elements, Hashes]:
        """Every row whose key has one of these hashes (sorted, no duplicates), and its hash."""
        self.lookups.append(len(hashes))
        places = [_members(hashes, run.hashes) for run in self.runs]
        found = [np.empty(0, dtype=np.uint32)]
        found += [run.hashes[rows] for run, rows in zip(self.runs, places, strict=True)]
        there = zip(self.runs, places, strict=True)
        parts = [run.elements.take(rows) for run, rows in there if len(rows)]
        return concat(self.spec.schema, parts), np.concatenate(found)

    def matches(self, hashes: Hashes) -> Iterator[tuple[Run, Ints, Ints]]:
        """Per run, the pairs (needle, row) of equal hashes; needles are sorted.

        Needles that are equal are looked up once: of a stream with hot keys, most are.
        """
        first = np.flatnonzero(record.starts_of(hashes))
        repeats = np.diff(first, append=len(hashes))
        distinct = hashes[first]
        self.lookups.append(len(distinct))
        for run in self.runs:
            for found, rows in equal_pairs(distinct, run.hashes):
                for pair, needles in ranges(first[found], repeats[found]):
                    yield run, needles, rows[pair]

    def needed(self) -> Elements:
        """Every row that is still needed."""
        self.lookups.append(len(self))
        return concat(
            self.spec.schema,
            [run.elements.where(run.keep > self.frontier) for run in self.runs],
        )

    def begun_between(self, w0: int, w1: int) -> Elements:
        """The rows of a time-ordered state table with `w0 <= ts < w1` (all the rest when w1 is
        INF)."""
        found = []
        for run in self.runs:
            low, high = np.searchsorted(run.elements.ts, (w0, w1))
            found.append(run.elements.slice(int(low), len(run) if w1 == INF else int(high)))
        return concat(self.spec.schema, found)


def _members(needles: Hashes, hashes: Hashes) -> Ints:
    """The places of all hashes that are among the needles: few of many, or many of all."""
    if len(hashes) > 8 * len(needles):
        return np.concatenate(
            [np.empty(0, dtype=np.int64), *(j for _, j in equal_pairs(needles, hashes))]
        )
    place = np.searchsorted(needles, hashes)
    return np.flatnonzero(needles[np.minimum(place, len(needles) - 1)] == hashes)


def equal_pairs(needles: Hashes, hashes: Hashes) -> Iterator[tuple[Ints, Ints]]:
    """All pairs of places with equal hashes, a bounded number at a time; both are sorted.

    Only needles within the range of the hashes are looked for: a large run is kept in parts, and
    each needle can be in one of them.
    """
    if len(hashes):
        first = int(np.searchsorted(needles, hashes[0]))
        inside = needles[first : int(np.searchsorted(needles, hashes[-1], side="right"))]
        low = np.searchsorted(hashes, inside)
        for needle, place in ranges(low, _repeats(inside, hashes, low)):
            yield needle + first, place


def ranges(low: Ints, count: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Each needle with the places of a range of its own, a bounded number of pairs at a time."""
    total = np.concatenate([[0], np.cumsum(count)])
    start = 0
    while total[start] < total[-1]:
        stop = max(int(np.searchsorted(total, total[start] + _PAIRS, side="right")) - 1, start + 1)
        needle = np.repeat(np.arange(start, stop), count[start:stop])
        place = np.arange(len(needle)) + total[start] - total[needle]
        yield needle, place + low[needle]
        start = stop


def _repeats(needles: Hashes, hashes: Hashes, low: Ints) -> Ints:
    """How many hashes from `low` on equal the needle: mostly none or one, so look there first."""
    last = len(hashes) - 1
    count: Ints = (hashes[np.minimum(low, last)] == needles).astype(np.int64)
    more = (count > 0) & (low < last) & (hashes[np.minimum(low + 1, last)] == needles)
    count[more] = np.searchsorted(hashes, needles[more], side="right") - low[more]
    return count
