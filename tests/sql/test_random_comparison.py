"""Random queries answered as plain Spark answers them, whatever the way they are asked.

`python -m tests.sql.random_comparison` runs more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.sql.random_comparison import Comparison, Tally, random_case, shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(10_000, 10_084)
"""Cases of 12 queries each: a thousand queries."""
MOST_REFUSED = 0.15
"""The share of the queries that Spark answers."""


@pytest.mark.spark
def test_random_queries_answer_as_spark_does(spark: SparkSession) -> None:
    comparison, tally = Comparison(spark), Tally()
    stories = []
    for case, found in comparison.differences_of(map(random_case, SEEDS), tally):
        for number in found:
            stories.append(f"seed {case.seed}, query {number}: {shown(comparison, case, number)}")
    assert not stories, "\n\n".join(stories[:5])
    answered = tally.queries - tally.by_spark.total()
    assert tally.refused.total() <= MOST_REFUSED * answered, tally
