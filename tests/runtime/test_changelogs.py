"""Merging published changes never shows: to readers, to sinks, to views that come later."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Column
from penstock.algebra.plan import (
    Aggregate,
    Distinct,
    Equality,
    Join,
    Map,
    Node,
    Scan,
    Upsert,
    Window,
    project,
)
from penstock.element import INF
from penstock.errors import StateError
from penstock.ingest.sources import SourceDefinition
from penstock.output.readers import CommittedView, Reading, committed_view
from penstock.runtime.engine import Engine
from penstock.runtime.jobs import store_of
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.state import changelog, compaction
from penstock.testing.engine_runs import LocalJobs
from penstock.testing.local_session import local_session

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.string()), ("t", pa.int64())])
SCAN = Scan("s", SCHEMA, append_only=True, time="t")
RECENT = Aggregate(Window(SCAN, "sliding", 5), ("k",), (AggregateCall("count", (), "n"),))
TOTAL = Aggregate(SCAN, ("k",), (AggregateCall("count", (), "n"),))
ITEMS = Map(RECENT, (("item", Column("k", pa.int64())), ("lately", Column("n", pa.int64()))))
VIEWS: Mapping[str, Node] = {
    "total": TOTAL,
    "all": SCAN,
    "recent": RECENT,
    "sliding": project(Window(SCAN, "sliding", 7), ["k", "v"]),
    "both": Join(TOTAL, ITEMS, on=(Equality("k", "item"),)),
    "of total": Aggregate(TOTAL, ("n",), (AggregateCall("count", (), "c"),)),
    "latest": Upsert(SCAN, ("k",)),
    "distinct": Distinct(project(Window(SCAN, "fixed", 10), ["k"])),
}
"""Some are made up from what others have published, merged or not."""
Rows = Counter[tuple[Any, ...]]


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two publications of a level are merged."""
    monkeypatch.setattr(changelog, "FAN", 2)


def batches(seed: int, count: int) -> Iterator[tuple[pa.Table, int]]:
    """Rows, of which some are late, and how far their source has come after them."""
    rng, t = Random(f"changelogs {seed}"), 0
    for _ in range(count):
        rows = [(rng.randrange(3), f"v{rng.randrange(3)}", t + rng.randrange(6)) for _ in range(4)]
        columns = list(map(list, zip(*rows, strict=True)))
        yield pa.Table.from_arrays(list(map(pa.array, columns)), schema=SCHEMA), t
        t += rng.randrange(5)


def engine_on(directory: Path, **options: Any) -> Engine:
    engine = Engine(directory, LocalJobs(), Options(tasks=2, grace=0.0, **options))
    if not engine.definitions:
        engine.define("s", SourceDefinition("s", SCHEMA, "t", delay=3))
    return engine


def run(directory: Path, seed: int, **options: Any) -> Engine:
    """An engine after many steps, which was opened anew in between; views come all the time."""
    engine, missing = engine_on(directory, **options), dict(VIEWS)
    for number, (rows, _) in enumerate(batches(seed, 32)):
        if number % 4 == 0 and missing:
            name = next(iter(missing))
            engine.define(name, missing.pop(name))
        if number % 11 == 7:
            engine.close()
            engine = engine_on(directory, **options)
        engine.receive_table("s", rows)
        engine.step()
        if number % 6 == 0:
            engine.collect_garbage()
    engine.advance_watermark("s", INF)
    engine.step()
    engine.collect_garbage()
    return engine


def view_of(engine: Engine, name: str) -> CommittedView:
    return committed_view(engine.manifest, engine.directory, name)


def rows(reading: Reading) -> Rows:
    found: Rows = Counter()
    for batch in reading.read(0, 1 << 32, store_of(reading.directory)):
        found.update(zip(*(c.to_pylist() for c in batch.columns), strict=True))
    return found


def publications(engine: Engine) -> int:
    return sum(map(len, engine.manifest.changelogs.values()))


