"""Rows are kept, so that views can come after them; tables are kept for good."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pytest

import penstock
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.plan import Aggregate, Equality, Join, Node, Window, project
from penstock.element import BEGIN, INF
from penstock.errors import PlanError, UnsupportedError
from penstock.execution.task import Report, StepSpec
from penstock.ingest.sources import Ingest, IngestReport, SourceDefinition, input_state_table
from penstock.output.readers import Reading
from penstock.runtime.engine import Engine
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.engine_runs import LocalJobs, published
from penstock.testing.local_session import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("t", pa.int64())])
TIME = pa.timestamp("us", "UTC")
KEYS = pa.schema([("k", pa.string()), ("at", TIME)])
BATCHES = [[("a", 1, 1), ("b", 2, 3)], [("a", 5, 5)], [("a", 1, 7), ("b", 1, 9), ("b", 1, 30)]]


def counts(scan: Node) -> Node:
    return Aggregate(Window(scan, "sliding", 10), ("k",), (AggregateCall("count", (), "n"),))


def opened(path: Path, **options: Any) -> Session:
    return local_session(path, Options(tasks=2, **options))


def rows(df: Any) -> list[tuple[Any, ...]]:
    table = df.toArrow()
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)


def everything(db: Session, view: str) -> list[list[tuple[Any, ...]]]:
    found = db.view(view)
    return [rows(found.snapshot()), rows(found.changes()), rows(found.history())]


# --- views at any time --------------------------------------------------------------------------


def test_a_view_that_comes_later_is_what_it_would_have_been(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        source = db.create_source("s", SCHEMA, "t", delay=2)
        db.create_view("first", counts(db.scan("s")), ("k",))
        for number, batch in enumerate(BATCHES):
            source.append(batch)
            db.create_view(f"before {number}", counts(db.scan("s")), ("k",))
            db.step()
            db.create_view(f"after {number}", counts(db.scan("s")), ("k",))
            for name in db._engine.views:
                assert everything(db, name) == everything(db, "first")
        source.end()
        db.step()
        db.create_view("at the end", counts(db.scan("s")), ("k",))
        for name in db._engine.views:
            assert everything(db, name) == everything(db, "first")
        assert len(everything(db, "first")[1]) == 12


def test_a_view_comes_in_one_commit_with_only_what_it_alone_needs(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        source = db.create_source("s", SCHEMA, "t")
        db.create_view("first", counts(db.scan("s")))
        source.append(BATCHES[0])
        db.step()
        before = db._engine.manifest
        db.create_view("second", counts(db.scan("s")))
        after = db._engine.manifest
        assert after.version == before.version + 1
        assert after.state_tables.keys() - before.state_tables.keys() == {
            "base second",
            "view second",
        }
        assert {
            name: after.state_tables[name] for name in before.state_tables
        } == before.state_tables


def test_rows_are_kept_once_in_few_runs(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        source = db.create_source("s", SCHEMA, "t")
        db.create_view("c", counts(db.scan("s")))
        for t in range(60):
            source.append([("a", t, t), ("a", t, t), ("b", None, t)])
            progress = db.step()
        assert progress is not None
        assert progress["kept"]["input s"]["runs"] < 30
        everything = db.create_view("all", db.scan("s"))
        source.end()
        db.step()
        expected = [row for t in range(60) for row in [("a", t, t), ("a", t, t), ("b", None, t)]]
        assert rows(everything.snapshot()) == sorted(expected, key=repr)


def test_weights_and_ends_of_kept_rows_count(tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.int64()), ("t", pa.int64()), ("e", pa.int64()), ("n", pa.int64())])
    with opened(tmp_path) as db:
        db._engine.define("s", SourceDefinition("s", schema, "t", until="e", weight="n"))
        db.create_view("first", project(db.scan("s"), ("k",)))
        source = db.source("s")
        source.append(
            [(1, 1, None, 2), (1, 1, None, 2), (2, 1, 4, 1), (3, 5, 5, 1), (1, 3, None, -1)]
        )
        db.step()
        db.create_view("second", project(db.scan("s"), ("k",)))
        source.end()
        db.step()
        assert everything(db, "first") == everything(db, "second")
        assert rows(db.view("second").snapshot()) == [(1,)] * 3


def test_without_kept_rows_a_view_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path, keep_input=False) as db:
        source = db.create_source("s", SCHEMA, "t")
        db.create_source("other", SCHEMA, "t")
        db.create_view("first", counts(db.scan("s")))
        source.append(BATCHES[0])
        with pytest.raises(UnsupportedError, match=r"'s', whose rows so far .* keep_input=True"):
            db.create_view("late", db.scan("s"))
        db.create_view("in time", db.scan("other"))
        assert (
            input_state_table(db._engine.source("s")).name not in db._engine.manifest.state_tables
        )


def test_rows_that_are_no_longer_kept_are_given_up(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        db.create_source("s", SCHEMA, "t").append(BATCHES[0])
        assert db._engine.manifest.state_table("input s").refs
    with opened(tmp_path, keep_input=False) as db:
        db.create_view("still", counts(db.scan("s")))
        db.source("s").append(BATCHES[1])
        assert not db._engine.manifest.state_table("input s").refs
    with opened(tmp_path) as db:
        db.source("s").append(BATCHES[2])
        with pytest.raises(UnsupportedError, match="not kept"):
            db.create_view("late", db.scan("s"))


class BusyJobs(LocalJobs):
    """Does something else in the middle of a job."""

    meanwhile: Callable[[], object] | None = None

    def _pause(self) -> None:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()

    def rows(self, reading: Reading, tasks: int) -> pa.Table:
        found = super().rows(reading, tasks)
        self._pause()
        return found

    def ingest(self, rows: pa.Table, ingest: Ingest, directory: Path) -> IngestReport:
        report = super().ingest(rows, ingest, directory)
        self._pause()
        return report

    def step(self, spec: StepSpec) -> list[Report]:
        reports = super().step(spec)
        self._pause()
        return reports


def batch(number: int) -> pa.Table:
    columns = zip(*BATCHES[number], strict=True)
    return pa.Table.from_arrays(
        [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], schema=SCHEMA
    )


def engine_with(jobs: LocalJobs, path: Path) -> tuple[Engine, Node]:
    engine = Engine(path, jobs, Options(tasks=2))
    source = SourceDefinition("s", SCHEMA, "t")
    engine.define("s", source)
    scan = penstock.Session(engine, None).scan("s")  # type: ignore[arg-type]
    engine.define("first", scan)
    return engine, scan


def test_rows_that_come_while_a_view_does_are_seen_once(tmp_path: Path) -> None:
    jobs = BusyJobs()
    engine, scan = engine_with(jobs, tmp_path)
    engine.receive_table("s", batch(0))
    engine.step()
    jobs.meanwhile = lambda: engine.receive_table("s", batch(1))
    engine.define("second", project(scan, ("k", "v", "t")))
    jobs.meanwhile = lambda: engine.define("third", project(scan, ("t", "k", "v")))
    engine.receive_rows("s", batch(2))
    engine.advance_watermark("s", INF)
    engine.step()
    for name in ("first", "second", "third"):
        assert len(published(engine, name)) == 6
    engine.close()


def test_a_view_waits_for_the_step_under_way(tmp_path: Path) -> None:
    jobs = BusyJobs()
    engine, scan = engine_with(jobs, tmp_path)
    engine.receive_table("s", batch(0))
    other = threading.Thread(target=lambda: engine.define("second", project(scan, ("k", "v", "t"))))

    def meanwhile() -> None:
        other.start()
        other.join(0.1)
        assert other.is_alive()

    jobs.meanwhile = meanwhile
    engine.step()
    other.join(30)
    engine.advance_watermark("s", INF)
    engine.step()
    assert len(published(engine, "second")) == len(published(engine, "first")) == 2
    engine.close()


# --- tables -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given",
    [
        [{"id": 1, "name": "x"}, {"id": 2, "name": None}],
        pa.table({"id": [1, 2], "name": ["x", None]}),
        pd.DataFrame({"id": [1, 2], "name": ["x", None]}),
    ],
    ids=["dicts", "Arrow", "pandas"],
)
def test_a_table_is_there_for_all_time(given: Any, tmp_path: Path) -> None:
    with opened(tmp_path, keep_input=False) as db:
        view = db.create_view("v", db.create_table("names", given))
        db.step()
        assert db.frontier == INF
        assert rows(view.snapshot(-5)) == rows(view.snapshot()) == [(1, "x"), (2, None)]
        assert rows(view.history()) == [(1, "x", None, None), (2, None, None, None)]
        db.create_view("later", db.scan("names"))
        assert everything(db, "v") == everything(db, "later")
        with pytest.raises(PlanError, match="'names' is a table"):
            db.source("names").append(given)
        with pytest.raises(PlanError, match="come to the end of time"):
            db.create_source("s", SCHEMA, "t")


def test_tables_and_streams(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        names = db.create_table("names", [{"id": "a", "name": "Anna"}])
        source = db.create_source("s", KEYS, "at")
        quiet = db.create_source("quiet", KEYS, "at")
        joined = Join(db.scan("s"), names, "left", (Equality("k", "id"),))
        view = db.create_view("joined", project(joined, ("k", "name")))
        assert db.step() is None
        source.append(
            pa.table({"k": ["a", "b"], "at": pa.array([1, 2], pa.timestamp("us", "UTC"))})
        )
        assert db.step() is None
        quiet.idle()
        db.step()
        assert db.frontier == 2
        source.idle()
        assert db.step() is None
        assert rows(view.snapshot()) == [("a", "Anna")]
        assert view.changes().toArrow().schema.field("ts").type == pa.timestamp("us", "UTC")
        more = db.create_table("more", [{"id": "b", "n": 1}])
        second = Join(db.scan("s"), more, "inner", (Equality("k", "id"),))
        db.create_view("second", second)
        source.end()
        quiet.end()
        db.step()
        assert [row[0] for row in rows(db.view("second").snapshot())] == ["b"]
        assert db._engine.source_state("names").frontier == INF
        assert db._engine.manifest.state_table("input names").frontier == BEGIN


def test_a_table_needs_columns(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        nothing: list[Any] = [[(1, 2)], [], 7]
        for given in nothing:
            with pytest.raises(PlanError, match="give a schema="):
                db.create_table("t", given)
        view = db.create_view("v", db.create_table("t", [], pa.schema([("a", pa.int32())])))
        db.step()
        assert rows(view.snapshot()) == []


# --- on Spark -----------------------------------------------------------------------------------


@pytest.mark.spark
def test_views_over_kept_rows_and_tables_on_spark(spark: "SparkSession", tmp_path: Path) -> None:
    with penstock.connect(tmp_path, spark, tasks=2) as db:
        source = db.create_source("s", "k STRING, v INT, t BIGINT", "t", delay=2)
        db.create_view("first", counts(db.scan("s")), ("k",))
        names = db.create_table(
            "names", spark.createDataFrame([("a", "Anna")], "id STRING, name STRING")
        )
        for batch in BATCHES:
            source.append(spark.createDataFrame(batch, "k STRING, v INT, t BIGINT"))
            db.step()
        db.create_view("second", counts(db.scan("s")), ("k",))
        on = (Equality("k", "id"),)
        db.create_view("named", Join(db.scan("s"), names, "inner", on))
        assert everything(db, "first") == everything(db, "second")
        source.end()
        db.step()
        assert everything(db, "first") == everything(db, "second")
        assert len(rows(db.view("named").snapshot())) == 3
