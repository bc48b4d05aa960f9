"""Nexmark on Penstock, a step for each file, one after the other: what a step costs over time.

The time is that of the steps of files, with what it takes to receive them. What comes after them,
when the streams are over, comes once, however long they were.
"""

from __future__ import annotations

from bench.nexmark.engines import OWN, Engine
from bench.nexmark.penstock_run import feed, timed
from bench.nexmark.worker import Job

STEPWISE = Engine("penstock", "Penstock, stepwise", "bench.nexmark.growing", OWN)


def main() -> None:
    job = Job.of_arguments()
    job.finish(seconds=sum(timed(job, feed).steps))


if __name__ == "__main__":
    main()
