"""Compaction changes nothing that the future can see, and leaves nothing that it cannot."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from penstock.element import BEGIN, Elements, concat
from penstock.state.compaction import FANS, PART, Use, choose, fan_of, merge, rest_of
from penstock.state.run import Statistics, sorted_run
from penstock.testing.logical_streams import logical
from tests.state.random_state_tables import SCHEMA, random_elements, spec

TIMES = range(0, 30)


def statistics(rows: int, retractions: int = 0, keep: int = 100) -> Statistics:
    return Statistics(rows, rows * 50, retractions, (0, 2**32 - 1), (keep,) * 17)


@pytest.mark.parametrize("seed", range(20))
def test_the_meaning_from_the_frontier_on_stays(seed: int) -> None:
    rng = Random(seed)
    frontier = rng.randint(0, 25)
    runs = [sorted_run(spec(), random_elements(rng, rng.randint(1, 30))) for _ in range(4)]
    before = concat(SCHEMA, [run.elements for run in runs])
    merged = merge(spec(), runs, frontier)
    after = merged.elements
    assert logical(after, range(frontier, 30)) == logical(before, range(frontier, 30))
    assert np.all(merged.keep > frontier)
    assert np.all(after.ts >= np.minimum(frontier, after.te - 1))
    assert np.all(merged.hashes[1:] >= merged.hashes[:-1])
    assert len({row[:3] for row in after.rows()}) == len(after) or not np.any(after.n < 0)


@pytest.mark.parametrize("seed", range(10))
def test_what_is_still_to_come_keeps_its_time(seed: int) -> None:
    rng = Random(seed)
    frontier = rng.randint(0, 25)
    runs = [sorted_run(spec("time"), random_elements(rng, 20)) for _ in range(3)]
    rows = [row for run in runs for row in run.elements.rows() if row[1] >= frontier]
    merged = merge(spec("time"), runs, frontier).elements
    assert np.all(merged.ts[1:] >= merged.ts[:-1])
    future = Elements.of(SCHEMA, rows)
    assert logical(merged, TIMES) == logical(future, TIMES)


def test_what_cancels_is_gone() -> None:
    x = random_elements(Random(1), 200)
    runs = [sorted_run(spec(), x), sorted_run(spec(), x.negated())]
    assert len(merge(spec(), runs, BEGIN)) == 0
    assert choose([statistics(2000), statistics(2000, 2000)], 0) == [[0, 1]]


def test_rows_that_repeat_are_added_up() -> None:
    """Though none is taken back: a median over few values keeps few rows."""
    state_table = replace(spec(), repeats=True)
    rows = random_elements(Random(1), 20, 0, 10)
    rows = rows.where(rows.n > 0)
    merged = merge(state_table, [sorted_run(state_table, rows) for _ in range(5)], 40)
    once = merge(state_table, [sorted_run(state_table, rows)], 40)
    assert len(merged) == len(once)
    assert sorted(merged.elements.n.tolist()) == sorted((5 * once.elements.n).tolist())


def test_what_cancels_only_within_itself_is_left_alone() -> None:
    assert choose([statistics(5000, 2500)], 0) == []
    assert choose([statistics(5000, 2500), statistics(10, 10)], 0) == []


def test_a_dead_run_is_rewritten_alone_and_a_living_one_stays() -> None:
    assert choose([statistics(5000, keep=3), statistics(9000)], 3) == [[0]]
    assert choose([statistics(5000, keep=3), statistics(9000)], 2) == []
    assert len(merge(spec(), [sorted_run(spec(), random_elements(Random(2), 9))], 2**63 - 1)) == 0


def test_the_rest_of_a_run_has_its_share_of_all() -> None:
    whole = Statistics(100, 5000, 41, (7, 99), (3,))
    assert rest_of(whole, 50, since=20) == Statistics(50, 2500, 21, (20, 99), (3,))


def test_runs_of_one_size_are_merged_when_there_are_many() -> None:
    small = [statistics(100) for _ in range(FANS[0])]
    assert choose(small[1:], 0) == []
    assert choose(small, 0) == [list(range(FANS[0]))]
    assert choose([statistics(10**6), *small], 0) == [list(range(1, FANS[0] + 1))]


def test_it_takes_as_many_runs_as_are_worth_it() -> None:
    """What comes is wide and rarely looked up, or narrow and often."""
    assert fan_of(Use(bytes=40_000_000, lookups=1_000)) == FANS[-1]
    assert fan_of(Use(bytes=40_000_000, lookups=15_000)) == 64
    assert fan_of(Use(bytes=40_000_000, lookups=400_000)) == FANS[0]
    assert fan_of(Use(bytes=500_000, lookups=200_000)) == FANS[0]
    assert fan_of(Use(bytes=1000)) == FANS[0], "little is rewritten at little cost"
    assert fan_of(Use(bytes=40_000_000)) == FANS[-1]
    wide = [replace(statistics(30_000), bytes=30_000 * 200) for _ in range(FANS[-1])]
    rarely = Use(bytes=40_000_000, lookups=1_000)
    assert choose(wide[: FANS[-1] - 1], 0, use=rarely) == []
    assert choose(wide, 0, use=rarely) == [list(range(FANS[-1]))]


@pytest.mark.parametrize("ratio", [1, 3, 10, 30, 50, 100, 300])
def test_the_fan_is_about_the_best(ratio: int) -> None:
    """By the cost of a step over a state table of a million runs, of all numbers."""

    def cost(fan: int) -> float:
        return (ratio + fan / 2) * math.log(1e6, fan)

    chosen = fan_of(Use(bytes=ratio * 40 * 10**6, lookups=10**6))
    assert cost(chosen) <= 1.15 * min(map(cost, range(2, 400)))


def test_large_runs_where_nothing_is_looked_up_stay() -> None:
    small, large = statistics(100), replace(statistics(100_000), bytes=PART)
    most, use = FANS[-1], Use(bytes=2 * PART)
    assert choose([small] * (most - 1), 0, use=use) == []
    assert choose([small] * most, 0, use=use) == [list(range(most))]
    assert choose([large] * most, 0, use=use) == []
    retractions = replace(large, retractions=large.rows)
    assert choose([large, retractions], 0, use=use) == [[0, 1]]


@pytest.mark.parametrize("size", [10, 100])
def test_rows_are_rewritten_a_logarithmic_number_of_times(size: int) -> None:
    """Appending and compacting a thousand runs rewrites each row a few times over."""
    runs: list[Statistics] = []
    rewritten = 0
    for _ in range(1000):
        runs.append(statistics(size))
        for chosen in choose(runs, 0):
            rows = sum(runs[i].rows for i in chosen)
            rewritten += rows
            runs = [run for i, run in enumerate(runs) if i not in chosen] + [statistics(rows)]
        assert len(runs) <= 4 * FANS[0]
    assert rewritten <= 1000 * size * 8


@pytest.mark.parametrize("live", [2000, 20000])
def test_a_window_that_slides_rewrites_each_row_a_few_times(live: int) -> None:
    """Every step adds rows and the retractions of rows from ten steps ago."""
    step = live // 10
    runs: list[Statistics] = []
    rewritten = 0
    for i in range(300):
        runs.append(statistics(2 * step if i >= 10 else step, step if i >= 10 else 0))
        for chosen in choose(runs, 0):
            rows, taken = (
                sum(getattr(runs[j], name) for j in chosen) for name in ("rows", "retractions")
            )
            rewritten += rows
            left = statistics(rows - 2 * min(taken, rows - taken))
            runs = [run for j, run in enumerate(runs) if j not in chosen] + [left]
        assert sum(run.rows for run in runs) <= 4 * live + 2048
    assert rewritten <= 300 * 2 * step * 6
