"""Queries answered as plain Spark answers them on the same rows, types and all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.sql.comparison import differences, read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FILES = sorted((Path(__file__).parent / "against_spark").glob("*.sql"))


@pytest.mark.spark
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_views_and_queries_answer_as_spark_does(spark: SparkSession, path: Path) -> None:
    found = differences(spark, read(path))
    assert not found, "\n".join(found)
