"""Groups that say until when they change: the same results, and no state once they are closed.

Rows carry the end of the window they fall into, computed from their own time, so that all changes
of a window come before its end.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.algebra.aggregates import FUNCTIONS, TIMED, AggregateCall
from penstock.algebra.expr import Column, Expr, Literal, arithmetic
from penstock.element import BEGIN, INF, Elements, changes, concat
from penstock.errors import PlanError
from penstock.rewrite import rewrite
from penstock.testing.engine_runs import LocalJobs, run_on_engine
from penstock.testing.local_pipeline import LocalPipeline
from penstock.testing.local_runs import run_in_steps
from penstock.testing.random_streams import HORIZON, Stream
from tests.laws.nodes import compaction_at_every_turn, seeded

pytestmark = pytest.mark.long

INT = pa.int64()
SIZE = 3
S = p.Scan("s", pa.schema([("k", INT), ("v", INT), ("at", INT)]))
AT, END = Column("at", INT), Column("end", INT)
SINCE = arithmetic("-", AT, arithmetic("%", AT, Literal(SIZE, INT)))
WINDOWED = p.Map(
    S,
    (
        ("k", Column("k", INT)),
        ("v", Column("v", INT)),
        ("end", arithmetic("+", SINCE, Literal(SIZE, INT))),
    ),
)
KEYS = ("k", "end")
BY_V = (p.SortKey("v", descending=True),)

Closing: TypeAlias = Callable[[Expr | None], p.Node]


def aggregate(function: str, distinct: bool) -> Closing:
    args = ("v", "v") if function in TIMED else ("v",)
    fraction = 0.3 if function.startswith("percentile") else None
    call = AggregateCall(function, args, "c", distinct, parameter=fraction)
    return lambda until: p.Aggregate(WINDOWED, KEYS, (call,), until)


def rank(kind: p.RankKind, number: str | None) -> Closing:
    return lambda until: p.Rank(WINDOWED, KEYS, BY_V, 2, kind, number, until)


NODES: dict[str, Closing] = {
    **{
        f"{function} {'distinct' if distinct else ''}": aggregate(function, distinct)
        for function in FUNCTIONS
        for distinct in (False, True)
    },
    "distinct": lambda until: p.Distinct(WINDOWED, until),
    **{f"{kind} {number}": rank(kind, number) for kind in p.RANK_KINDS for number in (None, "n")},
}


def random_rows(rng: Random, count: int) -> Stream:
    """Rows that come, and of which some go again before their window ends."""
    found: Stream = []
    for _ in range(count):
        ts = rng.randint(0, HORIZON)
        end = ts - ts % SIZE + SIZE
        gone = rng.choice((INF, rng.randint(ts + 1, end)))
        te = gone if gone < end else INF
        found.append(((rng.randint(0, 2), rng.randint(0, 2), ts), ts, te, rng.randint(1, 2)))
    return found


def random_cuts(rng: Random) -> list[int]:
    return [*sorted(rng.sample(range(1, HORIZON + 6), rng.randint(2, 8))), INF]


@pytest.mark.parametrize("name", NODES)
def test_differential_with_and_without(name: str) -> None:
    plan, plain = NODES[name](END), NODES[name](None)
    assert plan != plain
    for seed in range(15):
        with seeded(f"{name} until", seed) as rng, compaction_at_every_turn(seed % 3 > 0):
            streams = {"s": random_rows(rng, 60)}
            found = run_in_steps(rewrite(plan), streams, random_cuts(rng), rng)
            other = run_in_steps(plain, streams, random_cuts(rng), rng)
            assert len(changes(concat(plan.schema, [found, other.negated()]))) == 0


def rows_in_state(pipeline: LocalPipeline) -> dict[tuple[int, str], int]:
    found = {
        where: sum(ref.statistics.rows for ref in state_table.refs)
        for where, state_table in pipeline.state_tables.items()
    }
    return {where: rows for where, rows in found.items() if rows}


@pytest.mark.parametrize("name", NODES)
def test_a_closed_group_leaves_no_state(name: str) -> None:
    """Endless rows: without the bound, all of them or their sums would stay."""
    streams = [(row, ts, INF, n) for row, ts, _, n in random_rows(Random(1), 100)]
    for until, empty in ((END, True), (None, False)):
        pipeline = LocalPipeline(NODES[name](until))
        last = BEGIN
        for w1 in range(1, HORIZON + 2 * SIZE):
            rows = [row for row in streams if last <= row[1] < w1]
            pipeline.step({"s": Elements.of(S.schema, rows)}, w1)
            last = w1
        assert (rows_in_state(pipeline) == {}) == empty


def test_null_is_never() -> None:
    plan = NODES["sum "](Literal(None, INT))
    pipeline = LocalPipeline(plan)
    pipeline.step({"s": Elements.of(S.schema, [((1, 1, 1), 1, INF, 1)])}, 100)
    pipeline.step({"s": Elements.of(S.schema, [])}, 200)
    assert rows_in_state(pipeline)
    again = Elements.of(S.schema, [((1, 2, 2), 200, INF, 1)])
    out = changes(pipeline.step({"s": again}, 300)).rows()
    assert sorted((e, n) for e, _, _, n in out) == [((1, 3, 1), -1), ((1, 3, 3), 1)]


def test_differential_on_the_engine(tmp_path: Path) -> None:
    with seeded("until on the engine", 1) as rng:
        streams = {"s": random_rows(rng, 100)}
        plans = {f"v{i}": make(END) for i, make in enumerate(NODES.values())}
        found = run_on_engine(LocalJobs(), tmp_path, plans, streams, random_cuts(rng), rng)
        for name, make in zip(plans, NODES.values(), strict=True):
            other = run_in_steps(make(None), streams, random_cuts(rng), rng)
            assert len(changes(concat(other.schema, [found[name], other.negated()]))) == 0


def test_a_promise_about_a_distinct_is_none_about_what_it_hides() -> None:
    """What is a duplicate to the inner one, and so no change, would come anew to the outer."""
    inner = p.Distinct(S)
    plan = p.Distinct(p.Union((inner, S)), AT)
    assert rewrite(plan) == plan
    assert rewrite(replace(plan, until=None)) != replace(plan, until=None)


@pytest.mark.parametrize(
    "make",
    [
        lambda: p.Aggregate(WINDOWED, ("k",), (), END),
        lambda: p.Aggregate(WINDOWED, (), (), Literal(1, INT)),
        lambda: p.Rank(WINDOWED, ("k",), BY_V, 1, until=END),
        lambda: p.Distinct(WINDOWED, Literal(True, pa.bool_())),
    ],
)
def test_only_times_computed_from_keys(make: Callable[[], Any]) -> None:
    with pytest.raises(PlanError):
        make()
