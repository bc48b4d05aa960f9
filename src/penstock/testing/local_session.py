"""A session without Spark: jobs and readers run one after the other in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias, cast

import pyarrow as pa

from penstock.boundary import headroom
from penstock.runtime.engine import Engine
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.sql.binding.local_analyser import LocalAnalyser
from penstock.testing.engine_runs import LocalJobs

Partitions: TypeAlias = Callable[[], Iterator[pa.RecordBatch]]


def local_session(directory: Path, options: Options | None = None) -> Session:
    """Its statements may use the types and expressions that are known without Spark.

    Snapshots, changes and histories have no other method than `toArrow()`.
    """
    with headroom():
        engine = Engine(directory, LocalJobs(), options or Options())
    session = Session(engine, cast(Any, LocalSpark()))
    session.analyser = cast(Any, LocalAnalyser())
    return session


class LocalContext:
    """What a session wants of a SparkContext; there are no jobs that could be cancelled."""

    def addJobTag(self, tag: str) -> None: ...  # noqa: N802
    def removeJobTag(self, tag: str) -> None: ...  # noqa: N802
    def cancelJobsWithTag(self, tag: str) -> None: ...  # noqa: N802


class LocalSpark:
    """What a session wants of a SparkSession to receive rows and to read views."""

    def __init__(self) -> None:
        self.sparkContext = LocalContext()

    def range(self, start: int, end: int, step: int, partitions: int) -> LocalFrame:
        ids = range(start, end, step)
        schema = pa.schema([("id", pa.int64())])
        return LocalFrame(schema, lambda: (pa.record_batch([[i]], schema=schema) for i in ids))

    def createDataFrame(self, rows: pa.Table) -> pa.Table:  # noqa: N802
        return rows


class LocalFrame:
    """What a session and its sinks want of a DataFrame; lazy, as a DataFrame is."""

    def __init__(self, schema: pa.Schema, batches: Partitions) -> None:
        self._schema = schema
        self._batches = batches

    def mapInArrow(self, function: Callable[[Any], Any], schema: Any) -> LocalFrame:  # noqa: N802
        from pyspark.sql.pandas.types import to_arrow_schema

        return LocalFrame(
            to_arrow_schema(schema, timezone="UTC"), lambda: function(self._batches())
        )

    def toArrow(self) -> pa.Table:  # noqa: N802
        return pa.Table.from_batches(list(self._batches()), schema=self._schema)
