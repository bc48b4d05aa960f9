"""Views are read at one version, from no more files than matter, and no further back than kept."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.plan import (
    Aggregate,
    Distinct,
    Node,
    RowWindow,
    Scan,
    Upsert,
    Window,
    project,
)
from penstock.element import INF
from penstock.errors import PlanError
from penstock.execution.task import hash_range
from penstock.ingest.sources import SourceDefinition
from penstock.output.readers import CommittedView, Reading, committed_view
from penstock.runtime.engine import Engine
from penstock.runtime.jobs import store_of
from penstock.runtime.options import Options
from penstock.testing.engine_runs import LocalJobs

pytestmark = pytest.mark.long

SCHEMA = pa.schema([("k", pa.int64()), ("v", pa.int64()), ("t", pa.int64())])
SCAN = Scan("s", SCHEMA, append_only=True)
VIEWS: Mapping[str, Node] = {
    "appended": SCAN,
    "sliding": project(Window(SCAN, "sliding", 7), ["k", "v"]),
    "counted": Aggregate(Window(SCAN, "sliding", 5), ("k",), (AggregateCall("count", (), "n"),)),
    "total": Aggregate(SCAN, (), (AggregateCall("count", (), "n"),)),
    "latest": Upsert(SCAN, ("k",)),
    "newest": RowWindow(SCAN, 3),
    "distinct": Distinct(project(Window(SCAN, "fixed", 10), ["k"])),
}


def runs(seed: int, directory: Path, **options: Any) -> Iterator[Engine]:
    """An engine after each of some steps over random rows."""
    rng = Random(seed)
    engine = Engine(directory, LocalJobs(), Options(tasks=2, **options))
    engine.define("s", SourceDefinition("s", SCHEMA, "t", delay=3))
    for name, plan in VIEWS.items():
        engine.define(name, plan)
    t = 0
    for _ in range(12):
        rows = [(rng.randrange(3), rng.randrange(3), t + rng.randrange(6)) for _ in range(5)]
        columns = list(map(list, zip(*rows, strict=True)))
        engine.receive_table("s", pa.Table.from_arrays(list(map(pa.array, columns)), schema=SCHEMA))
        t += rng.randrange(6)
        engine.step()
        yield engine
    engine.advance_watermark("s", INF)
    engine.step()
    yield engine
    engine.close()


def view_of(engine: Engine, name: str) -> CommittedView:
    return committed_view(engine.manifest, engine.directory, name)


def rows(reading: Reading, tasks: int = 1) -> Counter[tuple[Any, ...]]:
    store = store_of(reading.directory)
    found: Counter[tuple[Any, ...]] = Counter()
    for task in range(tasks):
        for batch in reading.read(*hash_range(task, tasks), store):
            assert batch.schema == reading.schema
            found.update(zip(*(c.to_pylist() for c in batch.columns), strict=True))
    return found


def times(history: Counter[tuple[Any, ...]], t: int) -> Counter[tuple[Any, ...]]:
    """The snapshot at a time, as a history has it."""
    found: Counter[tuple[Any, ...]] = Counter()
    for (*e, begin, end), n in history.items():
        if (begin is None or begin <= t) and (end is None or t < end):
            found[tuple(e)] += n
    return found


@pytest.mark.parametrize("seed", range(3))
def test_windows_of_changes_add_up_and_runs_left_out_do_not_matter(
    seed: int, tmp_path: Path
) -> None:
    *_, engine = runs(seed, tmp_path)
    for name in VIEWS:
        view, added = view_of(engine, name), Counter[tuple[Any, ...]]()
        assert view.state_table == engine.program.view_state_tables[name]
        every = tuple(ref for entry in view.publications for ref in entry.refs)
        for entry in view.publications:
            reading = view.changes(entry.w0, entry.w1)
            assert rows(reading, tasks=3) == rows(replace(reading, refs=every))
            added += rows(reading)
        assert added == rows(view.changes())
        history = rows(view.history())
        for t in range(-1, 60, 12):
            reading = view.snapshot(t)
            assert rows(reading) == rows(replace(reading, refs=every)) == times(history, t)
        assert rows(view.snapshot()) == times(history, INF - 1)


def test_an_append_only_view_is_followed_without_reading_its_past(tmp_path: Path) -> None:
    for engine in runs(0, tmp_path):
        view = view_of(engine, "appended")
        if view.publications:
            last = view.publications[-1]
            assert view.changes(last.w0, last.w1).runs == last.refs


@pytest.mark.parametrize("seed", range(3))
def test_what_is_kept_is_what_it_was(seed: int, tmp_path: Path) -> None:
    whole = {
        (name, engine.manifest.frontier): view_of(engine, name)
        for engine in runs(seed, tmp_path / "all")
        for name in VIEWS
    }
    given_up = 0
    for number, engine in enumerate(runs(seed, tmp_path / "kept", retention=6)):
        for name in VIEWS if number % 4 == 0 else ():
            view = view_of(engine, name)
            same = whole[name, engine.manifest.frontier]
            given_up += view.publications != same.publications
            assert rows(view.snapshot()) == rows(same.snapshot())
            assert rows(view.changes()) == rows(same.changes(view.oldest))
            earliest = max(view.oldest - 1, 0)
            history = rows(view.history())
            for t in range(earliest, min(engine.manifest.frontier, earliest + 15), 4):
                assert rows(view.snapshot(t)) == rows(same.snapshot(t)) == times(history, t)
            for (*_, begin, end), _ in history.items():
                assert begin is None or begin >= view.oldest
                assert end is None or end >= view.oldest
    assert given_up


def test_a_time_that_is_no_longer_kept_has_no_snapshot(tmp_path: Path) -> None:
    for engine in runs(1, tmp_path, retention=6):
        view = view_of(engine, "sliding")
        if view.oldest > 1:
            view.snapshot(view.oldest - 1)
            with pytest.raises(
                PlanError, match=f"no longer kept; the earliest is {view.oldest - 1}"
            ):
                view.snapshot(view.oldest - 2)


def test_a_view_that_is_not_there_names_those_that_are(tmp_path: Path) -> None:
    engine = next(runs(0, tmp_path))
    with pytest.raises(PlanError, match="no view 'x'; there are: appended, sliding, counted"):
        view_of(engine, "x")
    engine.close()
