"""Spark jobs: a step as one job of a few stages, an ingest as one, each a chain of mapInArrow.

Only DataFrame operations are used, so any master and Spark Connect will do. What changes from step
to step travels in the pickled function, never in an expression that Spark would compile again.
"""

from __future__ import annotations

import gc
import json
import logging
import pickle
import threading
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock import record
from penstock.algebra.expr import Expr, columns
from penstock.element import Elements
from penstock.execution import wire
from penstock.execution.expressions import staged, text, to_sql, with_columns, with_stages
from penstock.execution.settings import session_for
from penstock.execution.task import Report, StageTask, StepSpec
from penstock.ingest.file_sources.batch import FileBatch
from penstock.ingest.file_sources.splits import as_pattern
from penstock.ingest.sources import Ingest, IngestReport
from penstock.output.readers import Reading, read_view
from penstock.physical.program import Edge, Program
from penstock.physical.transforms import Project, Select
from penstock.state.store import FileStore

if TYPE_CHECKING:
    from pyspark import RDD
    from pyspark.sql import DataFrame, SparkSession

Batches: TypeAlias = Iterator[pa.RecordBatch]

_PLACE = "__place"
_REPORT_SCHEMA = pa.schema([("report", pa.binary())])
_unsettled = 3
_stores: dict[Path, FileStore] = {}
_MOST_STORES = 4


class Jobs(Protocol):
    """Who runs what an engine wants done."""

    @property
    def parallelism(self) -> int: ...
    def step(self, spec: StepSpec) -> list[Report]: ...
    def rows(self, reading: Reading, tasks: int) -> Any: ...
    def ingest(self, rows: Any, ingest: Ingest, directory: Path) -> IngestReport: ...
    def rows_of(self, files: FileBatch) -> Any: ...
    def with_computed(
        self, rows: pa.Table, computed: Mapping[str, Expr], directory: Path
    ) -> pa.Table: ...


class SparkJobs:
    """Jobs as Spark runs them, of one session."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    @property
    def parallelism(self) -> int:
        return self.spark.sparkContext.defaultParallelism

    def step(self, spec: StepSpec) -> list[Report]:
        """Run all stages of a step, each in so many tasks, and gather what they report."""
        with progress_of(self.spark, f"step to {spec.w1}"):
            reports = self._stages(spec) if spec.program.stages > 1 else self._stage(spec)
        return list(map(wire.unpacked_report, reports))

    def _stage(self, spec: StepSpec) -> list[bytes]:
        """A step of one stage. Its tasks send each other nothing, so Spark needs no plan for it,
        which takes as long as all else that it does for a small step."""
        pickled = pickle.dumps(spec)

        def run(task: int, nothing: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
            for batch in run_stage(pickle.loads(pickled), 0, task, nothing):
                yield from batch.column("data").to_pylist()
            _settle()

        tasks: RDD[pa.RecordBatch] = self.spark.sparkContext.parallelize((), spec.tasks)
        return tasks.mapPartitionsWithIndex(run).collect()

    def _stages(self, spec: StepSpec) -> list[bytes]:
        from pyspark.sql.pandas.types import from_arrow_schema

        pickled, program = pickle.dumps(spec), spec.program
        edges = [edge for stage in range(program.stages) for edge in program.leaving(stage)]
        spark = session_for(self.spark, expressions_on(edges))
        rows = spark.range(0, spec.tasks, 1, spec.tasks)
        for stage in range(program.stages):
            if stage > 0:
                rows = computed(spark, rows, program.leaving(stage - 1))
            if any(edge.moves for edge in program.leaving(stage - 1)):
                rows = rows.repartitionById(spec.tasks, "task")
            out = from_arrow_schema(wire.schema(program, stage))
            rows = rows.mapInArrow(_in_task(pickled, stage), out)
        return _collected(rows).column("data").to_pylist()

    def rows(self, reading: Reading, tasks: int) -> DataFrame:
        return read_view(self.spark, reading, tasks)

    def rows_of(self, files: FileBatch) -> DataFrame:
        """The records of files, read in tasks that take them in their order."""
        from pyspark.sql.pandas.types import from_arrow_schema

        rows, read = self._reading(files)
        return rows.mapInArrow(read, from_arrow_schema(files.rows_schema))

    def _reading(self, files: FileBatch) -> tuple[DataFrame, Callable[[Batches], Batches]]:
        """What tasks get to read files by, and what they make of it."""
        if files.through_spark:
            paths = [as_pattern(split.path) for split in files.splits]
            whole = self.spark.read.format("binaryFile").load(paths)
            return whole.select("path", "content"), _of_contents(files)
        count = files.tasks(self.parallelism)
        return self.spark.range(0, count, 1, count), _of_shares(files, count)

    def ingest(
        self, rows: DataFrame | pa.Table | FileBatch, ingest: Ingest, directory: Path
    ) -> IngestReport:
        """Bring rows, whose columns are the source's, into its input buffers."""
        if isinstance(rows, pa.Table):
            whole = self.with_computed(rows, ingest.computed, directory)
            return ingest.run(whole.to_batches(), store_of(directory))
        read = None
        if not isinstance(rows, FileBatch):
            rows = with_columns(rows, ingest.computed)
        elif ingest.computed:
            rows = with_columns(self.rows_of(rows), ingest.computed, here="__reason IS NULL")
        else:
            rows, read = self._reading(rows)
        pickled = pickle.dumps(ingest)
        from pyspark import TaskContext

        def run(batches: Batches) -> Batches:
            context = TaskContext.get()
            partition = context.partitionId() if context is not None else 0
            batches = batches if read is None else read(batches)
            report = pickle.loads(pickled).run(batches, store_of(directory), partition)
            data = json.dumps(report.to_json()).encode()
            yield pa.RecordBatch.from_arrays([pa.array([data])], schema=_REPORT_SCHEMA)

        total = IngestReport()
        with progress_of(self.spark, f"rows of {ingest.source.name}"):
            reports = rows.mapInArrow(run, "report BINARY").toArrow()
        for data in reports.column("report"):
            total.add(IngestReport.from_json(json.loads(data.as_py())))
        return total

    def with_computed(
        self, rows: pa.Table, computed: Mapping[str, Expr], directory: Path
    ) -> pa.Table:
        """A table of this process with columns that Spark computes; only what they need travels.

        It travels in a file: that is several times faster than to make a DataFrame of the table.
        """
        from pyspark.sql.pandas.types import from_arrow_schema

        needed = sorted(frozenset().union(*map(columns, computed.values())))
        sent = rows.select(needed).append_column(_PLACE, pa.array(np.arange(rows.num_rows)))
        spark = session_for(self.spark, computed.values())
        with _file_of(sent, directory) as path:
            read = spark.read.schema(from_arrow_schema(sent.schema)).parquet(str(path))
            found = with_columns(read, computed, spark).toArrow().sort_by(_PLACE)
        for name in computed:
            rows = rows.append_column(name, found.column(name))
        return rows


