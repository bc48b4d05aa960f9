"""Rows on their way in: event time, lateness, and the lanes they wait in.

Every task of an ingest turns its rows into elements, sets aside those that are late, have no time
or end before they begin, computes what the lanes of the source hold, and writes it into a segment,
a run for each range of owners. Nothing of it exists until the driver commits what the task reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock import record
from penstock.algebra.evaluate import evaluate_mask
from penstock.algebra.expr import Call, Column, Expr, columns, is_simple, promise, substitute
from penstock.algebra.expr import Literal as Constant
from penstock.element import BEGIN, INF, Elements, concat
from penstock.errors import PlanError
from penstock.physical.branches import STAMP, Branch
from penstock.physical.program import Lane
from penstock.punctuation.bulk import well_formed
from penstock.punctuation.closings import Times
from penstock.record import Ints
from penstock.runtime.feeds import Feed
from penstock.runtime.task import hash_range, task_of
from penstock.state.run import AreaSpec, hash_keys, keep_of, run_of, sorted_run
from penstock.state.store import FileStore, RunRef, SegmentWriter

LatePolicy: TypeAlias = Literal["keep", "drop", "fail"]
_KEPT = "__kept"  # whether a promise is, where Spark has to tell
LATE_POLICIES: tuple[LatePolicy, ...] = ("keep", "drop", "fail")


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
        """The columns that rows come with."""
        return pa.schema([f for f in self.schema if not (self.arrival and f.name == self.time)])


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


def late_area(source: SourceDefinition) -> AreaSpec:
    return AreaSpec(f"late {source.name}", source.schema, tuple(source.schema.names), order="time")


def input_area(source: SourceDefinition) -> AreaSpec:
    """Where the rows that were accepted are kept, for views that are yet to come.

    Hashes only split them among readers, so those of texts are not worth their while where there
    are times to tell rows apart.
    """
    key = tuple(source.schema.names)
    if source.time is not None and not source.arrival:
        key = tuple(f.name for f in source.schema if pa.types.is_primitive(f.type))
    return AreaSpec(f"input {source.name}", source.schema, key, order="time")


@dataclass
class IngestReport:
    """What became of some rows of a batch."""

    accepted: int = 0
    late: int = 0
    broken: int = 0
    largest: int = BEGIN
    areas: dict[str, list[RunRef]] = field(default_factory=dict)

    def add(self, other: IngestReport) -> None:
        self.accepted += other.accepted
        self.late += other.late
        self.broken += other.broken
        self.largest = max(self.largest, other.largest)
        for name, refs in other.areas.items():
            self.areas.setdefault(name, []).extend(refs)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> IngestReport:
        areas = {k: list(map(RunRef.from_json, refs)) for k, refs in data["areas"].items()}
        return IngestReport(**{**data, "areas": areas})


@dataclass(frozen=True)
class Ingest:
    """How rows of a source become runs in lanes. `frontier`: earlier rows are late.

    `arrived` is the time of rows that come without one. `closed` is what punctuations have ruled
    out, and `marks` the column, if there is one, in whose rows they come.
    What is kept for later goes into a segment of its own, which outlives those of the lanes.
    Rows may come with `only` the columns that are needed; then those refused are but counted.
    """

    source: SourceDefinition
    lanes: tuple[Lane, ...]
    frontier: int
    tasks: int
    keep: bool = False
    arrived: int | None = None
    closed: Times | None = None
    marks: str | None = None
    only: tuple[str, ...] | None = None

    @property
    def needed(self) -> tuple[str, ...]:
        """The columns without which the rows cannot be taken."""
        source = self.source
        if self.keep or self.closed or self.arrived is not None:
            return tuple(source.given.names)
        found = {source.time, source.until, source.weight, self.marks}
        expressions = [*self.computed.values()]
        expressions += [] if source.promise is None else [source.promise]
        for branch in self._branches:
            expressions += [*branch.conditions, *branch.outputs.values()]
        found.update(*map(columns, expressions))
        return tuple(name for name in source.given.names if name in found)

    @property
    def _branches(self) -> Iterator[Branch]:
        for lane in self.lanes:
            yield from (b for b in lane.branches if b.source.name == self.source.name)

    @property
    def computed(self) -> dict[str, Expr]:
        """The columns that Spark adds to those of the source."""
        found: dict[str, Expr] = {}
        for branch in self._branches:
            found |= branch.computed
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
        return pa.schema([*given, *added])

    def _stamped(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """The rows with the time at which they came."""
        if self.arrived is None:
            return batch
        place = self.source.schema.get_field_index(self.source.time)
        field = self.source.schema.field(place)
        moment = pa.repeat(pa.scalar(self.arrived, field.type), batch.num_rows)
        return batch.add_column(place, field, moment)

    def run(self, batches: Iterable[pa.RecordBatch], store: FileStore) -> IngestReport:
        report = IngestReport()
        with store.writing() as writing, writing.segment() as segment, writing.segment() as lasting:
            for batch in _large(batches, self._schema):
                report.add(self._batch(self._stamped(batch), segment, lasting))
        return report

    def _batch(
        self, batch: pa.RecordBatch, segment: SegmentWriter, lasting: SegmentWriter
    ) -> IngestReport:
        ts, unknown = np.full(batch.num_rows, BEGIN), np.zeros(batch.num_rows, dtype=np.bool_)
        if self.source.time is not None:
            ts, unknown = event_times(batch.column(self.source.time))
        te, n = np.full(len(ts), INF), np.ones(len(ts), dtype=np.int64)
        if self.source.until is not None:
            end, endless = event_times(batch.column(self.source.until))
            te = np.where(endless, INF, end)
        if self.source.weight is not None:
            n = record.numpy(batch.column(self.source.weight).fill_null(1)).astype(np.int64)
        late = unknown | (ts < self.frontier) | (ts >= te)
        rows = Elements(batch.schema, tuple(batch.columns), ts, te, n)
        mark, broken = self._marks(rows)
        broken |= ~mark & ~late & (self._ruled_out(rows) | self._unpromised(rows))
        late &= ~mark & ~broken
        refused, good = late | broken, ~(late | broken | mark)
        accepted, too_late, out = map(int, map(np.count_nonzero, (good, late, broken)))
        report = IngestReport(accepted, too_late, out)
        if np.any(refused) and self.source.late == "keep" and self.only is None:
            self._keep(late_area(self.source), rows.where(refused), lasting, report)
        rows = rows.where(good)
        if len(rows):
            report.largest = int(rows.ts.max())
            if self.keep:
                self._keep(input_area(self.source), rows, lasting, report)
            for lane in self.lanes:
                report.areas[lane.name] = list(self._fill(lane, rows, segment))
        return report

    def _marks(self, rows: Elements) -> tuple[record.Mask, record.Mask]:
        """The rows that are punctuations, and those that should be and are not."""
        none = np.zeros(len(rows), dtype=np.bool_)
        if self.marks is None:
            return none, none.copy()
        mark = record.valid(rows.column(self.marks))
        words = rows.column(self.marks).filter(pa.array(mark))
        schema = self.source.schema
        about = schema.remove(schema.get_field_index(self.marks))
        broken = none.copy()
        broken[mark] = ~well_formed(words, about)
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
        self, area: AreaSpec, rows: Elements, lasting: SegmentWriter, report: IngestReport
    ) -> None:
        """Rows as they came, each of them once, whatever their validity and weight."""
        ends, once = np.full(len(rows), INF), np.ones(len(rows), dtype=np.int64)
        rows = replace(rows.select(self.source.schema.names), te=ends, n=once)
        report.areas[area.name] = [lasting.write(sorted_run(area, rows), packed=True)]

    def _fill(self, lane: Lane, rows: Elements, segment: SegmentWriter) -> Iterator[RunRef]:
        """What the rows add to a lane, as one run for each range of owners."""
        mine = [b for b in lane.branches if b.source.name == self.source.name]
        x = concat(lane.area.schema, [branch.run(rows) for branch in mine])
        hashes = hash_keys(lane.area, x)
        owner = task_of(hashes, self.tasks)
        for task in range(self.tasks):
            mine = owner == task
            part = x.where(mine)
            if len(part):
                run = run_of(lane.area, part, hashes[mine], keep_of(lane.area, part))
                yield segment.write(run, hash_range(task, self.tasks), packed=True)


def event_times(column: pa.Array) -> tuple[Ints, record.Mask]:
    """Times as integers (microseconds, or ticks as they are), and where there is none."""
    kind = column.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        column = pc.cast(column, pa.timestamp("us", tz=getattr(kind, "tz", None)))
    values = record.numpy(column).astype(np.int64)
    return values, ~record.valid(column)


def _large(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, rows: int = 1 << 20
) -> Iterator[pa.RecordBatch]:
    """Few large batches for many small ones: a run for each would be one too many."""
    waiting: list[pa.RecordBatch] = []
    for batch in batches:
        waiting.append(batch.rename_columns(schema.names).cast(schema))
        if sum(b.num_rows for b in waiting) >= rows:
            yield _one(waiting)
            waiting = []
    if any(b.num_rows for b in waiting):
        yield _one(waiting)


def _one(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    return batches[0] if len(batches) == 1 else pa.concat_batches(batches)
