"""The session: what users call, without Spark where Spark does not matter, and with it."""

import json
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest

import penstock
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.plan import Aggregate, Node, Scan, Window
from penstock.element import INF
from penstock.errors import LateRowError, PlanError, WriterConflictError
from penstock.runtime.options import Options
from penstock.session import Session, Source, View
from penstock.testing.local_session import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("t", pa.int64())])


def counts(scan: Scan, size: int = 10) -> Node:
    """How many rows of each key there are in a sliding window, and their sum."""
    calls = (AggregateCall("count", (), "n"), AggregateCall("sum", ("v",), "total"))
    return Aggregate(Window(scan, "sliding", size), ("k",), calls)


def opened(path: Path, **options: Any) -> Session:
    return local_session(path, Options(tasks=2, **options))


def with_view(db: Session, **source: Any) -> tuple[Source, View]:
    s = db.create_source("s", SCHEMA, "t", **source)
    return s, db.create_view("c", counts(db.scan("s")))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with opened(tmp_path / "state") as session:
        yield session


def rows(df: Any) -> list[tuple[Any, ...]]:
    """The rows of a DataFrame, in an order of their own."""
    table = df.toArrow()
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)


# --- appending ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "batch",
    [
        [("a", 1, 1), ("b", None, 2)],
        [{"k": "a", "v": 1, "t": 1}, {"t": 2, "k": "b"}],
        (("a", 1, 1), {"t": 2, "k": "b"}),
        pa.table({"t": [1, 2], "k": ["a", "b"], "v": [1, None], "more": [0, 0]}),
        pd.DataFrame({"t": [1, 2], "k": ["a", "b"], "v": [1, None], "more": [0, 0]}),
    ],
    ids=["tuples", "dicts", "both", "Arrow", "pandas"],
)
def test_rows_of_any_form_are_the_same_rows(batch: Any, db: Session) -> None:
    source = db.create_source("s", SCHEMA, "t")
    view = db.create_view("v", db.scan("s"))
    assert source.append(batch) == {"accepted": 2, "late": 0}
    source.end()
    db.step()
    assert rows(view.snapshot()) == [("a", 1, 1), ("b", None, 2)]


@pytest.mark.parametrize(
    ("batch", "complaint"),
    [
        ([("a", 1)], r"\('a', 1\) has 2 values"),
        ([{"kk": "a"}], "no column 'kk'"),
        ([7], "int"),
        (pa.table({"k": ["a"], "v": [1]}), "no column 't'"),
        (pa.table({"k": ["a"], "v": ["x"], "t": [1]}), "column 'v' is STRING, which is no INT"),
        (pd.DataFrame({"k": ["a"], "v": [1]}), "'t'"),
        (pd.DataFrame({"k": ["a"], "v": [True], "t": [1]}), "column 'v' is BOOLEAN"),
    ],
)
def test_rows_of_another_shape_say_what_was_expected(
    batch: Any, complaint: str, db: Session
) -> None:
    source = db.create_source("s", SCHEMA, "t")
    with pytest.raises(PlanError, match=f"{complaint}.*expected"):  # and the columns, or the type
        source.append(batch)
    assert db.metrics()["sources"]["s"]["accepted"] == 0


@pytest.mark.parametrize("batch", [7, {"k": "a"}, iter([("a", 1, 1)]), None])
def test_what_is_no_batch_of_rows_is_refused(batch: Any, db: Session) -> None:
    with pytest.raises(PlanError, match="expected a list of dicts or tuples, an Arrow table"):
        db.create_source("s", SCHEMA, "t").append(batch)


