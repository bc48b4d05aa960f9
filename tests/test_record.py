"""Hash, equality, groups and order of records, against plain Python values of every type."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from penstock import record, sorting
from penstock.element import hashable
from penstock.record import Columns, Direction, Hashes
from penstock.testing.local_runs import assert_agrees_with_reference
from penstock.testing.random_plans import Plans
from tests.laws.nodes import NODES, compaction_at_every_turn, seeded, streams_for
from tests.types import VALUES

DIRECTIONS = [Direction(*flags) for flags in product((False, True), repeat=2)]


def some_rows(rng: Random, kind: str, count: int = 40) -> list[Any]:
    values = VALUES[kind][1]
    return [None if rng.random() < 0.2 else rng.choice(values) for _ in range(count)]


def column(kind: str, values: list[Any], offset: int = 3) -> pa.Array:
    """An array that begins in the middle of a longer one."""
    arrow, domain = VALUES[kind]
    around = [domain[-1]] * offset
    return pa.array([*around, *values, *around], type=arrow).slice(offset, len(values))


def equal(a: Any, b: Any) -> bool:
    return bool(hashable(a) == hashable(b))


def sortable(value: Any) -> Any:
    """NULL first, NaN last, nested values item by item."""
    if value is None:
        return (0,)
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        return (1, [sortable(item) for item in value])
    return (2,) if value != value else (1, value)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> Random:
    return Random(request.node.name)


every_kind = pytest.mark.parametrize("kind", VALUES)


@every_kind
def test_equality_is_that_of_values(kind: str, rng: Random) -> None:
    a, b = some_rows(rng, kind), some_rows(rng, kind)
    places = np.array(list(product(range(len(a)), range(len(b)))))
    i, j = places[:, 0], places[:, 1]
    same = record.equal_rows((column(kind, a),), i, (column(kind, b, offset=5),), j)
    assert same.tolist() == [equal(a[x], b[y]) for x, y in places.tolist()]


@every_kind
def test_equal_values_have_equal_hashes_and_others_do_not(kind: str, rng: Random) -> None:
    values = [*VALUES[kind][1], None]
    hashes = record.hash_rows((column(kind, values),), len(values))
    for (x, a), (y, b) in product(enumerate(values), repeat=2):
        assert (hashes[x] == hashes[y]) == equal(a, b), (a, b)


@every_kind
def test_hashes_depend_on_values_only(kind: str, rng: Random) -> None:
    values = some_rows(rng, kind)
    whole = record.hash_rows((column(kind, values, offset=0),), len(values))
    moved = record.hash_rows((column(kind, values, offset=9),), len(values))
    taken = record.hash_rows(record.take((column(kind, values),), np.arange(20, 30)), 10)
    assert whole.tolist() == moved.tolist()
    assert whole[20:30].tolist() == taken.tolist()


@pytest.mark.parametrize("length", [1, 7, 8, 9, 30])
def test_hashes_do_not_depend_on_the_lengths_of_other_texts(length: int, rng: Random) -> None:
    texts = ["".join(rng.choices("abcd", k=length)) for _ in range(50)]
    alone = record.hash_rows((pa.array(texts),), 50)
    mixed = record.hash_rows((pa.array([*texts, "", "x" * 100]),), 52)
    assert np.array_equal(alone, mixed[:50])


@every_kind
def test_hashes_do_not_depend_on_how_many_rows_are_hashed_at_once(
    kind: str, rng: Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    columns = (column(kind, some_rows(rng, kind)), pa.array(range(40)))
    whole = record.hash_rows(columns, 40)
    monkeypatch.setattr(record, "_BLOCK", 7)
    assert record.hash_rows(columns, 40).tolist() == whole.tolist()


@every_kind
def test_groups_are_those_of_values(kind: str, rng: Random) -> None:
    values, numbers = some_rows(rng, kind), [rng.randint(0, 1) for _ in range(40)]
    columns = (column(kind, values), pa.array(numbers))
    assert_groups(columns, [(hashable(v), n) for v, n in zip(values, numbers, strict=True)])


@every_kind
def test_groups_survive_collisions(kind: str, rng: Random) -> None:
    values = some_rows(rng, kind)
    hashes = np.array([rng.randint(0, 1) for _ in set(map(hashable, values))], dtype=np.uint32)
    known = {v: hashes[i] for i, v in enumerate(dict.fromkeys(map(hashable, values)))}
    forced = np.array([known[hashable(v)] for v in values], dtype=np.uint32)
    assert_groups((column(kind, values),), [hashable(v) for v in values], forced)


def assert_groups(columns: Columns, expected: list[Any], hashes: Hashes | None = None) -> None:
    if hashes is None:
        hashes = record.hash_rows(columns, len(expected))
    groups = record.group_rows(columns, hashes)
    code = groups.code.tolist()
    assert sorted(set(code)) == list(range(len(groups)))
    assert len(groups) == len(set(expected))
    assert len(set(zip(code, expected, strict=True))) == len(groups)
    assert [code[row] for row in groups.first.tolist()] == list(range(len(groups)))


@every_kind
@pytest.mark.parametrize("direction", DIRECTIONS, ids=str)
def test_order_is_that_of_values(kind: str, direction: Direction, rng: Random) -> None:
    values = some_rows(rng, kind)
    codes = record.order_codes((column(kind, values),), [direction], len(values)).tolist()
    for (x, a), (y, b) in product(enumerate(values), repeat=2):
        assert (codes[x] == codes[y]) == equal(a, b), (a, b)
        if kind == "interval" or equal(a, b):  # intervals have an order, but it means nothing
            continue
        if a is None or b is None:
            first = (a is None) == direction.nulls_first
        else:
            first = (sortable(a) < sortable(b)) != direction.descending
        assert (codes[x] < codes[y]) == first, (a, b)


def test_earlier_columns_decide_first(rng: Random) -> None:
    rows = [(rng.choice("ab"), rng.randint(0, 3), rng.choice((None, 0.5))) for _ in range(60)]
    columns = tuple(pa.array(list(values)) for values in zip(*rows, strict=True))
    directions = [Direction(), Direction(descending=True), Direction()]
    codes = record.order_codes(columns, directions, len(rows)).tolist()
    ranks = {
        row: i
        for i, row in enumerate(sorted(set(rows), key=lambda r: (r[0], -r[1], sortable(r[2]))))
    }
    assert codes == [ranks[row] for row in rows]


def test_rows_of_no_columns_are_equal() -> None:
    assert len(set(record.hash_rows((), 5).tolist())) == 1
    assert len(record.group_rows((), record.hash_rows((), 5))) == 1
    assert len(record.group_rows((), record.hash_rows((), 0))) == 0
    assert record.order_codes((), [], 3).tolist() == [0, 0, 0]


def test_columns_change_the_hash_by_their_place() -> None:
    a, b = pa.array([1, 2]), pa.array([2, 1])
    first, second = record.hash_rows((a, b), 2)
    assert first != second
    assert record.hash_rows((b, a), 2).tolist() == [second, first]


def test_a_dictionary_is_equal_to_its_values() -> None:
    plain = pa.array(["x", None, "y", "x"])
    encoded = plain.dictionary_encode()
    rows = np.arange(4)
    assert record.hash_rows((plain,), 4).tolist() == record.hash_rows((encoded,), 4).tolist()
    same = record.equal_rows((encoded,), rows, (encoded,), rows[::-1])
    assert same.tolist() == [True, False, False, True]


def test_hashes_spread() -> None:
    """Sequential keys, the usual kind, fill all ranges of hashes evenly and hardly collide."""
    hashes = record.hash_rows((pa.array(np.arange(100_000)),), 100_000)
    assert len(np.unique(hashes)) > 99_990
    counts = np.bincount(hashes >> np.uint32(28), minlength=16)
    assert counts.min() > 0.9 * counts.mean()


def test_sort_by_is_stable_and_takes_the_first_key_first(rng: Random) -> None:
    for high in (3, 2**20, 2**62):
        keys = [
            np.array([rng.randint(-high, high) % (5 if high == 3 else high) for _ in range(50)])
            for _ in range(2)
        ]
        expected = sorted(range(50), key=lambda i: (keys[0][i], keys[1][i]))
        assert sorting.sort_by(*keys).tolist() == expected


def test_sort_by_keys_of_which_the_last_are_in_order(rng: Random) -> None:
    first = np.array([rng.randrange(2**40) % 7 for _ in range(60)])
    then, last = np.arange(60) // 7, np.arange(60)
    expected = sorted(range(60), key=lambda i: (first[i], then[i], last[i]))
    assert sorting.sort_by(first, then, last).tolist() == expected
    assert sorting.sort_by(then, last).tolist() == last.tolist()


@pytest.mark.parametrize("equal", [False, True])
def test_sort_by_keys_of_which_the_last_begin_in_the_middle(rng: Random, equal: bool) -> None:
    first = np.array([rng.randrange(7) for _ in range(60)])
    last = np.roll(np.sort([rng.randrange(20) for _ in range(60)]), 13)
    if equal:
        last[-1] = last[0]
    expected = sorted(range(60), key=lambda i: (first[i], last[i]))
    assert sorting.sort_by(first, last).tolist() == expected


@pytest.mark.parametrize("sort", [sorting.by_words, sorting.by_digits])
@pytest.mark.parametrize("width", [1, 16, 17, 32, 50, 64])
def test_either_way_to_sort_words_is_stable(
    sort: Callable[[record.Words, int], record.Ints], width: int, rng: Random
) -> None:
    for count in (2, 3, 64, 65, 5000):
        few = [rng.randrange(2**width) for _ in range(count // 2 + 1)]
        words = [rng.choice(few) for _ in range(count)]
        expected = sorted(range(count), key=words.__getitem__)
        assert sort(np.array(words, dtype=np.uint64), width).tolist() == expected


@pytest.mark.parametrize("copies", [1, 5])
@pytest.mark.parametrize("kind", VALUES)
def test_picks_are_what_take_takes(kind: str, copies: int) -> None:
    columns = (column(kind, some_rows(Random(1), kind)), column("string", ["a"] * 40))
    index = np.random.default_rng(1).permutation(np.repeat(np.arange(5, 25), copies))
    found, expected = record.pick(columns, index), record.take(columns, index)
    for ours, theirs in zip(record.plain(found), expected, strict=True):
        assert ours.type == theirs.type
        assert hashable(ours.to_pylist()) == hashable(theirs.to_pylist())
    assert np.array_equal(
        record.hash_rows(found, len(index)), record.hash_rows(expected, len(index))
    )
    texts = pa.types.is_dictionary(found[1].type)
    assert texts == (copies > 1), "texts are told by their places where they come again and again"


def test_sort_by_takes_the_whole_range_of_times() -> None:
    times = np.array([2**63 - 1, -(2**63), 0, 2**63 - 1, -(2**63)])
    assert sorting.sort_by(times).tolist() == [1, 4, 2, 0, 3]
    assert sorting.sort_by(np.array([1, 0, 1, 0, 0]), times).tolist() == [1, 4, 3, 2, 0]


@pytest.mark.parametrize("node", NODES)
def test_kernels_give_the_same_when_every_hash_collides(
    node: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record, "hash_rows", lambda _, length: np.zeros(length, dtype=np.uint32))
    for seed in range(2):
        with seeded(f"{node} with collisions", seed) as rng, compaction_at_every_turn(seed == 1):
            plan = NODES[node](Plans(rng))
            assert_agrees_with_reference(plan, streams_for(plan, seed, 200)[:15], rng)


@pytest.mark.parametrize("kind", VALUES)
def test_the_first_of_each_row_is_found_without_a_sort(kind: str) -> None:
    arrow, values = VALUES[kind]
    rng = Random(1)
    chosen = [rng.choice([*values, None]) for _ in range(500)]
    columns = (pa.array([rng.randrange(3) for _ in chosen]), pa.array(chosen, arrow))
    found = record.first_of_each(columns, len(chosen)).tolist()
    groups = record.group_rows(columns, record.hash_rows(columns, len(chosen)))
    assert set(np.unique(groups.code, return_index=True)[1].tolist()) <= set(found)
    assert found == sorted(set(found))
    if not pa.types.is_nested(arrow):
        assert len(found) <= 3 * (len(values) + 1)


def test_there_is_a_first_row_of_many_columns_of_many_values() -> None:
    rng = np.random.default_rng(1)
    columns = tuple(pa.array(rng.integers(0, 900, 1000)) for _ in range(9))
    columns = tuple(pa.concat_arrays([column, column]) for column in columns)
    assert record.first_of_each(columns, 2000).tolist() == list(range(1000))
    assert record.first_of_each((), 3).tolist() == [0]
    assert record.first_of_each((pa.array([], pa.int64()),), 0).tolist() == []