@pytest.mark.parametrize("retention", [None, 40])
def test_differential_readers_see_no_merge(
    retention: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changelog, "FAN", 10**9)
    whole = run(tmp_path / "whole", 1)
    monkeypatch.setattr(changelog, "FAN", 2)
    merged = run(tmp_path / "merged", 1, retention=retention)
    assert 3 * publications(merged) < publications(whole)
    end = whole.source_state("s").largest + 1
    for name in VIEWS:
        view, same = view_of(merged, name), view_of(whole, name)
        since = view.oldest
        assert rows(view.snapshot()) == rows(same.snapshot())
        assert rows(view.changes()) == rows(same.changes(since))
        if retention is None:
            assert rows(view.history()) == rows(same.history())
        else:
            assert since > end - 2 * retention, "what is merged is given up in time"
        for t in range(max(since, -1), end, 9):
            assert rows(view.snapshot(t)) == rows(same.snapshot(t))
            assert rows(view.changes(t)) == rows(same.changes(t))
            assert rows(view.changes(t, t + 4)) == rows(same.changes(t, t + 4))
    for name in ("all", "total", "latest"):  # who follows changes does not read old ones
        view = view_of(merged, name)
        last = view.publications[-1]
        assert set(view.changes(last.w0, last.w1).refs) == set(last.refs)
    for engine in (whole, merged):
        engine.close()


def test_a_reader_that_began_before_a_merge_reads_to_its_end(tmp_path: Path, often: None) -> None:
    engine = engine_on(tmp_path)
    engine.define("total", VIEWS["total"])
    found = [batch for batch, _ in batches(3, 30)]

    def bring(some: list[pa.Table]) -> None:
        for batch in some:
            engine.receive_table("s", batch)
            engine.step()
            engine.collect_garbage()

    bring(found[:10])
    with engine.reading(lambda: view_of(engine, "total").changes()) as early:
        expected = rows(early)
        store_of(early.directory).forget(())
        bring(found[10:])
        assert len(view_of(engine, "total").publications) < 8
        assert rows(early) == expected
        named = {f"{segment}.arrow" for segment in engine.manifest.segments()}
        read = {f"{ref.segment}.arrow" for ref in early.runs}
        assert read - named
        assert {path.name for path in engine.runs.iterdir()} == named | read, "no others stay"
    engine.collect_garbage()
    store_of(early.directory).forget(())
    with pytest.raises(StateError):
        rows(early)  # now it is garbage, and nobody may still read it
    engine.close()


class Recorder:
    """A sink that remembers what it was given, and fails when it is told to."""

    def __init__(self) -> None:
        self.given: dict[int, Rows] = {}
        self.fails = False

    def __call__(self, frame: Any, version: int) -> None:
        table = frame.toArrow()
        found: Rows = Counter(zip(*(c.to_pylist() for c in table.columns), strict=True))
        assert self.given.get(version, found) == found, "a delivery again is the same"
        self.given[version] = found
        if self.fails:
            raise OSError("no")


def everything(session: Session, view: str) -> Rows:
    table = session.view(view).changes().toArrow()
    return Counter(zip(*(c.to_pylist() for c in table.columns), strict=True))


