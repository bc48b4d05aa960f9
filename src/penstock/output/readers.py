"""Reading a view: its snapshot, its changes and its history, as of one committed version.

A reader names the runs it reads and splits the hashes of records among its tasks. All elements of a
record are in one task, so weights are added up without an exchange. Files that a later commit does
without stay for a while, so that a reader that began before it can finish.

Only runs that can matter are read: by their statistics, those in which something began or ended in
the time that is asked for. Following the changes of a view does not read all of its past each time.
"""

from __future__ import annotations

import difflib
import pickle
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.algebra import codec
from penstock.element import BEGIN, INF, Elements, changes, concat, consolidate, intervals
from penstock.errors import PlanError
from penstock.execution.task import hash_range
from penstock.ingest.times import shown, time_of
from penstock.output.definitions import ViewDefinition, sources_and_views
from penstock.physical.program import base_state_table, view_state_table
from penstock.physical.subplan import with_times
from penstock.record import Ints, Mask
from penstock.state.manifest import Handover, Manifest, Publication, StateTableRuns
from penstock.state.run import StateTableSpec
from penstock.state.store import FileStore, RunReference

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches: TypeAlias = Iterator[pa.RecordBatch]
What: TypeAlias = Literal["snapshot", "changes", "history", "rows", "elements", "standing"]
_OPS = np.array(["-", "u", "+"])
_GOES, _UPDATED, _COMES = range(3)
_ROWS = 1 << 16


