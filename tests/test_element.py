"""Elements: adding up, cutting, changes and intervals, and the paper's forms of streams."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import element
from penstock.element import BEGIN, INF, Elements
from penstock.testing.logical_streams import logical, physical

SCHEMA = pa.schema([("a", pa.int64()), ("s", pa.string())])
TIMES = range(-1, 9)
Rows = list[tuple[tuple[int | None, str | None], int, int, int]]

records = st.tuples(st.sampled_from([None, 0, 1]), st.sampled_from([None, "x"]))
ends = st.one_of(st.just(INF), st.integers(0, 8))
rows_of_elements = st.lists(st.tuples(records, st.integers(0, 7), ends, st.integers(-2, 2)))
interval = st.tuples(st.integers(0, 6), st.integers(1, 4)).map(lambda x: (x[0], x[0] + x[1]))


def elements(rows: Rows) -> Elements:
    return Elements.of(SCHEMA, rows)


def arrays(*times: int) -> list[np.ndarray[tuple[int], np.dtype[np.int64]]]:
    return [np.array([t], dtype=np.int64) for t in times]


def same_snapshots(a: Elements, b: Elements, times: range = TIMES) -> bool:
    return logical(a, times) == logical(b, times)


@given(rows_of_elements)
def test_rows_are_those_given(rows: Rows) -> None:
    assert elements(rows).rows() == rows
    shuffled = list(range(len(rows)))
    Random(1).shuffle(shuffled)
    taken = elements(rows).take(np.array(shuffled, dtype=np.int64))
    assert taken.rows() == [rows[i] for i in shuffled]
    assert elements(rows).slice(1, 3).rows() == rows[1:3]


@given(rows_of_elements)
def test_a_snapshot_is_the_sum_of_what_is_valid(rows: Rows) -> None:
    for t in TIMES:
        expected: dict[object, int] = {}
        for e, ts, te, n in rows:
            if ts <= t < te:
                expected[e] = expected.get(e, 0) + n
        assert element.snapshot(elements(rows), t) == {e: n for e, n in expected.items() if n}


@given(rows_of_elements)
def test_consolidate_keeps_snapshots_and_leaves_each_validity_once(rows: Rows) -> None:
    x = element.consolidate(elements(rows))
    assert same_snapshots(x, elements(rows))
    assert len({row[:3] for row in x.rows()}) == len(x)
    assert all(n != 0 and ts < te for _, ts, te, n in x.rows())


@given(rows_of_elements)
def test_consolidation_tells_where_rows_come_from(rows: Rows) -> None:
    x, origin = element.consolidation(elements(rows))
    assert [row[:3] for row in x.rows()] == [rows[i][:3] for i in origin.tolist()]


def test_consolidate_keeps_a_row_whose_other_weights_differ() -> None:
    none = np.zeros(2, dtype=np.int64)
    key = (pa.array([1, 1]),)
    schema = pa.schema([("k", pa.int64())])
    x = Elements(schema, key, none, none + 9, none, {"m": np.array([2, 1]), "z": none})
    kept = element.consolidate(x)
    assert len(kept) == 1
    assert {name: weight.tolist() for name, weight in kept.sums.items()} == {"m": [3], "z": [0]}


def test_concat_counts_missing_weights_as_zero() -> None:
    x = elements([((1, "x"), 0, 9, 1)])
    with_sum = Elements(SCHEMA, x.columns, x.ts, x.te, x.n, {"m": np.array([5])})
    both = element.concat(SCHEMA, [x, Elements.empty(SCHEMA), with_sum])
    assert both.sums["m"].tolist() == [0, 5]
    assert len(element.concat(SCHEMA, [])) == 0


@given(rows_of_elements, st.integers(0, 8))
def test_clamp_keeps_snapshots_from_there_on(rows: Rows, w: int) -> None:
    x = element.clamp(elements(rows), w)
    assert same_snapshots(x, elements(rows), range(w, 9))
    assert all(ts >= w and te > w for _, ts, te, _ in x.rows())


@given(rows_of_elements)
def test_time_order_is_by_beginning_then_end(rows: Rows) -> None:
    found = [row[1:3] for row in element.in_time_order(elements(rows)).rows()]
    assert found == sorted(row[1:3] for row in rows)


@given(rows_of_elements)
def test_changes_are_the_differences_of_snapshots(rows: Rows) -> None:
    x = elements([row for row in rows if row[1] < row[2]])
    moves = element.changes(x)
    assert same_snapshots(moves, x)
    assert len({row[:2] for row in moves.rows()}) == len(moves)
    for e, t, te, n in moves.rows():
        assert te == INF
        assert n == element.snapshot(x, t)[e] - element.snapshot(x, t - 1)[e] != 0


@given(rows_of_elements)
def test_intervals_and_changes_are_inverse(rows: Rows) -> None:
    x = elements([row for row in rows if row[1] < row[2]])
    moves, pieces = element.changes(x), element.intervals(x)
    assert sorted(element.changes(pieces).rows(), key=repr) == sorted(moves.rows(), key=repr)
    assert sorted(element.intervals(moves).rows(), key=repr) == sorted(pieces.rows(), key=repr)
    assert same_snapshots(pieces, x)


@given(rows_of_elements)
def test_intervals_are_disjoint_and_as_few_as_can_be(rows: Rows) -> None:
    x = elements([row for row in rows if row[1] < row[2]])
    by_record: dict[object, list[tuple[int, int, int]]] = {}
    for e, ts, te, n in element.intervals(x).rows():
        by_record.setdefault(e, []).append((ts, te, n))
    for pieces in by_record.values():
        pieces.sort()
        for (_, te, n), (ts, _, m) in pairwise(pieces):
            assert te < ts or (te == ts and n != m)


@given(rows_of_elements)
def test_tau_and_its_inverse(rows: Rows) -> None:
    x = elements(rows)
    by_time = logical(x, TIMES)
    back = physical(SCHEMA, by_time)
    assert logical(back, range(-1, 10)) == by_time
    order = [row[1:3] for row in back.rows()]
    assert order == sorted(order)


def test_running_sums_start_again() -> None:
    fresh = np.array([True, False, False, True, True, False])
    assert element.running_sum(np.array([1, 2, 3, 4, 5, 6]), fresh).tolist() == [1, 3, 6, 4, 5, 11]


# --- interval functions -------------------------------------------------------------------------


@given(interval, interval)
def test_intersect_and_remainder_part_the_time_points(
    i: tuple[int, int], j: tuple[int, int]
) -> None:
    """Every case of figure 3 and those without an overlap, by looking at each time."""
    ours, theirs = set(range(*i)), set(range(*j))
    given = arrays(*i, *j)
    ts, te = element.intersect(*given)
    before, after = element.remainder(*given)
    common = set(range(ts[0], te[0]))
    rest = [set(range(part[0][0], part[1][0])) for part in (before, after)]
    assert common == ours & theirs
    assert rest[0] | rest[1] == ours - theirs
    assert not rest[0] & rest[1]
    assert all(t < j[0] for t in rest[0])
    assert all(t >= j[1] for t in rest[1])


@pytest.mark.parametrize(
    ("t", "duration", "expected"),
    [
        (5, 3, 8),
        (5, -3, 2),
        (INF - 1, 5, INF),
        (INF, 0, INF),
        (BEGIN + 1, -5, BEGIN),
        (0, INF, INF),
    ],
)
def test_time_ends_where_it_ends(t: int, duration: int, expected: int) -> None:
    assert element.add_time(np.array([t]), duration).tolist() == [expected]
