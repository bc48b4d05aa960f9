"""When values come to groups and go: what DISTINCT aggregates see.

Meaning: per group, each value once, for the aggregates that count it once (equation 7 over 4).
Law: for a source, a value is in a group while the group holds a record with it that takes part.
State: `distinct <column>`, per group and value how many such records each source has; where no
record leaves the input, only whether it has any.
Cost: follows the changes of the step, once for all sources over the same column.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.algebra.expr import Expr
from penstock.element import INF, Elements, concat
from penstock.physical.kernel import (
    Timeline,
    Write,
    at,
    before,
    distinct_hashes,
    kept,
    net_change,
    timeline,
)
from penstock.physical.kernels.aggregate_sums import Source
from penstock.record import Ints, Mask
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable

_MOST_SOURCES = 63


@dataclass(frozen=True)
class DistinctValues:
    """`schema` holds the columns of the groups and the one that all the sources are over."""

    schema: pa.Schema
    column: str
    owner: tuple[str, ...]
    sources: tuple[Source, ...]
    until: Expr | None
    append_only: bool

    @property
    def state_table(self) -> StateTableSpec:
        names = tuple(self.schema.names)
        name = f"distinct {self.column}"
        return StateTableSpec(name, self.schema, names, owner=self.owner, until=self.until)

    def step(
        self, state_table: StateTable, changes: Elements, w0: int, w1: int
    ) -> tuple[Elements, Write]:
        """What comes and goes, as changes with a weight for each source, and what is to be kept."""
        x = self._taking(changes)
        if len(x) == 0:
            return x, Write(x)
        hashes = record.hash_rows(x.columns, len(x))
        known, known_hashes = state_table.rows_with(distinct_hashes(hashes))
        both = concat(self.schema, [x, at(known, before(w0))])
        frames = timeline(both.columns, np.concatenate([hashes, known_hashes]), both.ts)
        count = self._counted(frames.running(both.n))
        counts = {name: self._counted(frames.running(n)) for name, n in both.sums.items()}
        state = kept(net_change(both, frames, count, counts, w0), self.until, w1)
        return _coming(both, frames, counts, w0), state

    def of(self, source: Source, comes: Elements) -> Elements:
        """What comes and goes for one of the sources."""
        nothing = np.zeros(len(comes), dtype=np.int64)
        return replace(comes, n=comes.sums.get(str(source), nothing), sums={})

    def _taking(self, changes: Elements) -> Elements:
        """The changes that any source sees, with their weight in each."""
        takes = {str(source): source.rows(changes) for source in self.sources}
        seen = np.flatnonzero(reduce(np.logical_or, takes.values()))
        if self.append_only and len(takes) < _MOST_SOURCES:
            seen = seen[self._first(changes, seen, list(takes.values()))]
        x = changes.select(self.schema.names).take(seen)
        return replace(x, sums={name: np.where(rows[seen], x.n, 0) for name, rows in takes.items()})

    def _first(self, changes: Elements, seen: Ints, takes: list[Mask]) -> Ints:
        """Where values only come, their first times for the same sources are all that matters."""
        if np.any(changes.ts[1:] < changes.ts[:-1]):
            return np.arange(len(seen))
        who = sum(rows[seen].astype(np.int64) << i for i, rows in enumerate(takes))
        columns = record.take(changes.key(self.schema.names), seen)
        return record.first_of_each((*columns, pa.array(who)), len(seen))

    def _counted(self, n: Ints) -> Ints:
        return np.minimum(n, 1) if self.append_only else n


def _coming(x: Elements, frames: Timeline, counts: Mapping[str, Ints], w0: int) -> Elements:
    """1 where a count leaves zero, -1 where it comes back to it."""
    sums, changed = {}, np.zeros(len(frames), dtype=np.bool_)
    for name, count in counts.items():
        there = (count > 0).astype(np.int64)
        was = np.concatenate([[0], there[:-1]])
        was[frames.first] = 0
        sums[name] = there - was
        changed |= sums[name] != 0
    changed &= frames.time >= w0
    columns = record.take(x.columns, frames.row[frames.group[changed]])
    ts = frames.time[changed]
    sums = {name: weight[changed] for name, weight in sums.items()}
    return Elements(x.schema, columns, ts, np.full_like(ts, INF), np.zeros_like(ts), sums)
