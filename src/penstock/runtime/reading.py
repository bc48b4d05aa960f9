"""Reading a view: its snapshot, its changes and its history, as of one committed version.

A reader names the runs it reads and splits the hashes of records among its tasks. All elements of a
record are in one task, so weights are added up without an exchange. Files that a later commit does
without stay for a while, so that a reader that began before it can finish.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.element import BEGIN, INF, Elements, changes, concat, consolidate, intervals
from penstock.record import Ints
from penstock.state.run import AreaSpec, owned
from penstock.state.store import FileStore, RunRef

What: TypeAlias = Literal["snapshot", "changes", "history", "rows"]
_ROWS = 1 << 16


@dataclass(frozen=True)
class Reading:
    """What to read of a view: `[since, until)` for changes, the time `until - 1` for a snapshot.

    The runs of the base hold what was there when older changes were given up: their elements have
    ends that count, but no beginnings that can still be told.
    """

    what: What
    area: AreaSpec
    refs: tuple[RunRef, ...]
    directory: Path
    time: pa.DataType
    since: int = BEGIN
    until: int = INF
    base: tuple[RunRef, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        fields = list(self.area.schema)
        match self.what:
            case "snapshot" | "rows":
                return self.area.schema
            case "changes":
                return pa.schema([("op", pa.string()), *fields, ("ts", self.time)])
            case "history":
                return pa.schema([*fields, ("valid_from", self.time), ("valid_to", self.time)])

    def read(self, low: int, high: int, store: FileStore) -> Iterator[pa.RecordBatch]:
        """The rows of the records whose hashes are in `[low, high)`."""
        known = [self._owned(ref, low, high, store) for ref in self.refs]
        old = [self._owned(ref, low, high, store) for ref in self.base]
        old = [replace(x, ts=np.full(len(x), BEGIN, dtype=np.int64)) for x in old]
        x = concat(self.area.schema, [*known, *old])
        match self.what:
            case "rows":
                batches = self._batch(x, [])
            case "snapshot":
                batches = self._snapshot(x)
            case "changes":
                batches = self._changes(x)
            case "history":
                batches = self._history(x)
        for start in range(0, batches.num_rows, _ROWS):
            yield batches.slice(start, _ROWS)

    def _owned(self, ref: RunRef, low: int, high: int, store: FileStore) -> Elements:
        return owned(self.area, store.open(self.area, ref), low, high).elements

    def _snapshot(self, x: Elements) -> pa.RecordBatch:
        x = x.where((x.ts <= self.until - 1) & (self.until - 1 < x.te))
        zero = np.zeros(len(x), dtype=np.int64)
        x = consolidate(replace(x, ts=zero, te=zero + 1))
        return self._batch(_copies(x, x.n), [])

    def _changes(self, x: Elements) -> pa.RecordBatch:
        x = changes(x.where((x.te >= self.since) & (x.ts < self.until)))
        x = x.where((x.ts >= self.since) & (x.ts < self.until))
        x = _copies(x, np.abs(x.n))
        x = x.take(record.sort_by(x.ts, np.sign(x.n)))
        op = pa.array(np.where(x.n > 0, "+", "-"))
        return self._batch(x, [self._times(x.ts)], op)

    def _history(self, x: Elements) -> pa.RecordBatch:
        x = x.where(x.ts < self.until)
        x = intervals(x)
        x = x.where(x.ts < self.until)
        te = np.where(x.te < self.until, x.te, INF)
        x = _copies(replace(x, te=te), x.n)
        return self._batch(x, [self._times(x.ts), self._times(x.te)])

    def _batch(
        self, x: Elements, times: list[pa.Array], op: pa.Array | None = None
    ) -> pa.RecordBatch:
        before = [] if op is None else [op]
        return pa.RecordBatch.from_arrays([*before, *x.columns, *times], schema=self.schema)

    def _times(self, time: Ints) -> pa.Array:
        """Event times in the type of the event time; NULL for the beginning and end of time."""
        ends = (time == INF) | (time == BEGIN)
        return pa.array(np.where(ends, 0, time), mask=ends).cast(self.time)


def _copies(x: Elements, count: Ints) -> Elements:
    return x.take(np.repeat(np.arange(len(x)), np.maximum(count, 0)))
