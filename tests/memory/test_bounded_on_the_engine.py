"""Queries of bounded memory on the engine: constant state, and DuckDB's answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.bounded import QUERIES, answers, define, expected, feed
from penstock import connect
from penstock.memory.api import check

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCES = {"s": "a INT, b INT, c INT", "t": "d INT, e INT"}
BATCHES = 10


@pytest.mark.spark
def test_state_stays_as_small_as_the_check_says(spark: SparkSession, tmp_path: Path) -> None:
    """Runs are merged eight at a time, so that up to eight of them can repeat a row."""
    with connect(tmp_path / "state", spark, keep_input=False) as db:
        define(db)
        kept = list(feed(db, tmp_path, BATCHES, 20_000))
        for name, sql in QUERIES.items():
            bound = check(sql, SOURCES).number
            assert bound is not None
            assert max(rows for rows, _ in (each[name] for each in kept)) <= 9 * bound
            assert answers(db, name) == expected(tmp_path, name)
