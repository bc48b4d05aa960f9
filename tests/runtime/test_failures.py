"""What fails fails alone, by its name, and goes on when its cause is gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra import evaluate
from penstock.errors import BackgroundError, DivisionByZeroError, PlanError, StateError
from penstock.session import Session
from penstock.state.manifest import Dropped, held_state_table
from penstock.testing import local_session

PIPELINE = """
CREATE SOURCE s (k INT, x INT, t INT) EVENT TIME t;
CREATE VIEW sums AS SELECT k, sum(x) AS sx FROM s GROUP BY k;
CREATE VIEW rest AS SELECT k, 10 % sum(x) AS q FROM s GROUP BY k;
CREATE VIEW of_rest AS SELECT q, count(*) AS c FROM rest GROUP BY q;
CREATE VIEW at_arrival AS SELECT k, 10 % x AS y FROM s;
CREATE VIEW recent AS SELECT k, count(*) AS c FROM s [RANGE 5] GROUP BY k;
"""
FAILING = {"rest", "of_rest", "at_arrival"}


class Cause:
    """Makes every remainder by five fail while it is there."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.there = False
        self._remainder = evaluate._FUNCTIONS["%"]
        monkeypatch.setitem(evaluate._FUNCTIONS, "%", self)

    def __call__(self, a: pa.Array, b: pa.Array) -> pa.Array:
        if self.there and 5 in b.to_pylist():
            raise ZeroDivisionError
        return self._remainder(a, b)


@pytest.fixture
def cause(monkeypatch: pytest.MonkeyPatch) -> Cause:
    return Cause(monkeypatch)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with local_session(tmp_path / "state") as session:
        session.sql(PIPELINE)
        yield session


def changes(db: Session) -> dict[str, list[str]]:
    views = {name: db.view(name).changes().toArrow() for name in db.engine.views}
    return {name: sorted(map(str, table.to_pylist())) for name, table in views.items()}


def brought(db: Session, *rows: tuple[int, int, int], to: int) -> None:
    db.source("s").append(list(rows))
    db.source("s").advance(to)
    db.step()


def until(condition: Any) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_view_fails_alone_and_goes_on_as_if_it_never_had(tmp_path: Path, cause: Cause) -> None:
    found = []
    for fails in (False, True):
        path = tmp_path / str(fails)
        db = local_session(path)
        db.sql(PIPELINE)
        brought(db, (1, 3, 1), (2, 4, 2), to=3)
        cause.there = fails
        brought(db, (2, 1, 4), (1, 5, 4), (3, 6, 5), to=5)
        assert db.engine.manifest.failures.keys() == (FAILING if fails else set())
        db.close()
        db = local_session(path)
        brought(db, (1, 5, 6), (3, 7, 8), to=8)
        if fails:
            before = changes(db)
            reasons = db.failures()
            assert reasons["view at_arrival"].endswith(
                "division by zero (row: k = 1, x = 5, t = 4)"
            )
            assert reasons["view rest"].endswith("division by zero (row: k = 2, sx = 5)")
            shown = {row["name"]: row for row in db.sql("SHOW VIEWS").to_arrow().to_pylist()}
            assert {name for name, row in shown.items() if row["state"] == "failed"} == FAILING
            assert shown["rest"]["reason"] == db.metrics()["failed"]["view rest"]
            with pytest.raises(PlanError, match=r"where it failed: .*ALTER VIEW rest RESUME"):
                db.view("rest").snapshot(6)
            with pytest.raises(DivisionByZeroError, match="view 'rest' fails again"):
                db.sql("ALTER VIEW rest RESUME")
            assert changes(db) == before
            cause.there = False
            for name in sorted(FAILING):
                db.sql(f"ALTER VIEW {name} RESUME")
            assert not db.failures()
        brought(db, (2, 5, 9), (3, 7, 12), to=20)
        found.append(
            (changes(db), {n for n, a in db.engine.manifest.state_tables.items() if a.refs})
        )
        db.close()
    assert found[0] == found[1]


def test_state_that_is_not_held_is_never_taken_for_none(db: Session, cause: Cause) -> None:
    brought(db, (1, 5, 1), to=2)
    cause.there = True
    brought(db, (1, 5, 3), to=5)
    manifest = db.engine.manifest
    state_tables = [a for a in manifest.failures["of_rest"].state_tables if a.startswith("groups ")]
    db.engine.commit(
        Dropped("nothing", tuple(held_state_table("of_rest", a) for a in state_tables[:1]))
    )
    cause.there = False
    with pytest.raises(
        StateError, match=f"state table '{state_tables[0]}' of its state is not both held"
    ):
        db.sql("ALTER VIEW of_rest RESUME")
    db.sql("ALTER VIEW rest RESUME")


