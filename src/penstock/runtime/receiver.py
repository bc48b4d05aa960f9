"""Rows, punctuations and heartbeats of sources on their way into a state directory.

Law: the rows of a batch, what they leave behind and how far they bring their source are one commit.
The batches of a source come one after the other: their rows are numbered in the order they came.
"""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.algebra.expr import Expr
from penstock.element import BEGIN, INF
from penstock.errors import PlanError
from penstock.ingest.file_sources.batch import FileBatch
from penstock.ingest.fitting import Rejected
from penstock.ingest.rows import completed, parquet_of, taken
from penstock.ingest.schemes import (
    NO_MARKS,
    Batch,
    as_frontier,
    columns_of_marks,
    operations_of,
    schemes_of,
)
from penstock.ingest.sources import Ingest, IngestReport, SourceDefinition, input_state_table
from penstock.ingest.watermarks import (
    advanced,
    after_batch,
    check_batch,
    is_duplicate,
    lateness,
    moment,
    open_from,
    reasons_of,
    watermark_of,
)
from penstock.punctuation import Punctuation, text
from penstock.runtime.failures import InputBuffersFailedError, filled, holders, ingested
from penstock.runtime.jobs import store_of
from penstock.runtime.pipeline_state import PipelineState
from penstock.state.manifest import Action, Changed, Numbered, Punctuated, Received, SourceState
from penstock.state.producers import BatchId

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

logger = logging.getLogger("penstock")


