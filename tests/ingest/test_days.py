"""Days in windows and synchronization begin at the midnights of the session's zone."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from penstock.algebra.plan import Node
from penstock.algebra.reference import Reference
from penstock.algebra.settings import CASE, ZONE, Settings, settings
from penstock.errors import PenstockError
from penstock.session.session import Session
from penstock.sql.binding.local_analyser import LocalAnalyser
from penstock.testing.local_session import local_session

NEW_YORK = "America/New_York"
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ROWS = [
    (1, "2024-03-09T12:00"),
    (2, "2024-03-10T05:00"),  # midnight in New York
    (3, "2024-03-11T03:59"),  # the last minute of a day of 23 hours
    (4, "2024-03-11T04:00"),
    (5, "2024-11-03T03:59"),
    (6, "2024-11-03T04:00"),  # midnight, of a day of 25 hours
    (7, "2024-11-04T04:59"),
]


class InZone(LocalAnalyser):
    def __init__(self, zone: str | Settings) -> None:
        self._settings = settings({ZONE: zone}) if isinstance(zone, str) else zone

    def settings(self) -> Settings:
        return self._settings


def in_zone(path: Path, zone: str | Settings) -> Session:
    db = local_session(path)
    db.analyser = cast(Any, InZone(zone))
    return db


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def ticks(text: str) -> int:
    return (at(text) - EPOCH) // timedelta(microseconds=1)


def history(db: Session, view: str) -> dict[int, tuple[str, str]]:
    """When each row is there."""
    rows = db.view(view).history().toArrow().to_pylist()
    return {row["k"]: (_shown(row["valid_from"]), _shown(row["valid_to"])) for row in rows}


def _shown(time: datetime | None) -> str:
    return "" if time is None else f"{time.astimezone(UTC):%m-%dT%H:%M}"


DAILY = {
    1: ("03-09T12:00", "03-10T05:00"),
    2: ("03-10T05:00", "03-11T04:00"),
    3: ("03-11T03:59", "03-11T04:00"),
    4: ("03-11T04:00", "03-12T04:00"),
    5: ("11-03T03:59", "11-03T04:00"),
    6: ("11-03T04:00", "11-04T05:00"),
    7: ("11-04T04:59", "11-04T05:00"),
}
VIEWS = {
    "daily": "SELECT k FROM s [FIXED 1 DAY]",
    "synced": "SELECT k FROM s [RANGE 1 HOUR] SYNC BY midnights",
    "stepped": "SELECT k FROM s [RANGE 1 DAY SLIDE 1 DAY]",
    "kept": "SELECT k FROM s SYNC BY midnights",
    "hourly": "SELECT k FROM s [FIXED 1 HOUR]",
}
POINTS = "SELECT timepoint FROM clock WHERE timepoint % INTERVAL 1 DAY = 0"


def pipeline(db: Session) -> None:
    db.sql(f"CREATE SOURCE s (k INT, t TIMESTAMP) EVENT TIME t; CREATE VIEW midnights AS {POINTS}")
    for name, text in VIEWS.items():
        db.sql(f"CREATE VIEW {name} AS {text}")


def test_days_are_those_of_the_zone(tmp_path: Path) -> None:
    with in_zone(tmp_path, NEW_YORK) as db:
        pipeline(db)
    with in_zone(tmp_path, "Asia/Kolkata") as db:  # the views keep their zone
        for k, time in ROWS:
            db.source("s").append([(k, at(time))])
            db.source("s").advance(at(time))
            db.step()
        db.source("s").advance(at("2024-12-01T00:00"))
        db.step()
        assert history(db, "daily") == DAILY
        # a row of an hour is there at a midnight if it comes in the hour before it
        assert history(db, "synced") == {
            2: ("03-10T05:00", "03-11T04:00"),
            3: ("03-11T04:00", "03-12T04:00"),
            4: ("03-11T04:00", "03-12T04:00"),
            5: ("11-03T04:00", "11-04T05:00"),
            6: ("11-03T04:00", "11-04T05:00"),
            7: ("11-04T05:00", "11-05T05:00"),
        }
        assert history(db, "stepped")[1] == ("03-10T05:00", "03-11T04:00")
        assert history(db, "kept")[7] == ("11-04T05:00", "")
        assert history(db, "hourly")[3] == ("03-11T03:59", "03-11T04:00")


def test_oracle_days(tmp_path: Path) -> None:
    """The reference says the same at the ends of days and beside them."""
    elements = [((k, at(t)), ticks(t)) for k, t in ROWS]
    with in_zone(tmp_path, NEW_YORK) as db:
        pipeline(db)
        db.source("s").append([record for record, _ in elements])
        db.source("s").advance(at("2024-12-01T00:00"))
        db.step()
        plans: dict[str, Node] = {name: db.engine.views[name].meaning for name in VIEWS}
        found = {name: history(db, name) for name in VIEWS}
    stream = [(record, ts, 2**63 - 1, 1) for record, ts in elements]
    reference = Reference({"s": stream})
    for name, plan in plans.items():
        for day in ("03-10T05:00", "03-11T04:00", "11-03T04:00", "11-04T05:00"):
            for t in (ticks(f"2024-{day}") - 1, ticks(f"2024-{day}")):
                expected = Counter(record[0] for record in reference.at(plan, t).elements())
                shown = _shown(EPOCH + timedelta(microseconds=t))
                there = Counter(
                    k for k, (a, b) in found[name].items() if a <= shown and (b == "" or shown < b)
                )
                assert there == expected, (name, day, t)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("timepoint % INTERVAL 1 DAY = INTERVAL 6 HOURS", "may skip a time of the day"),
        ("timepoint % INTERVAL 1 DAY = 0 AND timepoint % INTERVAL 5 HOURS = 0", "same zone only"),
    ],
)
def test_points_that_are_refused(query: str, message: str, tmp_path: Path) -> None:
    with in_zone(tmp_path, NEW_YORK) as db:
        db.sql("CREATE SOURCE s (k INT, t TIMESTAMP) EVENT TIME t")
        with pytest.raises(PenstockError, match=message):
            db.sql(f"CREATE VIEW m AS SELECT timepoint FROM clock WHERE {query}")


@pytest.mark.parametrize("kind", ["DATE", "TIMESTAMP_NTZ"])
def test_event_times_that_are_none_in_a_zone(kind: str, tmp_path: Path) -> None:
    source = f"CREATE SOURCE s (k INT, t {kind}) EVENT TIME t"
    refused = pytest.raises(PenstockError, match=f"is a {kind}, .* Declare it a TIMESTAMP")
    with in_zone(tmp_path / "a", NEW_YORK) as db, refused:
        db.sql(source)
    with in_zone(tmp_path / "b", "GMT") as db:
        db.sql(source)


def test_names_are_written_as_they_are_where_case_matters(tmp_path: Path) -> None:
    with in_zone(tmp_path, settings({CASE: "true"})) as db:
        db.sql("CREATE SOURCE s (k INT, t TIMESTAMP) EVENT TIME t")
        db.sql("CREATE VIEW v AS SELECT k, S.k + 1 AS next FROM S")
        for query in ("SELECT K FROM s", "SELECT count(*) FROM s GROUP BY K"):
            with pytest.raises(PenstockError, match=r"There is k, and not K.*Write k"):
                db.sql(f"CREATE VIEW w AS {query}")


def test_a_zone_without_days(tmp_path: Path) -> None:
    with in_zone(tmp_path, "Mars/Olympus") as db:
        db.sql("CREATE SOURCE s (k INT, t TIMESTAMP) EVENT TIME t")
        with pytest.raises(PenstockError, match="'Mars/Olympus' is not known here"):
            db.sql("CREATE VIEW v AS SELECT k FROM s [FIXED 1 DAY]")
        db.sql("CREATE VIEW v AS SELECT k FROM s [FIXED 1 HOUR]")
