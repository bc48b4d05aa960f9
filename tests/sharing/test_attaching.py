"""Views come and go while others run: from what is there, and leaving what others need."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from penstock.errors import UnsupportedError
from penstock.output.readers import Reading
from penstock.runtime.engine import Engine
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.sql.binding.local_analyser import LocalAnalyser
from penstock.testing.engine_runs import LocalJobs
from penstock.testing.local_session import LocalSpark, local_session

OBJECTS = """
CREATE SOURCE readings (room STRING, temp INT, t INT) EVENT TIME t;
CREATE SOURCE alarms (room STRING, level INT, t INT) EVENT TIME t;
"""
COUNTS = "SELECT room, temp, count(*) AS n FROM readings [RANGE 10] GROUP BY room, temp"
COARSER = "SELECT room, count(*) AS n FROM readings [RANGE 10] GROUP BY room"
JOINED = """SELECT r.room, r.temp, a.level FROM readings [RANGE 10] r
  JOIN alarms [RANGE 10] a ON r.room = a.room"""
ROWS = [[("a", 1, 1), ("b", 2, 2)], [("a", 1, 4), ("a", 3, 6)], [("b", 2, 9), ("c", 1, 14)]]


class WatchfulJobs(LocalJobs):
    """Knows what has been read again."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def rows(self, reading: Reading, tasks: int) -> Any:
        self.read.append(reading.state_table.name)
        return super().rows(reading, tasks)


def opened(path: Path, jobs: LocalJobs | None = None, **options: Any) -> Session:
    db = local_session(path)
    if jobs is not None or options:
        db.close()
        engine = Engine(path, jobs or LocalJobs(), Options(tasks=2, unbounded="allow", **options))
        db = Session(engine, cast(Any, LocalSpark()))
        db.analyser = cast(Any, LocalAnalyser())
    db.sql(OBJECTS)
    return db


def feed(db: Session, batch: int) -> None:
    db.source("readings").append(ROWS[batch])
    db.source("alarms").append([(room, temp, t) for room, temp, t in ROWS[batch]])
    db.step()


def rows(table: Any) -> list[tuple[Any, ...]]:
    found = table.toArrow()
    return sorted(zip(*(c.to_pylist() for c in found.columns), strict=True), key=repr)


def state_tables(db: Session, kind: str) -> list[str]:
    return [name for name in db.engine.program.specs() if name.startswith(kind)]


# --- what is shared ---------------------------------------------------------------------------


def test_views_with_the_same_join_keep_one_pair_of_state_tables(tmp_path: Path) -> None:
    with opened(tmp_path / "shared") as db:
        db.sql(
            f"CREATE VIEW a AS SELECT room, max(level + temp) AS m FROM ({JOINED}) GROUP BY room"
        )
        one = len(state_tables(db, "inner join ")), len(state_tables(db, "lane"))
        db.sql(f"CREATE VIEW b AS SELECT temp, min(level) AS low FROM ({JOINED}) GROUP BY temp")
        db.sql(f"CREATE VIEW c AS SELECT room, level FROM ({JOINED}) WHERE temp > 1")
        assert (len(state_tables(db, "inner join ")), len(state_tables(db, "lane"))) == one
    with opened(tmp_path / "apart", sharing=False) as db:
        db.sql(f"CREATE VIEW a AS {JOINED}")
        db.sql(f"CREATE VIEW b AS {JOINED}")
        assert len(state_tables(db, "inner join ")) == 2 * one[0]


