"""Answers over all that was received so far, without a view and without a commit."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import penstock
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.outline import outline
from penstock.algebra.plan import Aggregate, Equality, Join, Node, Scan, Window
from penstock.element import INF, concat
from penstock.errors import PlanError, UnsupportedError
from penstock.runtime.engine import Engine
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.state.store import FileStore
from penstock.testing.cases import can_lift, in_cases, lifted, with_shared_marks
from penstock.testing.engine_runs import LocalJobs, over_sources, rows_of, source_of
from penstock.testing.local_runs import first_difference
from penstock.testing.local_session import local_session
from penstock.testing.random_plans import SCANS, random_plan, scans_of
from penstock.testing.random_streams import random_streams

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64())])


def counts(scan: Node) -> Node:
    return Aggregate(Window(scan, "sliding", 10), ("k",), (AggregateCall("count", (), "n"),))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with local_session(tmp_path / "state", Options(tasks=2)) as session:
        yield session


def rows(df: Any) -> list[tuple[Any, ...]]:
    table = df.toArrow()
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)


def test_an_answer_is_what_a_view_would_be_in_the_end(db: Session) -> None:
    source = db.create_source("s", SCHEMA, "t", delay=3)
    names = db.create_table("names", [{"id": "a", "name": "Anna"}])
    source.append([("a", 1), ("b", 2), ("a", 5)])
    view = db.create_view("v", counts(db.scan("s")), ("k",))
    db.step()
    version, frontier = db._engine.manifest.version, db.frontier
    answer = db.answer(counts(db.scan("s")), ("k",), INF)
    joined = db.answer(Join(db.scan("s"), names, "inner", (Equality("k", "id"),)), at=INF)
    live = db.answer(counts(db.scan("s")), ("k",))
    assert (db._engine.manifest.version, db.frontier) == (version, frontier) == (version, 2)
    source.append([("b", 7)])
    assert rows(live.snapshot()) == rows(view.snapshot()) == [("a", 1)]
    assert rows(live.changes()) == rows(view.changes())
    assert rows(joined.snapshot()) == [("a", 1, "a", "Anna"), ("a", 5, "a", "Anna")]
    assert rows(answer.snapshot(6)) == [("a", 2), ("b", 1)]
    assert rows(answer.changes(since=6)) == [
        ("-", "a", 1, 15),
        ("-", "b", 1, 12),
        ("u", "a", 1, 11),
    ]
    source.append([("b", 7)])
    again = db.answer(counts(db.scan("s")), ("k",), INF)
    source.end()
    db.step()
    assert rows(again.history()) == rows(view.history())
    assert rows(again.changes()) == rows(view.changes())


def test_answers_leave_only_garbage(tmp_path: Path) -> None:
    with local_session(tmp_path, Options(tasks=2, grace=0.0)) as db:
        db.create_source("s", SCHEMA, "t").append([("a", 1)])
        before = set((tmp_path / "runs").iterdir())
        assert rows(db.answer(db.scan("s")).snapshot()) == [("a", 1)]
        assert set((tmp_path / "runs").iterdir()) > before
        db._engine.collect_garbage()
        assert set((tmp_path / "runs").iterdir()) == before


def test_what_has_no_answer_says_why(tmp_path: Path, db: Session) -> None:
    with pytest.raises(PlanError, match="the query reads 'x'; the sources are: none"):
        db.answer(Scan("x", SCHEMA))
    with local_session(tmp_path / "other", Options(keep_input=False)) as other:
        other.create_source("s", SCHEMA, "t").append([("a", 1)])
        with pytest.raises(UnsupportedError, match="the query reads 's', whose rows so far"):
            other.answer(other.scan("s"))


@pytest.mark.parametrize("seed", range(5))
def test_oracle_answers_are_those_of_the_reference(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    engine = Engine(tmp_path, LocalJobs(), Options(tasks=rng.randint(1, 3)))
    streams = in_cases([random_streams(rng, SCANS) for _ in range(4)])
    known: set[str] = set()
    for _ in range(6):
        plan = random_plan(rng, rng.randint(1, 4))
        if not can_lift(plan):
            continue
        plan = lifted(with_shared_marks(plan))
        for scan in scans_of(plan):
            if scan.name not in known:
                known.add(scan.name)
                engine.define(scan.name, source_of(scan))
                engine.receive_table(scan.name, rows_of(scan, streams[scan.name]))
        view = engine.answer(over_sources(plan))
        runs = [FileStore(engine.runs).open(view.state_table, ref) for ref in view.history().runs]
        found = concat(plan.schema, [run.elements for run in runs])
        difference = first_difference(plan, streams, found)
        assert difference is None, f"seed {seed}\n{outline(plan)}\n{difference}"
    engine.close()


@pytest.mark.spark
def test_an_answer_on_spark(spark: "SparkSession", tmp_path: Path) -> None:
    with penstock.connect(tmp_path, spark, tasks=2) as db:
        source = db.create_source("s", "k STRING, t BIGINT", "t", delay=3)
        source.append(spark.createDataFrame([("a", 1), ("b", 2), ("a", 5)], "k STRING, t BIGINT"))
        answer = db.answer(counts(db.scan("s")), ("k",))
        assert rows(answer.snapshot(6)) == [("a", 2), ("b", 1)]
        assert rows(answer.history())[0] == ("a", 1, 1, 5)
        assert db.frontier < 0
