"""Nexmark on Penstock, a step for each file, one after the other: what a step costs over time.

The time is that of the steps of files, with what it takes to receive them. What comes after them,
when the streams are over, comes once, however long they were. Few files are run through again and
again, each time from the beginning, so that as many steps are measured as of many.
"""

from __future__ import annotations

from statistics import mean

from bench.nexmark.engines import OWN, Engine
from bench.nexmark.penstock_run import Timing, run
from bench.nexmark.worker import Job
from penstock.runtime.spark import start_spark

STEPWISE = Engine("penstock", "Penstock, stepwise", "bench.nexmark.growing", OWN)
FEWEST = 20


def main() -> None:
    job = Job.of_arguments()
    spark = start_spark("local[2]")
    run(job.query, job.warm, spark)
    passes: list[Timing] = []
    with job.timed():
        while sum(len(timing.steps) for timing in passes) < FEWEST:
            passes.append(run(job.query, job.data, spark))
    job.finish(
        seconds=mean(sum(timing.steps) for timing in passes),
        processors=mean(timing.processors for timing in passes),
    )


if __name__ == "__main__":
    main()
