"""The same pipeline file, started again and again, gives the changelog of an uninterrupted run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.faults.supervised import supervised, undisturbed

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.spark
def test_differential_a_service_that_is_killed(spark: SparkSession, tmp_path: Path) -> None:
    """In the middle of its statements, and again while rows come; SIGTERM ends it with 0."""
    files = 6
    expected = undisturbed(tmp_path / "undisturbed", files, spark)
    assert all(changes.total() > 20 for changes in expected.values())
    assert supervised(tmp_path / "killed", files, [3, 9]) == expected