class Receiver:
    """Takes batches, and what sources say of the rows to come, into the log."""

    def __init__(self, state: PipelineState) -> None:
        self._state = state
        self._order: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        """One lock a source: its batches come one after the other."""
        self._waiting: dict[str, int] = {}
        """How far steps may go while rows of these sources come again."""

    # --- watermarks -----------------------------------------------------------------------------

    def watermark(self) -> int:
        """How far all sources together have come, but for the idle ones. Tables are complete."""
        sources = self._state.sources
        streams = [source for source in sources.values() if not source.is_table]
        if sources and not streams:
            return INF
        states = {source.name: self._state.source_state(source.name) for source in streams}
        known = {source.name: watermark_of(source, states[source.name]) for source in streams}
        busy = [known[name] for name in known if not states[name].idle]
        free = min(busy) if busy else max(known.values(), default=BEGIN)
        return min([free, *self._waiting.values()])

    def advance_watermark(self, source: str, frontier: int) -> None:
        """No more rows of the source before this time."""
        with self._state.mutex:
            state = self._state.source_state(self._state.source(source).name)
            if frontier > state.frontier:
                after = advanced(state, frontier, self._state.target)
                self._state.commit(Received(source, after))
                self._state.metrics.observe_event_time(frontier - 1)

    def set_idle(self, source: str) -> None:
        """The source holds nobody back until its next batch, whose rows may then be late."""
        with self._state.mutex:
            state = self._state.source_state(self._state.source(source).name)
            self._state.commit(Received(source, replace(state, idle=True)))

    def punctuate(self, name: str, punctuations: Sequence[Punctuation]) -> None:
        """No more rows of the source like these. Where that speaks of time alone, time goes on."""
        source = self._state.source(name)
        if source.is_table:
            raise PlanError(f"{name!r} is a table: it has all its rows already")
        with self._state.mutex:
            at = open_from(self._state.source_state(name), self._state.target)
            entries = []
            for one in punctuations:
                frontier = as_frontier(one, source)
                if frontier is None:
                    entries.append((text.write(one), at))
                else:
                    self.advance_watermark(name, frontier)
            if entries:
                self._state.commit(Punctuated(name, tuple(entries)))

    # --- batches --------------------------------------------------------------------------------

    def receive_table(
        self,
        source: str,
        rows: pa.Table,
        batch: BatchId | None = None,
        rejected: Sequence[Rejected] = (),
    ) -> IngestReport:
        """A batch that is in this process: it needs no job unless Spark has to compute on it."""

        def run(ingest: Ingest) -> IngestReport:
            report = self._ingest(completed(rows, ingest.source.given), ingest)
            report.add(ingest.refuse(rejected, store_of(self._state.runs)))
            return report

        return self._receive(source, rows, run, batch)

    def receive_file(self, source: str, path: Path, batch: BatchId | None = None) -> IngestReport:
        """A batch in a Parquet file, of which only the columns are read that are needed."""
        given = self._state.source(source).given
        if schemes_of(source, self._state.definitions):  # punctuations may be in any column
            rows, rejected = parquet_of(path, given)
            return self.receive_table(source, rows, batch, rejected)

        def run(ingest: Ingest) -> IngestReport:
            needed = ingest.needed
            schema = pa.schema([given.field(name) for name in needed])
            rows, rejected = parquet_of(path, schema)
            report = self._ingest(rows, replace(ingest, only=needed))
            if not rejected and (
                report.late + report.broken == 0 or self._state.source(source).late != "keep"
            ):
                return report
            rows, rejected = parquet_of(path, given)
            report = self._ingest(rows, ingest)
            report.add(ingest.refuse(rejected, store_of(self._state.runs)))
            return report

        return self._receive(source, None, run, batch)

    def _computed(self, rows: pa.Table, computed: Mapping[str, Expr]) -> pa.Table:
        return self._state.jobs.with_computed(rows, computed, self._state.runs)

    def _ingest(self, rows: pa.Table, ingest: Ingest) -> IngestReport:
        if ingest.computed:
            return self._state.jobs.ingest(rows, ingest, self._state.runs)
        return ingest.run(rows.to_batches(), store_of(self._state.runs))

    def receive_rows(
        self, source: str, rows: DataFrame, batch: int | BatchId | None = None
    ) -> IngestReport:
        """A batch as a DataFrame; one that was received before is not again."""

        def run(ingest: Ingest) -> IngestReport:
            return self._state.jobs.ingest(
                completed(rows, ingest.source.given), ingest, self._state.runs
            )

        return self._receive(source, rows, run, batch)

    def receive_table_rows(
        self, table: SourceDefinition, rows: pa.Table | DataFrame | FileBatch
    ) -> IngestReport:
        """All rows of a new table, all of which must fit."""
        ingest = Ingest(table, (), BEGIN, self._state.tasks, keep=True)
        if isinstance(rows, pa.Table):
            return ingest.run(rows.to_batches(), store_of(self._state.runs))
        ingest = replace(ingest, origin=isinstance(rows, FileBatch))
        report = self._state.jobs.ingest(rows, ingest, self._state.runs)
        if report.rejected:
            raise PlanError(
                f"table {table.name}: {report.rejected} records do not fit its columns: "
                f"{reasons_of(report)}. Correct them, or give the table other types"
            )
        return report

    def receive_files(
        self, source: str, files: FileBatch, batch: int | BatchId | None = None
    ) -> IngestReport:
        """A batch of files, which tasks read; one that was received before is not again."""
        rows = None
        if schemes_of(source, self._state.definitions):  # they look for punctuations first
            rows = taken(self._state.jobs.rows_of(files), files.schema)

        def run(ingest: Ingest) -> IngestReport:
            return self._state.jobs.ingest(files, replace(ingest, origin=True), self._state.runs)

        return self._receive(source, rows, run, batch)

    def _receive(
        self,
        name: str,
        rows: pa.Table | DataFrame | None,
        run: Callable[[Ingest], IngestReport],
        batch: int | BatchId | None = None,
    ) -> IngestReport:
        """Where a step has overtaken the rows on their way, they come again while time waits.

        What still changes then, the views or the punctuations, waits the third time.
        """
        if self._state.source(name).is_table:
            raise PlanError(f"{name!r} is a table: it was given its rows when it was created")
        with self._state.mutex:
            one_by_one = self._order[name]
        with one_by_one, self._state.garbage.writing():
            if is_duplicate(self._state.manifest, name, batch):
                return IngestReport(duplicate=1)
            try:
                report = self._received(name, rows, run, batch)
                if report is None:
                    with self._time_waiting(name):
                        report = self._received(name, rows, run, batch)
                if report is None:
                    with self._state.mutex:
                        report = self._received(name, rows, run, batch)
            except InputBuffersFailedError:
                with self._state.step_lock, self._state.mutex:
                    report = self._received(name, rows, run, batch, may_fail=True)
            assert report is not None
            return report

    @contextmanager
    def _time_waiting(self, source: str) -> Iterator[None]:
        """No step begins that goes beyond where the source is; all else goes on."""
        with self._state.mutex:
            self._waiting[source] = max(
                self._state.source_state(source).frontier, self._state.target
            )
        try:
            yield
        finally:
            with self._state.mutex:
                del self._waiting[source]

    def _received(
        self,
        name: str,
        rows: pa.Table | DataFrame | None,
        run: Callable[[Ingest], IngestReport],
        batch: int | BatchId | None,
        may_fail: bool = False,
    ) -> IngestReport | None:
        """Decides which rows are late, and takes the others in.

        Returns None if a step advanced the watermark meanwhile; the caller must ingest the batch
        again. Views whose input buffers cannot take the rows fail, where they may because no step
        is under way.
        """
        source = self._state.source(name)
        with self._state.mutex:
            running = self._state.running
            input_buffers = tuple(
                x for x in running.program.input_buffers.values() if name in x.sources
            )
            hold = bool(holders(self._state.manifest, name)) or may_fail
            state = self._state.source_state(name)
            late_before = lateness(state, self._state.target)
            entries = self._state.manifest.punctuations.get(name)
            punctuations = self._state.punctuations.of(source, self._state.manifest)
        keep = self._state.options.keep_input and state.kept
        arrived = moment(late_before) if source.arrival else None
        schemes = () if rows is None else schemes_of(name, self._state.definitions)
        columns, closed = columns_of_marks(schemes), punctuations.at_arrival(source.time)
        ingest = Ingest(
            source,
            input_buffers,
            late_before,
            self._state.tasks,
            keep or hold,
            arrived,
            closed.times,
            columns,
        )
        operations = operations_of(name, self._state.definitions)
        ingest = replace(ingest, sequence=state.sequence, operations=operations)
        marks = NO_MARKS
        if rows is not None and schemes:
            judge = replace(ingest, input_buffers=(), keep=False)
            arriving = Batch(
                rows, schemes, judge, state, open_from(state, self._state.target), self._computed
            )
            marks = arriving.marks(closed)
            punctuations = punctuations.read_columns(marks.texts, marks.at)
            closed = closed.read_columns(marks.texts, marks.at)
        report = ingested(run, replace(ingest, closed=closed.times))
        if report.failures and not may_fail:
            raise InputBuffersFailedError
        check_batch(source, report, late_before)
        with self._state.mutex:
            problems = running.failed_by(report.failures)
            rest, failed = running.failing(problems, self._state.manifest.frontier)
            same = (
                self._state.running is running
                and self._state.manifest.punctuations.get(name) is entries
            )
            if self._state.target > late_before or not same:
                return None
            state = after_batch(source, self._state.source_state(name), report, batch, keep)
            state = advanced(state, marks.frontier, self._state.target)
            actions: list[Action] = [*failed, Received(name, state)]
            holding = [*holders(self._state.manifest, name), *problems]
            actions += filled(report, source, rest.program, keep, holding)
            if isinstance(batch, BatchId):
                actions.append(Numbered(name, batch.producer, batch.number))
            if len(marks.texts):
                actions.append(Punctuated(name, marks.entries()))
            self._state.commit(*actions, *self._no_longer_kept(source, state))
            self._state.running = rest
            self._state.punctuations.cache(name, self._state.manifest, punctuations)
        self._state.metrics.observe_event_time(state.largest)
        if report.rejected:
            why = "; ".join(report.reasons)
            logger.warning("source %s: %s records were rejected: %s", name, report.rejected, why)
        return report

    def _no_longer_kept(self, source: SourceDefinition, state: SourceState) -> Iterable[Action]:
        """Kept rows are of use only with all the others."""
        state_table = input_state_table(source).name
        kept = self._state.manifest.state_table(state_table).refs
        if kept and not state.kept:
            yield Changed(state_table, removed=tuple(ref.name for ref in kept))
