"""A commit names files that are there, and no file is deleted that anybody may still want."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from time import sleep
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra.plan import Distinct, Scan
from penstock.errors import PlanError, StateError
from penstock.execution.task import Report, StepSpec
from penstock.ingest.sources import Ingest, IngestReport, SourceDefinition
from penstock.runtime import jobs
from penstock.runtime.engine import Engine
from penstock.runtime.files import Garbage
from penstock.runtime.options import Options
from penstock.state import changelog
from penstock.state.manifest import Manifest
from penstock.testing.engine_runs import LocalJobs, read_locally
from penstock.testing.local_session import local_session

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64())])


def rows_at(t: int) -> Any:
    return pa.Table.from_pylist([{"k": "a", "t": t}, {"k": "b", "t": t}], SCHEMA)


class Meddling(LocalJobs):
    """Jobs that write to another directory, or after which something happens."""

    def __init__(self, elsewhere: Path | None = None) -> None:
        self.elsewhere = elsewhere
        self.after: Callable[[], object] = lambda: None

    def step(self, spec: StepSpec) -> list[Report]:
        reports = super().step(replace(spec, directory=self.elsewhere or spec.directory))
        self.after()
        return reports

    def ingest(self, rows: Any, ingest: Ingest, directory: Path) -> IngestReport:
        report = super().ingest(rows, ingest, self.elsewhere or directory)
        self.after()
        return report


def engine_on(directory: Path, jobs: LocalJobs) -> Engine:
    engine = Engine(directory, jobs, Options(tasks=2, grace=0.0))
    engine.define("s", SourceDefinition("s", SCHEMA, "t"))
    engine.define("v", Distinct(Scan("s", SCHEMA, True, "t")))
    return engine


def test_rows_that_tasks_write_elsewhere_are_not_accepted(tmp_path: Path) -> None:
    jobs = Meddling(tmp_path / "disk of an executor")
    engine = engine_on(tmp_path / "state", jobs)
    version = engine.manifest.version
    with pytest.raises(StateError, match="here it is not there; nothing was committed") as error:
        engine.receive_rows("s", rows_at(1))
    assert error.value.path.parent == engine.runs
    assert engine.manifest.version == version
    jobs.elsewhere = None
    assert engine.receive_rows("s", rows_at(1)).accepted == 2
    engine.advance_watermark("s", 9)
    version = engine.manifest.version
    jobs.elsewhere = tmp_path / "disk of an executor"
    with pytest.raises(StateError):  # rows that came are not there, nor would those be that go
        engine.step()
    assert engine.manifest.version == version
    jobs.elsewhere = None
    assert engine.step() is not None
    assert len(engine.manifest.changelogs["v"]) == 1
    engine.close()


def test_a_file_that_is_shorter_than_was_told_is_not_committed(tmp_path: Path) -> None:
    jobs = Meddling()
    engine = engine_on(tmp_path / "state", jobs)

    def cut() -> None:
        for path in engine.runs.glob("*.arrow"):
            path.write_bytes(path.read_bytes()[:100])

    jobs.after = cut
    with pytest.raises(StateError, match="here it has 100 bytes"):
        engine.receive_rows("s", rows_at(1))
    engine.close()


def test_garbage_is_no_file_of_an_append_under_way(tmp_path: Path) -> None:
    jobs = Meddling()
    engine = engine_on(tmp_path / "state", jobs)
    engine.runs.mkdir(exist_ok=True)
    left = engine.runs / f"{'0' * 32}.arrow"
    for time in range(0, 30, 10):
        left.touch()
        engine.collect_garbage()
        assert not left.exists()
        jobs.after = engine.collect_garbage
        assert engine.receive_rows("s", rows_at(time)).accepted == 2
        engine.answer(Distinct(Scan("s", SCHEMA, True, "t")))
        jobs.after = lambda: None
        engine.advance_watermark("s", time + 1)
        assert engine.step() is not None
    engine.close()


def test_no_garbage_is_of_use_whatever_runs_beside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Appends to two sources, steps, answers, sinks, views that come and that are replaced, and no
    grace at all."""
    monkeypatch.setattr(changelog, "FAN", 2)
    batches, failures = 25, list[BaseException]()
    with local_session(tmp_path, Options(tasks=2, grace=0.0)) as db:
        queries = cycle(["SELECT k, min(t) AS t FROM s GROUP BY k", "SELECT k, t FROM s"])
        done, given = threading.Event(), list[Any]()
        for name in ("s", "other"):
            db.create_source(name, SCHEMA, "t")
            db.create_view(f"of {name}", Distinct(db.scan(name)))
        db.sql("CREATE VIEW changing AS SELECT k, t FROM s")
        db.view("of s").sink(lambda rows, _: given.extend(rows.toArrow().to_pylist()), name="sink")

        def append(name: str) -> None:
            for time in range(batches):
                rows = [(f"k{time % 5}", time), ("late", time - 5), ("b", "no time")]
                db.source(name).append(rows)

        def step() -> None:
            db.step()

        def answer() -> None:
            with db.engine.state.garbage.writing():  # its files are garbage from the start
                found = db.engine.answer(Distinct(Scan("s", SCHEMA, True, "t"))).snapshot()
                read_locally(found)

        def define() -> None:
            db.create_view("for a while", Distinct(Scan("s", SCHEMA, True, "t")))
            db.engine.drop("for a while")

        def change() -> None:
            other = next(queries)
            with suppress(PlanError):  # other definitions come and go meanwhile
                db.sql(f"CREATE OR REPLACE VIEW changing AS {other}")

        def run(work: Callable[[], object], over: Callable[[], bool]) -> None:
            try:
                while not over():
                    work()
            except BaseException as error:
                failures.append(error)

        def once(name: str) -> None:
            try:
                append(name)
            except BaseException as error:
                failures.append(error)

        writers = [threading.Thread(target=once, args=(name,)) for name in ("s", "other")]
        others = [
            threading.Thread(target=run, args=(work, done.is_set))
            for work in (step, answer, define, change, db.engine.collect_garbage)
        ]
        for thread in (*writers, *others):
            thread.start()
        for thread in writers:
            thread.join()
        done.set()
        for thread in others:
            thread.join()
        assert not failures, failures
        for name in ("s", "other"):
            db.source(name).end()
        db.step()
        db.sql("CREATE OR REPLACE VIEW changing AS SELECT k, t FROM s")
        db.engine.collect_garbage()
        named = {f"{segment}.arrow" for segment in db.engine.manifest.segments()}
        assert {path.name for path in db.engine.runs.iterdir()} == named
        jobs._stores.clear()
        for name in ("s", "other"):
            expected = [{"k": f"k{time % 5}", "t": time} for time in range(batches)]
            snapshot = db.view(f"of {name}").snapshot().toArrow().to_pylist()
            assert len(db.view(f"of {name}").changes().toArrow()) >= batches
            assert all(row in snapshot for row in expected)
            assert db.source(name).rejected().toArrow().num_rows == batches
            state = db.engine.source_state(name)
            assert db.source(name).late().toArrow().num_rows == state.late
            assert state.accepted + state.late == 2 * batches
        changing = db.view("changing").snapshot().toArrow().to_pylist()
        assert len(changing) == db.engine.source_state("s").accepted
        assert {str(row) for row in given} == {
            str(row) for row in db.view("of s").changes().toArrow().to_pylist()
        }


