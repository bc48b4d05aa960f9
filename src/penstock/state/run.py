"""A run: elements sorted once, written once, never changed.

Law: a run is sorted by hash (for probing by key) or by `ts` (for what is still to come), and its
statistics are true of every row in it. `keep` is the time from which a row is needed no more. Only
results that are over when they are written have no order: no step reads them again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.algebra.evaluate import evaluate_ints
from penstock.algebra.expr import Expr
from penstock.element import Elements
from penstock.kinds import kind
from penstock.record import Hashes, Ints, Mask

Order: TypeAlias = Literal["hash", "time"]
Reader: TypeAlias = Callable[[], tuple[Elements, Ints]]
_QUANTILES = 16
_SAMPLE = 4096


@dataclass(frozen=True, slots=True)
class StateTableSpec:
    """What a state table holds: records of a schema, hashed by some of their columns, sorted one
    way.

    `hashed` are those of the key that are, where they are not all: texts are dear, and where hashes
    only split the rows among readers, others will do. `owner` names the columns whose hash decides
    which task a row belongs to, where that is not the key itself. `until` is from when on a row is
    needed no more, where that may be known only later.
    `repeats`: equal rows come again and again, and are worth adding up though none is taken back.
    """

    name: str
    schema: pa.Schema
    key: tuple[str, ...]
    order: Order = "hash"
    owner: tuple[str, ...] | None = None
    until: Expr | None = None
    repeats: bool = False
    hashed: tuple[str, ...] | None = None


@kind("statistics")
@dataclass(frozen=True, slots=True)
class Statistics:
    """What is known of a run without reading it."""

    rows: int
    bytes: int
    retractions: int
    hash_range: tuple[int, int]
    keep_quantiles: tuple[int, ...]

    @property
    def all_quantiles(self) -> tuple[int, ...]:
        """As many of each run, so that those of several can be put together."""
        known = self.keep_quantiles
        return known * (_QUANTILES + 1) if len(known) == 1 else known

    def dead(self, frontier: int) -> int:
        """About how many rows are needed no more; exact when all or none are."""
        if not self.keep_quantiles or self.keep_quantiles[-1] <= frontier:
            return self.rows
        passed = sum(q <= frontier for q in self.keep_quantiles)
        return self.rows * passed // len(self.keep_quantiles)


class Run:
    """The hashes of a run, and its rows, which are read when they are asked for.

    What is looked up and not found asks for no rows.
    """

    def __init__(self, hashes: Hashes, statistics: Statistics, read: Reader) -> None:
        self.hashes = hashes
        self.statistics = statistics
        self._read = read

    def __len__(self) -> int:
        return len(self.hashes)

    @property
    def elements(self) -> Elements:
        return self._rows[0]

    @property
    def keep(self) -> Ints:
        return self._rows[1]

    @cached_property
    def _rows(self) -> tuple[Elements, Ints]:
        return self._read()


def sorted_run(spec: StateTableSpec, x: Elements, keep: Ints | None = None) -> Run:
    """Sort elements into a run; without `keep`, a row is needed until its validity ends, or until
    it has fallen due."""
    return run_of(spec, x, hash_keys(spec, x), keep_of(spec, x) if keep is None else keep)


def keep_of(spec: StateTableSpec, x: Elements) -> Ints:
    """Until when rows are needed where nothing else is said."""
    return x.te if spec.order == "hash" else x.ts + 1


def split_runs(spec: StateTableSpec, x: Elements, apart: Mask) -> list[Run]:
    """Elements as two runs by hash, but those that are apart in no order; neither is empty."""
    hashes = hash_keys(spec, x)
    over, stays = x.where(apart), np.flatnonzero(~apart)
    stays = stays[sorting.sort_hashes(hashes[stays])]
    others = x.take(stays).plain()
    runs = [
        run_in_order(over, hashes[apart], over.te),
        run_in_order(others, hashes[stays], others.te),
    ]
    return [run for run in runs if len(run)]


def run_of(spec: StateTableSpec, x: Elements, hashes: Hashes, keep: Ints) -> Run:
    """Rows, whose hashes are known, put in the order of the state table."""
    keys: Hashes | Ints = hashes if spec.order == "hash" else x.ts
    if np.all(keys[1:] >= keys[:-1]):
        return run_in_order(x, hashes, keep)
    order = sorting.sort_hashes(hashes) if spec.order == "hash" else sorting.sort_by(x.ts)
    return run_in_order(x.take(order), hashes[order], keep[order])


def run_in_order(x: Elements, hashes: Hashes, keep: Ints) -> Run:
    """A run of rows that are in its order already."""
    return Run(hashes, _statistics(x, hashes, keep), lambda: (x, keep))


def hash_keys(spec: StateTableSpec, x: Elements) -> Hashes:
    return record.hash_rows(x.key(spec.key if spec.hashed is None else spec.hashed), len(x))


def owned(spec: StateTableSpec, run: Run, low: int, high: int) -> Run:
    """The rows whose owner's hash is in `[low, high)`; the statistics stay those of the whole."""
    if spec.owner is None and spec.order == "hash":
        return hashed_between(run, low, high)
    hashes = run.hashes
    if spec.owner is not None:
        hashes = record.hash_rows(run.elements.key(spec.owner), len(run))
    mine = (hashes >= low) & (hashes < high)
    x, keep = run.elements.where(mine), run.keep[mine]
    return Run(run.hashes[mine], run.statistics, lambda: (x, keep))


