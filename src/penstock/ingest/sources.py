"""Rows on their way in: event time, lateness, and the input buffers they wait in.

Every task of an ingest turns its rows into elements, sets aside those that are late, have no time
or end before they begin, computes what the input buffers of the source hold, and writes it into a
segment, a run for each range of owners. Nothing of it exists until the driver commits what the task
reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock import record
from penstock.algebra import operations
from penstock.algebra.arrival import FIELD, SEQUENCE
from penstock.algebra.evaluate import evaluate_mask
from penstock.algebra.expr import Call, Column, Expr, columns, is_simple, promise, substitute
from penstock.algebra.expr import Literal as Constant
from penstock.element import BEGIN, INF, Elements, concat
from penstock.errors import PenstockError, PlanError
from penstock.execution.problems import Problem, first_problem, problem_of
from penstock.execution.task import hash_range, task_of
from penstock.ingest.connectors import Feed
from penstock.ingest.fitting import (
    ORIGIN,
    ErrorPolicy,
    Rejected,
    few,
    fitted_columns,
    optional,
    origin_of,
    refused_in,
    rejected_rows,
    rejected_state_table,
    row_text,
)
from penstock.kinds import kind
from penstock.physical.program import InputBuffer
from penstock.physical.source_pipeline import STAMP, SourcePipeline
from penstock.punctuation.bulk import well_formed
from penstock.punctuation.closings import Times
from penstock.record import Ints
from penstock.state.fields_json import object_from_json, object_to_json
from penstock.state.run import StateTableSpec, hash_keys, keep_of, run_of, sorted_run
from penstock.state.store import FileStore, RunReference, SegmentWriter

LatePolicy: TypeAlias = Literal["keep", "drop", "fail"]
PARTITION = 1 << 28  # the numbers that rows of one partition of a batch may have
_KEPT = "__kept"  # whether a promise is, where Spark has to tell
ERROR_POLICIES: tuple[ErrorPolicy, ...] = ("keep", "drop", "fail")
LATE_POLICIES: tuple[LatePolicy, ...] = ("keep", "drop", "fail")


@kind("source")
@dataclass(frozen=True)
class SourceDefinition:
    """A source: its columns, the one that holds the event time, and how late rows may be.

    Rows are valid from their time on, once. A column may say when their validity ends, as of the
    readings of a sensor that announces its next one, and a column may hold their weight, as of
    changes that take rows back. Without a column for the time it is a table: a finite relation,
    there from the beginning of time. Where rows are stamped on arrival, they come without their
    time, which is that of the moment in which their batch does. A feed brings rows by itself.

    What is promised of its rows tells how much memory a view needs: a condition that is met, or
    NULL; columns that are not NULL; a number of rows, and the span of time in which no more come.
    Views rely on it, so rows that break a condition are refused, as those are that a punctuation
    has ruled out.

    Columns that were `added` later are NULL in the rows before, and in rows that come without them.
    """

    name: str
    schema: pa.Schema
    time: str | None
    delay: int = 0
    late: LatePolicy = "keep"
    until: str | None = None
    weight: str | None = None
    arrival: bool = False
    feed: Feed | None = None
    promised: Expr | None = None
    never_null: tuple[str, ...] = ()
    rate: tuple[int, int] | None = None
    on_error: ErrorPolicy = "keep"
    added: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for column in filter(None, (self.time, self.until, self.weight)):
            if column not in self.schema.names:
                known = ", ".join(self.schema.names)
                raise PlanError(f"source {self.name}: no column {column!r}; there are {known}")
        for column in filter(None, (self.time, self.until)):
            found = self.schema.field(column).type
            if not is_time(found):
                raise PlanError(
                    f"source {self.name}: event time {column!r} is {found}; "
                    "expected a TIMESTAMP, DATE or integer"
                )
        if self.late not in LATE_POLICIES:
            raise PlanError(f"source {self.name}: LATE {self.late!r}; expected {LATE_POLICIES}")
        if self.on_error not in ERROR_POLICIES:
            raise PlanError(
                f"source {self.name}: ON ERROR {self.on_error!r}; expected {ERROR_POLICIES}"
            )
        if self.delay < 0:
            raise PlanError(
                f"source {self.name}: the delay is {self.delay}; it must not be negative"
            )

    @cached_property
    def promise(self) -> Expr | None:
        """What is promised of each row, as one condition that is met, or NULL."""
        return promise(self.promised, self.schema, self.never_null)

    @property
    def is_table(self) -> bool:
        return self.time is None

    @property
    def given(self) -> pa.Schema:
        """The columns that rows come with; those that were added later may be missing."""
        found = (f for f in self.schema if not (self.arrival and f.name == self.time))
        return pa.schema([optional(f) if f.name in self.added else f for f in found])


def stamped_on_arrival(
    name: str, given: pa.Schema, late: LatePolicy = "keep", feed: Feed | None = None
) -> SourceDefinition:
    """A source of rows without a time, which get one, in a column `ts`, when they come."""
    if "ts" in {column.lower() for column in given.names}:
        raise PlanError(
            f"source {name}: rows that are stamped on arrival get a column 'ts' and may not have "
            "one; name the column that holds the event time, or call it something else"
        )
    schema = given.append(pa.field("ts", pa.timestamp("us", tz="UTC")))
    return SourceDefinition(name, schema, "ts", late=late, arrival=True, feed=feed)


def _time_as_integer(column: Column) -> Expr:
    if pa.types.is_integer(column.type):
        return Call("cast", (column,), pa.int64())
    timestamp = pa.timestamp("us", tz="UTC")
    return Call("unix_micros", (Call("cast", (column,), timestamp),), pa.int64())


def is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def late_state_table(source: SourceDefinition) -> StateTableSpec:
    return StateTableSpec(
        f"late {source.name}", source.schema, tuple(source.schema.names), order="time"
    )


def aside_state_tables(source: SourceDefinition) -> tuple[StateTableSpec, ...]:
    """The state tables of what a source did not accept."""
    return late_state_table(source), rejected_state_table(source.name)


def input_state_table(source: SourceDefinition) -> StateTableSpec:
    """Where the rows that were accepted are kept, for views that are yet to come.

    Hashes only split them among readers, so those of texts are not worth their while where there
    are times to tell rows apart.
    """
    key, schema = tuple(source.schema.names), source.schema
    if source.time is not None:
        schema = schema.append(FIELD)
        if not source.arrival:
            key = tuple(f.name for f in source.schema if pa.types.is_primitive(f.type))
    return StateTableSpec(f"input {source.name}", schema, key, order="time")


def kept_state_tables(source: SourceDefinition) -> tuple[StateTableSpec, ...]:
    """The state tables of rows that are kept of a source, and that no step reads."""
    return input_state_table(source), *aside_state_tables(source)


@dataclass
class IngestReport:
    """What became of some rows of a batch, or of one that was received before."""

    accepted: int = 0
    late: int = 0
    broken: int = 0
    max_event_time: int = BEGIN
    sequence: int = 0
    """The number of the row after the last one."""
    duplicate: int = 0
    rejected: int = 0
    reasons: list[str] = field(default_factory=list)
    """Why records were rejected: a few of the reasons."""
    place: str = ""
    """Where the first of them was, if it was in a file."""
    state_tables: dict[str, list[RunReference]] = field(default_factory=dict)
    failures: dict[str, Problem] = field(default_factory=dict)
    """The input buffers that the rows could not be prepared for, and why."""

    def add(self, other: IngestReport) -> None:
        self.accepted += other.accepted
        self.late += other.late
        self.broken += other.broken
        self.max_event_time = max(self.max_event_time, other.max_event_time)
        self.sequence = max(self.sequence, other.sequence)
        self.duplicate += other.duplicate
        self.rejected += other.rejected
        self.reasons = few([*self.reasons, *other.reasons])
        self.place = self.place or other.place
        for name, refs in other.state_tables.items():
            self.state_tables.setdefault(name, []).extend(refs)
        self.failures = {**other.failures, **self.failures}

    def to_json(self) -> dict[str, Any]:
        state_tables = {k: list(map(object_to_json, refs)) for k, refs in self.state_tables.items()}
        failures = {
            input_buffer: asdict(problem) for input_buffer, problem in self.failures.items()
        }
        return {**vars(self), "state_tables": state_tables, "failures": failures}

    @staticmethod
    def from_json(data: dict[str, Any]) -> IngestReport:
        state_tables = {
            k: [object_from_json(RunReference, ref) for ref in refs]
            for k, refs in data["state_tables"].items()
        }
        failures = {k: Problem(**problem) for k, problem in data["failures"].items()}
        return IngestReport(**{**data, "state_tables": state_tables, "failures": failures})


@dataclass(frozen=True)
class Ingest:
    """How rows of a source become runs in input buffers. `frontier`: earlier rows are late.

    `arrived` is the time of rows that come without one. `closed` is what punctuations have ruled
    out, and `marks` are the columns, if there are any, in whose rows they come. What is kept for
    later goes into a segment of its own, which outlives those of the input buffers. Rows may come
    with `only` the columns that are needed; then those refused are but counted. `sequence` is the
    number of the first row; `numbered` rows come with theirs, and those of tables have none. Rows
    that come from files say of their `origin` where, and some were refused there. `operations` are
    columns in which each row says what is to be done.
    """

    source: SourceDefinition
    input_buffers: tuple[InputBuffer, ...]
    frontier: int
    tasks: int
    keep: bool = False
    arrived: int | None = None
    closed: Times | None = None
    marks: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    sequence: int | None = None
    numbered: bool = False
    origin: bool = False
    operations: tuple[str, ...] = ()

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns without which the rows cannot be taken."""
        source = self.source
        if self.keep or self.closed or self.arrived is not None:
            return tuple(source.given.names)
        found = {source.time, source.until, source.weight, *self.marks}
        expressions = [*self.computed.values()]
        expressions += [] if source.promise is None else [source.promise]
        for pipeline in self._source_pipelines:
            expressions += [*pipeline.conditions, *pipeline.outputs.values()]
        found.update(*map(columns, expressions))
        return tuple(name for name in source.given.names if name in found)

    @property
    def _source_pipelines(self) -> Iterator[SourcePipeline]:
        for input_buffer in self.input_buffers:
            yield from (
                b for b in input_buffer.source_pipelines if b.source.name == self.source.name
            )

    @property
    def computed(self) -> dict[str, Expr]:
        """The columns that Spark adds to those of the source."""
        found: dict[str, Expr] = {}
        for pipeline in self._source_pipelines:
            found |= pipeline.computed
        promise = self.source.promise
        if promise is not None and not is_simple(promise):
            found[_KEPT] = promise
        return {name: substitute(expr, self._times) for name, expr in found.items()}

    @property
    def _times(self) -> dict[str, Expr]:
        """The time at which rows begin, and the column of it that they do not have."""
        if self.source.time is None:
            return {STAMP: Constant(BEGIN, pa.int64())}
        kind = self.source.schema.field(self.source.time).type
        if self.arrived is None:
            return {STAMP: _time_as_integer(Column(self.source.time, kind))}
        moment = pa.scalar(self.arrived, kind).as_py()
        return {STAMP: Constant(self.arrived, pa.int64()), self.source.time: Constant(moment, kind)}

    @property
    def _schema(self) -> pa.Schema:
        """Of the rows that come."""
        whole = self.source.schema if self.arrived is None else self.source.given
        given = [f for f in whole if self.only is None or f.name in self.only]
        added = [pa.field(name, expr.type) for name, expr in self.computed.items()]
        numbers = [FIELD] if self.numbered else []
        return pa.schema([*given, *numbers, *(ORIGIN if self.origin else ()), *added])

    def _stamped(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows with the time at which they came."""
        if self.arrived is None:
            return batch
        place = self.source.schema.get_field_index(self.source.time)
        field = self.source.schema.field(place)
        moment = pa.repeat(pa.scalar(self.arrived, field.type), batch.num_rows)
        return batch.add_column(place, field, moment)

    def _with_numbers(self, batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """The rows with the order in which they came, of which this is the first number."""
        if self.sequence is None:
            return batch
        numbers = pa.array(np.arange(first, first + batch.num_rows))
        return batch.append_column(SEQUENCE, numbers)

    def run(
        self, batches: Iterable[pa.RecordBatch], store: FileStore, partition: int = 0
    ) -> IngestReport:
        """Rows of one partition of a batch, which come after those of the partitions before it."""
        report = IngestReport()
        number = (self.sequence or 0) + partition * PARTITION
        with store.writing() as writing, writing.segment() as segment, writing.segment() as lasting:
            readable = self._readable(batches, partition, lasting, report)
            for batch in _large(readable):
                batch = self._with_numbers(self._stamped(batch), number)
                number += batch.num_rows
                report.add(self._batch(batch, segment, lasting))
                report.sequence = number
        return report

    def refuse(self, rejected: Sequence[Rejected], store: FileStore) -> IngestReport:
        """Records that were rejected before they were rows."""
        report = IngestReport()
        with store.writing() as writing, writing.segment() as lasting:
            self._reject(list(rejected), lasting, report)
        return report

    def _reject(
        self, rejected: list[Rejected], lasting: SegmentWriter, report: IngestReport
    ) -> None:
        if not rejected:
            return
        report.rejected += len(rejected)
        report.reasons = few([*report.reasons, *(one.reason for one in rejected)])
        report.place = report.place or next(filter(None, (one.place for one in rejected)), "")
        if self.source.on_error == "keep":
            state_table = rejected_state_table(self.source.name)
            run = sorted_run(state_table, rejected_rows(rejected))
            report.state_tables.setdefault(state_table.name, []).append(
                lasting.write(run, packed=True)
            )

    def _readable(
        self,
        batches: Iterable[pa.RecordBatch],
        partition: int,
        lasting: SegmentWriter,
        report: IngestReport,
    ) -> Iterator[pa.RecordBatch]:
        """The rows whose values are those of their columns; the others are rejected."""
        first = 0
        for batch in batches:
            if self.origin:
                batch, rejected = refused_in(batch)
                self._reject(rejected, lasting, report)
            found = fitted_columns(batch.columns, self._schema)
            where = f"of partition {partition + 1}"
            rejected = [
                Rejected(
                    row_text(self._row(batch, i)),
                    reason,
                    *(
                        origin_of(batch, i)
                        if self.origin
                        else (None, f"row {first + i + 1} {where}")
                    ),
                )
                for i, reason in sorted(found.reasons.items())
            ]
            self._reject(rejected, lasting, report)
            first += batch.num_rows
            yield found.good

    def _row(self, batch: pa.RecordBatch | Elements, i: int) -> dict[str, Any]:
        """A row as it was given."""
        names, columns = self._schema.names, batch.columns
        given = [name for name in self.source.given.names if name in names]
        return {name: columns[names.index(name)][i].as_py() for name in given}

    def _batch(
        self, batch: pa.RecordBatch, segment: SegmentWriter, lasting: SegmentWriter
    ) -> IngestReport:
        rows, unknown = self._elements(batch)
        mark, late, broken = self._judged(rows, unknown)
        strange = self._strange(rows) & ~mark
        if np.any(strange):
            late, broken = late & ~strange, broken & ~strange
        refused, good = late | broken, ~(late | broken | mark | strange)
        accepted, too_late, out = map(int, map(np.count_nonzero, (good, late, broken)))
        report = IngestReport(accepted, too_late, out)
        self._reject(list(self._strangers(rows, strange)), lasting, report)
        if np.any(refused) and self.source.late == "keep" and self.only is None:
            self._keep(late_state_table(self.source), rows.where(refused), lasting, report)
        report.max_event_time = int(rows.ts[good | (mark & ~unknown)].max(initial=BEGIN))
        rows = rows.where(good)
        if len(rows):
            if self.keep:
                self._keep(input_state_table(self.source), rows, lasting, report)
            for input_buffer in self.input_buffers:
                try:
                    report.state_tables[input_buffer.name] = list(
                        self._fill(input_buffer, rows, segment)
                    )
                except PenstockError as error:
                    problem = problem_of(error)
                    if problem is None:
                        raise
                    found = replace(problem, row=self._problem_in(input_buffer, rows))
                    report.failures[input_buffer.name] = found
        return report

    def _problem_in(self, input_buffer: InputBuffer, rows: Elements) -> str:
        """The row that cannot be prepared for an input buffer, by the columns of the source."""
        mine = (b for b in input_buffer.source_pipelines if b.source.name == self.source.name)
        names = [n for n in self.source.schema.names if n in rows.schema.names]
        return next(filter(None, (first_problem(b.run, rows, names) for b in mine)), "")

    def accepted(self, batch: pa.RecordBatch) -> record.Mask:
        """Which rows of a batch would be accepted."""
        rows, unknown = self._elements(self._stamped(batch))
        mark, late, broken = self._judged(rows, unknown)
        return ~(mark | late | broken | self._strange(rows))

    def _strange(self, rows: Elements) -> record.Mask:
        """The rows that say something is to be done that nobody knows."""
        strange = np.zeros(len(rows), dtype=np.bool_)
        for column in self.operations:
            known = pc.is_in(rows.column(column), pa.array(sorted(operations.KNOWN)))
            strange |= ~record.numpy(known)
        return strange

    def _strangers(self, rows: Elements, strange: record.Mask) -> Iterator[Rejected]:
        for i in np.flatnonzero(strange).tolist():
            words = {column: rows.column(column)[i].as_py() for column in self.operations}
            column, word = next((c, w) for c, w in words.items() if w not in operations.KNOWN)
            reason = f"{column} is {word!r}, which is no operation; expected {operations.WRITTEN}"
            where = origin_of(rows, i) if self.origin else (None, None)
            yield Rejected(row_text(self._row(rows, i)), reason, *where)

    def _elements(self, batch: pa.RecordBatch) -> tuple[Elements, record.Mask]:
        """The rows with their validity and weight, and which of them have no time."""
        ts, unknown = np.full(batch.num_rows, BEGIN), np.zeros(batch.num_rows, dtype=np.bool_)
        if self.source.time is not None:
            ts, unknown = event_times(batch.column(self.source.time))
        te, n = np.full(len(ts), INF), np.ones(len(ts), dtype=np.int64)
        if self.source.until is not None:
            end, endless = event_times(batch.column(self.source.until))
            te = np.where(endless, INF, end)
        if self.source.weight is not None:
            n = record.numpy(batch.column(self.source.weight).fill_null(1)).astype(np.int64)
        return Elements(batch.schema, tuple(batch.columns), ts, te, n), unknown

    def _judged(
        self, rows: Elements, unknown: record.Mask
    ) -> tuple[record.Mask, record.Mask, record.Mask]:
        """The rows that are punctuations, those that are late, and those that are ruled out."""
        late = unknown | (rows.ts < self.frontier) | (rows.ts >= rows.te)
        mark, broken = self._marks(rows)
        broken |= ~mark & ~late & (self._ruled_out(rows) | self._unpromised(rows))
        return mark, late & ~mark & ~broken, broken

    def _marks(self, rows: Elements) -> tuple[record.Mask, record.Mask]:
        """The rows that are punctuations, and those that should be and are not."""
        mark, broken = (np.zeros(len(rows), dtype=np.bool_) for _ in range(2))
        schema = self.source.schema
        for column in self.marks:
            here = record.valid(rows.column(column))
            about = schema.remove(schema.get_field_index(column))
            mark |= here
            broken[here] |= ~well_formed(rows.column(column).filter(pa.array(here)), about)
        return mark & ~broken, broken

    def _ruled_out(self, rows: Elements) -> record.Mask:
        """The rows that a punctuation said would not come."""
        if not self.closed:
            return np.zeros(len(rows), dtype=np.bool_)
        known = rows.select(self.source.schema.names).columns
        return self.closed.first(known, len(rows)) <= rows.ts

    def _unpromised(self, rows: Elements) -> record.Mask:
        """The rows that break what is promised of them."""
        kept = self.source.promise
        if kept is None:
            return np.zeros(len(rows), dtype=np.bool_)
        if not is_simple(kept):
            kept = Column(_KEPT, pa.bool_())
        return evaluate_mask(Call("not", (kept,), pa.bool_()), rows)

    def _keep(
        self,
        state_table: StateTableSpec,
        rows: Elements,
        lasting: SegmentWriter,
        report: IngestReport,
    ) -> None:
        """Rows as they came, each of them once, whatever their validity and weight."""
        ends, once = np.full(len(rows), INF), np.ones(len(rows), dtype=np.int64)
        begins = np.minimum(rows.ts, INF - 1)
        rows = replace(rows.select(state_table.schema.names), ts=begins, te=ends, n=once)
        report.state_tables[state_table.name] = [
            lasting.write(sorted_run(state_table, rows), packed=True)
        ]

    def _fill(
        self, input_buffer: InputBuffer, rows: Elements, segment: SegmentWriter
    ) -> Iterator[RunReference]:
        """What the rows add to an input buffer, as one run for each range of owners."""
        mine = [b for b in input_buffer.source_pipelines if b.source.name == self.source.name]
        x = concat(input_buffer.state_table.schema, [pipeline.run(rows) for pipeline in mine])
        hashes = hash_keys(input_buffer.state_table, x)
        owner = task_of(hashes, self.tasks)
        for task in range(self.tasks):
            mine = owner == task
            part = x.where(mine)
            if len(part):
                run = run_of(
                    input_buffer.state_table,
                    part,
                    hashes[mine],
                    keep_of(input_buffer.state_table, part),
                )
                yield segment.write(run, hash_range(task, self.tasks), packed=True)


def event_times(column: pa.Array) -> tuple[Ints, record.Mask]:
    """Times as integers (microseconds, or ticks as they are), and where there is none."""
    kind = column.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = pc.cast(column, pa.timestamp("us", tz=getattr(kind, "tz", None)))
    values = record.numpy(column).astype(np.int64)
    return values, ~record.valid(column)


def _large(batches: Iterable[pa.RecordBatch], rows: int = 1 << 20) -> Iterator[pa.RecordBatch]:
    """Few large batches for many small ones: a run for each would be one too many."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch)
        if sum(b.num_rows for b in waiting) >= rows:
            yield _one(waiting)
            waiting = []
    if any(b.num_rows for b in waiting):
        yield _one(waiting)


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