def test_sinks_get_each_change_once_whenever_they_come_and_fail(
    tmp_path: Path, often: None
) -> None:
    rng = Random("sinks")
    recorders: dict[str, Recorder] = {}
    session = local_session(tmp_path, Options(tasks=2, grace=0.0))
    session.create_source("s", SCHEMA, "t")
    session.create_view("total", VIEWS["total"])
    for number, (batch, _) in enumerate(batches(4, 60)):
        if number % 12 == 3:  # it gets all that was before, merged or not
            recorders[f"{number}"] = Recorder()
            session.view("total").sink(recorders[f"{number}"], name=f"{number}")
        if number % 10 == 7:  # what they were given is not known to the log
            session.close()
            session = local_session(tmp_path, Options(tasks=2, grace=0.0))
            for name, recorder in recorders.items():
                recorder.fails = False
                session.view("total").sink(recorder, name=name)
        for recorder in recorders.values():
            recorder.fails = rng.random() < 0.3
        session.source("s").append(batch)
        try:
            session.step()
        except OSError:
            continue
        session.engine.collect_garbage()
    for recorder in recorders.values():
        recorder.fails = False
    session.source("s").end()
    session.step()
    for name, recorder in recorders.items():
        assert sum(recorder.given.values(), Counter()) == everything(session, "total"), name
    assert publications(session.engine) < 60
    session.close()


def test_rows_that_were_not_taken_merge_too(tmp_path: Path) -> None:
    with local_session(tmp_path, Options(tasks=2, grace=0.0)) as session:
        source = session.create_source("s", SCHEMA, "t")
        session.create_view("all", session.scan("s"))
        count = 30
        for number in range(1, count + 1):
            source.append([(1, "late", 0), (2, "late", 2**63 - 1), (3, "in time", 5 * number)])
            source.append([(f"no {number}", "x", 5 * number)])
            session.step()
        state_tables = session.engine.manifest.state_tables
        for name in ("late s", "rejected s", "input s"):
            assert len(state_tables[name].refs) < 20, name
        late = Counter(tuple(row.values()) for row in source.late().toArrow().to_pylist())
        assert late == {(1, "late", 0): count - 1, (2, "late", 2**63 - 1): count}
        rejected = source.rejected().toArrow()
        assert len(set(rejected.column("reason").to_pylist())) == rejected.num_rows == count
        assert all("no" in text for text in rejected.column("record").to_pylist())
        session.create_view("again", session.scan("s"))
        assert everything(session, "again") == everything(session, "all")


def test_kept_rows_are_merged_up_to_a_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No step rewrites all that was ever kept."""
    monkeypatch.setattr(compaction, "PART", 1 << 13)
    engine = engine_on(tmp_path)
    engine.define("total", VIEWS["total"])
    largest = 0
    for step in range(80):
        columns = [[i % 7 for i in range(40)], ["v"] * 40, [step] * 40]
        engine.receive_table("s", pa.Table.from_arrays(list(map(pa.array, columns)), schema=SCHEMA))
        before = {ref.name for ref in engine.manifest.state_table("input s").refs}
        engine.step()
        new = [r for r in engine.manifest.state_table("input s").refs if r.name not in before]
        largest = max(largest, sum(ref.statistics.bytes for ref in new))
    refs = engine.manifest.state_table("input s").refs
    assert sum(ref.statistics.rows for ref in refs) == 80 * 40
    assert largest < sum(ref.statistics.bytes for ref in refs) / 2
    engine.close()


def test_files_and_the_log_follow_what_is_there_and_not_the_steps(tmp_path: Path) -> None:
    """With one task and a small view; `python -m tests.faults.growth 3000` has a larger one."""
    files: list[int] = []
    checkpoints: list[int] = []
    engine = Engine(tmp_path, LocalJobs(), Options(tasks=1, grace=0.0))
    engine.define("s", SourceDefinition("s", SCHEMA, "t"))
    engine.define("total", VIEWS["total"])
    for step in range(1, 241):
        columns = [[step % 3], ["v"], [step]]
        engine.receive_table("s", pa.Table.from_arrays(list(map(pa.array, columns)), schema=SCHEMA))
        assert engine.step() is not None
        if step % 40 == 0:
            engine.collect_garbage()
            files.append(len(list(engine.runs.iterdir())))
            (newest,) = sorted((tmp_path / "log").glob("*.checkpoint"))[-1:]
            checkpoints.append(newest.stat().st_size)
    assert max(files) < 70
    assert max(checkpoints) < 60_000
    engine.close()
