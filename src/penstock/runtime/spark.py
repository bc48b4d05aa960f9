"""A local Spark for those who bring none."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

import pyarrow as pa

from penstock.boundary import is_lost
from penstock.runtime.java import java_homes, no_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Java mostly plans small jobs here. A collector that runs aside, and compiling for long what is not
# really hot, would take time from the tasks: a quarter of it in the first minute. Spark
# goes through expressions by recursion: in the stack that threads usually have, to 500 terms.
JAVA = (
    "-Xss4m -XX:+UseParallelGC -XX:Tier4InvocationThreshold=100000 "
    "-XX:Tier4MinInvocationThreshold=12000 -XX:Tier4CompileThreshold=300000 "
    "-XX:Tier4BackEdgeThreshold=800000"
)
# Arrays come and go in every step: glibc would give their memory back each time, and the kernel
# would have to clear new pages.
KEPT, LARGE = 256 << 20, 32 << 20
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
SETTINGS = {
    "spark.log.level": "ERROR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.python.worker.reuse": "true",
    "spark.python.unix.domain.socket.enabled": "true",  # 40 ms a task less than over TCP
    "spark.sql.session.timeZone": "UTC",
    "spark.shuffle.compress": "false",
    "spark.driver.extraJavaOptions": JAVA,
    "spark.executorEnv.MALLOC_TRIM_THRESHOLD_": str(KEPT),
    "spark.executorEnv.MALLOC_MMAP_THRESHOLD_": str(LARGE),
    "spark.executorEnv.ARROW_DEFAULT_MEMORY_POOL": "system",
    # A round that is made again names other files, and sends the same rows: that is no mistake.
    "spark.sql.shuffle.orderIndependentChecksum.enabled": "false",
    "spark.sql.shuffle.orderIndependentChecksum.enableFullRetryOnMismatch": "false",
}


def start_spark(master: str = "local[*]", **settings: str) -> SparkSession:
    """A local SparkSession with settings for small steps."""
    from pyspark.sql import SparkSession

    forget_lost()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.master(master).appName("penstock")
    for name, value in {**SETTINGS, **settings}.items():
        builder = builder.config(name, value)
    _keep_memory()
    return _started(builder.getOrCreate)


def _started(start: Callable[[], SparkSession]) -> SparkSession:
    """Spark on the first Java that can start it: some tell their version and can do no more."""
    from pyspark.errors import PySparkRuntimeError

    rejected: list[str] = []
    for origin, home in java_homes(rejected):
        os.environ["JAVA_HOME"] = str(home)
        try:
            return start()
        except PySparkRuntimeError as error:
            if error.getCondition() != "JAVA_GATEWAY_EXITED":
                raise
            rejected.append(f"{origin}: {home} cannot start Spark; why is written above")
    raise no_java(rejected)


def answering(spark: SparkSession) -> SparkSession:
    """The same session; an error where its Java does not answer."""
    str(spark.version)
    return spark


def forget_lost() -> None:
    """Let PySpark start another Java where the one it had has ended; it would ask that for ever."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession, SQLContext

    if not is_lost():
        return
    with SparkContext._lock, suppress(Exception):  # to its end nobody listens
        SparkContext._gateway.shutdown()  # type: ignore[union-attr]
    SparkContext._gateway = SparkContext._jvm = SparkContext._active_spark_context = None
    SparkSession._instantiatedSession = SparkSession._activeSession = None
    SQLContext._instantiatedContext = None


def _keep_memory() -> None:
    """In this process, which receives rows, too; where glibc is not what gives memory, nothing."""
    if hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(M_TRIM_THRESHOLD, KEPT)
        libc.mallopt(M_MMAP_THRESHOLD, LARGE)
        pa.set_memory_pool(pa.system_memory_pool())
