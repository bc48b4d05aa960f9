"""Batches on their way into a state directory: what an engine does with the rows of sources.

Law: the rows of a batch, what they leave behind and how far they bring their source are one commit.
The batches of a source come one after the other: their rows are numbered in the order they came.
"""

from __future__ import annotations

import logging
import threading
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.algebra.expr import Expr
from penstock.element import BEGIN
from penstock.errors import PlanError
from penstock.ingest.file_sources.batch import FileBatch
from penstock.ingest.rejected import Rejected
from penstock.ingest.rows import completed, parquet_of, taken
from penstock.ingest.schemes import NO_MARKS, Batch, columns_of_marks, operations_of, schemes_of
from penstock.ingest.sources import Ingest, IngestReport, SourceDefinition
from penstock.ingest.watermarks import after_batch, check_batch, is_duplicate, moment, told
from penstock.runtime.failures import LanesFailedError, Running, filled, holders, ingested
from penstock.runtime.files import Garbage
from penstock.runtime.jobs import Jobs, store_of
from penstock.runtime.metrics import Measures
from penstock.runtime.options import Options
from penstock.runtime.punctuation_store import Punctuations
from penstock.state.manifest import Action, Manifest, Numbered, Received, SourceState
from penstock.state.manifest import Punctuated as Said
from penstock.state.producers import BatchId

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

logger = logging.getLogger("penstock")


