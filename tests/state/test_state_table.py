"""State tables answer the same whatever runs their rows are in, and wherever the runs are kept."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from penstock import record
from penstock.element import INF, Elements
from penstock.physical.kernel import Write
from penstock.record import Hashes
from penstock.state import state_table as state_table_module
from penstock.state.run import Order, hash_keys, sorted_run
from penstock.state.state_table import StateTable, equal_pairs
from penstock.state.store import FileStore
from penstock.testing.local_pipeline import MemoryStore, Store, StoredStateTable
from tests.state.random_state_tables import SCHEMA, random_elements, spec

Row = tuple[tuple[Any, ...], int, int, int]


def needles(*keys: int | None) -> Hashes:
    wanted = Elements.of(SCHEMA, [((key, None), 0, 1, 1) for key in keys])
    return np.unique(hash_keys(spec(), wanted))


def in_runs(rng: Random, x: Elements, order: Order = "hash") -> StateTable:
    """The elements spread over three runs at random."""
    lot = np.array([rng.randrange(3) for _ in range(len(x))])
    runs = tuple(sorted_run(spec(order), x.where(lot == i)) for i in range(3))
    return StateTable(spec(order), runs)


def as_multiset(x: Elements) -> list[Row]:
    return sorted(x.rows(), key=repr)


@pytest.mark.parametrize("seed", range(10))
def test_a_probe_finds_the_rows_of_its_keys(seed: int) -> None:
    rng = Random(seed)
    x = random_elements(rng, 60)
    wanted = rng.sample([None, 0, 1, 2, 3, 99], 3)
    found, hashes = in_runs(rng, x).rows_with(needles(*wanted))
    expected = [row for row in x.rows() if row[0][0] in wanted]
    assert as_multiset(found) == sorted(expected, key=repr)
    assert hashes.tolist() == hash_keys(spec(), found).tolist()


@pytest.mark.parametrize("pairs", [1, 3, 7, 1000])
def test_pairs_of_equal_hashes_come_a_bounded_number_at_a_time(
    pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_table_module, "_PAIRS", pairs)
    rng = Random(pairs)
    left, right = (
        np.sort(np.array([rng.randint(0, 5) for _ in range(n)], dtype=np.uint32)) for n in (9, 14)
    )
    batches = [list(zip(i.tolist(), j.tolist(), strict=True)) for i, j in equal_pairs(left, right)]
    expected = [(i, j) for i, a in enumerate(left) for j, b in enumerate(right) if a == b]
    assert sorted(pair for batch in batches for pair in batch) == expected
    widest = max(int(np.count_nonzero(right == a)) for a in left)
    assert all(len(batch) <= max(pairs, widest) for batch in batches)


@pytest.mark.parametrize("pairs", [1, 7, 1000])
def test_needles_that_are_equal_are_looked_up_once(
    pairs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_table_module, "_PAIRS", pairs)
    rng = Random(pairs)
    state_table = in_runs(rng, random_elements(rng, 60))
    known = np.concatenate([run.hashes for run in state_table.runs])
    needles = np.sort(rng.choices([*known.tolist(), 5, 6], k=90)).astype(np.uint32)
    found = sorted(
        (i, state_table.runs.index(run), j)
        for run, needle, row in state_table.matches(needles)
        for i, j in zip(needle.tolist(), row.tolist(), strict=True)
    )
    assert found == [
        (i, number, j)
        for i, needle in enumerate(needles)
        for number, run in enumerate(state_table.runs)
        for j in np.flatnonzero(run.hashes == needle).tolist()
    ]
    assert state_table.lookups == [len(np.unique(needles))]
    assert list(state_table.matches(needles[:0])) == []


@pytest.mark.parametrize("seed", range(10))
def test_a_range_of_time_is_what_begins_in_it(seed: int) -> None:
    rng = Random(seed)
    x = random_elements(rng, 60)
    state_table = in_runs(rng, x, "time")
    for w0, w1 in [(0, 5), (5, 9), (9, 9), (9, INF)]:
        expected = [row for row in x.rows() if w0 <= row[1] < w1]
        assert as_multiset(state_table.begun_between(w0, w1)) == sorted(expected, key=repr)


def test_needed_rows_are_those_kept_beyond_the_frontier() -> None:
    x = random_elements(Random(1), 60)
    state_table = StateTable(spec(), (sorted_run(spec(), x),), frontier=12)
    expected = [row for row in x.rows() if row[2] > 12]
    assert as_multiset(state_table.needed()) == sorted(expected, key=repr)


@pytest.mark.parametrize("order", ["hash", "time"])
@pytest.mark.parametrize("seed", range(8))
def test_differential_memory_and_files(seed: int, order: Order, tmp_path: Path) -> None:
    """The same operations, at random, on state tables in memory and in files: the same answers."""
    rng = Random(seed)
    stores: list[Store] = [MemoryStore(), FileStore(tmp_path)]
    state_tables = [StoredStateTable(spec(order)) for _ in stores]
    for time in range(0, 40, 2):
        write = Write(random_elements(rng, rng.choice((0, 3, 40)), time, time + 10))
        wanted = needles(*rng.sample([None, 0, 1, 2, 3], 2))
        answers = []
        for stored, store in zip(state_tables, stores, strict=True):
            stored.append(store, write, time)
            if rng.random() < 0.5 or time % 6 == 0:
                stored.compact(store, stored.spec)
            state_table = stored.open(store)
            if order == "hash":
                alive = state_table.needed()
                hashes = hash_keys(spec(), alive)
                answers.append([as_multiset(alive.where(np.isin(hashes, wanted)))])
                probed, _ = state_table.rows_with(wanted)
                probed = probed.where(probed.te > time)
                answers[-1].append(as_multiset(probed))
            else:
                answers.append([as_multiset(state_table.begun_between(time, time + 5))])
        assert snapshots_from(answers[0], time) == snapshots_from(answers[1], time)


def snapshots_from(answers: list[list[Row]], time: int) -> list[dict[Any, int]]:
    """What rows mean from a time on: compaction may have clamped and added them up."""
    result = []
    for rows in answers:
        counts: dict[Any, int] = {}
        for e, ts, te, n in rows:
            key = (e, max(ts, time), te)
            counts[key] = counts.get(key, 0) + n
        result.append({key: n for key, n in counts.items() if n})
    return result


def test_record_hashes_are_those_of_the_key() -> None:
    x = random_elements(Random(3), 20)
    run = sorted_run(spec(key=("s",)), x)
    assert run.hashes.tolist() == record.hash_rows((run.elements.column("s"),), 20).tolist()
