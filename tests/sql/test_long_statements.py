"""Statements that programs write: long ones work, from anywhere in a stack; deep ones are refused.

`CHAINS` are in a row, hundreds of terms; `NESTED` are inside each other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.sql import parse
from penstock.testing.local_session import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCE = "CREATE SOURCE s (k STRING, v INT, t INT) EVENT TIME t"
ROWS = [("a", 1, 1), ("b", 2, 2), (None, 3, 3)]

CHAINS: dict[str, tuple[str, list[Any]]] = {
    "additions": (f"SELECT {'+'.join(['v'] * 240)} AS x FROM s", [240, 480, 720]),
    "roots": (f"SELECT {'+'.join(['sqrt(v*v)'] * 260)} AS x FROM s", [260.0, 520.0, 780.0]),
    "constants": (f"SELECT {'+'.join(['1'] * 300)} AS x FROM s WHERE v = 1", [300]),
    "texts": (f"SELECT length({'||'.join(['k'] * 600)}) AS x FROM s", [600, 600, None]),
    "texts_in_texts": (
        f"SELECT upper(k || {'||'.join(['v'] * 40)} || upper({'||'.join(['k'] * 40)})) AS x FROM s",
        ["A" + "1" * 40 + "A" * 40, "B" + "2" * 40 + "B" * 40, None],
    ),
    "lists": (f"SELECT size({'||'.join(['array(v)'] * 40)}) AS x FROM s", [40, 40, 40]),
    "conjunctions": (
        f"SELECT v AS x FROM s WHERE {' AND '.join(f'v <> {i}' for i in range(3, 503))}",
        [1, 2],
    ),
    "members": (f"SELECT v AS x FROM s WHERE v IN ({', '.join(map(str, range(2, 1002)))})", [2, 3]),
    "branches": (
        f"SELECT CASE {' '.join(f'WHEN v = {i} THEN {i * 7}' for i in range(260))} END AS x FROM s",
        [7, 14, 21],
    ),
    "unions": (
        " UNION ALL ".join(f"SELECT v + {i} AS x FROM s WHERE v = {i}" for i in range(1, 101)),
        [2, 4, 6],
    ),
    "different": (
        " UNION ".join(f"SELECT v % {1 + i % 2} AS x FROM s" for i in range(100)),
        [0, 1],
    ),
}
NESTED = {
    "parentheses": f"SELECT {'(' * 1000}v{')' * 1000} AS x FROM s",
    "queries": f"SELECT * FROM {'(SELECT * FROM ' * 100}s{')' * 100}",
    "negations": f"SELECT v FROM s WHERE {'NOT ' * 1000}v = 1",
    "signs": f"SELECT {'- ' * 1000}v AS x FROM s",
    "cases": f"SELECT {'CASE WHEN v = 1 THEN ' * 100}v{' END' * 100} AS x FROM s",
    "calls": f"SELECT {'abs(' * 100}v{')' * 100} AS x FROM s",
}


def from_below(depth: int, call: Callable[[], Any]) -> Any:
    return call() if depth == 0 else from_below(depth - 1, call)


def answer(db: penstock.Session, text: str) -> list[Any]:
    found: list[Any] = db.sql(text).to_arrow().column(0).to_pylist()
    return found


@pytest.mark.parametrize("text", NESTED.values(), ids=NESTED)
def test_what_is_nested_too_deeply_is_refused_by_name(text: str) -> None:
    with pytest.raises(penstock.ParseError, match=r"nested too deeply: 65 .* 64 is the most"):
        parse(text)


@pytest.mark.parametrize("form", ["({})", "coalesce({}, 1)", "- {}"])
def test_as_deep_as_may_be_is_read_from_anywhere(form: str) -> None:
    text = "v"
    for _ in range(60):
        text = form.format(text)
    from_below(700, lambda: penstock.check(f"SELECT v FROM s WHERE {text} = 1", {"s": "v INT"}))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"SELECT v + {'9' * 10_000} FROM s", "10,000 digits"),
        (f"SELECT v FROM s LIMIT {'9' * 10_000}", "10,000 digits"),
        (f"SELECT v FROM s [RANGE '{'9' * 10_000} SECONDS']", "is too long"),
        ("SELECT v FROM s [RANGE '1e999999 SECONDS']", "is too long"),
        ("SELECT v FROM s [RANGE 'nan SECONDS']", "a number of SECONDS"),
        ("SELECT '\ud800' FROM s", "no part of a text"),
        ("SELECT \0 FROM s", "no part of a text"),
    ],
)
def test_what_is_no_number_and_no_text_is_refused(text: str, said: str) -> None:
    with pytest.raises(penstock.ParseError) as found:
        parse(text)
    assert said in str(found.value)
    assert str(found.value).encode("utf-8")
    assert len(str(found.value)) < 2_000


def test_an_error_quotes_the_line_around_it() -> None:
    columns = ", ".join(f"v AS c{i}" for i in range(4_000))
    with pytest.raises(penstock.ParseError) as found:
        parse(f"SELECT {columns} FRO s")
    header, line, marks = str(found.value).split("\n")[-3:]
    assert "line 1" in header
    assert len(line) < 200
    assert line[marks.index("^") :].startswith("FRO s")


def test_a_percentile_without_its_fraction() -> None:
    with pytest.raises(penstock.PlanError, match=r"write percentile\(x, 0.5\)"):
        penstock.check("SELECT percentile(DISTINCT DISTINCT v, 0.5) FROM s", {"s": "v INT"})


def test_a_long_view_is_opened_from_deep_in_a_stack(tmp_path: Path) -> None:
    with local_session(tmp_path) as db:
        db.sql(SOURCE)
        db.sql(f"CREATE VIEW x AS SELECT {'+'.join(['v'] * 160)} AS x FROM s")
    from_below(700, lambda: local_session(tmp_path)).close()


@pytest.mark.parametrize(
    "text", ["x" * 267_000, f"SELECT {'x' * 267_000} FROM s", f"SELECT '{'x' * 267_000} FROM s"]
)
def test_an_error_is_shorter_than_a_screen(text: str) -> None:
    with pytest.raises(penstock.PenstockError) as found:
        penstock.check(text, {"s": "v INT"})
    assert len(str(found.value)) < 2_000


@pytest.mark.spark
def test_long_statements_work_at_once_and_as_views_that_are_reopened(
    spark: SparkSession, tmp_path: Path
) -> None:
    with penstock.connect(tmp_path / "state", spark=spark, tasks=1) as db:
        db.sql(SOURCE)
        for name, (text, _) in CHAINS.items():
            db.sql(f"CREATE VIEW {name} AS {text}")
        db.source("s").append(ROWS)
        for name in ("constants", "texts", "branches", "unions"):
            text, expected = CHAINS[name]
            found = from_below(500, partial(answer, db, text))
            assert sorted(found, key=str) == sorted(expected, key=str), name
    with from_below(600, lambda: penstock.connect(tmp_path / "state", spark=spark)) as db:
        db.source("s").end()
        from_below(600, db.step)
        for name, (_, expected) in CHAINS.items():
            found = [row[0] for row in db.view(name).snapshot().collect()]
            assert sorted(found, key=str) == sorted(expected, key=str), name


@pytest.mark.spark
def test_the_order_of_an_answer(spark: SparkSession, tmp_path: Path) -> None:
    with penstock.connect(tmp_path / "state", spark=spark, tasks=1) as db:
        db.sql(SOURCE)
        db.source("s").append([("a", 1, 1), ("b", 2, 2), ("a", 3, 3), (None, 4, 4)])
        for order, expected in {
            "k DESC, v": [2, 1, 3, 4],
            "s.k DESC NULLS FIRST, v DESC": [4, 2, 3, 1],
            "2 DESC": [4, 3, 2, 1],
            "-v": [4, 3, 2, 1],
            "K, 2": [4, 1, 3, 2],
            "k DESC, v LIMIT 2": [2, 1],
        }.items():
            rows = db.sql(f"SELECT k, v FROM s ORDER BY {order}").to_arrow()
            assert rows.column("v").to_pylist() == expected, order
        with pytest.raises(penstock.UnsupportedError, match="ORDER BY t is no column of"):
            db.sql("SELECT k, v FROM s ORDER BY t")


@pytest.mark.spark
def test_what_fails_while_it_runs_is_told_in_a_sentence(
    spark: SparkSession, tmp_path: Path
) -> None:
    with penstock.connect(tmp_path / "state", spark=spark, tasks=1) as db:
        db.sql(SOURCE)
        db.source("s").append(ROWS)
        for text, condition in {
            "SELECT CAST(k AS INT) AS x FROM s": "CAST_INVALID_INPUT",
            "SELECT k RLIKE '(' AS x FROM s": "Unclosed group near index 1",
            "SELECT array(v)[7] AS x FROM s": "INVALID_ARRAY_INDEX",
            "SELECT " + "+".join(["v"] * 3000) + " AS x FROM s": "This has more terms",
        }.items():
            with pytest.raises(penstock.PenstockError) as found:
                db.sql(text).to_arrow()
            assert condition in str(found.value), text
            assert "\tat " not in str(found.value)
            assert len(str(found.value).split("\n")) < 24