def test_late_rows_are_kept_dropped_or_fatal(db: Session) -> None:
    kept = db.create_source("kept", SCHEMA, "t", delay=2)
    dropped = db.create_source("dropped", SCHEMA, "t", late="drop")
    fatal = db.create_source("fatal", SCHEMA, "t", late="fail")
    view = db.create_view("v", db.scan("kept"))
    for source in (kept, dropped, fatal):
        assert source.append([("a", 1, 10)])["accepted"] == 1
    assert kept.append([("a", 2, 9), ("b", 3, 7), ("c", 4, None)]) == {"accepted": 1, "late": 2}
    assert dropped.append([("a", 2, 9), ("b", 3, 10)]) == {"accepted": 1, "late": 1}
    with pytest.raises(LateRowError, match="source fatal: 1 rows are earlier than 10"):
        fatal.append([("a", 2, 9), ("b", 3, 10)])
    assert rows(kept.late()) == [("b", 3, 7), ("c", 4, None)]
    assert rows(dropped.late()) == rows(fatal.late()) == []
    assert db.step() is not None
    assert db.frontier == 8
    assert kept.append([("d", 1, 7)]) == {"accepted": 0, "late": 1}
    for source in (kept, dropped, fatal):
        source.end()
    db.step()
    assert rows(view.snapshot()) == [("a", 1, 10), ("a", 2, 9)]
    found = db.metrics()["sources"]
    assert {name: (s["accepted"], s["late"]) for name, s in found.items()} == {
        "kept": (2, 3),
        "dropped": (2, 1),
        "fatal": (1, 0),
    }


# --- defining -----------------------------------------------------------------------------------


def test_columns_are_of_types_that_spark_has(db: Session) -> None:
    names = pa.dictionary(pa.int32(), pa.large_string())
    schema = pa.schema([("k", names), ("at", pa.timestamp("ns", tz="Europe/Berlin"))])
    source = db.create_source("s", schema, "at")
    view = db.create_view("v", db.scan("s"))
    assert view.snapshot().toArrow().schema == pa.schema(
        [("k", pa.string()), ("at", pa.timestamp("us", tz="UTC"))]
    )
    noon = datetime(2026, 2, 28, 12, tzinfo=UTC)
    source.append(pa.table({"k": pa.array(["a"], names), "at": pa.array([noon], schema.types[1])}))
    source.end()
    db.step()
    assert rows(view.snapshot()) == [("a", noon)]
    with pytest.raises(PlanError, match=r"a source of n uint8, t BIGINT: .* not supported"):
        db.create_source("u", pa.schema([("n", pa.uint8()), ("t", pa.int64())]), "t")


def test_what_cannot_be_defined_says_why(db: Session, tmp_path: Path) -> None:
    with_view(db)
    with pytest.raises(PlanError, match="no source 'x'; there are: s"):
        db.source("x")
    with pytest.raises(PlanError, match="no view 'x'; there are: c"):
        db.view("x")
    with pytest.raises(PlanError, match="'c' exists already"):
        db.create_view("c", db.scan("s"))
    with pytest.raises(PlanError, match="reads 'x'; the sources are: s"):
        db.create_view("v", Scan("x", SCHEMA, True))
    with pytest.raises(PlanError, match="share one kind of time"):
        db.create_source("d", pa.schema([("day", pa.date32())]), "day")
    with pytest.raises(PlanError, match="no column 'when'; there are k, v, t"):
        db.create_source("d", SCHEMA, "when")
    with pytest.raises(PlanError, match="no option 'task'; there are: tasks, retention, grace"):
        penstock.connect(tmp_path / "other", task=3)


# --- reading ------------------------------------------------------------------------------------


