"""What a view has published, read in this process: few rows need no job of Spark.

Law: a reading is of one committed version, and its files stay until it is over. Changes are told in
the order of their times; all of them before the end of a part are in it or in those before.
Cost: a part reads the publications that it needs, about as many rows as are asked for. No lock is
held that a step waits for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.algebra import codec
from penstock.element import BEGIN, INF
from penstock.ingest.times import parsed, shown, time_of
from penstock.output.definitions import sources_of
from penstock.output.readers import CommittedView, Reading
from penstock.runtime.engine import Engine
from penstock.state.store import ALL_HASHES, FileStore

__all__ = [
    "Changes",
    "CommittedView",
    "Reading",
    "changes_from",
    "event_time",
    "identity",
    "opened",
    "parsed",
    "time_text",
]

_PIECE = 1 << 18
"""How many rows of runs are read at a time."""


@dataclass(frozen=True)
class Changes:
    """The changes of a view with times in `[since, until)`, in their order, as of a version."""

    view: CommittedView
    since: int
    until: int
    rows: pa.Table

    @property
    def version(self) -> int:
        return self.view.manifest.version

    def times(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """When each change is, as integers."""
        column = self.rows.column(self.rows.num_columns - 1).combine_chunks()
        return column.cast(pa.int64()).fill_null(BEGIN).to_numpy(zero_copy_only=False)

    def parts(self, rows: int) -> Iterator[Changes]:
        """The same in parts of about so many rows; changes of one time stay together."""
        times, start, since = self.times(), 0, self.since
        while len(times) - start > rows:
            end = int(np.searchsorted(times, times[start + rows], side="left"))
            if end == start:  # one time has more changes than that
                end = int(np.searchsorted(times, times[start], side="right"))
            if end == len(times):
                break
            until = int(times[end])
            yield Changes(self.view, since, until, self.rows.slice(start, end - start))
            start, since = end, until
        yield Changes(self.view, since, self.until, self.rows.slice(start))


def changes_from(
    engine: Engine, name: str, since: int | None, rows: int, until: int = INF
) -> Changes:
    """The changes from a time on and before another, of about so many rows."""
    view = engine.committed(name)

    def part() -> Reading:
        nonlocal view
        view = engine.committed(name)  # whose files are there
        start, end = view.oldest if since is None else since, min(until, view.frontier)
        return view.changes(start, _end_of_part(view, start, rows, end))

    with opened(engine, part) as (reading, batches):
        table = pa.Table.from_batches(list(batches), schema=reading.schema)
        return Changes(view, reading.since, max(reading.until, reading.since), table)


def _end_of_part(view: CommittedView, since: int, rows: int, end: int) -> int:
    total = 0
    for entry in view.publications:
        if since < entry.w1 < end:
            total += sum(ref.statistics.rows for ref in entry.refs)
            if total >= rows:
                return entry.w1
    return end


@contextmanager
def opened(
    engine: Engine, choose: Callable[[], Reading], in_pieces: bool = False
) -> Iterator[tuple[Reading, Iterator[pa.RecordBatch]]]:
    """A reading and its rows; in pieces, whose order says nothing, if these need not be sorted."""
    with engine.reading(choose) as reading:
        store = FileStore(reading.directory)
        yield reading, _batches(reading, store, in_pieces)


def _batches(reading: Reading, store: FileStore, in_pieces: bool) -> Iterator[pa.RecordBatch]:
    count = sum(ref.statistics.rows for ref in reading.runs) // _PIECE + 1 if in_pieces else 1
    end = ALL_HASHES[1]
    for i in range(count):
        yield from reading.read(i * end // count, (i + 1) * end // count, store)


def identity(engine: Engine, view: CommittedView) -> str:
    """What tells a view from another of its name: what it says, and which sources it reads.

    Whoever has read the changes of one cannot go on with those of another.
    """
    return _identity(engine, view.name, view)[:12]


def _identity(engine: Engine, name: str, view: CommittedView) -> str:
    definition = engine.views.get(name)
    if definition is None:
        state = view.manifest.sources.get(name)
        return f"{name} {'' if state is None else state.checkpoint}"
    plan = json.dumps(codec.encode(definition.meaning), sort_keys=True, default=str)
    below = [_identity(engine, read, view) for read in sorted(sources_of(definition.meaning))]
    return hashlib.sha256("\n".join([plan, str(definition.key), *below]).encode()).hexdigest()


def event_time(engine: Engine) -> pa.DataType:
    """The kind of time that all sources share."""
    return time_of(engine.sources.values())


def time_text(kind: pa.DataType, time: int) -> str | int | None:
    """A time as programs read it: an integer, or ISO 8601; None for the ends of time."""
    if time in (BEGIN, INF):
        return None
    return time if pa.types.is_integer(kind) else shown(time, kind).replace(" ", "T")
