"""Functions over frames and neighbours mean what they mean in DuckDB; other frames are refused."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import duckdb
import pytest

from penstock.errors import PenstockError, UnsupportedError
from penstock.testing import local_session

COLUMNS = "k INT, w INT, v INT, t INT"
BY_VALUE = ("", "RANGE UNBOUNDED PRECEDING", "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW")
BY_NUMBER = (
    "ROWS UNBOUNDED PRECEDING",
    "ROWS 2 PRECEDING",
    "ROWS CURRENT ROW",
    "rows between 1 preceding and 2 following",
    "ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING",
    "ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
)
NEIGHBOURS = ("lag(v)", "lead(v)", "lag(v, 2)", "lead(v, 2, 7)", "lag(v, 0, 7)", "lag(v, 1, w)")
QUERIES = [
    *(
        f"{function} OVER (PARTITION BY k ORDER BY w {frame})"
        for frame in BY_VALUE
        for function in ("sum(v)", "count(*)", "max(v)")
    ),
    *(
        f"{function} OVER ({partition} ORDER BY w, v, t {frame})"
        for frame in BY_NUMBER
        for function in ("sum(v)", "count(v)")
        for partition in ("PARTITION BY k", "")
    ),
    *(f"{function} OVER (PARTITION BY k ORDER BY w, v, t)" for function in NEIGHBOURS),
]


@pytest.mark.parametrize("query", QUERIES)
def test_differential_functions_over_rows(query: str, tmp_path: Path) -> None:
    rng = Random(query)
    keys, values = (None, 1, 2), (0, 1, 1, 2, 5)
    rows = [(rng.choice(keys), rng.choice(values), rng.choice(values), t) for t in range(16)]
    with local_session(tmp_path) as db:
        db.sql(f"CREATE SOURCE s ({COLUMNS}) EVENT TIME t")
        db.source("s").append(rows)
        found = db.sql(f"SELECT k, w, v, t, {query} AS x FROM s").to_arrow()
    other = duckdb.connect()
    other.execute(f"CREATE TABLE s ({COLUMNS})")
    other.executemany("INSERT INTO s VALUES (?, ?, ?, ?)", rows)
    over = query.replace("ORDER BY w", "ORDER BY w NULLS FIRST")
    expected = other.execute(f"SELECT k, w, v, t, {over} AS x FROM s").fetchall()
    assert Counter(zip(*(c.to_pylist() for c in found.columns), strict=True)) == Counter(expected)


@pytest.mark.parametrize(
    "frame",
    [
        "RANGE CURRENT ROW",
        "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
        "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
        "RANGE BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING",
        "GROUPS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW",
        "ROWS BETWEEN 1 PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW",
    ],
)
def test_other_frames_are_refused(frame: str, tmp_path: Path) -> None:
    with local_session(tmp_path) as db:
        db.sql(f"CREATE SOURCE s ({COLUMNS}) EVENT TIME t")
        with pytest.raises(UnsupportedError, match="Frames are ROWS BETWEEN"):
            db.sql(f"SELECT sum(v) OVER (ORDER BY w {frame}) AS x FROM s")


@pytest.mark.parametrize(
    ("function", "what"),
    [
        ("sum(v) OVER (ORDER BY w ROWS 1.5 PRECEDING)", "a whole number of rows"),
        ("lag(v, 1.5) OVER (ORDER BY w)", "offset is a whole number"),
        ("lag(v) OVER (PARTITION BY w)", "needs an order"),
        ("row_number() OVER (PARTITION BY w)", "needs an order"),
    ],
)
def test_what_is_wrong_over_rows(function: str, what: str, tmp_path: Path) -> None:
    with local_session(tmp_path) as db:
        db.sql(f"CREATE SOURCE s ({COLUMNS}) EVENT TIME t")
        with pytest.raises(PenstockError, match=what):
            db.sql(f"SELECT {function} AS x FROM s")
