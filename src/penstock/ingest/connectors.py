"""How rows come to a source by themselves: from a format of Spark's, or from a port."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import pyarrow as pa

from penstock.errors import PlanError
from penstock.execution.spark_errors import objection, unreadable
from penstock.ingest.file_sources.batch import FileFormat, check_columns, format_of
from penstock.kinds import kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@kind("stream feed")
@dataclass(frozen=True)
class StreamFeed:
    """Any streaming format of Spark, with its options."""

    format: str
    options: tuple[tuple[str, str], ...] = ()

    def files(self) -> FileFormat | None:
        """How the files of the stream are read, where that is not for Spark."""
        return format_of(self.format, self.options)

    def check(self, spark: SparkSession, schema: pa.Schema) -> None:
        """An error where what comes can have no such columns."""
        if self.files() is None:  # Spark knows
            self.rows(spark, schema)
        else:
            check_columns(self.format, schema)

    def rows(self, spark: SparkSession, schema: pa.Schema) -> DataFrame:
        from py4j.protocol import Py4JJavaError
        from pyspark.errors import PySparkException
        from pyspark.sql.pandas.types import from_arrow_schema

        if self.files() is not None:  # whose options must be known
            check_columns(self.format, schema)
        reader = spark.readStream.format(self.format).options(**dict(self.options))
        try:
            rows = reader.schema(from_arrow_schema(schema)).load()
        except PySparkException as error:
            self._check_path()
            raise PlanError(f"Format {self.format}: {objection(error)}") from error
        except Py4JJavaError as error:
            raise PlanError(str(unreadable(self.format, error))) from error
        self._check_path()
        return rows

    def _check_path(self) -> None:
        """A path on this machine must be a directory: a stream reads the files that come there."""
        path = dict(self.options).get("path", "")
        if not path or ":" in path or any(sign in path for sign in "*?[{"):
            return
        if Path(path).is_file():
            raise PlanError(
                f"path {path!r} is a file; a stream reads a directory and the files that come to "
                f"it, so write path {str(Path(path).parent)!r}"
            )
        if not Path(path).is_dir():
            whole = "" if Path(path).is_absolute() else f" (in {Path.cwd()})"
            raise PlanError(f"there is no directory {path!r}{whole}; create it or correct the path")


@kind("port feed")
@dataclass(frozen=True)
class PortFeed:
    """A port of this machine, one record a line."""

    port: int


Feed: TypeAlias = StreamFeed | PortFeed
