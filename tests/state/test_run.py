"""Runs are sorted, complete, and their statistics are true of every row."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from random import Random

import numpy as np
import pytest

from penstock import record
from penstock.element import Elements
from penstock.state.run import Order, Run, owned, sorted_run, split_runs, without_dead
from tests.state.random_state_tables import SCHEMA, random_elements, spec

ORDERS: tuple[Order, ...] = ("hash", "time")


def random_run(seed: int, order: Order = "hash") -> tuple[Elements, Run]:
    x = random_elements(Random(seed), 50)
    return x, sorted_run(spec(order), x)


@pytest.mark.parametrize("order", ORDERS)
def test_a_run_holds_all_rows_in_order(order: Order) -> None:
    x, run = random_run(1, order)
    assert sorted(run.elements.rows(), key=repr) == sorted(x.rows(), key=repr)
    keys = run.hashes if order == "hash" else run.elements.ts
    assert np.all(keys[1:] >= keys[:-1])


@pytest.mark.parametrize("share", [0, 0.5, 1])
def test_runs_that_are_split_hold_all_rows_and_those_that_stay_are_in_order(share: float) -> None:
    x = random_elements(Random(1), 50)
    apart = np.random.default_rng(1).random(50) < share
    runs = split_runs(spec(), x, apart)
    assert [len(run) for run in runs] == [n for n in (apart.sum(), (~apart).sum()) if n]
    if share < 1:
        assert np.all(runs[-1].hashes[1:] >= runs[-1].hashes[:-1])
    for run, mine in zip(runs, [m for m in (apart, ~apart) if m.any()], strict=True):
        expected = sorted_run(spec(), x.where(mine))
        assert run.statistics == expected.statistics
        assert sorted(run.elements.rows(), key=repr) == sorted(expected.elements.rows(), key=repr)
        assert sorted(run.hashes.tolist()) == expected.hashes.tolist()


@pytest.mark.parametrize("order", ORDERS)
def test_statistics_are_true(order: Order) -> None:
    _, run = random_run(2, order)
    statistics = run.statistics
    assert statistics.rows == len(run) == 50
    assert statistics.retractions == np.count_nonzero(run.elements.n < 0)
    assert statistics.hash_range == (run.hashes.min(), run.hashes.max())
    assert statistics.bytes > 50 * 8 * 4


def test_a_row_without_multiplicity_takes_away_what_its_other_weights_do() -> None:
    x = random_elements(Random(6), 3)
    weights = {"m2": np.array([-1, 1, -5])}
    run = sorted_run(spec(), replace(x, n=np.array([0, 0, 2]), sums=weights))
    assert run.statistics.retractions == 1


def test_a_row_is_kept_until_its_validity_ends_or_it_fell_due() -> None:
    x, by_hash = random_run(3, "hash")
    assert sorted(by_hash.keep.tolist()) == sorted(x.te.tolist())
    _, by_time = random_run(3, "time")
    assert by_time.keep.tolist() == (by_time.elements.ts + 1).tolist()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("frontier", [-5, 0, 3, 10, 21, 40])
def test_dead_rows_go(order: Order, frontier: int) -> None:
    _, run = random_run(4, order)
    alive = without_dead(spec(), run, frontier)
    assert len(alive) == np.count_nonzero(run.keep > frontier)
    assert alive.statistics.rows == len(alive)


@pytest.mark.parametrize("order", ORDERS)
def test_the_estimate_of_dead_rows_is_exact_for_all_and_none(order: Order) -> None:
    for seed in range(20):
        _, run = random_run(seed, order)
        for frontier in range(-2, 32):
            dead = np.count_nonzero(run.keep <= frontier)
            estimate = run.statistics.dead(frontier)
            assert (estimate == len(run)) == (dead == len(run))
            assert dead > 0 or estimate == 0
            assert abs(estimate - dead) <= len(run) / 8


@pytest.mark.parametrize("owner", [None, ("s",)])
@pytest.mark.parametrize("order", ORDERS)
def test_owners_part_a_run(order: Order, owner: tuple[str, ...] | None) -> None:
    state_table = spec(order)
    state_table = type(state_table)(
        state_table.name, state_table.schema, state_table.key, state_table.order, owner
    )
    run = sorted_run(state_table, random_elements(Random(5), 50))
    by = owner or ("k",)
    owners = np.unique(record.hash_rows(run.elements.key(by), len(run))).tolist()
    cuts = sorted({0, *owners[::2], 2**31, 2**32})
    parts = [owned(state_table, run, low, high) for low, high in pairwise(cuts)]
    rows = [row for part in parts for row in part.elements.rows()]
    assert sorted(rows, key=repr) == sorted(run.elements.rows(), key=repr)
    places = [SCHEMA.names.index(name) for name in by]
    keys = [{tuple(e[i] for i in places) for e, *_ in part.elements.rows()} for part in parts]
    assert not any(one & other for one, other in combinations(keys, 2))
    for (low, high), part in zip(pairwise(cuts), parts, strict=True):
        mine = record.hash_rows(part.elements.key(by), len(part)).tolist()
        assert all(low <= each < high for each in mine)


def test_an_empty_run_is_dead() -> None:
    run = sorted_run(spec(), Elements.empty(SCHEMA))
    assert len(run) == run.statistics.rows == run.statistics.dead(0) == 0
