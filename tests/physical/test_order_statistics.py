"""The k-th value of a multiset that changes, against a sorted list."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest

from penstock.physical.order_statistics import extremes, kth


def random_changes(rng: Random, length: int, values: int) -> list[tuple[int, int]]:
    """Changes (value, weight) that never take away what is not there."""
    held: Counter[int] = Counter()
    found = []
    for _ in range(length):
        there = [v for v, n in held.items() if n > 0]
        if there and rng.random() < 0.4:
            value = rng.choice(there)
            weight = -rng.randint(1, held[value])
        else:
            value, weight = rng.randrange(values), rng.randint(1, 3)
        held[value] += weight
        found.append((value, weight))
    return found


@pytest.mark.parametrize("seed", range(30))
def test_oracle_sorted_list(seed: int) -> None:
    rng = Random(seed)
    groups = [random_changes(rng, rng.randint(1, 30), rng.choice((1, 2, 9, 100))) for _ in range(5)]
    codes, weights = (np.array([c[i] for group in groups for c in group]) for i in (0, 1))
    queries, expected = [], []
    start = 0
    for group in groups:
        for end in range(1, len(group) + 1):
            held: Counter[int] = Counter()
            for value, weight in group[:end]:
                held[value] += weight
            ordered = sorted(held.elements())
            for k in range(1, len(ordered) + 1):
                queries.append((start, start + end, k))
                value = ordered[k - 1]
                expected.append((value, k - ordered.index(value)))
        start += len(group)
    found = kth(codes, weights, *(np.array([query[i] for query in queries]) for i in range(3)))
    assert list(zip(found.code.tolist(), found.copy.tolist(), strict=True)) == expected


def test_one_value_needs_no_pass() -> None:
    zeros = np.zeros(4, dtype=np.int64)
    found = kth(zeros, zeros + 1, zeros[:1], zeros[:1] + 4, zeros[:1] + 3)
    assert found.code.tolist() == [0]
    assert found.copy.tolist() == [3]


def test_no_query_no_answer() -> None:
    none = np.empty(0, dtype=np.int64)
    assert len(kth(np.array([3, 1]), np.array([1, 1]), none, none, none).code) == 0


@pytest.mark.parametrize("greatest", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_oracle_extremes_of_stretches(seed: int, greatest: bool) -> None:
    rng = Random(seed)
    places = rng.choice((1, 2, 7, 64))
    stretches = []
    for value in sorted(rng.randrange(10) for _ in range(rng.choice((0, 1, 30)))):
        begin = rng.randrange(places)
        stretches.append((begin, rng.randint(begin + 1, places), value))
    columns = [np.array([s[i] for s in stretches], dtype=np.int64) for i in range(3)]
    found = extremes(columns[0], columns[1], columns[2], places, greatest).tolist()
    pick = max if greatest else min
    covering = [[v for b, e, v in stretches if b <= place < e] for place in range(places)]
    assert found == [pick(values, default=-1) for values in covering]
