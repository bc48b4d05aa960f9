"""Rows that are stamped on arrival."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import penstock
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Call, Column, Literal
from penstock.algebra.plan import Aggregate, Map, Window
from penstock.errors import PlanError
from penstock.ingest import watermarks
from penstock.ingest.sources import stamped_on_arrival
from penstock.runtime.engine import Engine
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.engine_runs import LocalJobs, published
from penstock.testing.local_session import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GIVEN = pa.schema([("k", pa.string()), ("v", pa.int64())])
TIME = pa.timestamp("us", tz="UTC")


class Clock:
    def __init__(self) -> None:
        self.time = 1_000

    def __call__(self) -> int:
        return self.time


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(watermarks, "now", found)
    return found


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with local_session(tmp_path, Options(tasks=2)) as session:
        yield session


def rows(df: Any) -> list[tuple[Any, ...]]:
    table = df.toArrow()
    columns = [c.cast(pa.int64()) if c.type == TIME else c for c in table.columns]
    return sorted(zip(*(c.to_pylist() for c in columns), strict=True), key=repr)


def test_a_batch_gets_the_time_at_which_it_comes(db: Session, clock: Clock) -> None:
    source = db.create_source("s", GIVEN)
    view = db.create_view("all", db.scan("s"))
    source.append([("a", 1), ("b", 2)])
    clock.time = 2_000
    source.append(pa.table({"v": [3], "k": ["c"]}))
    clock.time = 500
    assert source.append([{"k": "d"}]) == {"accepted": 1, "late": 0}
    clock.time = 3_000
    later = db.create_view("later", db.scan("s"))
    db.step()
    assert db.frontier == 3_000
    expected = [("a", 1, 1_000), ("b", 2, 1_000), ("c", 3, 2_000), ("d", None, 2_000)]
    assert rows(view.snapshot()) == rows(later.snapshot()) == expected
    assert view.changes().toArrow().schema.names == ["op", "k", "v", "ts", "_ts"]
    clock.time = 2_500
    source.append([("e", 5)])
    assert db.step() is None
    clock.time = 3_001
    db.step()
    assert rows(view.snapshot())[-1] == ("e", 5, 3_000)
    assert rows(db.create_view("last", db.scan("s")).snapshot()) == rows(view.snapshot())


def test_the_clock_alone_ends_windows(db: Session, clock: Clock) -> None:
    source = db.create_source("s", GIVEN)
    count = (AggregateCall("count", (), "n"),)
    view = db.create_view("c", Aggregate(Window(db.scan("s"), "sliding", 100), (), count), ())
    source.append([("a", 1)])
    clock.time = 1_050
    db.step()
    assert rows(view.snapshot()) == [(1,)]
    clock.time = 1_200
    db.step()
    assert rows(view.snapshot()) == [(0,)]
    source.end()
    db.step()
    assert source.append([("z", 1)]) == {"accepted": 0, "late": 1}
    assert rows(source.late()) == [("z", 1, 1_200)]


def test_rows_that_a_step_overtakes_come_after_it(tmp_path: Path, clock: Clock) -> None:
    class Overtaken(LocalJobs):
        def ingest(self, rows: Any, ingest: Any, directory: Path) -> Any:
            report = super().ingest(rows, ingest, directory)
            if clock.time == 1_000:
                clock.time = 5_000
                engine.step()
            return report

    engine = Engine(tmp_path, Overtaken(), Options(tasks=2))
    engine.define("s", stamped_on_arrival("s", GIVEN))
    engine.define("all", Session(engine, None).scan("s"))  # type: ignore[arg-type]
    report = engine.receive_rows("s", pa.table({"k": ["a"], "v": [1]}))
    assert (report.accepted, report.late) == (1, 0)
    clock.time = 6_000
    engine.step()
    assert [ts for _, ts, _, _ in published(engine, "all").rows()] == [5_000]
    engine.close()


def test_rows_do_not_bring_their_time(db: Session) -> None:
    with pytest.raises(PlanError, match="get a column 'ts' and may not have one"):
        db.create_source("s", pa.schema([("TS", pa.int64())]))
    source = db.create_source("s", GIVEN)
    with pytest.raises(PlanError, match="no column 'ts'; expected k STRING, v BIGINT"):
        source.append([{"k": "a", "ts": 1}])
    with pytest.raises(PlanError, match="share one kind of time"):
        db.create_source("ticks", pa.schema([("t", pa.int64())]), "t")


def test_time_moves_in_the_background(db: Session) -> None:
    source = db.create_source("s", GIVEN)
    view = db.create_view("all", Window(db.scan("s"), "sliding", 1_000))
    db.start()
    source.append([("a", 1)])
    begun = datetime.now(UTC)
    assert db.await_frontier(begun, timeout=30)
    db.stop()
    assert [row[0] for row in rows(view.changes())][:1] == ["+"]


@pytest.mark.spark
def test_arrival_on_spark(spark: "SparkSession", tmp_path: Path) -> None:
    incoming = tmp_path / "in"
    incoming.mkdir()
    (incoming / "1.json").write_text('{"k": "a", "v": 1}\n{"k": "b", "v": 2}\n')
    with penstock.connect(tmp_path / "state", spark, tasks=2) as db:
        source = db.create_source("s", "k STRING, v BIGINT")
        year = Call("date_format", (Column("ts", TIME), Literal("yyyy", pa.string())), pa.string())
        outputs = (("k", Column("k", pa.string())), ("year", year))
        view = db.create_view("years", Map(db.scan("s"), outputs))
        stream = spark.readStream.schema("k STRING, v BIGINT").json(str(incoming))
        assert source.attach(stream, availableNow=True).awaitTermination(120)
        source.append([("c", 3)])
        source.append(spark.createDataFrame([("d", 4)], "k STRING, v BIGINT"))
        source.end()
        db.step()
        now = str(datetime.now(UTC).year)
        assert rows(view.snapshot()) == [(k, now) for k in "abcd"]
        assert len({row[-1] for row in rows(db.answer(db.scan("s")).snapshot())}) == 3
