"""What a SELECT means on a live pipeline: as of the frontier, an earlier time, or the end."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import PenstockError, PlanError, UnsupportedError
from penstock.session import Session
from penstock.testing.local_session import local_session

ROWS = [("a", 1, 0), ("a", 2, 3), ("b", 3, 8)]
SUMS = "SELECT k, sum(v) AS n FROM s [RANGE 10] GROUP BY k"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    session = local_session(tmp_path)
    session.sql(
        f"CREATE SOURCE s (k STRING, v INT, t INT) EVENT TIME t DELAY 5; CREATE VIEW w AS {SUMS}"
    )
    session.create_table("names", [{"k": "a", "name": "A"}])
    session.source("s").append(ROWS)
    yield session
    session.close()


def rows(db: Session, sql: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row.values()) for row in db.sql(sql))


def live(db: Session) -> Session:
    """Stepped to 15, with a row at 20 that waits."""
    db.source("s").append([("b", 4, 20)])
    assert db.step() is not None
    return db


def test_before_the_first_step_a_select_is_as_of_the_end(db: Session) -> None:
    assert rows(db, "SELECT * FROM w") == []
    assert len(rows(db, "SELECT STREAMED * FROM w")) == 6
    assert rows(db, "SELECT count(*) FROM s") == [(3,)]


def test_before_the_first_step_any_time_can_be_asked_for(db: Session) -> None:
    assert rows(db, "SELECT * FROM w AS OF 3") == [("a", 3)]
    assert rows(db, "SELECT * FROM w AS OF 9") == [("a", 3), ("b", 3)]
    assert rows(db, "SELECT * FROM w AS OF 1000") == []


@pytest.mark.parametrize("of", ["w", f"({SUMS}) AS q"])
def test_a_live_select_says_what_a_view_says(db: Session, of: str) -> None:
    live(db)
    view = db.view("w")
    snapshot = sorted(tuple(row.values()) for row in view.snapshot().toArrow().to_pylist())
    assert rows(db, f"SELECT * FROM {of}") == snapshot == [("b", 3)]
    assert rows(db, f"SELECT COMPLETE * FROM {of}") == snapshot
    assert rows(db, f"SELECT COMPLETE * FROM {of} WHERE n > 5") == []
    changes = sorted(tuple(row.values()) for row in view.changes().toArrow().to_pylist())
    assert rows(db, f"SELECT STREAMED * FROM {of}") == changes
    assert max(change[-1] for change in changes) < 15


@pytest.mark.parametrize("at", range(15))
def test_as_of_is_the_snapshot_of_a_view(db: Session, at: int) -> None:
    live(db)
    snapshot = db.view("w").snapshot(at).toArrow().to_pylist()
    assert rows(db, f"SELECT * FROM w AS OF {at}") == sorted(tuple(r.values()) for r in snapshot)


def test_as_of_has_many_spellings(db: Session) -> None:
    live(db)
    for said in (
        "AS OF 3",
        "TIMESTAMP AS OF 3",
        "FOR SYSTEM_TIME AS OF 3",
        "FOR TIMESTAMP AS OF 3",
    ):
        assert rows(db, f"SELECT * FROM w {said}") == [("a", 3)]
        assert rows(db, f"SELECT x.n FROM w {said} AS x WHERE x.n > 1") == [(3,)]
    assert rows(db, "SELECT count(*) FROM s AS of") == [(3,)], "a name, as ever"
    assert rows(db, "SELECT * FROM s [RANGE 2] AS OF 4") == [("a", 2, 3)]
    assert rows(db, "WITH q AS (SELECT n FROM w AS OF 3) SELECT * FROM q") == [(3,)]
    assert rows(db, "SELECT (SELECT max(n) FROM w AS OF 9) FROM w AS OF 9") == [(3,), (3,)]
    joined = "SELECT name, n FROM w AS OF 3 JOIN names ON w.k = names.k"
    assert rows(db, joined) == [("A", 3)], "a table is the same at all times"
    assert "sum" in str(db.sql("EXPLAIN SELECT * FROM w AS OF 3"))


def test_changes_as_of_a_time_are_those_up_to_it(db: Session) -> None:
    live(db)
    assert rows(db, "SELECT STREAMED * FROM w AS OF 5") == [("+", "a", 1, 0), ("u", "a", 3, 3)]


def test_what_a_pipe_is_told_as_is_said_in_its_first_select(db: Session) -> None:
    live(db)
    changes = rows(db, "SELECT STREAMED n FROM w")
    assert rows(db, "SELECT STREAMED n FROM w |> WHERE n > 0") == changes
    assert rows(db, "SELECT STREAMED k, n FROM w |> SELECT n") == changes
    assert rows(db, "SELECT COMPLETE n FROM w |> AGGREGATE sum(n) AS q") == [(3,)]


def test_as_of_end_is_what_there_would_be_if_no_more_rows_came(db: Session) -> None:
    live(db)
    assert rows(db, "SELECT * FROM w AS OF END") == []
    assert rows(db, "SELECT count(*) FROM s TIMESTAMP AS OF END") == [(4,)]
    assert max(c[-1] for c in rows(db, "SELECT STREAMED * FROM w AS OF END")) == 30


def test_rows_that_are_not_complete_yet_are_not_told(db: Session) -> None:
    live(db)
    assert rows(db, "SELECT count(*) FROM s") == [(3,)]
    db.source("s").end()
    db.step()
    assert rows(db, "SELECT count(*) FROM s") == [(4,)]
    assert rows(db, "SELECT * FROM w AS OF 20") == [("b", 4)]


def test_a_time_that_is_not_complete_yet_is_refused(db: Session) -> None:
    live(db)
    with pytest.raises(PlanError, match="time 15 is not complete yet; everything before 15 is"):
        db.sql("SELECT * FROM w AS OF 15").to_arrow()


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT * FROM w VERSION AS OF 3", "VERSION AS OF is not supported"),
        ("SELECT * FROM w FOR SYSTEM_TIME ALL", "SYSTEM_TIME ALL is not supported"),
        ("SELECT * FROM w FOR SYSTEM_TIME FROM 1 TO 3", "SYSTEM_TIME FROM is not supported"),
        ("SELECT * FROM w AS OF 3 AS a JOIN w AS b ON a.k = b.k", "at one time"),
        ("SELECT * FROM w AS OF 3 AS a JOIN w AS OF 4 AS b ON a.k = b.k", "at one time"),
        ("SELECT * FROM names AS OF 3", "the same at all times"),
        ("CREATE VIEW z AS SELECT * FROM w AS OF 3", "kept up to date"),
    ],
)
def test_what_as_of_cannot_say_is_refused(db: Session, sql: str, why: str) -> None:
    with pytest.raises(UnsupportedError, match=why):
        db.sql(sql)


@pytest.mark.parametrize("time", ["'x'", "1.5", "TIMESTAMP '2024-01-01 00:00:00'", "k"])
def test_a_time_of_another_kind_is_refused(db: Session, time: str) -> None:
    with pytest.raises(PenstockError):
        db.sql(f"SELECT * FROM w TIMESTAMP AS OF {time}")


def test_timestamps(tmp_path: Path) -> None:
    with local_session(tmp_path) as db:
        db.sql("CREATE SOURCE s (k STRING, at TIMESTAMP) EVENT TIME at")
        db.sql("CREATE VIEW w AS SELECT k, count(*) AS n FROM s GROUP BY k")
        db.sql("CREATE VIEW z AS SELECT max(n) AS n FROM w")
        stamps = ["2024-01-01 00:00:00", "2024-01-01 00:00:05", "2024-01-01 00:01:00"]
        db.source("s").append([{"k": "a", "at": datetime.fromisoformat(s)} for s in stamps])
        db.step()
        for said in ("AS OF TIMESTAMP", "TIMESTAMP AS OF", "FOR SYSTEM_TIME AS OF"):
            assert rows(db, f"SELECT n FROM z {said} '2024-01-01 00:00:03'") == [(1,)]
        assert rows(db, "SELECT n FROM z") == [(2,)]
        assert rows(db, "SELECT n FROM z AS OF END") == [(3,)]
        with pytest.raises(PenstockError, match="not complete yet"):
            db.sql("SELECT n FROM z AS OF TIMESTAMP '2024-01-01 00:01:00'").to_arrow()
        with pytest.raises(PenstockError, match="is not an event time here"):
            db.sql("SELECT n FROM z AS OF 17")