class Reception(ABC):
    """The part of an engine that takes batches."""

    definitions: Mapping[str, Any]
    options: Options
    _running: Running
    measures: Measures
    _jobs: Jobs
    _mutex: threading.RLock
    _moving: threading.Lock
    _target: int
    _punctuations: Punctuations
    _garbage: Garbage

    def __init__(self) -> None:
        self._order: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
        self._waiting: dict[str, int] = {}
        """How far steps may go while rows of these sources come again."""

    @property
    def tasks(self) -> int:
        """How many tasks what begins now has. A cluster grows and shrinks."""
        return self.options.tasks or self._jobs.parallelism

    @property
    @abstractmethod
    def manifest(self) -> Manifest: ...
    @property
    @abstractmethod
    def runs(self) -> Path: ...
    @abstractmethod
    def commit(self, *actions: Action, note: dict[str, Any] | None = None) -> Manifest: ...
    @abstractmethod
    def source(self, name: str) -> SourceDefinition: ...
    @abstractmethod
    def source_state(self, name: str) -> SourceState: ...
    @abstractmethod
    def _open_from(self, state: SourceState) -> int: ...
    @abstractmethod
    def _with_promise(self, state: SourceState, frontier: int) -> SourceState: ...
    @abstractmethod
    def _no_longer_kept(self, name: str, state: SourceState) -> Iterable[Action]: ...

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
            report.add(ingest.refuse(rejected, store_of(self.runs)))
            return report

        return self._receive(source, rows, run, batch)

    def receive_file(self, source: str, path: Path, batch: BatchId | None = None) -> IngestReport:
        """A batch in a Parquet file, of which only the columns are read that are needed."""
        given = self.source(source).given
        if schemes_of(source, self.definitions):  # punctuations may be in any column
            rows, rejected = parquet_of(path, given)
            return self.receive_table(source, rows, batch, rejected)

        def run(ingest: Ingest) -> IngestReport:
            needed = ingest.needed
            schema = pa.schema([given.field(name) for name in needed])
            rows, rejected = parquet_of(path, schema)
            report = self._ingest(rows, replace(ingest, only=needed))
            if not rejected and (
                report.late + report.broken == 0 or self.source(source).late != "keep"
            ):
                return report
            rows, rejected = parquet_of(path, given)
            report = self._ingest(rows, ingest)
            report.add(ingest.refuse(rejected, store_of(self.runs)))
            return report

        return self._receive(source, None, run, batch)

    def _computed(self, rows: pa.Table, computed: Mapping[str, Expr]) -> pa.Table:
        return self._jobs.with_computed(rows, computed, self.runs)

    def _ingest(self, rows: pa.Table, ingest: Ingest) -> IngestReport:
        if ingest.computed:
            return self._jobs.ingest(rows, ingest, self.runs)
        return ingest.run(rows.to_batches(), store_of(self.runs))

    def receive_rows(
        self, source: str, rows: DataFrame, batch: int | BatchId | None = None
    ) -> IngestReport:
        """A batch as a DataFrame; one that was received before is not again."""

        def run(ingest: Ingest) -> IngestReport:
            return self._jobs.ingest(completed(rows, ingest.source.given), ingest, self.runs)

        return self._receive(source, rows, run, batch)

    def receive_table_rows(
        self, table: SourceDefinition, rows: pa.Table | DataFrame | FileBatch
    ) -> IngestReport:
        """All rows of a new table, all of which must fit."""
        ingest = Ingest(table, (), BEGIN, self.tasks, keep=True)
        if isinstance(rows, pa.Table):
            return ingest.run(rows.to_batches(), store_of(self.runs))
        ingest = replace(ingest, origin=isinstance(rows, FileBatch))
        report = self._jobs.ingest(rows, ingest, self.runs)
        if report.rejected:
            raise PlanError(
                f"table {table.name}: {report.rejected} records do not fit its columns: "
                f"{told(report)}. Correct them, or give the table other types"
            )
        return report

    def receive_files(
        self, source: str, files: FileBatch, batch: int | BatchId | None = None
    ) -> IngestReport:
        """A batch of files, which tasks read; one that was received before is not again."""
        rows = None
        if schemes_of(source, self.definitions):  # they look for punctuations first
            rows = taken(self._jobs.rows_of(files), files.schema)

        def run(ingest: Ingest) -> IngestReport:
            return self._jobs.ingest(files, replace(ingest, origin=True), self.runs)

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
        if self.source(name).is_table:
            raise PlanError(f"{name!r} is a table: it was given its rows when it was created")
        with self._mutex:
            one_by_one = self._order[name]
        with one_by_one, self._garbage.writing():
            if is_duplicate(self.manifest, name, batch):
                return IngestReport(duplicate=1)
            try:
                report = self._received(name, rows, run, batch)
                if report is None:
                    with self._time_waiting(name):
                        report = self._received(name, rows, run, batch)
                if report is None:
                    with self._mutex:
                        report = self._received(name, rows, run, batch)
            except LanesFailedError:
                with self._moving, self._mutex:
                    report = self._received(name, rows, run, batch, may_fail=True)
            assert report is not None
            return report

    @contextmanager
    def _time_waiting(self, source: str) -> Iterator[None]:
        """No step begins that goes beyond where the source is; all else goes on."""
        with self._mutex:
            self._waiting[source] = max(self.source_state(source).frontier, self._target)
        try:
            yield
        finally:
            with self._mutex:
                del self._waiting[source]

    def _received(
        self,
        name: str,
        rows: pa.Table | DataFrame | None,
        run: Callable[[Ingest], IngestReport],
        batch: int | BatchId | None,
        may_fail: bool = False,
    ) -> IngestReport | None:
        """None where what was decided on the way, which rows are late, is no longer true.

        Views whose lanes cannot take the rows fail, where they may because no step is under way.
        """
        source = self.source(name)
        with self._mutex:
            running = self._running
            lanes = tuple(x for x in running.program.lanes.values() if name in x.sources)
            hold = bool(holders(self.manifest, name)) or may_fail
            state = self.source_state(name)
            late_before = max(state.frontier, self._target)
            spoken = self.manifest.punctuations.get(name)
            said = self._punctuations.of(source, self.manifest)
        keep = self.options.keep_input and state.kept
        arrived = moment(late_before) if source.arrival else None
        schemes = () if rows is None else schemes_of(name, self.definitions)
        columns, closed = columns_of_marks(schemes), said.at_arrival(source.time)
        ingest = Ingest(
            source, lanes, late_before, self.tasks, keep or hold, arrived, closed.times, columns
        )
        operations = operations_of(name, self.definitions)
        ingest = replace(ingest, sequence=state.sequence, operations=operations)
        marks = NO_MARKS
        if rows is not None and schemes:
            judge = replace(ingest, lanes=(), keep=False)
            arriving = Batch(rows, schemes, judge, state, self._open_from(state), self._computed)
            marks = arriving.marks(closed)
            said = said.read_columns(marks.texts, marks.at)
            closed = closed.read_columns(marks.texts, marks.at)
        report = ingested(run, replace(ingest, closed=closed.times))
        if report.failures and not may_fail:
            raise LanesFailedError
        check_batch(source, report, late_before)
        with self._mutex:
            problems = running.failed_by(report.failures)
            rest, failed = running.failing(problems, self.manifest.frontier)
            same = self._running is running and self.manifest.punctuations.get(name) is spoken
            if self._target > late_before or not same:
                return None
            state = after_batch(source, self.source_state(name), report, batch, keep)
            state = self._with_promise(state, marks.frontier)
            actions: list[Action] = [*failed, Received(name, state)]
            holding = [*holders(self.manifest, name), *problems]
            actions += filled(report, source, rest.program, keep, holding)
            if isinstance(batch, BatchId):
                actions.append(Numbered(name, batch.producer, batch.number))
            if len(marks.texts):
                actions.append(Said(name, marks.entries()))
            self.commit(*actions, *self._no_longer_kept(name, state))
            self._running = rest
            self._punctuations.know(name, self.manifest, said)
        self.measures.heard(state.largest)
        if report.rejected:
            why = "; ".join(report.reasons)
            logger.warning("source %s: %s records were rejected: %s", name, report.rejected, why)
        return report