def test_only_our_own_files_are_garbage(tmp_path: Path) -> None:
    runs, checkpoints = tmp_path / "runs", tmp_path / "checkpoints"
    theirs = ["data.arrow", f"{'0' * 31}.arrow", f"{'g' * 32}.arrow", f"{'0' * 32}.parquet"]
    for folder in (runs, checkpoints):
        folder.mkdir()
        for name in theirs:
            (folder / name).touch()
    (tmp_path / "victim").mkdir()
    (tmp_path / "victim" / "precious").touch()
    link = checkpoints / f"s.{'0' * 32}"
    link.symlink_to(tmp_path / "victim")
    (runs / f"{'1' * 32}.arrow").symlink_to(tmp_path / "victim" / "precious")
    assert Garbage(tmp_path, 0.0).collect(Manifest) == 1  # the second link, not what it leads to
    assert {path.name for path in runs.iterdir()} == set(theirs)
    assert {path.name for path in checkpoints.iterdir()} == {*theirs, link.name}
    assert (tmp_path / "victim" / "precious").exists()


def test_the_grace_begins_when_nobody_names_a_file_any_more(tmp_path: Path) -> None:
    """However old the file is: a reader may have begun just before."""
    (tmp_path / "runs").mkdir()
    path = tmp_path / "runs" / f"{'0' * 32}.arrow"
    path.touch()
    garbage = Garbage(tmp_path, 0.2)
    sleep(0.3)
    assert garbage.collect(Manifest) == 0
    sleep(0.3)
    with garbage.writing():
        assert garbage.collect(Manifest) == 1
    assert not path.exists()