def hashed_between(run: Run, low: int, high: int) -> Run:
    """The rows of a run in the order of hashes that have them in `[low, high)`."""
    return part_of(run, place_of(run.hashes, low), place_of(run.hashes, high))


def place_of(hashes: Hashes, bound: int) -> int:
    """How many of these, which are in order, are below a bound."""
    if bound > np.iinfo(hashes.dtype).max:
        return len(hashes)
    return int(np.searchsorted(hashes, hashes.dtype.type(bound)))


def part_of(run: Run, start: int, stop: int) -> Run:
    """Some rows of a run; the statistics stay those of the whole."""

    def rows() -> tuple[Elements, Ints]:
        return run.elements.slice(start, stop), run.keep[start:stop]

    return Run(run.hashes[start:stop], run.statistics, rows)


def without_dead(spec: StateTableSpec, run: Run, frontier: int) -> Run:
    alive = run.keep > frontier
    if spec.until is not None:
        alive &= evaluate_ints(spec.until, run.elements) > frontier
    if alive.all():
        return run
    x = run.elements.where(alive)
    return run_in_order(x, run.hashes[alive], run.keep[alive])


def _leaning(x: Elements) -> Ints:
    """Negative for rows that take away: by their multiplicity or, without one, by other weights."""
    if not x.sums or np.all(x.n):
        return x.n
    return np.where(x.n == 0, sum(x.sums.values()), x.n)


def _statistics(x: Elements, hashes: Hashes, keep: Ints) -> Statistics:
    if len(x) == 0:
        return Statistics(0, 0, 0, (0, 0), ())
    size = sum(column.nbytes for column in x.columns) + (28 + 8 * (1 + len(x.sums))) * len(x)
    return Statistics(
        rows=len(x),
        bytes=int(size),
        retractions=int(np.count_nonzero(_leaning(x) < 0)),
        hash_range=(int(hashes.min()), int(hashes.max())),
        keep_quantiles=_quantiles(keep),
    )


def _quantiles(keep: Ints) -> tuple[int, ...]:
    """The least and the largest are exact; those between are of a sample, which costs less.

    One is enough where all are the same, as of rows that stay: the log has them of each run.
    """
    sample = np.sort(keep[:: -(-len(keep) // _SAMPLE)])
    sample[0], sample[-1] = keep.min(), keep.max()
    if sample[0] == sample[-1]:
        return (int(sample[0]),)
    places = np.linspace(0, len(sample) - 1, _QUANTILES + 1).astype(np.int64)
    return tuple(sample[places].tolist())


def clamped(x: Elements, frontier: int) -> Elements:
    """Rows as the future sees them: what began before the frontier is simply there."""
    return replace(x, ts=np.maximum(x.ts, np.minimum(frontier, x.te - 1)))