def test_held_rows_merge_and_come_back(db: Session, cause: Cause) -> None:
    cause.there = True
    brought(db, (1, 5, 1), to=2)
    for at in range(2, 40):
        brought(db, (at % 3, 1, at), to=at + 1)
    refs = db.engine.manifest.state_tables["held 'rest' rows s"].refs
    assert sum(ref.statistics.rows for ref in refs) == 38  # the first one was in state
    assert len(refs) < 20
    cause.there = False
    db.sql("ALTER VIEW rest RESUME")
    found = changes(db)
    db.sql("CREATE VIEW anew AS SELECT k, 10 % sum(x) AS q FROM s GROUP BY k")
    assert changes(db)["anew"] == found["rest"]


def test_a_failed_view_can_be_dropped(db: Session, cause: Cause) -> None:
    cause.there = True
    brought(db, (1, 5, 1), to=5)
    assert db.engine.manifest.failures.keys() == FAILING
    for name in ("of_rest", "rest", "at_arrival"):
        db.sql(f"DROP VIEW {name}")
    assert not db.failures()
    assert not [name for name in db.engine.manifest.state_tables if name.startswith("held")]
    with pytest.raises(PlanError, match="'sums' has not failed"):
        db.view("sums").resume()


def test_a_sink_that_raises_starves_no_other(db: Session) -> None:
    delivered: list[int] = []

    def broken(rows: Any, version: int) -> None:
        raise OSError("full")

    db.view("sums").sink(broken)
    db.view("recent").sink(lambda rows, version: delivered.append(version), name="good")
    with pytest.raises(OSError, match="full"):
        brought(db, (1, 1, 1), to=5)
    assert delivered
    assert db.failures() == {"sink sums broken": "OSError: full"}


def test_a_sink_may_call_the_session(db: Session) -> None:
    seen: list[int] = []

    def calls(rows: Any, version: int) -> None:
        seen.append(version)
        if len(seen) == 1:
            brought(db, (2, 2, 7), to=9)

    db.view("sums").sink(calls)
    brought(db, (1, 1, 1), to=5)
    assert len(seen) == 2
    assert db.frontier == 9


def test_a_blocked_sink_holds_back_neither_drop_nor_stop(
    db: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.output.sinks._PATIENCE", 0.1)
    begun, go = threading.Event(), threading.Event()

    def blocked(rows: Any, version: int) -> None:
        begun.set()
        go.wait(30)

    db.view("sums").sink(blocked)
    db.start()
    db.source("s").append([(1, 1, 1)])
    db.source("s").advance(5)
    assert begun.wait(30)
    assert db.await_frontier(5, timeout=30)
    db.drop("sums")
    db.stop()
    go.set()


def test_a_step_that_fails_in_the_background_is_told_until_it_goes_on(
    db: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lost(spec: Any) -> Any:
        raise RuntimeError("an executor is lost")

    monkeypatch.setattr("penstock.execution.problems.BACK_OFF", (0.01, 0.01))
    with monkeypatch.context() as patch:
        patch.setattr(db.engine.state.jobs, "step", lost)
        db.start()
        db.source("s").append([(1, 1, 1)])
        db.source("s").advance(5)
        for _ in range(2):
            with pytest.raises(BackgroundError, match="an executor is lost"):
                db.await_frontier(5, timeout=30)
        with pytest.raises(BackgroundError, match="start\\(\\) goes on"):
            db.source("s").append([(1, 1, 6)])
        assert db.metrics()["failed"] == {"steps": "RuntimeError: an executor is lost"}
    db.start()
    assert db.await_frontier(5, timeout=30)
    db.stop()


def test_a_step_that_fails_for_a_moment_is_made_again(
    db: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.execution.problems.BACK_OFF", (0.01,))
    step, tries = db.engine.state.jobs.step, []

    def once(spec: Any) -> Any:
        tries.append(spec)
        if len(tries) == 1:
            raise RuntimeError("an executor is lost")
        return step(spec)

    monkeypatch.setattr(db.engine.state.jobs, "step", once)
    brought(db, (1, 1, 1), to=5)
    assert len(tries) == 2
    assert db.frontier == 5