def test_views_at_a_time_as_changes_and_as_history(db: Session) -> None:
    source, view = with_view(db)
    assert rows(view.snapshot()) == rows(view.changes()) == rows(view.history()) == []
    source.append([("a", 1, 1), ("b", 2, 3), ("a", 5, 5)])
    db.step()
    pinned = view.snapshot()
    source.append([("a", 1, 7)])
    source.end()
    db.step()
    assert rows(pinned) == [("a", 1, 1), ("b", 1, 2)]
    assert rows(view.snapshot()) == []
    at = {t: rows(view.snapshot(t)) for t in range(20)}
    assert at[0] == at[17] == []
    assert at[1] == at[2] == [("a", 1, 1)]
    assert at[6] == [("a", 2, 6), ("b", 1, 2)]
    assert at[7] == at[10] == [("a", 3, 7), ("b", 1, 2)]
    assert at[16] == [("a", 1, 1)]
    changes = rows(view.changes())
    assert changes == [
        ("+", "a", 1, 1, 1),
        ("+", "a", 1, 1, 15),
        ("+", "a", 2, 6, 11),
        ("+", "a", 2, 6, 5),
        ("+", "a", 3, 7, 7),
        ("+", "b", 1, 2, 3),
        ("-", "a", 1, 1, 17),
        ("-", "a", 1, 1, 5),
        ("-", "a", 2, 6, 15),
        ("-", "a", 2, 6, 7),
        ("-", "a", 3, 7, 11),
        ("-", "b", 1, 2, 13),
    ]
    assert rows(view.changes(since=13)) == [change for change in changes if change[-1] >= 13]
    assert rows(view.history()) == [
        ("a", 1, 1, 1, 5),
        ("a", 1, 1, 15, 17),
        ("a", 2, 6, 11, 15),
        ("a", 2, 6, 5, 7),
        ("a", 3, 7, 7, 11),
        ("b", 1, 2, 3, 13),
    ]


def test_a_time_that_is_not_complete_has_no_snapshot(db: Session) -> None:
    source, view = with_view(db)
    source.append([("a", 1, 4)])
    db.step()
    assert rows(view.snapshot(3)) == []
    with pytest.raises(PlanError, match="time 4 is not complete yet; everything before 4 is"):
        view.snapshot(4)


def test_times_are_timestamps_where_the_source_has_them(db: Session) -> None:
    schema = pa.schema([("k", pa.string()), ("at", pa.timestamp("us", tz="UTC"))])
    source = db.create_source("s", schema, "at", delay=60_000_000)
    view = db.create_view("v", Window(db.scan("s"), "sliding", 3_600_000_000))
    noon = datetime(2026, 2, 28, 12, tzinfo=UTC)
    source.append([("a", datetime(2026, 2, 28, 12)), ("b", noon.replace(microsecond=1))])
    source.advance(date(2026, 3, 1))
    db.step()
    end = noon.replace(hour=13)
    assert rows(view.history()) == [
        ("a", noon, noon, end),
        ("b", noon.replace(microsecond=1), noon.replace(microsecond=1), end.replace(microsecond=1)),
    ]
    assert rows(view.snapshot(noon)) == [("a", noon)]
    assert rows(view.snapshot(end)) == [("b", noon.replace(microsecond=1))]
    assert rows(view.changes(since=end.replace(microsecond=1)))[0][0] == "-"
    with pytest.raises(PlanError, match=r"2026-03-01 00:00:00\+00:00 is not complete yet"):
        view.snapshot(datetime(2026, 3, 1))


# --- running ------------------------------------------------------------------------------------


def test_a_step_reports_what_happened(db: Session) -> None:
    source, _ = with_view(db)
    assert db.step() is None
    assert db.last_progress is None
    source.append([("a", 1, 1), ("b", 2, 3)])
    progress = db.step()
    assert db.step() is None
    assert progress is not None
    assert progress["frontier"] == db.frontier == 3
    assert sum(operator["rows_in"] for operator in progress["operators"].values()) == 1
    assert progress["tasks"].keys() >= {"compact", "operators", "publish", "exchange"}
    assert progress["state"]["view c"]["rows"] == 1
    source.advance(5)
    source.advance(4)
    assert db.step() is not None
    assert db.frontier == 5
    source.end()
    db.step()
    assert db.frontier == INF
    assert [step["frontier"] for step in db.recent_progress] == [3, 5, INF]
    assert json.loads(json.dumps(db.last_progress)) == db.last_progress == db.recent_progress[-1]
    metrics = json.loads(json.dumps(db.metrics()))
    assert metrics == db.metrics()
    assert metrics["sources"] == {"s": {"accepted": 2, "late": 0, "frontier": INF}}


