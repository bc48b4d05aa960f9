"""penstock.check: what it takes, what it gives, and what it refuses."""

from __future__ import annotations

import pytest

import penstock
from penstock.errors import ParseError, PlanError, UnsupportedError
from tests.test_architecture import run_python

GROUPS = "SELECT room, count(*) FROM readings GROUP BY room"


def test_a_verdict_is_data() -> None:
    verdict = penstock.check("SELECT DISTINCT a FROM s", {"s": "a INT"})
    assert not verdict.bounded
    assert verdict.bound is None
    assert verdict.number is None
    assert "nothing bounds it" in verdict.reasons[0]
    assert "SELECT DISTINCT a FROM s WHERE s.a BETWEEN 0 AND 99" in verdict.repairs
    assert [operator.outcome for operator in verdict.operators] == ["unbounded"]


@pytest.mark.parametrize(
    ("columns", "number"),
    [
        ("room INT CHECK (room BETWEEN 1 AND 4)", 5),
        ("room INT NOT NULL CHECK (room BETWEEN 1 AND 4)", 4),
        ("room STRING NOT NULL CHECK (room IN ('hall', 'attic'))", 2),
        ("room DECIMAL(3, 1) NOT NULL CHECK (room >= 0 AND room < 1)", 10),
        ("room DATE NOT NULL CHECK (room BETWEEN DATE '2025-01-01' AND DATE '2025-01-07')", 7),
        ("room BOOLEAN", 3),
        ("room BOOLEAN NOT NULL", 2),
    ],
)
def test_columns_say_what_they_hold(columns: str, number: int) -> None:
    assert penstock.check(GROUPS, {"readings": columns}).number == number


@pytest.mark.parametrize("values", [(1, 4), [1, 2, 3, 4], {1, 2, 3, 4}])
def test_domains_say_what_columns_hold(values: object) -> None:
    verdict = penstock.check(GROUPS, {"readings": "room INT"}, domains={"readings.room": values})
    assert verdict.number == 5


def test_conditions_exclude_null() -> None:
    query = "SELECT room, count(*) FROM readings WHERE room > 2 GROUP BY room"
    columns = "room INT CHECK (room BETWEEN 1 AND 4)"
    assert penstock.check(query, {"readings": columns}).number == 5
    both = "SELECT room, count(*) FROM readings WHERE room BETWEEN 3 AND 9 GROUP BY room"
    assert penstock.check(both, {"readings": columns}).number == 5


def test_integer_time() -> None:
    verdict = penstock.check(
        "SELECT a, d FROM s [RANGE 5] JOIN t ON a = d",
        {"s": "a INT", "t": "d INT"},
        integer_time=True,
    )
    assert not verdict.bounded
    assert "SELECT a, d FROM s [RANGE 5] JOIN t [RANGE 100] ON a = d" in verdict.repairs
    timed = "SELECT a FROM s JOIN t ON a = d AND t.ts BETWEEN s.ts AND s.ts + 5"
    verdict = penstock.check(timed, {"s": "a INT", "t": "d INT"}, integer_time=True)
    assert verdict.bound == "rows of s in 6 + rows of t at one time"


def test_sources_can_be_defined_in_the_text() -> None:
    text = "CREATE SOURCE s (a INT, at TIMESTAMP) EVENT TIME at; SELECT a FROM s WHERE a > 1"
    assert penstock.check(text).bounded


def test_self_joins_without_an_answer_are_not_certain() -> None:
    text = "SELECT DISTINCT 1 AS one FROM s x, s y, s z WHERE x.a < y.a AND y.a < z.a"
    verdict = penstock.check(text, {"s": "a INT"})
    assert not verdict.bounded
    assert verdict.operators[0].outcome == "no bound could be shown"


def test_an_opaque_condition_between_streams_bounds_nothing() -> None:
    text = "SELECT DISTINCT a FROM s, t WHERE (a + d) % 2 = 0 AND a = 10"
    verdict = penstock.check(text, {"s": "a INT", "t": "d INT"})
    assert not verdict.bounded
    assert "no bound could be shown" in str(verdict)


@pytest.mark.parametrize(
    ("sql", "sources", "error", "said"),
    [
        ("", {}, PlanError, "the text is empty"),
        ("SELECT b FROM s", {"s": "a INT"}, PlanError, "There is no column b"),
        ("SELECT a FROM s", {"s": "a, b"}, ParseError, "not columns of a source"),
        ("SELECT a FROM s", {"s": "a MAP<INT, INT>"}, PlanError, "column a: .* Spark alone"),
        ("SELECT sha2(a, 256) FROM s", {"s": "a STRING"}, PlanError, "known to Spark alone"),
        ("SHOW VIEWS", {}, UnsupportedError, "Only a query or a view has a verdict"),
        ("DROP VIEW v; SELECT a FROM s", {"s": "a INT"}, UnsupportedError, "Only definitions"),
    ],
)
def test_refuses(
    sql: str, sources: dict[str, str], error: type[penstock.PenstockError], said: str
) -> None:
    with pytest.raises(error, match=said):
        penstock.check(sql, sources)


@pytest.mark.parametrize(
    ("domains", "said"),
    [
        ({"t.a": (0, 9)}, "names no source"),
        ({"s.b": (0, 9)}, "there is no column b"),
        ({"s.a": 9}, "write .low, high."),
    ],
)
def test_refuses_domains(domains: dict[str, object], said: str) -> None:
    with pytest.raises(PlanError, match=said):
        penstock.check("SELECT a FROM s", {"s": "a INT"}, domains=domains)


def test_starts_no_java() -> None:
    code = """
import sys
sys.addaudithook(lambda event, args: print(event) if event == "subprocess.Popen" else None)
import penstock
penstock.check("SELECT DISTINCT a FROM s", {"s": "a INT"})
print("done")
"""
    assert run_python(code) == "done"
