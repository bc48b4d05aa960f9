"""Jobs in this process, which ask Spark only for what Spark alone can evaluate.

A step costs a job for each round that leaves something to Spark, and none where nothing is: many
small sessions run in the time that starting Python workers takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.runtime import wire
from penstock.runtime.expressions import to_sql
from penstock.runtime.jobs import computed, run_round, store_of
from penstock.runtime.sources import Ingest, IngestReport
from penstock.runtime.task import Report, StepSpec
from penstock.testing.engine_runs import LocalJobs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class DriverJobs(LocalJobs):
    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def step(self, spec: StepSpec) -> list[Report]:
        sent: list[pa.RecordBatch] = []
        for round in range(spec.program.rounds):
            arrived, sent = self._on_the_way(spec, round, sent), []
            for task in range(spec.tasks):
                mine = [b.filter(pa.compute.equal(b.column("task"), task)) for b in arrived]
                there = iter([batch for batch in mine if batch.num_rows])
                sent += run_round(spec, round, task, there)
        return [wire.unpacked_report(data.as_py()) for b in sent for data in b.column("data")]

    def _on_the_way(
        self, spec: StepSpec, round: int, sent: list[pa.RecordBatch]
    ) -> list[pa.RecordBatch]:
        """What a round is given: what the one before has sent, computed where that is Spark's."""
        edges = spec.program.leaving(round - 1) if round else []
        if not any(edge.mode == "spark" for edge in edges):
            return sent
        rows = computed(
            self._spark.createDataFrame(pa.Table.from_batches(sent).combine_chunks()), edges
        )
        found: list[pa.RecordBatch] = _nullable(rows).toArrow().to_batches()
        return found

    def ingest(self, rows: pa.Table, ingest: Ingest, directory: Path) -> IngestReport:
        if not ingest.computed:
            return super().ingest(rows, ingest, directory)
        frame = self._spark.createDataFrame(rows)
        added = [f"{to_sql(expr)} AS {name}" for name, expr in ingest.computed.items()]
        found = frame.selectExpr("*", *added).toArrow()
        return ingest.run(found.to_batches(), store_of(directory))


def _nullable(rows: DataFrame) -> DataFrame:
    """The same rows; Arrow takes no struct that is NULL where a field of it is said never to be."""
    from pyspark.sql.types import StructField, StructType

    def field(known: StructField) -> StructField:
        kind = known.dataType
        if isinstance(kind, StructType):
            kind = StructType([StructField(f.name, f.dataType) for f in kind.fields])
        return StructField(known.name, kind)

    columns = [
        rows[known.name].cast(field(known).dataType).alias(known.name) for known in rows.schema
    ]
    return rows.select(*columns)
