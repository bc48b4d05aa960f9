"""differential: random queries mean in Penstock what they mean in DuckDB, at many times.

`python -m tests.sql.differential FIRST LAST` runs more seeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from penstock.testing.random_inputs import AppendOnly, Column, Keyed, Table
from tests.sql.differential import END, Case, Difference, Penstock, differences, random_case, shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEEDS = range(34)
"""Sessions of 15 views each: 510 queries."""

INPUTS = (
    Keyed(
        "people",
        (
            Column("k", "INT"),
            Column("s", "STRING"),
            Column("x", "DOUBLE"),
            Column("tick", "BIGINT"),
        ),
        (
            ("+", (1, "a", 0.5, 0)),
            ("+", (2, "a", 0.5, 0)),
            ("+", (3, None, None, 1)),
            ("u", (2, "b", 2.0, 3)),
            ("-", (1, "a", 0.5, 5)),
        ),
    ),
    AppendOnly(
        "visits",
        (Column("i", "INT"), Column("s", "STRING"), Column("tick", "BIGINT")),
        ((1, "a", 0), (2, None, 1), (None, "b", 2), (1, "b", 4)),
    ),
    Table(
        "days", (Column("i", "INT"), Column("b", "BOOLEAN")), ((1, True), (2, None), (None, False))
    ),
)

REGRESSIONS = {
    "a value before several INs": """
        SELECT p.k AS c FROM people AS p
        WHERE p.k IN (SELECT v.i FROM visits AS v) OR p.k IN (SELECT d.i FROM days AS d)""",
    "a query in the select list of one after IN": """
        SELECT p.k AS c FROM people AS p
        WHERE p.k IN (SELECT (SELECT max(d.i) FROM days AS d WHERE d.i = v.i) FROM visits AS v)""",
    "a query in the select list of one after NOT IN": """
        SELECT p.k AS c FROM people AS p
        WHERE p.k NOT IN (SELECT (SELECT max(d.i) FROM days AS d) FROM visits AS v)""",
    "OFFSET by an order that is not selected": """
        SELECT p.s AS c FROM people AS p ORDER BY p.k OFFSET 1""",
    "LIMIT and OFFSET by an order that is not selected": """
        SELECT p.s AS c FROM people AS p ORDER BY p.k LIMIT 1 OFFSET 1""",
    "OFFSET by a query in the select list": """
        SELECT (SELECT sum(v.i) FROM visits AS v) AS c FROM people AS p ORDER BY c OFFSET 1""",
    "tests that are never NULL": """
        SELECT p.k AS c, (p.x > 1) IS TRUE AS e, (p.x > 1) IS NOT FALSE AS f,
            p.s IS DISTINCT FROM 'a' AS g, p.s IS NOT DISTINCT FROM NULL AS h,
            nullif(p.s, 'a') AS i, nullif(2, 2) IS NULL AS j
        FROM people AS p""",
    "an order by two names of one expression": """
        SELECT p.k AS c, p.k AS e FROM people AS p ORDER BY c, e LIMIT 2""",
}


@pytest.fixture(scope="module")
def penstock(spark: SparkSession) -> Penstock:
    return Penstock(spark)


@pytest.mark.spark
@pytest.mark.parametrize("seed", SEEDS)
def test_differential_random_queries(penstock: Penstock, seed: int) -> None:
    case = random_case(seed)
    _assert_none(penstock, case, differences(penstock, case))


@pytest.mark.spark
def test_differential_regressions(penstock: Penstock) -> None:
    views = {f"v{i}": query for i, query in enumerate(REGRESSIONS.values())}
    case = Case(0, INPUTS, views, range(END), (2, 4, END), tasks=2)
    _assert_none(penstock, case, differences(penstock, case))


def _assert_none(penstock: Penstock, case: Case, found: list[Difference]) -> None:
    assert not found, "\n\n".join(shown(penstock, case, difference) for difference in found[:3])