@contextmanager
def _file_of(rows: pa.Table, directory: Path) -> Iterator[Path]:
    """A table in a file, for as long as it is needed; garbage collection knows it by its suffix."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / f"{uuid.uuid4().hex}.arrow"
    pq.write_table(rows, path, compression="none", use_dictionary=False)
    try:
        yield path
    finally:
        path.unlink(missing_ok=True)


def _collected(rows: DataFrame) -> pa.Table:
    """What a job gives, made once more where Spark has lost a part of it and doubts the rest.

    A stage that is made again names other files, and sends the same rows. Spark only sees that the
    bytes differ. Until it is committed, a step may be made as often as one likes.
    """
    try:
        return rows.toArrow()
    except Exception as error:
        if "shuffle map stage with indeterminate output was failed" not in str(error):
            raise
        return rows.toArrow()


def expressions_on(edges: Iterable[Edge]) -> Iterator[Expr]:
    """What only Spark can evaluate on its way from one stage to the next."""
    for edge in edges:
        match edge.transform:
            case Select(predicate):
                yield predicate
            case Project(outputs):
                yield from (expr for _, expr in outputs)


def computed(spark: SparkSession, rows: DataFrame, edges: list[Edge]) -> DataFrame:
    """The rows of a stage with what Spark is to make of them on their way to the next."""
    columns = []
    for edge in edges:
        name, here = wire.column(edge), f"edge = {edge.number}"
        wanted = dict(enumerate(expressions_on([edge])))
        stages, left = staged({str(i): expr for i, expr in wanted.items()}, f"__s{edge.number}_")
        rows = with_stages(spark, rows, stages, f"{name}.", here)
        beside = [column for stage in stages for column in stage.columns]
        values = [to_sql(expr, f"{name}.", beside) for expr in left.values()]
        match edge.transform:
            case Select():
                rows = rows.where(f"NOT ({here}) OR {values[0]}")
                columns.append(name)
            case Project(outputs):
                fields = [(out, value) for (out, _), value in zip(outputs, values, strict=True)]
                fields += [(time, f"{name}.{time}") for time in ("__ts", "__te", "__n")]
                parts = ", ".join(f"{to_sql(text(out))}, {value}" for out, value in fields)
                columns.append(f"CASE WHEN {here} THEN named_struct({parts}) END AS {name}")
    return rows.selectExpr("edge", "task", "data", *columns) if columns else rows


def store_of(directory: Path) -> FileStore:
    """This process's store for a directory; runs stay open from step to step.

    Those of a directory that is no longer used are closed when a few others have been: an open run
    holds its file, even a deleted one.
    """
    store = _stores.pop(directory, None) or FileStore(directory)
    _stores[directory] = store
    while len(_stores) > _MOST_STORES:
        del _stores[next(iter(_stores))]
    return store


def run_stage(spec: StepSpec, stage: int, task: int, batches: Iterable[pa.RecordBatch]) -> Batches:
    """One stage of a step in one task: what arrived goes in, what is to be sent comes out."""
    store, program = store_of(spec.directory), spec.program
    store.forget(ref for state_table in spec.state_tables.values() for ref in state_table.refs)
    out = wire.schema(program, stage)
    arrived: dict[int, list[Elements]] = {}
    lost: set[int] = set()
    for batch in batches:  # all of it: Spark gives up a Python worker that leaves input behind
        for number, data in _received(program, batch):
            if isinstance(data, Elements):
                arrived.setdefault(number, []).append(data)
            elif number == wire.LOST:
                lost.update(pickle.loads(data))
            else:
                yield wire.row(out, wire.REPORT, task, data)
    work = StageTask(spec, stage, task, store)
    report, sent = work.run(arrived, lost)
    if work.lost and stage + 1 < program.stages:  # others may have sent rows to what comes next
        for receiver in range(spec.tasks):
            yield wire.row(out, wire.LOST, receiver, pickle.dumps(work.lost))
    for number, by_task in sent.items():
        edge = program.edges[number]
        for receiver, x in by_task.items():
            if edge.mode == "spark":
                yield wire.rows(out, edge, receiver, x)
            else:
                parts = wire.packed(x)
                while (part := _next(parts, report)) is not None:
                    yield wire.row(out, number, receiver, part)
    yield wire.row(out, wire.REPORT, task, wire.packed_report(report))


def _next(parts: Iterator[bytes], report: Report) -> bytes | None:
    with report.timed("exchange"):
        return next(parts, None)


def _in_task(pickled: bytes, stage: int) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        yield from run_stage(pickle.loads(pickled), stage, context.partitionId(), batches)
        _settle()

    return run


def _of_shares(files: FileBatch, tasks: int) -> Callable[[Batches], Batches]:
    """What a task reads of files: the rows that come are the numbers of shares."""
    shares = [pickle.dumps(share) for share in files.shares(tasks)]

    def run(batches: Batches) -> Batches:
        for share in [row for batch in batches for row in batch.column(0).to_pylist()]:
            yield from pickle.loads(shares[share]).rows()

    return run


def _of_contents(files: FileBatch) -> Callable[[Batches], Batches]:
    """What a task reads of files that Spark brings."""
    pickled = pickle.dumps(replace(files, splits=()))

    def run(batches: Batches) -> Batches:
        form: FileBatch = pickle.loads(pickled)
        for batch in batches:
            for path, content in zip(*batch.columns, strict=True):
                yield from form.with_content(path.as_py(), content.as_py()).rows()

    return run


def _settle() -> None:
    """Take what a new Python worker has imported out of its garbage collections.

    Spark collects garbage after every task, which takes 20 to 40 ms for the modules alone.
    """
    global _unsettled
    if _unsettled:
        _unsettled -= 1
        gc.collect()
        gc.freeze()


def _received(program: Program, batch: pa.RecordBatch) -> Iterator[tuple[int, Elements | bytes]]:
    """What came on edges; nothing comes in the rows that merely start the first stage."""
    if batch.num_columns == 1:
        return
    numbers = record.numpy(batch.column("edge"))
    for number, data in zip(numbers.tolist(), batch.column("data"), strict=True):
        if number in (wire.REPORT, wire.LOST):
            yield number, data.as_py()
        elif data.is_valid:
            producer = program.places[program.edges[number].producer]
            yield number, wire.unpacked(producer.operator.schema, data.as_buffer())
    for edge in program.edges:
        name = wire.column(edge)
        if name in batch.schema.names and np.any(mine := numbers == edge.number):
            struct = batch.column(name).filter(pa.array(mine))
            schema = program.places[edge.producer].operator.schema
            if isinstance(edge.transform, Project):
                schema = edge.transform.schema()
            yield edge.number, wire.computed(schema, struct)


EVERY = 5.0
_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
logger = logging.getLogger("penstock")


@contextmanager
def progress_of(spark: SparkSession, what: str) -> Iterator[None]:
    """Log how many tasks are done while the block runs Spark jobs, if it takes long."""
    group, done = uuid.uuid4().hex, threading.Event()
    context = spark.sparkContext
    before = {name: context.getLocalProperty(name) for name in _PROPERTIES}
    context.setJobGroup(group, f"penstock: {what}")
    watcher = threading.Thread(target=_watch, args=(spark, group, what, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        for name, value in before.items():  # the caller's own group, where there was one
            context.setLocalProperty(name, value)  # type: ignore[arg-type]


def _watch(spark: SparkSession, group: str, what: str, done: threading.Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not done.wait(EVERY):
        stages = [
            tracker.getStageInfo(stage)
            for job in tracker.getJobIdsForGroup(group)
            if (info := tracker.getJobInfo(job)) is not None
            for stage in info.stageIds
        ]
        known = [stage for stage in stages if stage is not None]
        finished = sum(stage.numCompletedTasks for stage in known)
        logger.info("%s: %d of %d tasks done", what, finished, sum(s.numTasks for s in known))
