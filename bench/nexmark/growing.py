"""Nexmark on Penstock, a step for each file, one after the other: what a step costs over time.

The time is that of the steps of files, with what it takes to receive them. What comes after them,
when the streams are over, comes once, however long they were.
"""

from __future__ import annotations

from bench.nexmark.engines import OWN, Engine
from bench.nexmark.penstock_run import define, feed, run
from bench.nexmark.worker import Job
from penstock.runtime.spark import start_spark
from penstock.session import connect

STEPWISE = Engine("penstock", "Penstock, stepwise", "bench.nexmark.growing", OWN)


def main() -> None:
    job, spark = Job.of_arguments(), start_spark("local[2]")
    run(job.query, job.warm, spark)
    with connect(None, spark, keep_input=False) as db:
        sources = define(db, job.query)
        with job.timed():
            timing = feed(db, sources, job.data)
    job.finish(seconds=sum(timing.steps))


if __name__ == "__main__":
    main()
