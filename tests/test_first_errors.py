"""The errors of the first hour: each says what was found and what to do."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def db(spark: SparkSession, tmp_path: Path) -> Iterator[penstock.Session]:
    with penstock.connect(tmp_path / "state", spark=spark, tasks=1) as session:
        yield session


@pytest.fixture
def events(db: penstock.Session) -> penstock.Source:
    db.sql("CREATE SOURCE events (room STRING, at TIMESTAMP) EVENT TIME at LATE FAIL")
    return db.source("events")


def source_of(db: penstock.Session, format: str, path: object) -> None:
    db.sql(f"CREATE SOURCE s (x INT, t INT) USING {format} OPTIONS (path '{path}') EVENT TIME t")


def test_a_path_that_is_not_there(db: penstock.Session, tmp_path: Path) -> None:
    with pytest.raises(penstock.PlanError, match=r"no directory '.*nowhere'; create it or"):
        source_of(db, "json", tmp_path / "nowhere")


def test_a_file_for_a_directory(db: penstock.Session, tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text('{"x": 1, "t": 1}\n')
    with pytest.raises(penstock.PlanError, match="is a file; a stream reads a directory"):
        source_of(db, "json", tmp_path / "rows.json")


def test_a_format_that_spark_does_not_have(db: penstock.Session, tmp_path: Path) -> None:
    with pytest.raises(penstock.PlanError, match=r"There is no format jsn\. Did you mean json\?"):
        source_of(db, "jsn", tmp_path)


def test_a_table_without_its_file(db: penstock.Session) -> None:
    with pytest.raises(penstock.PlanError, match=r"There is no file or folder .*nowhere"):
        db.sql("CREATE TABLE t (x INT) USING csv OPTIONS (path 'nowhere')")


def test_a_port_in_use(db: penstock.Session) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(penstock.PlanError, match=f"port {port}: .* choose another port"):
            db.sql(f"REGISTER SOURCE p (x INT) FROM port{port}")


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"rom": "a"}, "no column 'rom'"),
        (("a",), "has 1 values"),
    ],
)
def test_rows_that_do_not_fit(events: penstock.Source, row: object, problem: str) -> None:
    with pytest.raises(penstock.PlanError) as caught:
        events.append([row])
    assert problem in str(caught.value)
    assert "expected room STRING, at TIMESTAMP" in str(caught.value)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"room": 5}, "room is 5, which is no STRING"),
        (("a", "2026-01-01"), "at is '2026-01-01', which is no TIMESTAMP"),
    ],
)
def test_values_that_do_not_fit(events: penstock.Source, row: object, problem: str) -> None:
    assert events.append([row]) == {"accepted": 0, "late": 0, "rejected": 1, "reasons": [problem]}


def test_an_event_time_that_is_no_column(db: penstock.Session) -> None:
    with pytest.raises(penstock.ParseError, match=r"There is no column tt\. Did you mean t\?"):
        db.sql("CREATE SOURCE s (x INT, t INT) EVENT TIME tt")


def test_an_event_time_that_is_no_time(db: penstock.Session) -> None:
    with pytest.raises(penstock.PlanError, match="Event time is a TIMESTAMP, a DATE or an integer"):
        db.sql("CREATE SOURCE s (x INT, t STRING) EVENT TIME t")


def test_late_rows(events: penstock.Source) -> None:
    events.append([("a", datetime(2026, 1, 1, 5))])
    with pytest.raises(penstock.LateRowError) as caught:
        events.append([("a", datetime(2026, 1, 1, 3))])
    assert "earlier than 2026-01-01 05:00:00+00:00" in str(caught.value)
    assert "Give the source a longer DELAY, or LATE KEEP or LATE DROP" in str(caught.value)


def test_an_unknown_view(db: penstock.Session, events: penstock.Source) -> None:
    db.sql("CREATE VIEW rooms AS SELECT room FROM events")
    with pytest.raises(penstock.PlanError, match="there are: rooms; did you mean 'rooms'"):
        db.view("room")
    with pytest.raises(penstock.UnknownNameError, match="Did you mean rooms"):
        db.sql("SELECT * FROM rooom")


def test_an_unknown_function(
    db: penstock.Session, events: penstock.Source, capfd: pytest.CaptureFixture[str]
) -> None:
    """Spark is asked, and its own report of the error, with a stack trace, is not shown."""
    with pytest.raises(penstock.PlanError, match=r"There is no function upperr\. Did you mean up"):
        db.sql("SELECT upperr(room) FROM events")
    assert capfd.readouterr().err == ""


def test_a_view_that_needs_ever_more_memory(
    db: penstock.Session, events: penstock.Source, caplog: pytest.LogCaptureFixture
) -> None:
    db.sql("CREATE VIEW visits AS SELECT room, count(*) AS visits FROM events GROUP BY room")
    assert "View visits needs ever more memory. Each value of events.room is a group" in caplog.text
    assert "EXPLAIN MEMORY shows what would bound it." in caplog.text


def test_rows_typed_as_statements(db: penstock.Session) -> None:
    with pytest.raises(penstock.UnsupportedError, match=r"no INSERT .* USING json .*append"):
        db.sql("INSERT INTO events VALUES ('a')")


def test_dropping_what_is_read(db: penstock.Session, events: penstock.Source) -> None:
    db.sql("CREATE VIEW rooms AS SELECT room FROM events")
    with pytest.raises(penstock.PlanError, match=r"events is read by rooms\. Drop"):
        db.sql("DROP SOURCE events")


def test_a_file_for_a_state_directory(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "state").write_text("")
    with pytest.raises(penstock.PlanError, match="is a file; the state of a session needs a dir"):
        penstock.connect(tmp_path / "state", spark=spark)


def test_a_view_from_a_function(db: penstock.Session, events: penstock.Source) -> None:
    @penstock.view(db)
    def rooms() -> str:
        return "SELECT DISTINCT room FROM events"

    assert rooms.name == "rooms"
    assert "View rooms, complete before the beginning of time" in rooms._repr_html_()
    with pytest.raises(penstock.PlanError, match="returns int; expected the text of a SELECT"):
        penstock.view(db)(lambda: 1)  # type: ignore[arg-type, return-value]
