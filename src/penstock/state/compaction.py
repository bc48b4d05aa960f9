"""Compaction: fewer, smaller runs that mean the same from the frontier on.

Law: every row that stays can be justified. A run whose rows are all needed no more is dropped, one
mostly of such rows is rewritten, and where retractions pile up they are added to what they retract.
Cost: runs of one size class are merged when there are a number of them, so a row is rewritten a
number of times that grows with the logarithm of the state table. How many it takes follows from
what it costs to rewrite what comes, and to look into a further run (`fan_of`). Large runs are
merged, and kept, in parts of about `PART` bytes, one after the other and not all in one step: state
may be larger than memory, and no step takes long for it. Where nothing is looked up, many runs of
that size are no worse than one.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from penstock.element import INF, concat, consolidation
from penstock.state.run import (
    Run,
    StateTableSpec,
    Statistics,
    clamped,
    part_of,
    run_of,
    without_dead,
)

FANS: tuple[int, ...] = (8, 16, 32, 64, 128, 256)
PART = 1 << 23
_BYTES_PER_LOOKUP = 40
_BYTES_PER_RUN = 20_000
_CLASS_BITS = 3
_SLACK = 1024


class Use(NamedTuple):
    """How many bytes a step brought to a state table, and how many keys it looked up in it."""

    bytes: int = 0
    lookups: int = 0


def choose(
    statistics: Sequence[Statistics],
    frontier: int,
    closing: bool = False,
    use: Use | None = None,
) -> list[list[int]]:
    """Which runs to rewrite together, by index; a run that is in no list stays as it is.

    Where punctuations are closing what a state table holds, how much of it can only be found out:
    it is looked at when it has doubled, and while it is small.
    """
    dead = [s.dead(frontier) for s in statistics]
    rows = sum(s.rows for s in statistics)
    if closing and rows and (rows <= _SLACK or 2 * _outside_largest(statistics) >= rows):
        return [list(range(len(statistics)))]
    cancelled = 2 * min(_minority(statistics), _outside_largest(statistics))
    if rows > _SLACK and 3 * (rows - sum(dead) - cancelled) < rows:
        return [list(range(len(statistics)))]
    chosen: list[list[int]] = []
    classes: defaultdict[int, list[int]] = defaultdict(list)
    for i, s in enumerate(statistics):
        if 2 * dead[i] > s.rows:
            chosen.append([i])
        elif use is None or use.lookups or s.bytes < PART // 2:
            classes[s.rows.bit_length() // _CLASS_BITS].append(i)
    fan = FANS[0] if use is None else fan_of(use)
    full = [size for size, members in classes.items() if len(members) >= fan]
    if full:
        chosen.append([i for size in sorted(classes) if size <= max(full) for i in classes[size]])
    return chosen


def fan_of(use: Use) -> int:
    """How many runs of one size it takes to merge them.

    With a fan of F, a step rewrites what comes to it once for each level, of which there are as
    many as the logarithm of F goes into that of the state table, and looks into F / 2 runs of each.
    That is least where F (ln F - 1) is twice the cost of the former over that of looking into a
    run.
    """
    ratio = use.bytes / (_BYTES_PER_RUN + _BYTES_PER_LOOKUP * use.lookups)
    return next((fan for fan in FANS if fan * (math.log(fan) - 1) >= 2 * ratio), FANS[-1])


def together(statistics: Sequence[Statistics]) -> Statistics:
    """What can be known of runs that are parts of one."""
    if len(statistics) == 1:
        return statistics[0]
    ranges = [s.hash_range for s in statistics]
    return Statistics(
        rows=sum(s.rows for s in statistics),
        bytes=sum(s.bytes for s in statistics),
        retractions=sum(s.retractions for s in statistics),
        hash_range=(min(r[0] for r in ranges), max(r[1] for r in ranges)),
        keep_quantiles=tuple(sorted(q for s in statistics for q in s.all_quantiles)),
    )


def size_of(runs: Sequence[Run]) -> int:
    """About how many bytes the rows of runs, or of parts of some, take."""
    return sum(run.statistics.bytes * len(run) // max(run.statistics.rows, 1) for run in runs)


def rest_of(known: Statistics, rows: int, since: int) -> Statistics:
    """What is known of the rows of a run from some hash on, given how many there are."""

    def share(of_all: int) -> int:
        return -(-of_all * rows // known.rows)

    return replace(
        known,
        rows=rows,
        bytes=share(known.bytes),
        retractions=share(known.retractions),
        hash_range=(since, known.hash_range[1]),
    )


def merge_in_parts(
    spec: StateTableSpec, runs: Sequence[Run], frontier: int
) -> Iterator[tuple[Run, int]]:
    """What `merge` gives, in the order of the state table and in parts.

    With each comes the hash or time below which all has been merged.
    """
    for part, bound in _parts(spec, runs):
        yield merge(spec, part, frontier), bound


def _parts(spec: StateTableSpec, runs: Sequence[Run]) -> Iterator[tuple[Sequence[Run], int]]:
    """The runs cut at the same hashes or times, so that what may be added up is in one part."""
    count = -(-size_of(runs) // PART)
    if count <= 1:
        yield runs, INF
        return
    places = [run.hashes if spec.order == "hash" else run.elements.ts for run in runs]
    stride = max(1, sum(map(len, places)) // (100 * count))
    sample = np.sort(np.concatenate([place[::stride] for place in places]))
    bounds = np.unique(sample[np.arange(1, count) * len(sample) // count])
    cuts = [[0, *np.searchsorted(p, bounds).tolist(), len(p)] for p in places]
    for i, bound in enumerate([*bounds.tolist(), INF]):
        parts = [part_of(run, c[i], c[i + 1]) for run, c in zip(runs, cuts, strict=True)]
        filled = [part for part in parts if len(part)]
        if filled:
            yield filled, bound


def merge(spec: StateTableSpec, runs: Sequence[Run], frontier: int) -> Run:
    """One run for many: dead rows dropped, weights of equal rows added up, zeros dropped."""
    alive = [without_dead(spec, run, frontier) for run in runs]
    x = concat(spec.schema, [run.elements for run in alive])
    hashes = np.concatenate([run.hashes for run in alive])
    keep = np.concatenate([run.keep for run in alive])
    if spec.order == "hash":
        x = clamped(x, frontier)
    whole = spec.repeats or len(spec.key) == len(spec.schema)
    if whole or _minority([run.statistics for run in alive]):
        x, rows = consolidation(x)
        hashes, keep = hashes[rows], keep[rows]
    return run_of(spec, x, hashes, keep)


def _minority(statistics: Sequence[Statistics]) -> int:
    """Rows of the rarer sign: each may cancel one of the other sign."""
    rows = sum(s.rows for s in statistics)
    retractions = sum(s.retractions for s in statistics)
    return min(retractions, rows - retractions)


def _outside_largest(statistics: Sequence[Statistics]) -> int:
    """Rows that may cancel one of another run; within a run they have done so."""
    return sum(s.rows for s in statistics) - max((s.rows for s in statistics), default=0)