def test_an_idle_source_holds_nobody_back_until_its_next_batch(db: Session) -> None:
    busy = db.create_source("busy", SCHEMA, "t")
    quiet = db.create_source("quiet", SCHEMA, "t")
    db.create_view("v", db.scan("busy"))
    busy.append([("a", 1, 10)])
    assert db.step() is None
    quiet.idle()
    db.step()
    assert db.frontier == 10
    assert quiet.append([("a", 1, 12), ("a", 1, 3)]) == {"accepted": 1, "late": 1}
    busy.append([("a", 1, 20)])
    db.step()
    assert db.frontier == 12
    quiet.idle()
    busy.idle()
    db.step()
    assert db.frontier == 20


def test_steps_in_the_background(db: Session) -> None:
    source, view = with_view(db)
    db.start()
    db.start()
    assert not db.await_frontier(5, timeout=0.05)
    source.append([("a", 1, 5)])
    assert db.await_frontier(5, timeout=30)
    source.advance(20)
    assert db.await_frontier(20, timeout=30)
    db.stop()
    assert rows(view.changes()) == [("+", "a", 1, 1, 5), ("-", "a", 1, 1, 15)]
    source.advance(30)
    time.sleep(0.05)
    assert db.frontier == 20
    db.start()
    assert db.await_frontier(30, timeout=30)


def test_what_goes_wrong_in_the_background_is_told(db: Session) -> None:
    source, view = with_view(db)

    def broken(df: Any, version: int) -> None:
        raise OSError("the sink is full")

    view.sink(broken)
    db.start()
    source.append([("a", 1, 5)])
    source.end()

    assert db.await_frontier(INF, timeout=30)
    db.stop()
    assert db.failures() == {"sink c broken": "OSError: the sink is full"}
    assert db.metrics()["failed"] == db.failures()


def test_a_session_that_was_reopened_goes_on(tmp_path: Path) -> None:
    delivered: dict[int, list[Any]] = {}

    def deliver(df: Any, version: int) -> None:
        assert version not in delivered
        delivered[version] = rows(df)

    for number, batch in enumerate([[("a", 1, 1)], [("a", 2, 4), ("b", 3, 5)], [("a", 4, 30)]]):
        with opened(tmp_path) as db:
            source, view = (db.source("s"), db.view("c")) if number else with_view(db)
            view.sink(deliver)
            source.append(batch)
            db.step()
            with pytest.raises(WriterConflictError, match="only one may at a time"):
                opened(tmp_path)
        with pytest.raises(WriterConflictError, match="was closed"):
            source.append(batch)
    with opened(tmp_path) as db:
        assert rows(db.view("c").history())[0] == ("a", 1, 1, 1, 4)
        assert db.metrics()["sources"]["s"]["accepted"] == 4
        everything = [change for version in sorted(delivered) for change in delivered[version]]
        assert sorted(everything, key=repr) == rows(db.view("c").changes())


def test_sinks_have_names_of_their_own(db: Session) -> None:
    source, view = with_view(db)
    first: list[int] = []
    second: list[int] = []
    view.sink(lambda df, version: first.append(df.toArrow().num_rows))
    with pytest.raises(PlanError, match="there is a sink 'c <lambda>' already"):
        view.sink(lambda df, version: second.append(df.toArrow().num_rows))
    with pytest.raises(PlanError, match="needs a path"):
        view.sink("parquet")
    source.append([("a", 1, 5)])
    source.end()
    db.step()
    view.sink(lambda df, version: second.append(df.toArrow().num_rows), name="second")
    assert first == second == [2]


