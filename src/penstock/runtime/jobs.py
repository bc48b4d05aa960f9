"""Spark jobs: a step as one job of a few stages, an ingest as one, each a chain of mapInArrow.

Only DataFrame operations are used, so any master and Spark Connect will do. What changes from step
to step travels in the pickled function, never in an expression that Spark would compile again.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import pyarrow as pa

from penstock.element import Elements
from penstock.runtime import wire
from penstock.runtime.reading import Reading
from penstock.runtime.sources import Ingest, IngestReport
from penstock.runtime.task import Report, RoundTask, StepSpec, hash_range
from penstock.state.store import FileStore

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Batches: TypeAlias = Iterator[pa.RecordBatch]

_REPORT_SCHEMA = pa.schema([("report", pa.binary())])
_stores: dict[Path, FileStore] = {}


class Jobs(Protocol):
    """Who runs what an engine wants done."""

    @property
    def parallelism(self) -> int: ...
    def step(self, spec: StepSpec) -> list[Report]: ...
    def ingest(self, rows: Any, ingest: Ingest, directory: Path) -> IngestReport: ...


class SparkJobs:
    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    @property
    def parallelism(self) -> int:
        return self.spark.sparkContext.defaultParallelism

    def step(self, spec: StepSpec) -> list[Report]:
        """Run all rounds of a step, each in so many tasks, and gather what they report."""
        pickled = pickle.dumps(spec)
        rows = self.spark.range(0, spec.tasks, 1, spec.tasks)
        for round in range(spec.program.rounds):
            if round > 0:
                rows = rows.repartitionById(spec.tasks, "task")
            rows = rows.mapInArrow(_in_task(pickled, round), wire.SPARK_SCHEMA)
        return [wire.unpacked_report(data.as_py()) for data in rows.toArrow().column("data")]

    def ingest(self, rows: DataFrame, ingest: Ingest, directory: Path) -> IngestReport:
        """Bring the rows of a DataFrame, whose columns are the source's, into its lanes."""
        pickled = pickle.dumps(ingest)

        def run(batches: Batches) -> Batches:
            report = pickle.loads(pickled).run(batches, store_of(directory))
            data = json.dumps(report.to_json()).encode()
            yield pa.RecordBatch.from_arrays([pa.array([data])], schema=_REPORT_SCHEMA)

        total = IngestReport()
        for data in rows.mapInArrow(run, "report BINARY").toArrow().column("report"):
            total.add(IngestReport.from_json(json.loads(data.as_py())))
        return total


def store_of(directory: Path) -> FileStore:
    """This process's store for a directory; runs stay open from step to step."""
    return _stores.setdefault(directory, FileStore(directory))


def run_round(spec: StepSpec, round: int, task: int, batches: Batches) -> Batches:
    """One round of a step in one task: what arrived goes in, what is to be sent comes out."""
    store = store_of(spec.directory)
    store.forget({ref.name for area in spec.areas.values() for ref in area.refs})
    arrived: dict[int, list[Elements]] = {}
    for edge, data in _received(batches):
        if edge == wire.REPORT:
            yield _row(wire.REPORT, task, data)
        else:
            producer = spec.program.places[spec.program.edges[edge].producer]
            x = wire.unpacked(producer.operator.schema, data)
            arrived.setdefault(edge, []).append(x)
    report, sent = RoundTask(spec, round, task, store).run(arrived)
    for edge, by_task in sent.items():
        for receiver, x in by_task.items():
            for data in wire.packed(x):
                yield _row(edge, receiver, data)
    yield _row(wire.REPORT, task, wire.packed_report(report))


def _in_task(pickled: bytes, round: int) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        from pyspark import TaskContext

        context = TaskContext.get()
        assert context is not None
        yield from run_round(pickle.loads(pickled), round, context.partitionId(), batches)

    return run


def _received(batches: Batches) -> Iterator[tuple[int, bytes]]:
    """What came on edges. The rows that merely start the first round have one column only.

    All must be read even so: Spark gives up a Python worker that leaves input behind.
    """
    for batch in batches:
        if batch.num_columns == len(wire.SCHEMA):
            yield from zip(batch.column(0).to_pylist(), batch.column(2).to_pylist(), strict=True)


def _row(edge: int, task: int, data: bytes) -> pa.RecordBatch:
    arrays = [pa.array([edge], pa.int32()), pa.array([task], pa.int32()), pa.array([data])]
    return pa.RecordBatch.from_arrays(arrays, schema=wire.SCHEMA)


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
