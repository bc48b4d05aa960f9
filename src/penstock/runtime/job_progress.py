"""A sign of life from long jobs: a log line every few seconds."""

from __future__ import annotations

import logging
import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EVERY = 5.0
_PROPERTIES = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
logger = logging.getLogger("penstock")


@contextmanager
def progress_of(spark: SparkSession, what: str) -> Iterator[None]:
    """Log how many tasks are done while the block runs Spark jobs, if it takes long."""
    group, done = uuid.uuid4().hex, threading.Event()
    context = spark.sparkContext
    before = {name: context.getLocalProperty(name) for name in _PROPERTIES}
    context.setJobGroup(group, f"penstock: {what}")
    watcher = threading.Thread(target=_watch, args=(spark, group, what, done), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        for name, value in before.items():  # the caller's own group, where there was one
            context.setLocalProperty(name, value)  # type: ignore[arg-type]


def _watch(spark: SparkSession, group: str, what: str, done: threading.Event) -> None:
    tracker = spark.sparkContext.statusTracker()
    while not done.wait(EVERY):
        stages = [
            tracker.getStageInfo(stage)
            for job in tracker.getJobIdsForGroup(group)
            if (info := tracker.getJobInfo(job)) is not None
            for stage in info.stageIds
        ]
        known = [stage for stage in stages if stage is not None]
        finished = sum(stage.numCompletedTasks for stage in known)
        logger.info("%s: %d of %d tasks done", what, finished, sum(s.numTasks for s in known))
