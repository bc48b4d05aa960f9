"""Ctrl-C ends the work and not the conversation with Spark."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock.cli.printing import errors_of
from penstock.cli.waiting import finished

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def test_an_interrupt(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    came_to_its_end = []

    def work() -> None:
        spark.sparkContext.parallelize([6], 1).foreach(time.sleep)
        came_to_its_end.append(True)

    with penstock.connect(tmp_path, spark=spark, tasks=1) as db:
        db.sql("CREATE SOURCE s (x INT, t INT) EVENT TIME t")
        threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
        with pytest.raises(SystemExit) as ended, errors_of():
            finished(db, "working", work)
        assert ended.value.code == 130
        assert not came_to_its_end
        assert capfd.readouterr().err == "Interrupted.\n"
        db.source("s").append([(7, 1)])
        assert list(finished(db, "", lambda: db.sql("SELECT x FROM s"))) == [{"x": 7}]


def test_what_the_work_raises(spark: SparkSession, tmp_path: Path) -> None:
    with (
        penstock.connect(tmp_path, spark=spark, tasks=1) as db,
        pytest.raises(penstock.UnknownNameError),
    ):
        finished(db, "", lambda: db.sql("SELECT x FROM nothing"))
