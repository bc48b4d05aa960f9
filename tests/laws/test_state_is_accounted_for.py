"""Law 4: state follows the elements that are alive, however long a pipeline runs.

Windows slide over streams whose values never come back, so whatever is not let go piles up.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Column, Literal, arithmetic
from penstock.algebra.streams import rstream
from penstock.element import INF, Elements
from penstock.state.compaction import merge
from penstock.state.store import FileStore
from penstock.testing.local_pipeline import LocalPipeline, StoredStateTable

pytestmark = pytest.mark.long

SIZE, STEP, RATE = 100, 10, 200
STEPS, STEPS_AFTER_THE_END = 60, 25
FACTOR, SLACK = 4, 1024
BYTES_OF_A_ROW = 100

INT = pa.int64()
S = p.Scan("s", pa.schema([("k", INT), ("v", INT)]), append_only=True)
R = p.Scan("r", pa.schema([("j", INT), ("w", INT)]), append_only=True)
LEFT, RIGHT = (p.Window(scan, "sliding", SIZE) for scan in (S, R))
ON = (p.Equality("k", "j"), p.Equality("v", "w"))
TOP = ("k",), (p.SortKey("v"),), 3
SOON = arithmetic("+", Column("v", INT), Literal(5, INT))


def aggregate(function: str, distinct: bool = False) -> p.Node:
    return p.Aggregate(LEFT, ("k",), (AggregateCall(function, ("v",), "c", distinct),))


PLANS: dict[str, p.Node] = {
    "window": LEFT,
    "join": p.Join(LEFT, RIGHT, "inner", ON),
    "full join": p.Join(LEFT, RIGHT, "full", ON),
    "semi join with a condition": p.Join(LEFT, RIGHT, "semi", ON, Literal(True, pa.bool_())),
    "distinct": p.Distinct(LEFT),
    "distinct twice": p.Distinct(p.Distinct(LEFT)),
    "difference": p.SetOperation("difference", LEFT, RIGHT),
    "sum": aggregate("sum"),
    "sum by value": p.Aggregate(LEFT, ("v",), (AggregateCall("sum", ("k",), "c"),)),
    "min": aggregate("min"),
    "count distinct": aggregate("count", distinct=True),
    "median distinct": aggregate("median", distinct=True),
    "collect": aggregate("collect_list"),
    "row number": p.Rank(LEFT, *TOP),
    "row number of all": p.Rank(LEFT, TOP[0], TOP[1], None, number="n"),
    "rank": p.Rank(LEFT, *TOP, "rank", "n"),
    "dense rank by value": p.Rank(LEFT, ("v",), (p.SortKey("k"),), 3, "dense_rank"),
    "session": p.Session(S, ("k", "v"), 30),
    "sync to points": p.Sync(LEFT, (p.Periodic(25),)),
    "sync to rare points": p.Sync(LEFT, (p.Periodic(10 * SIZE),)),
    "sync to stream": p.Sync(LEFT, (R,)),
    "sync to stream and points": p.Sync(LEFT, (R, p.Periodic(25))),
    "changes": p.Changes(LEFT, "changed", "at"),
    "relation as a stream": rstream(LEFT),
    "restrict": p.Restrict(LEFT, SOON),
    "split": p.Split(LEFT, 7),
    "row window": p.RowWindow(S, 3, ("k",)),
    "upsert": p.Upsert(S, ("k",)),
}
LASTING = ("row window", "upsert")


def rows_of(rng: np.random.Generator, scan: p.Scan, w0: int, count: int) -> Elements:
    ts = rng.integers(w0, w0 + STEP, count)
    k, v = rng.integers(0, 40, count), ts // 5 + rng.integers(0, 5, count)
    endless, ones = np.full(count, INF), np.ones(count, dtype=np.int64)
    return Elements(scan.schema, (pa.array(k), pa.array(v)), ts, endless, ones)


def size(state_table: StoredStateTable) -> tuple[int, int]:
    rows = sum(ref.statistics.rows for ref in state_table.refs)
    return rows, sum(ref.statistics.bytes for ref in state_table.refs)


@pytest.mark.parametrize("name", PLANS)
def test_rows_and_bytes_follow_what_is_alive(name: str) -> None:
    pipeline = LocalPipeline(PLANS[name])
    rng = np.random.default_rng(1)
    scans = [node for node in (S, R) if node in PLANS[name].walk()]
    bound = FACTOR * len(scans) * RATE * SIZE // STEP + SLACK
    for i in range(STEPS):
        inputs = {scan.name: rows_of(rng, scan, i * STEP, RATE) for scan in scans}
        pipeline.step(inputs, (i + 1) * STEP)
        for where, state_table in pipeline.state_tables.items():
            rows, total = size(state_table)
            assert rows <= bound, f"{where} after step {i}"
            assert total <= BYTES_OF_A_ROW * bound, f"{where} after step {i}"
    for i in range(STEPS, STEPS + STEPS_AFTER_THE_END):
        pipeline.step({"r": rows_of(rng, R, i * STEP, 1)} if R in scans else {}, (i + 1) * STEP)
    left = {where: size(state_table)[0] for where, state_table in pipeline.state_tables.items()}
    assert name in LASTING or max(left.values(), default=0) <= SLACK, left


def test_of_rows_that_stay_only_the_extremes_are_kept() -> None:
    calls = [("min", ("v",)), ("max", ("v",)), ("avg", ("v",)), ("last", ("v", "k"))]
    named = (AggregateCall(f, args, f"c{i}") for i, (f, args) in enumerate(calls))
    pipeline, rng = LocalPipeline(p.Aggregate(S, ("k",), tuple(named))), np.random.default_rng(1)
    for i in range(STEPS):
        pipeline.step({"s": rows_of(rng, S, i * STEP, RATE)}, (i + 1) * STEP)
    for (_, name), stored in pipeline.state_tables.items():
        runs = stored.open(pipeline.store).runs
        kept = len(merge(stored.spec, runs, stored.frontier)) if runs else 0
        assert kept <= {"schedule": 0, "values v": 2 * 40}.get(name, 40), name


def test_files_go_with_the_runs(tmp_path: Path) -> None:
    pipeline = LocalPipeline(PLANS["full join"], FileStore(tmp_path))
    rng = np.random.default_rng(1)
    for i in range(30):
        inputs = {scan.name: rows_of(rng, scan, i * STEP, RATE) for scan in (S, R)}
        pipeline.step(inputs, (i + 1) * STEP)
        named = [ref for state_table in pipeline.state_tables.values() for ref in state_table.refs]
        assert len(list(tmp_path.iterdir())) == len(named)


def test_a_join_lets_rows_go_as_soon_as_they_can_meet_nobody() -> None:
    """Endless rows, but with a bound on when their partners come."""
    keep = arithmetic("*", Column("v", INT), Literal(5, INT))
    nobody = Literal(0, INT)
    plan = p.Join(S, R, "inner", ON[:1], keep_left=keep, keep_right=nobody)
    pipeline = LocalPipeline(plan)
    rng = np.random.default_rng(1)
    for i in range(STEPS):
        inputs = {scan.name: rows_of(rng, scan, i * STEP, RATE) for scan in (S, R)}
        pipeline.step(inputs, (i + 1) * STEP)
        by_name = {
            name: size(state_table)[0] for (_, name), state_table in pipeline.state_tables.items()
        }
        assert by_name["left"] <= FACTOR * RATE * 25 // STEP + SLACK
        assert by_name["right"] == 0
