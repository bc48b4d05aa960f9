"""Sessions on which something goes wrong; in a process of their own, for they patch the engine.

What tasks run instead is made by functions within functions: those travel whole, so that the
processes of a cluster need not find this module.
"""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import pyspark
from pyspark import TaskContext

from penstock import connect
from penstock.element import BEGIN
from penstock.execution.task import StepSpec
from penstock.runtime import jobs
from penstock.runtime.options import Options
from penstock.runtime.spark import start_spark
from penstock.session import Session
from penstock.state import changelog

RunStage: TypeAlias = Callable[..., jobs.Batches]


def retrying_session(directory: Path, options: Options) -> Session:
    """Every first attempt of a task fails: before it did anything, or when it had done all."""
    _replace("run_stage", _fails_first)
    _replace("store_of", _refuses_first)
    return _connected(start_spark("local[2,4]"), directory, options)


def cluster_session(directory: Path, options: Options) -> Session:
    """Two executors in processes of their own, one of which dies in the middle of each step.

    From the second step on Spark checks what is sent between stages, as it does by default.
    """
    home = Path(tempfile.mkdtemp(prefix="spark-home-"))
    for folder in Path(pyspark.__file__).parent.iterdir():
        (home / folder.name).symlink_to(folder)
    os.environ["SPARK_HOME"] = str(home)
    _replace("run_stage", lambda run: _kills_its_executor(run, directory.parent))
    spark = start_spark("local-cluster[2,1,1024]", **{"spark.executor.memory": "512m"})
    session = _connected(spark, directory, options)
    if session.frontier > BEGIN:
        for name in ("enabled", "enableFullRetryOnMismatch"):
            spark.conf.set(f"spark.sql.shuffle.orderIndependentChecksum.{name}", "true")
    return session


def _connected(spark: pyspark.sql.SparkSession, directory: Path, options: Options) -> Session:
    changelog.FAN = 2  # so that few steps merge publications, too
    spark.sparkContext.setLogLevel("OFF")
    given = {name: getattr(options, name) for name in ("tasks", "retention", "grace")}
    return connect(directory, spark, **given)


def _replace(name: str, change: Callable[[Any], Any]) -> None:
    setattr(jobs, name, change(getattr(jobs, name)))


def _fails_first(run_stage: RunStage) -> RunStage:
    def run(spec: StepSpec, stage: int, task: int, batches: jobs.Batches) -> jobs.Batches:
        context = TaskContext.get()
        first = context is not None and context.attemptNumber() == 0
        if first and (stage + task) % 2:
            raise RuntimeError("failed on purpose, before anything was done")
        yield from run_stage(spec, stage, task, batches)
        if first:
            raise RuntimeError("failed on purpose, when all was done")

    return run


def _refuses_first(store_of: Callable[[Path], Any]) -> Callable[[Path], Any]:
    def refuse(directory: Path) -> Any:
        context = TaskContext.get()
        if context is not None and context.attemptNumber() == 0 and context.stageId() % 2 == 0:
            raise RuntimeError("failed on purpose, in an ingest or a stage")
        return store_of(directory)

    return refuse


def _kills_its_executor(run_stage: RunStage, directory: Path) -> RunStage:
    """In the last stage of a step, once, when the other tasks are done: theirs is to stay.

    What the executor had to send from the first stage is lost with it.
    """

    def run(spec: StepSpec, stage: int, task: int, batches: jobs.Batches) -> jobs.Batches:
        yield from run_stage(spec, stage, task, batches)
        if stage < spec.program.stages - 1:
            return
        done = [directory / f"task {i} in step to {spec.w1}" for i in range(spec.tasks)]
        if task > 0 or done[0].exists():
            done[task].touch()
            return
        deadline = time.monotonic() + 15
        while time.monotonic() < deadline and not all(path.exists() for path in done[1:]):
            time.sleep(0.05)
        time.sleep(0.5)
        daemon = Path(f"/proc/{os.getppid()}/stat").read_text()
        executor = int(daemon.rpartition(")")[2].split()[1])
        done[0].write_bytes(Path(f"/proc/{executor}/cmdline").read_bytes())
        os.kill(executor, signal.SIGKILL)

    return run
