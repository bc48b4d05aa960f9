"""Merges that take several steps lose no row and double none, however many tasks there are."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from penstock.element import INF, Elements, concat
from penstock.execution.task import StageTask, StepSpec, hash_range
from penstock.physical.program import Program
from penstock.runtime import maintenance
from penstock.runtime.step_commit import alive
from penstock.state import compaction
from penstock.state.compaction import Use
from penstock.state.manifest import StateTableRuns
from penstock.state.run import StateTableSpec, owned, sorted_run
from penstock.state.store import FileStore, RunReference
from penstock.testing.logical_streams import logical

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string())])
STATE_TABLES = {
    "by key": StateTableSpec("a", SCHEMA, ("k",)),
    "by a part of the key": StateTableSpec("a", SCHEMA, ("k", "s"), owner=("s",)),
    "by time": StateTableSpec("a", SCHEMA, ("k",), order="time"),
}
ALL = 1 << 30
TIMES = range(0, 30)


def random_elements(rng: Random, count: int) -> Elements:
    rows = []
    for _ in range(count):
        ts = rng.randint(0, 20)
        te = rng.choice((INF, ts + rng.randint(1, 8)))
        rows.append(((rng.randrange(40), rng.choice("abcdefgh")), ts, te, rng.choice((-1, 1, 2))))
    return Elements.of(SCHEMA, rows)


def written(
    rng: Random, state_table: StateTableSpec, store: FileStore, tasks: int
) -> list[RunReference]:
    """What each of so many tasks writes in a step."""
    x = random_elements(rng, rng.randint(10, 60))
    whole = sorted_run(state_table, x)
    refs = []
    with store.segment() as segment:
        for task in range(tasks):
            mine = owned(state_table, whole, *hash_range(task, tasks))
            if len(mine):
                run = sorted_run(state_table, mine.elements, mine.keep)
                refs.append(segment.write(run, hash_range(task, tasks)))
    return refs


def meaning(
    state_table: StateTableSpec, refs: list[RunReference], store: FileStore, frontier: int
) -> object:
    """What a state table says of the time from the frontier on; by time, what is still to come."""
    x = concat(SCHEMA, [store.open(state_table, ref).elements for ref in refs])
    return logical(
        x if state_table.order == "hash" else x.where(x.ts >= frontier), TIMES[frontier:]
    )


def step_of(
    state_table: StateTableSpec, refs: list[RunReference], frontier: int, tasks: int, most: int
) -> StepSpec:
    state_tables = {"a": StateTableRuns(tuple(refs), frontier)}
    return StepSpec(
        Program((), {}, (), {}, {}, {}),
        Path(),
        frontier,
        frontier + 1,
        tasks,
        state_tables,
        maintenance.compactions(state_tables, {"a": frontier}, tasks, {}, {"a": Use(10, 1)}),
        kept={"a": state_table},
        merging=most,
    )


@pytest.mark.parametrize("most", [1, 2000, ALL])
@pytest.mark.parametrize("kind", STATE_TABLES)
def test_rows_are_there_once_at_every_commit(
    kind: str, most: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "PART", 500)
    monkeypatch.setattr(compaction, "FANS", (4,))
    monkeypatch.setattr(compaction, "_SLACK", 30)
    rng = Random(f"{kind} {most}")
    state_table, store = STATE_TABLES[kind], FileStore(tmp_path)
    waited, refs = 0, list[RunReference]()
    for frontier in range(24):
        tasks = 1 + frontier // 6 % 3
        if frontier < 16:
            refs += written(rng, state_table, store, tasks)
        before = meaning(state_table, refs, store, frontier)
        spec = step_of(state_table, refs, frontier, tasks, most)
        chosen = spec.compactions.get("a", frozenset())
        refs = [ref for ref in alive(refs, frontier) if ref.name not in chosen]
        for task in range(tasks):
            report, _ = StageTask(spec, 0, task, store).run({})
            refs += report.state_tables.get("a", [])
        assert meaning(state_table, refs, store, frontier) == before
        waited += any(ref.into for ref in refs)
    assert (waited > 0) == (most < ALL and state_table.order == "hash")
    assert most < ALL or len({ref.whole for ref in refs}) <= 8
