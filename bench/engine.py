"""Penstock and plain Structured Streaming on the same files, in one run, at local[2].

Prints rows per second and the ratio; Structured Streaming has the RocksDB state store and a sink
that discards. Both run once over a little before anything is timed: the first to come would pay
ten seconds for the start of Java's and Python's processes. Times on a busy machine mean little by
themselves: read the ratios.
`python -m bench.engine [rows per file] [files]`.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Column
from penstock.runtime.spark import start_spark
from penstock.session import Session, connect
from penstock.testing.processes import memory

SECOND = 1_000_000
SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("at", pa.timestamp("us", tz="UTC"))])
DDL = "k BIGINT, v BIGINT, at TIMESTAMP"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"


def main() -> None:
    rows, files = (int(arg) for arg in [*sys.argv[1:], "500000", "6"][:2])
    spark = start_spark("local[2]", **{"spark.sql.streaming.stateStore.providerClass": ROCKSDB})
    spark.sparkContext.setLogLevel("ERROR")
    directory = Path(tempfile.mkdtemp(prefix="penstock-bench-"))
    try:
        print(f"{files} files of {rows:,} rows, 10,000 keys, 500 s of event time a file\n")
        warm = write_files(directory / "warm", 10_000, 2, keys=1_000, seed=0)
        for run in (sliding(spark, warm), hopping(spark, warm)):
            run()
        left = write_files(directory / "left", rows, files, keys=10_000, seed=1)
        print(f"{'':44} {'Penstock':>12} {'Spark':>12} {'ratio':>7}")
        total = rows * files
        compare(
            "(a) sliding 500 s count, sum per key",
            total,
            sliding(spark, left),
            hopping(spark, left),
        )
        small = write_files(directory / "a", 100_000, files, keys=200_000, seed=2)
        other = write_files(directory / "b", 100_000, files, keys=200_000, seed=3)
        total = 2 * 100_000 * files
        compare(
            "(b) join of two 500 s windows",
            total,
            join(spark, small, other),
            spark_join(spark, small, other),
        )
        compare(
            "(c) distinct in a 500 s window",
            rows * files,
            distinct(spark, left),
            spark_distinct(spark, left),
        )
        tiny = write_files(directory / "tiny", 1_000, 20, keys=10_000, seed=4)
        print()
        spark_batch = spark_smallest(spark, tiny)
        for name, plan in (("one", one_operator), ("three", three_operators)):
            step = penstock_step(spark, tiny, plan)
            print(
                f"(d) 1,000 rows through {name:5} stateful operator(s): step {step * 1e3:6.0f} ms, "
                f"Spark's smallest micro-batch {spark_batch * 1e3:6.0f} ms, "
                f"ratio {step / spark_batch:.2f}"
            )
        peak = memory("VmHWM")
        print(
            f"\npeak resident memory: driver {peak.driver // 1024} MB, "
            f"Python workers, all together, {peak.workers // 1024} MB"
        )
    finally:
        shutil.rmtree(directory)


def write_files(directory: Path, rows: int, files: int, keys: int, seed: int) -> Path:
    """Files in the order of time, each 500 seconds of it."""
    directory.mkdir(parents=True)
    rng = np.random.default_rng(seed)
    for i in range(files):
        at = np.sort(rng.integers(i * 500 * SECOND, (i + 1) * 500 * SECOND, rows))
        table = pa.table(
            {
                "k": rng.integers(0, keys, rows),
                "v": rng.integers(0, 1000, rows),
                "at": pa.array(at).cast(SCHEMA.field("at").type),
            },
            schema=SCHEMA,
        )
        pq.write_table(table, directory / f"{i:04d}.parquet")
    return directory


def compare(name: str, rows: int, ours: Callable[[], None], sparks: Callable[[], None]) -> None:
    seconds = []
    for run in (ours, sparks):
        started = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - started)
    mine, theirs = (rows / s for s in seconds)
    print(f"{name:44} {mine:10,.0f}/s {theirs:10,.0f}/s {mine / theirs:6.1f}x", flush=True)


# --- Penstock -----------------------------------------------------------------------------------


def pipeline(
    spark: SparkSession, plan: Callable[[Session], p.Node], **sources: Path
) -> Callable[[], None]:
    """Feeds files one by one, each a batch and a step."""

    def run() -> None:
        with tempfile.TemporaryDirectory() as state, connect(state, spark, keep_input=False) as db:
            for name in sources:
                db.create_source(name, SCHEMA, "at")
            db.create_view("v", plan(db))
            for batch in zip(*(sorted(path.iterdir()) for path in sources.values()), strict=True):
                for name, file in zip(sources, batch, strict=True):
                    db.source(name).append(spark.read.parquet(str(file)))
                db.step()

    return run


def window(db: Session, name: str) -> p.Node:
    columns = tuple((f.name, Column(f.name, f.type)) for f in SCHEMA if f.name != "at")
    return p.Window(p.Map(db.scan(name), columns), "sliding", 500 * SECOND)


def one_operator(db: Session) -> p.Node:
    calls = (AggregateCall("count", (), "n"), AggregateCall("sum", ("v",), "total"))
    return p.Aggregate(window(db, "s"), ("k",), calls)


def three_operators(db: Session) -> p.Node:
    by_count = p.Aggregate(one_operator(db), ("n",), (AggregateCall("max", ("total",), "most"),))
    return p.Rank(by_count, (), (p.SortKey("most", descending=True),), 10)


def sliding(spark: SparkSession, files: Path) -> Callable[[], None]:
    return pipeline(spark, one_operator, s=files)


def distinct(spark: SparkSession, files: Path) -> Callable[[], None]:
    return pipeline(spark, lambda db: p.Distinct(p.project(window(db, "s"), ("k",))), s=files)


def join(spark: SparkSession, left: Path, right: Path) -> Callable[[], None]:
    def plan(db: Session) -> p.Node:
        names = (("k2", Column("k", pa.int64())), ("v2", Column("v", pa.int64())))
        other = p.Map(window(db, "b"), names)
        return p.Join(window(db, "a"), other, "inner", (p.Equality("k", "k2"),))

    return pipeline(spark, plan, a=left, b=right)


def penstock_step(spark: SparkSession, files: Path, plan: Callable[[Session], p.Node]) -> float:
    """The median time of ingesting a small file and making a step."""
    times = []
    with tempfile.TemporaryDirectory() as state, connect(state, spark, keep_input=False) as db:
        db.create_source("s", SCHEMA, "at")
        db.create_view("v", plan(db))
        for file in sorted(files.iterdir()):
            rows = pq.read_table(file)
            started = time.perf_counter()
            db.source("s").append(rows)
            db.step()
            times.append(time.perf_counter() - started)
    return float(np.median(times[3:]))


# --- Structured Streaming -----------------------------------------------------------------------


def stream(spark: SparkSession, files: Path, **names: str) -> DataFrame:
    rows = spark.readStream.schema(DDL).option("maxFilesPerTrigger", 1).parquet(str(files))
    for old, new in names.items():
        rows = rows.withColumnRenamed(old, new)
    return rows


def drained(rows: DataFrame, mode: str) -> Callable[[], None]:
    def run() -> None:
        with tempfile.TemporaryDirectory() as checkpoint:
            query = (
                rows.writeStream.format("noop")
                .outputMode(mode)
                .option("checkpointLocation", checkpoint)
                .trigger(availableNow=True)
                .start()
            )
            query.awaitTermination()

    return run


def hopping(spark: SparkSession, files: Path) -> Callable[[], None]:
    rows = stream(spark, files).withWatermark("at", "0 seconds")
    hops = rows.selectExpr("k", "v", "window(at, '500 seconds', '50 seconds') AS w", "at")
    return drained(hops.groupBy("w", "k").agg({"*": "count", "v": "sum"}), "update")


def spark_distinct(spark: SparkSession, files: Path) -> Callable[[], None]:
    rows = stream(spark, files).withWatermark("at", "500 seconds")
    return drained(rows.dropDuplicatesWithinWatermark(["k"]), "append")


def spark_join(spark: SparkSession, left: Path, right: Path) -> Callable[[], None]:
    a = stream(spark, left).withWatermark("at", "0 seconds")
    b = stream(spark, right, k="k2", v="v2", at="at2").withWatermark("at2", "0 seconds")
    condition = "k = k2 AND at2 > at - INTERVAL 500 SECONDS AND at2 < at + INTERVAL 500 SECONDS"
    from pyspark.sql.functions import expr

    return drained(a.join(b, expr(condition)), "append")


def spark_smallest(spark: SparkSession, files: Path) -> float:
    """The median time of a stateful micro-batch over a small file."""
    rows = stream(spark, files).groupBy("k").count()
    with tempfile.TemporaryDirectory() as checkpoint:
        query = (
            rows.writeStream.format("noop")
            .outputMode("update")
            .option("checkpointLocation", checkpoint)
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()
        times = [progress["durationMs"]["triggerExecution"] for progress in query.recentProgress]
    return float(np.median(times[3:])) / 1e3


if __name__ == "__main__":
    main()