@dataclass(frozen=True)
class Reading:
    """What to read of a view: `[since, until)` for changes, the time `until - 1` for a snapshot.

    What is standing at `until - 1` are elements that begin at `since` and have no end.

    The runs of the base hold what was there when older changes were given up: their elements have
    ends that count, but no beginnings that can still be told.

    Where a record goes and another of its key comes at the same time, changes show one update. The
    columns that reading adds make way for those of the record: `_op` where it has an `op`.
    """

    what: What
    state_table: StateTableSpec
    refs: tuple[RunReference, ...]
    directory: Path
    time: pa.DataType
    since: int = BEGIN
    until: int = INF
    base: tuple[RunReference, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        fields = list(self.state_table.schema)
        match self.what:
            case "snapshot" | "rows":
                return self.state_table.schema
            case "elements" | "standing":
                return with_times(self.state_table.schema)
            case "changes":
                op, ts = self._added("op", "ts")
                return pa.schema([(op, pa.string()), *fields, (ts, self.time)])
            case "history":
                added = self._added("valid_from", "valid_to")
                return pa.schema([*fields, *((name, self.time) for name in added)])

    def _added(self, *names: str) -> Iterator[str]:
        """Names for columns that the record does not have."""
        taken = {name.lower() for name in self.state_table.schema.names}
        for name in names:
            while name in taken:
                name = f"_{name}"
            yield name

    @property
    def runs(self) -> tuple[RunReference, ...]:
        """All that is read; where there is none, there are no rows."""
        return (*self.refs, *self.base)

    def read(self, low: int, high: int, store: FileStore) -> Iterator[pa.RecordBatch]:
        """The rows of the records whose hashes are in `[low, high)`."""
        known = [self._owned(ref, low, high, store) for ref in self.refs]
        old = [self._owned(ref, low, high, store) for ref in self.base]
        old = [x.where(x.te >= self.since) for x in old]
        old = [replace(x, ts=np.full(len(x), BEGIN, dtype=np.int64)) for x in old]
        x = concat(self.state_table.schema, [*known, *old])
        match self.what:
            case "rows":
                batches = self._batch(_copies(x, x.n), [])
            case "elements":
                batches = self._elements(x.where(x.ts >= self.since))
            case "snapshot":
                x = self._standing(x)
                batches = self._batch(_copies(x, x.n), [])
            case "standing":
                batches = self._elements(self._standing(x))
            case "changes":
                batches = self._changes(x)
            case "history":
                batches = self._history(x)
        for start in range(0, batches.num_rows, _ROWS):
            yield batches.slice(start, _ROWS)

    def _owned(self, ref: RunReference, low: int, high: int, store: FileStore) -> Elements:
        run = store.open(self.state_table, ref)
        return run.elements.where((run.hashes >= low) & (run.hashes < high))

    def _elements(self, x: Elements) -> pa.RecordBatch:
        ends = pa.array(x.te, mask=x.te == INF)
        return self._batch(x, [pa.array(x.ts), ends, pa.array(x.n)])

    def _standing(self, x: Elements) -> Elements:
        """The records that are there at a time, each once with its weight."""
        x = x.where((x.ts <= self.until - 1) & (self.until - 1 < x.te))
        begin = np.full(len(x), self.since, dtype=np.int64)
        return consolidate(replace(x, ts=begin, te=np.full(len(x), INF)))

    def _changes(self, x: Elements) -> pa.RecordBatch:
        x = changes(x.where((x.te >= self.since) & (x.ts < self.until)))
        x = x.where((x.ts >= self.since) & (x.ts < self.until))
        x = _copies(x, np.abs(x.n))
        x = x.take(sorting.sort_by(record.canonical_order(x.columns, len(x))))
        op, replaced = self._operations(x)
        order = sorting.sort_by(x.ts, op)
        order = order[~replaced[order]]
        x = x.take(order)
        return self._batch(x, [self._times(x.ts)], pa.array(_OPS[op[order]]))

    def _operations(self, x: Elements) -> tuple[Ints, Mask]:
        """What each change does, and which ones an update of the same key and time says too."""
        comes = (x.n > 0).astype(np.int64)
        keyed = (*x.key(self.state_table.key), pa.array(x.ts))
        at = record.group_rows(keyed, record.hash_rows(keyed, len(x))).code
        order = sorting.sort_by(at, comes)
        start = np.flatnonzero(record.starts_of(at[order], comes[order]))
        place = np.empty(len(x), dtype=np.int64)
        place[order] = np.arange(len(x)) - np.repeat(start, np.diff(start, append=len(x)))
        count = np.zeros((2, at.max(initial=-1) + 1), dtype=np.int64)
        np.add.at(count, (comes, at), 1)
        paired = place < count[1 - comes, at]
        op = np.where(comes == 0, _GOES, np.where(paired, _UPDATED, _COMES))
        return op, paired & (comes == 0)

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


@dataclass(frozen=True)
class CommittedView:
    """A view as of one committed version: where all readings of it come from."""

    name: str
    state_table: StateTableSpec
    time: pa.DataType
    manifest: Manifest
    directory: Path

    @property
    def publications(self) -> tuple[Publication, ...]:
        """The changes that are kept, oldest first."""
        return self.manifest.changelogs.get(self.name, ())

    @property
    def frontier(self) -> int:
        """Everything before this time is complete; a view that failed stays where it did."""
        failure = self.manifest.failures.get(self.name)
        return self.manifest.frontier if failure is None else failure.frontier

    @property
    def oldest(self) -> int:
        """The time from which on all changes are kept."""
        given_up = self._base.frontier
        return BEGIN if given_up == BEGIN else given_up + 1

    def snapshot(self, at: int | None = None) -> Reading:
        """The view at a time; without one, at the latest that is complete."""
        frontier = self.frontier
        if at is None:
            now = self.manifest.state_table(view_state_table(self.name)).refs
            return self._reading("snapshot", now, until=frontier)
        if at >= frontier:
            raise PlanError(
                f"view {self.name}: time {shown(at, self.time)} is not complete yet; "
                f"everything before {shown(frontier, self.time)} is{self._failed}"
            )
        if at < self._base.frontier:
            raise PlanError(
                f"view {self.name}: what it was at {shown(at, self.time)} is no longer kept; "
                f"the earliest is {shown(self._base.frontier, self.time)}"
            )
        log = [ref for entry in self._begun(at + 1) for ref in entry.refs if _ends(ref)[1] > at]
        return self._reading("snapshot", log, self._base.refs, until=at + 1)

    def changes(self, since: int | None = None, until: int | None = None) -> Reading:
        """The changes in `[since, until)`; without a beginning, all that are kept."""
        since = self.oldest if since is None else since
        if since < self.oldest:
            raise PlanError(
                f"view {self.name}: its changes at {shown(since, self.time)} are no longer kept; "
                f"all from {shown(self.oldest, self.time)} on are"
            )
        until = self.frontier if until is None else until
        log: list[RunReference] = []
        for entry in self._begun(until):
            log += [ref for ref in entry.refs if since < entry.w1 or _may_end(ref, since, until)]
        base = [ref for ref in self._base.refs if _may_end(ref, since, until)]
        return self._reading("changes", log, base, since, until)

    def history(self) -> Reading:
        """Every record with the times from and to which it was there."""
        log = [ref for entry in self.publications for ref in entry.refs]
        since, until = self.oldest, self.frontier
        return self._reading("history", log, self._base.refs, since, until)

    @property
    def _failed(self) -> str:
        """Why the view does not go on, as an end of a sentence; empty where it does."""
        failure = self.manifest.failures.get(self.name)
        if failure is None:
            return ""
        return f", where it failed: {failure.reason}. ALTER VIEW {self.name} RESUME goes on"

    @property
    def _base(self) -> StateTableRuns:
        return self.manifest.state_table(base_state_table(self.name))

    def _begun(self, until: int) -> list[Publication]:
        return [entry for entry in self.publications if entry.w0 < until]

    def _reading(
        self,
        what: What,
        refs: Sequence[RunReference],
        base: Sequence[RunReference] = (),
        since: int = BEGIN,
        until: int = INF,
    ) -> Reading:
        return Reading(
            what,
            self.state_table,
            tuple(refs),
            self.directory,
            self.time,
            since,
            until,
            tuple(base),
        )


def read_view(spark: SparkSession, reading: Reading, tasks: int) -> DataFrame:
    """A DataFrame that reads a view when it is asked to."""
    from pyspark.sql.pandas.types import from_arrow_schema

    pickled = pickle.dumps(reading)

    def run(batches: Batches) -> Batches:
        chosen: Reading = pickle.loads(pickled)
        for task in [row for batch in batches for row in batch.column(0).to_pylist()]:
            yield from chosen.read(*hash_range(task, tasks), FileStore(chosen.directory))

    schema = from_arrow_schema(reading.schema)
    return spark.range(0, tasks, 1, tasks).mapInArrow(run, schema)


def handed_over(view: CommittedView, due: Handover) -> CommittedView:
    """The view that was there before another took its place, as its followers are to read it."""
    definition: ViewDefinition = codec.decode(due.definition)
    then = Manifest(
        frontier=due.publications[-1].w1,
        state_tables={base_state_table(view.name): due.base},
        changelogs={view.name: due.publications},
    )
    return replace(view, state_table=definition.state_table(view.name), manifest=then)


def committed_view(manifest: Manifest, directory: Path, name: str) -> CommittedView:
    """A view of a state directory, by its definition in the log."""
    sources, views = sources_and_views(manifest)
    if name not in views:
        raise no_view(name, views)
    state_table = views[name].state_table(name)
    return CommittedView(name, state_table, time_of(sources.values()), manifest, directory / "runs")


def no_view(name: str, views: Iterable[str]) -> PlanError:
    known = list(views)
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return PlanError(f"no view {name!r}; there are: {', '.join(known) or 'none yet'}{hint}")


def _ends(ref: RunReference) -> tuple[int, int]:
    """The first and the last time at which a row of a run ends."""
    ends = ref.statistics.keep_quantiles
    return ends[0], ends[-1]


def _may_end(ref: RunReference, since: int, until: int) -> bool:
    first, last = _ends(ref)
    return first < until and since <= last
