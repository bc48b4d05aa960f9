"""Punctuations with times are a function from records to times, however they are kept."""

from __future__ import annotations

from itertools import product
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.element import BEGIN, INF
from penstock.punctuation import ANY, Constant, Pattern, Punctuation, Range, ValueList, text
from penstock.punctuation.closings import Closings
from penstock.punctuation.prefixes import Prefixes
from penstock.record import Columns, Direction

pytestmark = pytest.mark.long

SCHEMA = pa.schema(
    [
        pa.field("flag", pa.bool_(), nullable=False),
        pa.field("day", pa.int8()),
        pa.field("name", pa.string()),
    ]
)
VALUES: tuple[list[Any], ...] = (
    [False, True],
    [None, -128, 0, 1, 2, 3, 127],
    [None, "", "a", "a\0", "b", "c"],
)
WORLD = list(product(*VALUES))
TIMES = st.sampled_from([BEGIN, 1, 2, 3])

Timed = list[tuple[Punctuation, int]]


def columns(records: list[tuple[Any, ...]], schema: pa.Schema) -> Columns:
    return tuple(
        pa.array([record[i] for record in records], field.type) for i, field in enumerate(schema)
    )


def pattern(at: int) -> st.SearchStrategy[Pattern]:
    """Of values in the middle of the world, so that what lies between and beyond is in it too."""
    known = [v for v in VALUES[at] if v is not None and v not in (-128, 127, "", "a\0", "c")]
    value, end = st.sampled_from(known), st.sampled_from([None, *known])
    nullable = SCHEMA.field(at).nullable
    listed = st.sampled_from([None, *known]) if nullable else value
    return st.one_of(
        st.just(ANY),
        st.just(ANY),
        listed.map(Constant),
        st.lists(listed, min_size=1, max_size=3).map(lambda found: ValueList(tuple(found))),
        st.builds(Range, end, end, st.booleans(), st.booleans()),
    )


PUNCTUATIONS = st.tuples(*map(pattern, range(3))).map(lambda found: Punctuation(SCHEMA, found))
TIMED = st.lists(st.tuples(PUNCTUATIONS, TIMES), max_size=8)


def oracle(said: Timed, record: tuple[Any, ...]) -> int:
    return min((time for one, time in said if one.matches(record)), default=INF)


def times(closings: Closings) -> list[Any]:
    return list(closings.times.first(columns(WORLD, SCHEMA), len(WORLD)).tolist())


@settings(max_examples=300)
@given(TIMED, TIMED)
def test_a_record_is_closed_when_the_first_says_so(said: Timed, more: Timed) -> None:
    closings = Closings(SCHEMA).also(said).also(more)
    assert times(closings) == [oracle(said + more, record) for record in WORLD]


@settings(max_examples=200)
@given(TIMED, TIMED, st.integers(0, 4))
def test_what_time_has_passed_is_as_good_as_the_beginning(
    said: Timed, more: Timed, frontier: int
) -> None:
    closings = Closings(SCHEMA).also(said).settled(frontier).also(more)
    expected = [
        min(BEGIN if oracle(said, r) < frontier else oracle(said, r), oracle(more, r))
        for r in WORLD
    ]
    assert times(closings) == expected
    again = Closings(SCHEMA).read(closings.entries())
    assert times(again) == expected, "what is written is read again"


@settings(max_examples=200)
@given(TIMED)
def test_texts_are_read_as_they_are_written(said: Timed) -> None:
    entries = [(text.write(one), time) for one, time in said]
    assert times(Closings(SCHEMA).read(entries)) == [oracle(said, record) for record in WORLD]


def for_all(said: Timed, names: list[str]) -> dict[tuple[Any, ...], int]:
    """The latest time of the records that have some values, whatever the others are."""
    found: dict[tuple[Any, ...], int] = {}
    for record in WORLD:
        key = tuple(record[SCHEMA.get_field_index(name)] for name in names)
        found[key] = max(found.get(key, BEGIN), oracle(said, record))
    return found


@settings(max_examples=400)
@given(TIMED, st.sampled_from([["flag"], ["day"], ["name"], ["name", "flag"], ["day", "name"]]))
def test_what_is_said_of_some_columns(said: Timed, names: list[str]) -> None:
    wanted = for_all(said, names)
    schema = pa.schema([SCHEMA.field(name) for name in names])
    found = (
        Closings(SCHEMA).also(said).over(names).first(columns(list(wanted), schema), len(wanted))
    )
    assert np.all(found >= list(wanted.values())), "too early"


def random_pattern(rng: Random, at: int) -> Pattern:
    known = [False, True] if at == 0 else [0, 1, 2] if at == 1 else ["a", "b"]
    nulls = [None] if SCHEMA.field(at).nullable else []
    low, high = rng.choice([None, *known]), rng.choice([None, *known])
    return rng.choice(
        (
            Constant(rng.choice([*nulls, *known])),
            ValueList(tuple(rng.choices([*nulls, *known], k=3))),
            Range(low, high, rng.random() < 0.5, rng.random() < 0.5),
        )
    )


@pytest.mark.parametrize("names", [["flag"], ["day"], ["name"]])
def test_rows_of_one_shape_are_taken_together_exactly(names: list[str]) -> None:
    """The flags are constants, and days are anything; or names are, and days."""
    finite = 0
    for seed in range(150):
        rng = Random(f"{names} {seed}")
        key = rng.choice(("flag", "name"))
        keys = (False, True) if key == "flag" else ("a", "b")
        said = [
            ({key: Constant(rng.choice(keys)), "day": random_pattern(rng, 1)}, rng.randint(1, 3))
            for _ in range(rng.randint(2, 8))
        ]
        for _ in range(rng.randint(0, 3)):
            at = rng.randrange(3)
            said.append(({SCHEMA.names[at]: random_pattern(rng, at)}, rng.choice((BEGIN, 2))))
        timed = [(Punctuation.of_mapping(SCHEMA, found), time) for found, time in said]
        wanted = for_all(timed, names)
        schema = pa.schema([SCHEMA.field(name) for name in names])
        closings = Closings(SCHEMA).also(timed)
        for one in (closings, closings.settled(BEGIN + 1)):
            found = one.over(names).first(columns(list(wanted), schema), len(wanted))
            assert found.tolist() == list(wanted.values()), f"seed {seed}: {said}"
        finite += sum(time < INF for time in wanted.values())
    assert finite


@settings(max_examples=300)
@given(TIMED, st.booleans(), st.booleans(), st.sampled_from(["flag", "day", "name"]))
def test_all_that_sorts_before(said: Timed, down: bool, nulls_first: bool, name: str) -> None:
    at = SCHEMA.get_field_index(name)
    alone = [(Punctuation.of(SCHEMA, **{name: one.patterns[at]}), time) for one, time in said]
    values = sorted((v for v in VALUES[at] if v is not None), reverse=down)
    nulls = [None] if None in VALUES[at] else []
    order = [*nulls, *values] if nulls_first else [*values, *nulls]
    schema = pa.schema([SCHEMA.field(name)])
    prefixes = Prefixes(Closings(SCHEMA).also(alone).over([name]), Direction(down, nulls_first))
    found = prefixes.find(columns([(v,) for v in order], schema), len(order)).fill_null(INF)
    own = for_all(alone, [name])
    wanted = np.maximum.accumulate([own[(value,)] for value in order])
    assert found.to_pylist() == wanted.tolist()
