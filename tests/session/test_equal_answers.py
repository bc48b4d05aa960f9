"""Answers that depend on no other view and leave no NULL out of account, without Spark."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.memory.api import check
from penstock.session import Session
from penstock.testing.local_session import local_session

ONE_GROUP = {
    "constant": "SELECT 'x' AS k, count(*) AS c FROM s GROUP BY 1",
    "constants": "SELECT 'x' AS k, 1 AS l, count(*) AS c, sum(a) AS z FROM s GROUP BY 1, 2",
    "column": "SELECT a AS k, count(*) AS c, sum(a) AS z FROM s GROUP BY a",
    "determined": "SELECT a AS k, count(*) AS c FROM s WHERE a = 1 GROUP BY a",
    "global": "SELECT count(*) AS c, sum(a) AS z FROM s",
}
TOTALS = {
    "count": ("SELECT count(*) AS c FROM s", [(0,)]),
    "sum": ("SELECT count(*) AS c, sum(a) AS z FROM s", [(0, None)]),
    "filtered": ("SELECT count(*) AS c FROM s WHERE a = 1", [(0,)]),
    "grouped": ("SELECT 'x' AS k, count(*) AS c FROM s GROUP BY 1", []),
    "having": ("SELECT count(*) AS c FROM s HAVING count(*) > 0", []),
}


def rows(db: Session, view: str) -> list[tuple[object, ...]]:
    table = db.view(view).snapshot().toArrow()
    return sorted(
        zip(*(column.to_pylist() for column in table.columns), strict=True),
        key=repr,
    )


@pytest.mark.parametrize("first", [None, *ONE_GROUP])
def test_what_nothing_amounts_to_does_not_depend_on_other_views(
    tmp_path: Path, first: str | None
) -> None:
    with local_session(tmp_path) as db:
        db.sql("CREATE SOURCE s (a INT, t INT) EVENT TIME t")
        if first is not None:
            db.sql(f"CREATE VIEW first AS {ONE_GROUP[first]}")
        for name, (text, _) in TOTALS.items():
            db.sql(f"CREATE VIEW {name}_v AS {text}")
        db.source("s").end()
        db.step()
        for name, (_, wanted) in TOTALS.items():
            assert rows(db, f"{name}_v") == wanted, name


NULL_SAFE = [
    "s.a <=> NULL",
    "s.a IS NOT DISTINCT FROM NULL",
    "NOT (s.a <=> 5)",
    "s.a IS DISTINCT FROM 5",
    "NOT (NOT (s.a <=> 2))",
    "s.a <=> t.b",
    "NOT (s.a <=> t.b)",
    "s.a <=> NULL OR s.a = 1",
    "s.a = NULL OR s.a = 2",
    "NOT (s.a <=> 5 AND t.b <=> 1)",
]
VALUES = [None, 1, 2, 5, None]


@pytest.mark.parametrize("checked", ["", " CHECK (a BETWEEN 1 AND 5)"])
def test_null_equals_null_in_joins(tmp_path: Path, checked: str) -> None:
    """As distinct values, which bounded memory keeps in a summary, and as they are."""
    import duckdb

    pairs = [(a, i) for i, a in enumerate(VALUES)]
    with local_session(tmp_path) as db, duckdb.connect() as duck:
        for name, column in (("s", "a"), ("t", "b")):
            check_of = checked.replace("(a", f"({column}")
            db.sql(f"CREATE SOURCE {name} ({column} INT{check_of}, i INT) EVENT TIME i")
            duck.execute(f"CREATE TABLE {name} ({column} INT, i INT)")
            duck.executemany(f"INSERT INTO {name} VALUES (?, ?)", pairs)
        views = {}
        for i, condition in enumerate(NULL_SAFE):
            for j, distinct in enumerate(("", "DISTINCT ")):
                text = f"SELECT {distinct}s.a, t.b FROM s, t WHERE {condition}"
                views[f"v{i}_{j}"] = text
                db.sql(f"CREATE VIEW v{i}_{j} AS {text}")
        for part in (pairs[:2], pairs[2:]):
            for name in ("s", "t"):
                db.source(name).append(part)
            db.step()
        for name in ("s", "t"):
            db.source(name).end()
        db.step()
        for name, text in views.items():
            asked = text
            for old in ("s.a <=> NULL",):
                asked = asked.replace(old, "s.a IS NULL")
            asked = asked.replace("<=>", "IS NOT DISTINCT FROM")
            assert rows(db, name) == sorted(duck.execute(asked).fetchall(), key=repr), text


def test_the_check_does_not_take_null_for_never() -> None:
    """`a <=> NULL` keeps rows, and nothing bounds how many different ones of b there are."""
    sources = {"s": "a INT, b INT", "t": "c INT, d INT"}
    for condition in ("s.a <=> NULL", "NOT (s.a <=> 5)", "s.a <=> t.c"):
        text = f"SELECT DISTINCT s.a FROM s, t WHERE {condition} AND s.b < t.d AND t.d < 9"
        plain = "SELECT DISTINCT s.a FROM s, t WHERE s.b < t.d AND t.d < 9"
        assert check(text, sources).bounded == check(plain, sources).bounded, condition


def test_zero_is_one_constant() -> None:
    sources = {"s": "a DOUBLE, b INT"}
    text = "SELECT DISTINCT a FROM s WHERE a = {}"
    assert check(text.format("0e0"), sources).bounded
    assert check(text.format("0e0 AND a = -0e0"), sources).bounded