def test_sinks_get_what_ends_after_its_beginning_was_given_up(tmp_path: Path) -> None:
    with opened(tmp_path, retention=5) as db:
        source = db.create_source("s", SCHEMA, "t")
        view = db.create_view("v", Window(db.scan("s"), "sliding", 30))
        delivered: list[Any] = []
        view.sink(lambda df, version: delivered.extend(rows(df)))
        source.append([("a", 1, 1)])
        for t in range(5, 50, 5):
            source.advance(t)
            db.step()
        assert delivered == [("+", "a", 1, 1, 1), ("-", "a", 1, 1, 31)]


def test_garbage_is_collected_now_and_then(tmp_path: Path) -> None:
    with opened(tmp_path, grace=0.0) as db:
        source, view = with_view(db)
        for t in range(45):
            source.append([("a", 1, t)])
            db.step()
        live = db._engine.manifest.segments()
        assert len(list((tmp_path / "runs").iterdir())) < len(live) + 60
        assert rows(view.snapshot()) == [("a", 10, 10)]


# --- on Spark -----------------------------------------------------------------------------------


@pytest.mark.spark
def test_a_session_on_spark(spark: "SparkSession", tmp_path: Path) -> None:
    with penstock.connect(tmp_path / "state", spark, tasks=2) as db:
        source = db.create_source("s", "k STRING, v INT, t BIGINT", "t")
        view = db.create_view("c", counts(db.scan("s")))
        frame = spark.createDataFrame([(1, "a", 1), (5, "b", 2)], "t BIGINT, K STRING, v INT")
        with pytest.raises(PlanError, match=r"no column 'v' .*; expected k STRING, v INT"):
            source.append(frame.drop("v"))
        assert source.append(frame) == {"accepted": 2, "late": 0}
        delivered: dict[int, Any] = {}
        view.sink(lambda df, version: delivered.update({version: rows(df)}))
        view.sink("parquet", path=str(tmp_path / "out"))
        source.append([("a", 4, 6)])
        db.step()
        source.end()
        db.step()
        changes = rows(view.changes())
        assert changes == sorted([row for batch in delivered.values() for row in batch], key=repr)
        written = spark.read.parquet(str(tmp_path / "out")).drop("version")
        assert rows(written) == changes
        assert len(changes) == 8
        assert rows(view.snapshot(7)) == [("a", 2, 5), ("b", 1, 2)]
        assert rows(view.history())[0] == ("a", 1, 1, 1, 6)


@pytest.mark.spark
def test_a_streaming_dataframe_is_received_once(spark: "SparkSession", tmp_path: Path) -> None:
    incoming = tmp_path / "in"
    incoming.mkdir()
    (incoming / "1.json").write_text('{"t": 1, "k": "a", "v": 1}\n{"t": 2, "k": "b", "v": 2}\n')
    with penstock.connect(tmp_path / "state", spark, tasks=2) as db:
        source = db.create_source("s", "k STRING, v INT, t BIGINT", "t")
        db.create_view("v", db.scan("s"))
        stream = spark.readStream.schema("t BIGINT, k STRING, v INT").json(str(incoming))
        query = source.attach(stream, availableNow=True)
        assert query.awaitTermination(120)
        state = db._engine.source_state("s")
        assert (state.accepted, state.batch) == (2, 0)
        again = spark.createDataFrame([("a", 1, 1)], "k STRING, v INT, t BIGINT")
        assert db._engine.receive_rows("s", again, 0).accepted == 0
        assert db.metrics()["sources"]["s"]["accepted"] == 2
    with penstock.connect(tmp_path / "state", spark, tasks=2) as db:
        db.start()
        query = db.source("s").attach(stream)
        (incoming / "2.json").write_text('{"t": 9, "k": "c", "v": 3}\n')
        assert db.await_frontier(9, timeout=120)
        assert rows(db.view("v").snapshot()) == [("a", 1, 1), ("b", 2, 2)]
    assert not query.isActive
