"""`penstock check` and `penstock explain`: questions about a file, which is not run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from penstock.cli import starting
from penstock.cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SOURCES = """
CREATE SOURCE s (a INT, b INT, t INT) EVENT TIME t;
CREATE SOURCE r (c INT, d INT, t INT) EVENT TIME t;
"""
PAIRS = "CREATE VIEW pairs AS SELECT s.a FROM s JOIN r ON s.b = r.c;"
RECENT = "CREATE VIEW recent AS SELECT s.a FROM s [RANGE 9] JOIN r [RANGE 9] ON s.b = r.c;"


@pytest.fixture
def without_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def refused(path: Path | None) -> Iterator[None]:
        raise AssertionError("Spark would be started")
        yield

    monkeypatch.setattr(starting, "session", refused)


def asked(command: str, folder: Path, text: str, *options: str) -> Result:
    (folder / "file.sql").write_text(text)
    return CliRunner().invoke(main, [command, str(folder / "file.sql"), *options])


@pytest.mark.usefixtures("without_spark")
def test_an_unbounded_view(tmp_path: Path) -> None:
    ran = asked("check", tmp_path, SOURCES + PAIRS + RECENT)
    assert ran.exit_code == 1
    assert "view pairs: UNBOUNDED" in ran.output
    assert "r.c = s.b joins rows however far apart they come" in ran.output
    assert "FROM s [RANGE 100] JOIN r [RANGE 100] ON s.b = r.c" in ran.output
    assert "view recent: BOUNDED" in ran.output


@pytest.mark.usefixtures("without_spark")
def test_bounded_views(tmp_path: Path) -> None:
    assert asked("check", tmp_path, SOURCES + RECENT).exit_code == 0


@pytest.mark.usefixtures("without_spark")
def test_a_repair_may_change_the_view_below(tmp_path: Path) -> None:
    over = "CREATE VIEW twice AS SELECT DISTINCT a FROM pairs;"
    found = [
        json.loads(line)
        for line in asked("check", tmp_path, SOURCES + PAIRS + over, "--json").output.splitlines()
    ]
    assert [(one["name"], one["bounded"]) for one in found] == [
        ("view pairs", False),
        ("view twice", False),
    ]
    assert "CREATE STREAMED VIEW pairs" in found[1]["repairs"][-1]


@pytest.mark.usefixtures("without_spark")
def test_what_is_altered_is_judged_as_it_is_then(tmp_path: Path) -> None:
    changes = """
        ALTER SOURCE s ADD COLUMN more STRING;
        CREATE OR REPLACE VIEW pairs AS SELECT s.a, more FROM s [RANGE 9] JOIN r [RANGE 9]
          ON s.b = r.c;
        ALTER SOURCE s ALTER COLUMN a TYPE BIGINT;
        ALTER VIEW pairs RENAME TO both_sides;
        CREATE VIEW over AS SELECT more FROM both_sides
    """
    ran = asked("check", tmp_path, SOURCES + PAIRS + changes)
    assert ran.exit_code == 0
    assert "view both_sides: BOUNDED" in ran.output
    assert "view pairs" not in ran.output


@pytest.mark.usefixtures("without_spark")
def test_a_query_that_only_shows_a_view_is_not_judged_again(tmp_path: Path) -> None:
    shown = asked("check", tmp_path, f"{SOURCES}{PAIRS} SELECT STREAMED * FROM pairs;").output
    assert "view pairs" in shown
    assert "query" not in shown


@pytest.mark.usefixtures("without_spark")
def test_a_port_is_not_opened_and_a_clock_has_no_verdict(tmp_path: Path) -> None:
    text = """
    REGISTER SOURCE p (x INT) FROM port1;
    CREATE VIEW minute AS SELECT timepoint FROM clock WHERE timepoint % INTERVAL 1 MINUTE = 0;
    SELECT x FROM p SYNC BY minute WHERE x > 3;
    """
    ran = asked("check", tmp_path, text)
    assert "query 1: " in ran.output
    assert "minute:" not in ran.output


@pytest.mark.usefixtures("without_spark")
def test_a_mistake_is_shown_in_its_place(tmp_path: Path) -> None:
    ran = asked("check", tmp_path, f"{SOURCES}SELECT q FROM s;")
    assert ran.exit_code == 3
    assert "There is no column q" in ran.output
    assert "file.sql:4:8" in ran.output


@pytest.mark.usefixtures("without_spark")
def test_plans(tmp_path: Path) -> None:
    ran = asked("explain", tmp_path, SOURCES + RECENT)
    assert ran.exit_code == 0
    assert "view recent" in ran.output
    assert "inner join on s.b = r.c" in ran.output


@pytest.mark.spark
def test_what_only_spark_knows(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "rooms.csv").write_text("room,floor\n1,2\n")
    text = f"""
    CREATE SOURCE s (room STRING, t INT) EVENT TIME t;
    CREATE TABLE rooms USING csv OPTIONS (path '{tmp_path / "rooms.csv"}', header 'true');
    SELECT s.room FROM s [RANGE 5] JOIN rooms ON upper(s.room) = rooms.room;
    """
    ran = asked("check", tmp_path, text)
    assert ran.exit_code == 0, ran.output
    assert "rows of rooms" in ran.output
