"""Nexmark on Penstock, a step for each file, one after the other: what a step costs over time.

The time is that of the steps of files, with what it takes to receive them. Few files are run
through again and again, each time from the beginning, so that as many steps are measured as of
many. Streams do not end, and what steps leave stays on disk until all are measured: memory that
files have left is taken again in a fifth of the time on a virtual machine, and of each size as much
has to be new.
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import TYPE_CHECKING

from bench.nexmark.engines import OWN, Engine
from bench.nexmark.penstock_run import Timing, define, take
from bench.nexmark.worker import Job
from penstock.runtime.spark import start_spark
from penstock.session import connect

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

STEPWISE = Engine("penstock", "Penstock, stepwise", "bench.nexmark.growing", OWN)
FEWEST = 100


def steps_of(query: str, data: Path, spark: SparkSession, state: Path) -> Timing:
    with connect(state, spark, keep_input=False) as db:
        return take(db, define(db, query), data)


def main() -> None:
    job = Job.of_arguments()
    spark = start_spark("local[2]")
    states = job.report.parent
    steps_of(job.query, job.warm, spark, states / "warm")
    passes: list[Timing] = []
    with job.timed():
        while sum(len(timing.steps) for timing in passes) < FEWEST:
            passes.append(steps_of(job.query, job.data, spark, states / str(len(passes))))
    job.finish(
        seconds=mean(timing.seconds for timing in passes),
        processors=mean(timing.processors for timing in passes),
    )


if __name__ == "__main__":
    main()
