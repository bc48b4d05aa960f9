"""Oracle: bounded queries run from summaries, answer as the reference does at every time, and keep
no more than the check says.

`PENSTOCK_EFFORT=10` tries ten times as many queries.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random

import pytest

from penstock.algebra import plan as p
from penstock.element import BEGIN, Elements, concat
from penstock.memory.check import check, check_aggregates
from penstock.memory.plans import operators_of
from penstock.memory.query import (
    AVG,
    COUNT,
    COUNT_DISTINCT,
    MAX,
    MEDIAN,
    MIN,
    SUM,
    Aggregate,
    AggregateQuery,
    Query,
    Stream,
)
from penstock.memory.summaries import is_summarized, summaries_of
from penstock.memory.values import Declared
from penstock.reasoning.closure import Attribute, compare
from penstock.state.compaction import merge
from penstock.testing.engine_runs import LocalJobs, run_on_engine
from penstock.testing.local_pipeline import LocalPipeline, MemoryStore
from penstock.testing.local_runs import first_difference, random_cuts
from tests.memory.paper import TABLE_1, S, T, atoms, query
from tests.memory.random_queries import CONSTANTS, random_query, true_of
from tests.memory.theory_plans import Rows, aggregate_plan, plan_of, random_rows

pytestmark = pytest.mark.long

EFFORT = int(os.environ.get("PENSTOCK_EFFORT", "1"))


def run(plan: p.Node, streams: Mapping[str, Rows], cuts: Sequence[int]) -> tuple[Elements, int]:
    """What comes out, and the most rows that were kept between steps."""
    store = MemoryStore()
    pipeline = LocalPipeline(plan, store)
    scans = {node.name: node for node in plan.walk() if isinstance(node, p.Scan)}
    out, most = [], 0
    for w0, w1 in zip([BEGIN, *cuts], cuts, strict=False):
        given = {
            name: Elements.of(scan.schema, [r for r in streams[name] if w0 <= r[1] < w1])
            for name, scan in scans.items()
        }
        out.append(pipeline.step(given, w1))
        most = max(most, kept(pipeline, store))
    return concat(plan.schema, out), most


def kept(pipeline: LocalPipeline, store: MemoryStore) -> int:
    opened = [state_table.open(store) for state_table in pipeline.state_tables.values()]
    return sum(
        len(merge(state_table.spec, state_table.runs, state_table.frontier))
        for state_table in opened
        if state_table.runs
    )


def bound_of(plan: p.Node) -> int:
    numbers = [operator.number for operator in operators_of(plan, Declared())]
    assert None not in numbers
    return sum(number for number in numbers if number is not None)


def assert_exact_and_small(plan: p.Node, streams: Mapping[str, Rows], rng: Random) -> None:
    out, most = run(plan, streams, random_cuts(rng))
    assert first_difference(plan, streams, out) is None
    assert most <= bound_of(plan)


def test_oracle_bounded_queries_run_from_summaries() -> None:
    tried = {True: 0, False: 0}
    for seed in range(250 * EFFORT):
        rng = Random(seed)
        asked = random_query(rng, rng.choice([3, 4, 5, 6]))
        if len(asked.streams) == 1:
            continue
        plan = plan_of(asked)
        assert is_summarized(plan) == check(asked).bounded, f"seed {seed}"
        if is_summarized(plan):
            assert_exact_and_small(plan, random_rows(rng, asked), rng)
            tried[asked.distinct] += 1
    assert min(tried.values()) > 10 * EFFORT


def self_join(rng: Random) -> Query:
    """Two or three occurrences of one stream, and perhaps another stream."""
    width = rng.choice([1, 1, 2])
    streams = [Stream(f"S{n}", tuple("ab"[:width]), "S") for n in range(rng.choice([2, 2, 3]))]
    if rng.random() < 0.4:
        streams.append(Stream("T", ("c",)))
    known = [attribute for stream in streams for attribute in stream.attributes]
    hidden = {attribute: rng.randint(-4, 9) for attribute in known}
    where = set()
    for _ in range(rng.randint(1, 6)):
        left = rng.choice(known)
        right = rng.choice([*known, *CONSTANTS[:2]])
        if left != right:
            other = hidden[right] if isinstance(right, Attribute) else right
            where.add(compare(left, true_of(rng, hidden[left], other), right))
    select = rng.sample(known, rng.choice([0, 0, 1]))
    return Query(tuple(streams), frozenset(where), tuple(select), rng.random() < 0.6)


def test_oracle_self_joins_run_from_summaries() -> None:
    tried = {True: 0, False: 0}
    for seed in range(150 * EFFORT):
        rng = Random(seed)
        asked = self_join(rng)
        plan = plan_of(asked)
        assert is_summarized(plan) == check(asked).bounded, f"seed {seed}"
        if is_summarized(plan):
            out, _ = run(plan, streams := random_rows(rng, asked, 8), random_cuts(rng))
            assert first_difference(plan, streams, out) is None, f"seed {seed}"
            tried[asked.distinct] += 1
    assert min(tried.values()) > 10 * EFFORT


def random_aggregates(rng: Random) -> AggregateQuery:
    base = random_query(rng, rng.choice([3, 4, 5]))
    known = list(base.attributes)
    calls = []
    for _ in range(rng.choice([1, 1, 2])):
        function = rng.choice([SUM, COUNT, AVG, MIN, MAX, COUNT_DISTINCT, MEDIAN])
        calls.append(Aggregate(function, rng.choice(known)))
    if rng.random() < 0.3:
        calls = [Aggregate(COUNT, None)]
    groups = rng.sample(known, rng.choice([0, 1, 1]))
    return AggregateQuery(base.streams, base.where, tuple(groups), tuple(calls))


def test_oracle_aggregates_run_from_summaries() -> None:
    tried = 0
    for seed in range(400 * EFFORT):
        rng = Random(seed)
        asked = random_aggregates(rng)
        if len(asked.streams) == 1:
            continue
        plan = aggregate_plan(asked)
        assert is_summarized(plan) == check_aggregates(asked).bounded, f"seed {seed}"
        if is_summarized(plan):
            assert_exact_and_small(plan, random_rows(rng, asked), rng)
            tried += 1
    assert tried > 10 * EFFORT


@pytest.mark.parametrize("at_any_time", [False, True])
def test_oracle_summaries_on_the_engine(at_any_time: bool, tmp_path: Path) -> None:
    """Restarted, with other numbers of tasks, and defined when rows have come already."""
    tried = 0
    for seed in range(40 * EFFORT):
        rng = Random(seed)
        asked: Query | AggregateQuery = rng.choice([random_query, self_join])(rng)
        if rng.random() < 0.3:
            asked = random_aggregates(rng)
        plan = plan_of(asked) if isinstance(asked, Query) else aggregate_plan(asked)
        if is_summarized(plan):
            streams, path = random_rows(rng, asked, 8), tmp_path / f"{seed}"
            plans = {f"v{i}": node for i, node in enumerate(plan.walk()) if node.inputs}
            cuts = random_cuts(rng)
            found = run_on_engine(LocalJobs(), path, plans, streams, cuts, rng, at_any_time)
            for name, each in plans.items():
                assert first_difference(each, streams, found[name]) is None, f"seed {seed}"
            tried += 1
    assert tried > 5 * EFFORT


# --- the synopses of the paper --------------------------------------------------------------------


def state_after(plan: p.Node, streams: Mapping[str, Rows]) -> list[list[tuple[int, ...]]]:
    """What is kept of each input of the join, with weights last."""
    store = MemoryStore()
    pipeline = LocalPipeline(plan, store)
    scans = {node.name: node for node in plan.walk() if isinstance(node, p.Scan)}
    pipeline.step({n: Elements.of(s.schema, streams[n]) for n, s in scans.items()}, 100)
    found = []
    for (_, name), state_table in pipeline.state_tables.items():
        if name.startswith("input"):
            opened = state_table.open(store)
            x = merge(state_table.spec, opened.runs, state_table.frontier).elements
            sums = [x.sums[name].tolist() for name in sorted(x.sums)]
            weights = zip(x.n.tolist(), *sums, strict=True)
            found.append(sorted((*r[0], *w) for r, w in zip(x.rows(), weights, strict=True)))
    return found


def rows(*records: tuple[int, ...]) -> Rows:
    return [((*record, at), at, 2**63 - 1, 1) for at, record in enumerate(records)]


def test_examples_5_7_and_q3_a_count_for_each_value() -> None:
    s, t = Stream("S", ("A", "B")), Stream("T", ("C",))
    plan = plan_of(query((s, t), "A < 20, A = C, C > 10, B > 20", "A"))
    given = {"S": rows((11, 30), (11, 21), (15, 20), (20, 99), (19, 21)), "T": rows((10,), (19,))}
    assert state_after(plan, given) == [[(11, 2), (19, 1)], [(19, 1)]]


def test_examples_7_1_and_7_2_a_bucket_is_a_representative_and_a_count() -> None:
    plan = plan_of(query((S, T), "B < D, D > 10, B < 20, A = 10", "A"))
    given = {
        "S": rows((10, 5, 21), (10, -7, 1), (10, 14, 0), (9, 5, 0), (10, 20, 0)),
        "T": rows((11, 0), (500, 0), (21, 7), (10, 0)),
    }
    below, above = 9, 21
    assert state_after(plan, given) == [[(10, below, 2), (10, 14, 1)], [(11, 1), (above, 2)]]


def test_example_5_11_and_q4_the_smallest_and_the_largest() -> None:
    plan = plan_of(query((S, T), "B < D, A = 10", "A", distinct=True))
    given = {"S": rows((10, 5, 0), (10, 3, 0), (10, 4, 0), (11, 1, 0)), "T": rows((2, 0), (1, 0))}
    assert state_after(plan, given) == [[(10, 3, 1)], [(2, 1)]]


def test_q6_the_smallest_of_the_greatest_and_the_greatest_of_the_smallest() -> None:
    plan = plan_of(query((S, T), "B < D, C < E, B < E, C < D, A = 10", "A", distinct=True))
    given = {"S": rows((10, 1, 9), (10, 6, 7), (10, 8, 0)), "T": rows((9, 1), (3, 4), (0, 99))}
    assert state_after(plan, given) == [[(10, 6, 7, 1)], [(3, 4, 1)]]


def test_example_7_4_the_max_of_min_representative() -> None:
    """The text leaves out what bounds the projected A; its bucket has A = 10."""
    s, t = Stream("S", ("A", "B", "C", "D")), Stream("T", ("E", "F"))
    tested = query((s, t), "B > F, C > F, D > F, A = 10", "A", distinct=True)
    given = {"S": rows((10, 10, 3, 4), (10, 10, 5, 2), (10, 10, 9, 1)), "T": rows((1, 8), (1, 7))}
    assert state_after(plan_of(tested), given) == [[(10, 10, 3, 4, 1)], [(7, 1)]]
    (summary,) = summaries_of(plan_of(tested))
    assert summary.rankings is not None
    ((ranking,), _) = summary.rankings
    (limit,) = ranking.limits
    assert {name for name, _ in limit.terms} == {"0.B", "0.C", "0.D"}


def test_example_8_1_the_redundant_occurrence_is_not_kept() -> None:
    one, two = (Stream(name, ("A", "B"), "S") for name in ("S1", "S2"))
    where = {
        compare(one["A"], "=", 10),
        compare(one["A"], "=", two["A"]),
        compare(one["B"], "=", two["B"]),
        compare(one["B"], ">", 10),
    }
    tested = Query((one, two), frozenset(where), (one["A"],), distinct=True)
    given = {"S": rows((10, 11), (10, 12), (11, 13), (10, 2))}
    assert state_after(plan_of(tested), given) == [[(10, 1)]]


def test_example_8_7_a_sum_and_a_count_for_each_value() -> None:
    s, t = Stream("S", ("A", "B")), Stream("T", ("C",))
    where = atoms((s, t), "A < 20, C < 20, A > 10, C > 10")
    tested = AggregateQuery((s, t), where, (s["A"], t["C"]), (Aggregate(SUM, s["B"]),))
    given = {"S": rows((11, 5), (11, 600), (20, 7), (19, -1)), "T": rows((15,), (15,), (10,))}
    counted = [(11, 2, 605), (19, 1, -1)]  # rows, the sum of B
    assert state_after(aggregate_plan(tested), given) == [counted, [(15, 2)]]
    given["S"] += [((11, None, 9), 9, 2**63 - 1, 1)]
    missed = [(11, 3, 1, 605), (19, 1, 0, -1)]  # rows, rows without a B, the sum of B
    assert state_after(aggregate_plan(tested), given) == [missed, [(15, 2)]]


@pytest.mark.parametrize("distinct", [False, True])
def test_table_1_runs_from_summaries(distinct: bool) -> None:
    for name, streams, where, preserving, eliminating in TABLE_1[1:]:
        tested = query(streams, where, "A", distinct=distinct)
        assert is_summarized(plan_of(tested)) == (eliminating if distinct else preserving), name