def test_a_view_that_is_contained_in_another_has_no_window_of_its_own(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        db.sql(f"CREATE VIEW fine AS {COUNTS}")
        input_buffers = state_tables(db, "lane")
        db.sql(f"CREATE VIEW coarse AS {COARSER}")
        assert state_tables(db, "lane") == input_buffers
        assert len(state_tables(db, "groups ")) == 4


# --- beginning --------------------------------------------------------------------------------


def test_a_view_begins_with_what_a_running_one_gave(tmp_path: Path) -> None:
    jobs = WatchfulJobs()
    with (
        opened(tmp_path / "late", jobs, keep_input=False) as db,
        opened(tmp_path / "early") as other,
    ):
        other.sql(f"CREATE VIEW fine AS {COUNTS}; CREATE VIEW coarse AS {COARSER}")
        db.sql(f"CREATE VIEW fine AS {COUNTS}")
        for batch in range(3):
            feed(db, batch)
            feed(other, batch)
            if batch == 1:
                db.sql(f"CREATE VIEW coarse AS {COARSER}")
                assert jobs.read == ["view fine"]
        assert rows(db.view("coarse").changes()) == rows(other.view("coarse").changes())


def test_rows_that_wait_in_a_input_buffer_are_seen(tmp_path: Path) -> None:
    with opened(tmp_path, keep_input=False) as db:
        db.sql("CREATE VIEW hot AS SELECT room, temp FROM readings [RANGE 10] WHERE temp > 0")
        feed(db, 0)
        db.source("readings").append(ROWS[1])
        db.sql("CREATE VIEW n AS SELECT count(*) AS n FROM readings [RANGE 10] WHERE temp > 0")
        feed(db, 2)
        assert rows(db.view("n").changes())[-1][1:] == (5, 9)


def test_what_was_not_kept_is_said_and_a_start_from_now_offered(tmp_path: Path) -> None:
    with opened(tmp_path, keep_input=False) as db:
        db.sql(f"CREATE VIEW fine AS {COUNTS}")
        feed(db, 0)
        with pytest.raises(UnsupportedError, match=r"not kept.* START NOW"):
            db.sql("CREATE VIEW longer AS SELECT count(*) AS n FROM readings [RANGE 20]")
        db.sql("CREATE VIEW longer START NOW AS SELECT count(*) AS n FROM readings [RANGE 20]")
        assert rows(db.view("longer").snapshot()) == [(0,)]
        feed(db, 1)
        feed(db, 2)
        assert rows(db.view("longer").changes()) == [("u", 1, 4), ("u", 2, 6), ("u", 3, 9)]
        assert rows(db.view("fine").snapshot()) == [("a", 1, 1), ("a", 3, 1), ("b", 2, 1)]


def test_a_view_begins_with_what_is_left_where_old_changes_are_gone(tmp_path: Path) -> None:
    with opened(tmp_path, keep_input=False, retention=2) as db:
        db.sql(f"CREATE VIEW fine AS {COUNTS}")
        feed(db, 0)
        feed(db, 1)
        db.sql(f"CREATE VIEW coarse AS {COARSER}")
        assert rows(db.view("coarse").snapshot()) == [("a", 2), ("b", 1)]
        assert rows(db.view("coarse").changes()) == []
        with pytest.raises(UnsupportedError, match="not kept"):
            db.sql(f"CREATE VIEW new AS SELECT ISTREAM * FROM ({COUNTS})")
        feed(db, 2)
        assert rows(db.view("coarse").snapshot()) == [("a", 2), ("b", 1)]
        assert rows(db.view("coarse").changes()) == [
            ("u", "a", 2, 11),
            ("u", "a", 3, 6),
            ("u", "b", 1, 12),
            ("u", "b", 2, 9),
        ]


# --- the end ----------------------------------------------------------------------------------


def test_a_view_that_another_was_answered_from_may_go(tmp_path: Path) -> None:
    with opened(tmp_path / "gone") as db, opened(tmp_path / "there") as other:
        for session in (db, other):
            session.sql(f"CREATE VIEW fine AS {COUNTS}; CREATE VIEW coarse AS {COARSER}")
            feed(session, 0)
        db.sql("DROP VIEW fine")
        for session in (db, other):
            feed(session, 1)
            feed(session, 2)
        assert rows(db.view("coarse").changes()) == rows(other.view("coarse").changes())


def test_what_nobody_needs_any_more_is_freed(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        db.sql(f"CREATE VIEW fine AS {COUNTS}; CREATE VIEW coarse AS {COARSER}")
        feed(db, 0)
        assert state_tables(db, "groups ")
        db.sql("DROP VIEW fine")
        db.sql("DROP VIEW coarse")
        left = [name for name in db.engine.manifest.state_tables if not name.startswith("input")]
        assert left == []


# --- views that come together -----------------------------------------------------------------


def test_views_of_different_periods_that_come_together_share_what_they_say(tmp_path: Path) -> None:
    """At periods 4 and 6, from one group each at period 2."""
    query = "SELECT room, median(temp) AS m FROM readings [RANGE 10 SLIDE {}] GROUP BY room"
    statements = [f"CREATE VIEW v{n} AS {query.format(n)}" for n in (4, 6)]
    found = []
    for together in (True, False):
        with opened(tmp_path / str(together)) as db:
            for text in ["; ".join(statements)] if together else statements:
                db.sql(text)
            for batch in range(3):
                feed(db, batch)
            db.source("readings").end()
            db.source("alarms").end()
            db.step()
            kernels = {name.split("/")[0] for name in state_tables(db, "groups ")}
            found.append(
                [len(kernels), rows(db.view("v4").changes()), rows(db.view("v6").changes())]
            )
    assert [count for count, *_ in found] == [1, 2]
    assert found[0][1:] == found[1][1:]
