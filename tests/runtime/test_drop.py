"""What is dropped is gone, with all that no other definition needs."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.plan import Aggregate, Node, Periodic, Window
from penstock.errors import PlanError
from penstock.ingest.checkpoints import place_of
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.local_session import local_session

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64())])


def counts(scan: Node) -> Node:
    return Aggregate(Window(scan, "sliding", 10), ("k",), (AggregateCall("count", (), "n"),))


def opened(path: Path, **options: Any) -> Session:
    return local_session(path, Options(tasks=2, **options))


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with opened(tmp_path) as session:
        session.create_source("s", SCHEMA, "t", delay=1)
        session.create_view("first", counts(session.scan("s")))
        session.create_view("second", counts(session.scan("s")))
        session.source("s").append([("a", 1), ("b", 2), ("a", 5)])
        session.step()
        yield session


def rows(df: Any) -> list[tuple[Any, ...]]:
    table = df.toArrow()
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)


def test_a_dropped_view_leaves_what_others_share(db: Session) -> None:
    delivered: list[Any] = []
    db.view("first").sink(lambda df, version: delivered.append(df), name="mine")
    before = db._engine.manifest
    view = db.view("first")
    db.drop("first")
    after = db._engine.manifest
    assert after.version == before.version + 1
    assert before.state_tables.keys() - after.state_tables.keys() == {"view first", "base first"}
    assert list(after.changelogs) == ["second"]
    assert not after.sinks
    with pytest.raises(PlanError, match="no view 'first'; there are: second"):
        view.snapshot()
    db.source("s").end()
    db.step()
    assert len(delivered) == 1
    assert len(rows(db.view("second").changes())) == 8
    db.create_view("first", counts(db.scan("s")))
    assert rows(db.view("first").history()) == rows(db.view("second").history())


def test_the_last_view_takes_its_state_with_it(db: Session) -> None:
    db.drop("first")
    db.drop("second")
    assert list(db._engine.manifest.state_tables) == ["input s"]
    assert db.step() is None
    db.drop("s")
    assert not db._engine.manifest.state_tables
    assert not db._engine.manifest.sources


def test_what_views_read_is_not_dropped(db: Session) -> None:
    with pytest.raises(PlanError, match="'s' is read by first, second; drop those first"):
        db.drop("s")
    with pytest.raises(PlanError, match="no 'x' to drop; there are: s, first, second"):
        db.drop("x")


def test_what_statements_read_is_not_dropped(db: Session) -> None:
    db.sql("""
        CREATE STREAM keyed OVER s KEY (k);
        CREATE VIEW late AS SELECT k, t FROM keyed WHERE t > 1;
        CREATE VIEW later AS SELECT k FROM LATE WHERE t > 2
    """)
    for name, reader in (("late", "later"), ("keyed", "late")):
        with pytest.raises(PlanError, match=f"'{name}' is read by {reader}; drop those first"):
            db.drop(name)
    for name in ("later", "late", "keyed"):
        db.drop(name)
    assert list(db._engine.definitions) == ["s", "first", "second"]


def test_a_name_is_free_again(db: Session, tmp_path: Path) -> None:
    db._engine.define("every two", Periodic(2))
    db.create_table("table", [{"a": 1}])
    stale = place_of(db.path, "s", db._engine.source_state("s"))
    stale.mkdir(parents=True)
    for name in ("every two", "table", "first", "second", "s"):
        db.drop(name)
    db.create_source("s", pa.schema([("x", pa.int64()), ("t", pa.int64())]), "t")
    assert place_of(db.path, "s", db._engine.source_state("s")) != stale
    assert stale.exists()  # until garbage is collected
    view = db.create_view("first", db.scan("s"))
    db.source("s").append([(7, 9)])
    db.source("s").end()
    db.step()
    assert rows(view.snapshot()) == [(7, 9)]
    db.close()
    with opened(tmp_path) as again:
        assert list(again._engine.definitions) == ["s", "first"]
        assert rows(again.view("first").snapshot()) == [(7, 9)]


def test_a_sink_holds_back_only_its_own_view(tmp_path: Path) -> None:
    with opened(tmp_path, retention=5) as db:
        source = db.create_source("s", SCHEMA, "t")
        held, free = (db.create_view(name, db.scan("s")) for name in ("held", "free"))
        held.sink(lambda df, version: None, name="abandoned")
        db._sinks._servers.clear()
        for t in range(0, 40, 2):
            source.append([("a", t)])
            db.step()
        assert len(rows(held.changes(since=0))) == 19
        kept = free.committed().oldest
        assert kept > 20
        with pytest.raises(PlanError, match=f"changes at 0 are no longer kept; all from {kept} on"):
            free.changes(since=0)
        assert rows(free.changes()) == rows(free.changes(since=kept))
        with pytest.raises(PlanError, match="the sink 'abandoned' is one of view 'held'"):
            free.sink(lambda df, version: None, name="abandoned")
