"""EXPLAIN MEMORY, and what a session does about views that need ever more memory."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from penstock import Session
from penstock.algebra import plan as p
from penstock.errors import PlanError, UnboundedError
from penstock.runtime.options import Options
from penstock.sql.binding.local_analyser import LocalAnalyser
from penstock.testing.local_session import local_session

SOURCES = """
CREATE SOURCE s (a INT, b INT, at TIMESTAMP) EVENT TIME at;
CREATE SOURCE t (d INT, e INT, at TIMESTAMP) EVENT TIME at
"""
EVER_MORE = "CREATE VIEW pairs AS SELECT a, e FROM s JOIN t ON a = d"


@contextmanager
def opened(path: Path, unbounded: str) -> Iterator[Session]:
    with local_session(path, Options(tasks=1, unbounded=unbounded)) as db:
        db.__dict__["analyser"] = LocalAnalyser()
        db.sql(SOURCES)
        yield db


def test_explains_the_memory_of_a_query(tmp_path: Path) -> None:
    with opened(tmp_path, "allow") as db:
        text = str(db.sql("EXPLAIN MEMORY SELECT a, e FROM s [RANGE 1 HOUR] JOIN t ON a = d"))
        assert text.startswith("UNBOUNDED")
        assert "Every row of t must be kept" in text
        assert "JOIN t [RANGE 1 HOUR]" in text


def test_explains_the_memory_of_a_view(tmp_path: Path) -> None:
    with opened(tmp_path, "allow") as db:
        text = str(db.sql("EXPLAIN MEMORY CREATE VIEW v AS SELECT DISTINCT a FROM s WHERE a = 1"))
        assert text.startswith("BOUNDED: at most 1 value of s.a")


def test_repairs_change_the_views_that_a_query_reads(tmp_path: Path) -> None:
    with opened(tmp_path, "allow") as db:
        db.sql("CREATE VIEW counts AS SELECT a, count(*) AS n FROM s GROUP BY a")
        text = str(db.sql("EXPLAIN MEMORY SELECT max(n) FROM counts"))
        assert (
            "CREATE STREAMED VIEW counts AS SELECT a, COUNT(*) AS n FROM s [RANGE 1 HOUR]" in text
        )


def test_warns_once_and_says_where_to_look(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with opened(tmp_path, "warn") as db, caplog.at_level(logging.WARNING, "penstock"):
        db.sql(EVER_MORE)
        (warning,) = caplog.messages
        assert warning.startswith("View pairs needs ever more memory.")
        assert warning.endswith("EXPLAIN MEMORY shows what would bound it.")
        assert "pairs" in db.engine.views


def ever_more(db: Session) -> p.Node:
    return p.Distinct(p.project(db.scan("s"), ("a",)))


def test_warns_of_plans(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path, "warn") as db, caplog.at_level(logging.WARNING, "penstock"):
        db.create_view("different", ever_more(db))
        (warning,) = caplog.messages
        assert warning.startswith("View different needs ever more memory. Each different value")


def test_refuses_plans(tmp_path: Path) -> None:
    with opened(tmp_path, "refuse") as db, pytest.raises(UnboundedError, match="ever more memory"):
        db.create_view("different", ever_more(db))


def test_warning_of_a_wide_join_takes_no_time(tmp_path: Path) -> None:
    with opened(tmp_path, "warn") as db:
        for i in range(8):
            db.sql(f"CREATE SOURCE s{i} (a INT, b INT, at TIMESTAMP) EVENT TIME at")
        joins = " ".join(f"JOIN s{i} ON s{i - 1}.a = s{i}.a" for i in range(1, 8))
        start = time.process_time()
        db.sql(f"CREATE VIEW wide AS SELECT s0.b FROM s0 {joins}")
        assert time.process_time() - start < 2


def test_refuses(tmp_path: Path) -> None:
    with opened(tmp_path, "refuse") as db:
        with pytest.raises(UnboundedError, match="needs ever more memory") as caught:
            db.sql(EVER_MORE)
        assert "This would be bounded: CREATE STREAMED VIEW pairs AS" in str(caught.value)
        assert caught.value.getCondition() == "UNBOUNDED_MEMORY"
        assert "pairs" not in db.engine.views


def test_allows(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path, "allow") as db:
        db.sql(EVER_MORE)
        assert not caplog.messages


def test_says_nothing_of_bounded_views(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path, "refuse") as db:
        db.sql(
            "CREATE VIEW few AS SELECT a, count(*) AS n FROM s WHERE a BETWEEN 1 AND 9 GROUP BY a"
        )
        assert not caplog.messages
        assert "few" in db.engine.views


def test_other_policies_are_unknown() -> None:
    with pytest.raises(PlanError, match="expected one of: warn, refuse, allow"):
        Options(unbounded="ignore")


def test_knows_what_sources_promise(tmp_path: Path) -> None:
    with opened(tmp_path, "refuse") as db:
        db.sql(
            "CREATE SOURCE r (room INT NOT NULL CHECK (room BETWEEN 1 AND 40), temp INT, "
            "at TIMESTAMP) EVENT TIME at RATE 100 PER SECOND"
        )
        text = str(db.sql("EXPLAIN MEMORY SELECT room, count(*) FROM r GROUP BY room"))
        assert text.startswith("BOUNDED: at most 40 values of r.room")
        text = str(
            db.sql("EXPLAIN MEMORY SELECT temp, count(*) FROM r [RANGE 1 HOUR] GROUP BY temp")
        )
        assert "360,000 rows of r in 1 HOUR" in text
        assert "= 720,000" in text
        db.sql("CREATE VIEW v AS SELECT room, count(*) AS n FROM r GROUP BY room")
    with local_session(tmp_path, Options(tasks=1)) as db:
        db.__dict__["analyser"] = LocalAnalyser()
        text = str(db.sql("EXPLAIN MEMORY SELECT DISTINCT room FROM r"))
        assert text.startswith("BOUNDED: at most 40 values of r.room")


def test_knows_the_domains_of_streams(tmp_path: Path) -> None:
    with opened(tmp_path, "refuse") as db:
        db.sql("CREATE STREAM few OVER s KEY NULL PUNCTUATED BY DOMAIN (a BETWEEN 0 AND 9)")
        text = str(db.sql("EXPLAIN MEMORY SELECT a, count(*) FROM few GROUP BY a"))
        assert text.startswith("BOUNDED: at most 10 values of few.a")


def test_a_rate_is_in_the_time_of_its_source(tmp_path: Path) -> None:
    with opened(tmp_path, "warn") as db, pytest.raises(PlanError, match="RATE 100 PER SECOND"):
        db.sql("CREATE SOURCE r (a INT, at TIMESTAMP) EVENT TIME at RATE 5 PER 10")
