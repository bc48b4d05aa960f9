"""A query in Spark's SQL over streams of parquet files, a file to a batch, into a sink that
discards."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from bench.nexmark.engines import SPARK_HEAP
from bench.nexmark.penstock_run import HERE, SIDE_INPUT
from bench.nexmark.worker import Job
from penstock.runtime.java import ensure_java

ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": SPARK_HEAP,
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
}
EVERY = 0.2
DELAY = {"dateTime": "0 seconds", "expires": "1 second"}  # auctions are open for less


def started() -> SparkSession:
    os.environ["JAVA_HOME"] = str(ensure_java())
    builder = SparkSession.builder.master("local[2]").appName("nexmark")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def query(spark: SparkSession, name: str, data: Path) -> tuple[DataFrame, str]:
    """The rows of a query, and the output mode that it needs."""
    text = (HERE / "peers" / "spark" / f"{name}.sql").read_text()
    said = re.match(r"-- (\w+)(?:, watermark on (\w+))?", text)
    assert said is not None
    mode, watermark = said.groups()
    for kind in ("person", "auction", "bid"):
        files = data / kind
        schema = spark.read.parquet(str(files)).schema
        reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        rows = reader.parquet(str(files))
        if watermark:
            column = watermark if watermark in rows.columns else "dateTime"
            rows = rows.withWatermark(column, DELAY[column])
        rows.createOrReplaceTempView(kind)
    spark.createDataFrame(SIDE_INPUT).createOrReplaceTempView("side_input")
    return spark.sql(text), mode


def _uncounted(batches: int) -> None:
    pass


def drain(rows: DataFrame, mode: str, count: Callable[[int], None] = _uncounted) -> None:
    _to_the_end(rows.writeStream.format("noop"), mode, count)


def _to_the_end(
    writer: DataStreamWriter, mode: str, count: Callable[[int], None] = _uncounted
) -> None:
    """Count the batches that are over, one by one, until all are."""
    with tempfile.TemporaryDirectory() as checkpoint:
        writer = writer.option("checkpointLocation", checkpoint).outputMode(mode)
        running, over = writer.trigger(availableNow=True).start(), 0
        while not running.awaitTermination(EVERY):  # type: ignore[arg-type]
            last = running.lastProgress
            if last is not None and last["batchId"] >= over:
                over = last["batchId"] + 1
                count(over)


def answer(spark: SparkSession, name: str, data: Path) -> list[list[Any]]:
    """The rows of all batches, or of the last where each batch has the whole answer."""
    found: list[list[Any]] = []
    rows, mode = query(spark, name, data)

    def take(batch: DataFrame, number: int) -> None:
        if mode == "update":
            found.clear()
        found.extend(collected(batch))

    _to_the_end(rows.writeStream.foreachBatch(take), "complete" if mode == "update" else mode)
    return found


def collected(batch: DataFrame) -> list[list[Any]]:
    return [[plain(value) for value in row] for row in batch.collect()]


def plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return round(value.astimezone(UTC).timestamp() * 1e6)
    return value if isinstance(value, int | str | None) else float(value)


def main() -> None:
    job, spark = Job.of_arguments(), started()
    if job.answers:
        job.answer(lambda name: answer(spark, name, job.data))
        return
    drain(*query(spark, job.query, job.warm))
    found = query(spark, job.query, job.data)
    files = len(list((job.data / "bid").iterdir()))
    with job.timed():
        drain(*found, lambda batches: job.reach(min(batches / files, 1.0)))
    job.finish()


if __name__ == "__main__":
    main()
