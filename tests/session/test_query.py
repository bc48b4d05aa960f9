"""Queries put together by methods are the texts that one would have written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

import penstock
from penstock.testing import assert_same_snapshots, local_session, random_rows

Build = Callable[[penstock.Query, penstock.Query], penstock.Query]
COLUMNS = "room STRING, temp INT, t INT"
SAME: dict[str, tuple[Build, str]] = {
    "a table": (lambda s, r: s, "SELECT * FROM s"),
    "conditions": (
        lambda s, r: s.where("temp > 0 OR temp IS NULL").where("room <> 'a'"),
        "SELECT * FROM s WHERE (temp > 0 OR temp IS NULL) AND room <> 'a'",
    ),
    "a condition on what was computed": (
        lambda s, r: s.select("room", "temp + 1 AS more").where("more > 1").select("more"),
        "SELECT temp + 1 AS more FROM s WHERE temp > 0",
    ),
    "a window and groups": (
        lambda s, r: s.window("RANGE 3").groupBy("room").agg("max(temp) AS temp", "count(*) AS n"),
        "SELECT room, max(temp), count(*) FROM s [RANGE 3] GROUP BY room",
    ),
    "no groups": (lambda s, r: s.agg("count(*) AS n"), "SELECT count(*) FROM s"),
    "groups of groups": (
        lambda s, r: s.groupBy("room").agg("count(*) AS n").groupBy("n").agg("count(*) AS rooms"),
        "SELECT n, count(*) FROM (SELECT room, count(*) AS n FROM s GROUP BY room) GROUP BY n",
    ),
    "a join by name": (
        lambda s, r: s.where("temp > 0").join(r.window("RANGE 4"), "room").select("room"),
        "SELECT room FROM s JOIN r [RANGE 4] USING (room) WHERE s.temp > 0",
    ),
    "a join under conditions": (
        lambda s, r: (
            s.alias("a")
            .join(r.alias("b"), ["a.room = b.room", "a.temp < 2 OR b.temp < 1"], "left")
            .where("b.temp IS NULL")
            .select("a.room AS room", "b.temp AS temp")
        ),
        "SELECT a.room, b.temp FROM s a LEFT JOIN r b "
        "ON a.room = b.room AND (a.temp < 2 OR b.temp < 1) WHERE b.temp IS NULL",
    ),
    "a join with itself": (
        lambda s, r: s.alias("a").join(s.alias("b"), "a.temp = b.temp").select("a.room AS room"),
        "SELECT a.room FROM s a JOIN s b ON a.temp = b.temp",
    ),
    "a join of a join": (
        lambda s, r: s.join(r, "room").select("room").alias("x").join(s, "room").select("room"),
        "SELECT room FROM (SELECT room FROM s JOIN r USING (room)) x JOIN s USING (room)",
    ),
    "distinct of a union": (
        lambda s, r: s.select("room").union(r.select("room")).distinct(),
        "SELECT room FROM s UNION SELECT room FROM r",
    ),
    "synchronized": (
        lambda s, r: s.sync("every4").where("temp > 0").select("room"),
        "SELECT room FROM s SYNC BY every4 WHERE temp > 0",
    ),
    "a synchronized query": (
        lambda s, r: s.where("temp > 0").select("room").sync("every4"),
        "SELECT room FROM (SELECT room FROM s WHERE temp > 0) SYNC BY every4",
    ),
    "a query under another name": (
        lambda s, r: s.where("temp > 0").alias("x").select("x.room"),
        "SELECT room FROM s WHERE temp > 0",
    ),
    "a window under another name": (
        lambda s, r: s.window("RANGE 3").alias("x").select("x.room"),
        "SELECT room FROM s [RANGE 3]",
    ),
}


@pytest.fixture
def db(tmp_path: Path) -> Iterator[penstock.Session]:
    rng = Random(5)
    with local_session(tmp_path) as session:
        for name in ("s", "r"):
            session.sql(f"CREATE SOURCE {name} ({COLUMNS}) EVENT TIME t")
            session.source(name).append(random_rows(rng, COLUMNS, time="t"))
        session.sql(
            "CREATE VIEW every4 AS SELECT timepoint FROM clock WHERE timepoint % 4 = 0",
        )
        yield session


@pytest.mark.parametrize("name", SAME)
def test_same(name: str, db: penstock.Session) -> None:
    build, text = SAME[name]
    query = build(db.table("s"), db.table("r"))
    assert_same_snapshots(db, str(query), text)
    assert len(query.result()) == len(db.sql(text))


def test_a_view_of_one(db: penstock.Session) -> None:
    @penstock.view(db)
    def warm() -> penstock.Query:
        return db.table("s").where("temp > 0").select("room", "temp")

    assert_same_snapshots(db, db.table("warm").sql, "SELECT room, temp FROM s WHERE temp > 0")


def test_what_is_not_there(db: penstock.Session) -> None:
    with pytest.raises(penstock.PlanError, match=r"view 'q'; there are: s, r, every4"):
        db.table("q")


def test_a_window_is_on_a_stream(db: penstock.Session) -> None:
    with pytest.raises(penstock.PlanError, match=r"and not on SELECT \* FROM s WHERE temp > 0"):
        db.table("s").where("temp > 0").window("RANGE 3")
