"""Nexmark on Penstock: a query over parquet files, a file of each kind to a step."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from bench.nexmark.worker import Job, processor_seconds
from penstock.runtime.spark import start_spark
from penstock.session import Session, connect
from penstock.sql import parse
from penstock.sql.names import names_read
from penstock.sql.statements import CreateSource, CreateView, Query

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

HERE = Path(__file__).parent
QUERIES = tuple(f"q{i}" for i in range(23))
SYNCHRONIZED = tuple(f"{query}_each_second" for query in ("q17", "q18", "q19"))
"""Queries of Penstock alone, whose results change at points in time rather than at every event."""
SIDE_INPUT = pa.table({"key": list(range(10_000)), "value": [f"value {i}" for i in range(10_000)]})


@dataclass
class Timing:
    """What a run took, in seconds: all of it, and what of it was reading and receiving files; each
    step, and what processors worked for all of them."""

    seconds: float = 0.0
    receiving: float = 0.0
    steps: list[float] = field(default_factory=list)
    processors: float = 0.0


def published(query: str) -> str:
    """The query of the benchmark that this one answers."""
    return query.partition("_")[0]


def define(db: Session, query: str) -> list[str]:
    """Create the view and the sources that it reads; their names."""
    *views, answer = parse((HERE / "queries" / f"{query}.sql").read_text())
    assert isinstance(answer, Query)
    queries = [answer, *(view.query for view in views if isinstance(view, CreateView))]
    read = [name.lower() for each in queries for name in names_read(each)]
    sources = []
    for source in parse((HERE / "sources.sql").read_text()):
        assert isinstance(source, CreateSource)
        if source.name.text in read:
            db.sql(source.text)
            sources.append(source.name.text)
    if "side_input" in read:
        db.create_table("side_input", SIDE_INPUT)
    for view in views:
        db.sql(view.text)
    db.sql(f"CREATE VIEW answer AS {answer.text}")
    return sources


def stream(db: Session, sources: list[str], data: Path) -> None:
    """Every file as a batch, in order, while steps are made in the background."""
    db.start()
    for name in _names(data):
        for kind in sources:
            db.source(kind).append(data / kind / name)
    for kind in sources:
        db.source(kind).end()
    db.stop()
    db.step()


def _names(data: Path) -> list[str]:
    return sorted(path.name for path in (data / "bid").iterdir())


def feed(db: Session, sources: list[str], data: Path) -> Timing:
    """Every file as a batch, in order, a step after each; in the end the streams are over."""
    begun = time.perf_counter()
    timing = take(db, sources, data)
    for kind in sources:
        db.source(kind).end()
    db.step()
    timing.seconds = time.perf_counter() - begun
    return timing


def take(db: Session, sources: list[str], data: Path) -> Timing:
    """Every file as a batch, in order, a step after each; the streams may go on."""
    timing, begun, used = Timing(), time.perf_counter(), processor_seconds()
    for name in _names(data):
        started = time.perf_counter()
        for kind in sources:
            db.source(kind).append(data / kind / name)
        timing.receiving += time.perf_counter() - started
        db.step()
        timing.steps.append(time.perf_counter() - started)
    timing.processors = processor_seconds() - used
    timing.seconds = time.perf_counter() - begun
    return timing


def run(query: str, data: Path, spark: SparkSession | None = None) -> Timing:
    with connect(None, spark, keep_input=False) as db:
        return feed(db, define(db, query), data)


def main() -> None:
    job = Job.of_arguments()
    spark = start_spark("local[2]")
    run(job.query, job.warm, spark)
    with connect(None, spark, keep_input=False) as db:
        sources = define(db, job.query)
        with job.timed():
            stream(db, sources, job.data)
    job.finish()


if __name__ == "__main__":
    main()
