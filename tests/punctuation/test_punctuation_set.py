"""Sets of punctuations against plain lists of them, over all records of a small world."""

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import PlanError
from penstock.punctuation import ANY, NONE, Constant, Pattern, Punctuation, Range, ValueList, text
from penstock.record import Columns
from penstock.testing.punctuation_sets import (
    PunctuationSet,
    match,
    nomatch,
    set_combine,
    set_match,
    set_match_ts,
    set_nomatch,
    set_nomatch_ps,
    set_nomatch_ts,
)

WORLD = pa.schema([("a", pa.int8()), ("b", pa.string()), ("c", pa.bool_())])
VALUES: tuple[list[Any], ...] = ([0, 1, 2, 3, 4, 5, None], ["", "k", "m", "z", None], [True, None])
RECORDS = list(product(*VALUES))
ENDS: tuple[list[Any], ...] = ([0, 1, 2, 4, None], ["k", "m", None], [True, False, None])


def columns(records: list[tuple[Any, ...]], schema: pa.Schema = WORLD) -> Columns:
    return tuple(
        pa.array([record[i] for record in records], type=field.type)
        for i, field in enumerate(schema)
    )


def pattern(at: int) -> st.SearchStrategy[Pattern]:
    value, end = st.sampled_from(ENDS[at]), st.sampled_from(ENDS[at])
    return st.one_of(
        st.just(ANY),
        value.map(Constant),
        st.builds(Range, end, end, st.booleans(), st.booleans()),
        st.lists(value, min_size=1, max_size=3).map(lambda found: ValueList(tuple(found))),
        st.sampled_from([ANY, ANY, NONE]),
    )


punctuations = st.builds(
    lambda *patterns: Punctuation(WORLD, patterns), pattern(0), pattern(1), pattern(2)
)
many = st.lists(punctuations, max_size=6)


def matched(found: list[Punctuation]) -> list[bool]:
    return [any(p.matches(record) for p in found) for record in RECORDS]


def mask(found: PunctuationSet) -> list[bool]:
    return list(found.matches(columns(RECORDS)).tolist())


# --- table 1 of the paper -------------------------------------------------------------------------

ITEMS = pa.schema([("itemid", pa.int64()), ("increase", pa.int64())])
TS = [(1001, 5), (1002, 7), (2004, 1), (1001, 9), (None, 3)]


def items(*written: str) -> PunctuationSet:
    return PunctuationSet.of(ITEMS, [text.parse(one, ITEMS) for one in written])


def written(found: PunctuationSet) -> list[str]:
    return [text.write(one) for one in found.punctuations]


def rows(found: Columns) -> list[tuple[Any, ...]]:
    return list(zip(*(column.to_pylist() for column in found), strict=True))


def test_match_and_nomatch() -> None:
    p = text.parse("<{1001,2004}, *>", ITEMS)
    assert [match(t, p) for t in TS] == [True, False, True, True, False]
    assert [nomatch(t, p) for t in TS] == [False, True, False, False, True]


def test_set_match_and_set_nomatch() -> None:
    ps = items("<1001, *>", "<*, [7,8]>")
    assert set_match(columns(TS, ITEMS), ps).tolist() == [True, True, False, True, False]
    assert set_nomatch(columns(TS, ITEMS), ps).tolist() == [False, False, True, False, True]
    assert ps.matches_record((1001, 0))
    assert not ps.matches_record((None, None))


def test_set_match_ts_and_set_nomatch_ts() -> None:
    ps = items("<1001, *>", "<*, [7,8]>")
    assert rows(set_match_ts(columns(TS, ITEMS), ps)) == [(1001, 5), (1002, 7), (1001, 9)]
    assert rows(set_nomatch_ts(columns(TS, ITEMS), ps)) == [(2004, 1), (None, 3)]


def test_set_nomatch_ps() -> None:
    ps = items("<1001, *>", "<1003, *>", "<2004, [2,9]>", "<[1005,2000], *>")
    left = set_nomatch_ps(columns(TS, ITEMS), ps)
    assert written(left) == ["<1003, *>", "<[1005,2000], *>", "<2004, [2,9]>"]


def test_set_nomatch_ps_splits_what_was_merged() -> None:
    ps = items("<1001, *>", "<1002, *>", "<1003, *>")
    assert written(ps) == ["<[1001,1003], *>"]
    assert written(set_nomatch_ps(columns(TS, ITEMS), ps)) == ["<1003, *>"]


def test_set_combine() -> None:
    both = set_combine(items("<{1001,1002}, *>", "<7, 1>"), items("<1002, *>", "<*, [1,4]>"))
    assert sorted(written(both)) == sorted(["<1002, *>", "<1001, [1,4]>", "<7, 1>"])
    assert not set_combine(items("<1, *>"), items("<2, *>"))


def test_the_trace_of_sdupelim() -> None:
    numbers = pa.schema([("n", pa.int64())])
    ps = PunctuationSet.of(numbers, [text.parse("<[0,4]>", numbers)])
    state = (pa.array([1, 5, 3]),)
    assert rows(set_nomatch_ts(state, ps)) == [(5,)]


# --- merging --------------------------------------------------------------------------------------


def test_patterns_that_leave_nothing_out_become_wildcards() -> None:
    ps = items("<1, (,4]>", "<1, [5,)>", "<1, null>", "<2, *>", "<3, 3>")
    assert sorted(written(ps)) == ["<3, 3>", "<{1,2}, *>"]
    assert written(items("<1, *>", "<(,0], *>", "<[2,), *>", "<null, *>")) == ["<*, *>"]


def test_what_is_covered_is_dropped() -> None:
    ps = items("<[0,9], *>", "<5, 3>", "<7, [1,2]>", "<[3,4], [1,5]>", "<10, 3>")
    assert sorted(written(ps)) == ["<10, 3>", "<[0,9], *>"]


def test_projection_keeps_what_does_not_depend_on_other_attributes() -> None:
    ps = items("<1, *>", "<2, 5>", "<*, 7>")
    assert written(ps.project(["itemid"])) == ["<1>"]
    assert sorted(written(ps.within(["itemid"]))) == ["<1, *>"]
    wider = pa.schema([("x", pa.bool_()), *ITEMS])
    assert sorted(written(ps.extend(wider))) == ["<*, *, 7>", "<*, 1, *>", "<*, 2, 5>"]


def test_of_values() -> None:
    ids = pa.array([1001, None, 2004])
    assert written(PunctuationSet.of_values(ITEMS, {"itemid": ids})) == ["<{null,1001,2004}, *>"]
    pairs = {"increase": pa.array([1, 2, 3]), "itemid": ids}
    assert written(PunctuationSet.of_values(ITEMS, pairs)) == [
        "<1001, 1>",
        "<2004, 3>",
        "<null, 2>",
    ]
    with pytest.raises(PlanError, match="'itemid' is string, not int64"):
        PunctuationSet.of_values(ITEMS, {"itemid": pa.array(["a"])})


def test_nothing_and_everything() -> None:
    assert not PunctuationSet.of(WORLD, [])
    assert not PunctuationSet.of(WORLD, [Punctuation.nothing(WORLD)])
    assert mask(PunctuationSet.everything(WORLD)) == [True] * len(RECORDS)
    assert not PunctuationSet.everything(WORLD).without(columns(RECORDS))


@given(many)
@settings(max_examples=40)
def test_a_set_matches_what_its_punctuations_match(found: list[Punctuation]) -> None:
    ps = PunctuationSet.of(WORLD, found)
    assert mask(ps) == matched(found)
    assert mask(ps) == matched(list(ps.punctuations))
    assert len(ps) == len(ps.punctuations)
    which = ps.which(columns(RECORDS))
    assert (which >= 0).tolist() == mask(ps)
    hits = np.flatnonzero(which >= 0).tolist()
    assert all(ps.punctuations[which[i]].matches(RECORDS[i]) for i in hits)


@given(many, many)
@settings(max_examples=40)
def test_sets_are_united_and_combined(one: list[Punctuation], other: list[Punctuation]) -> None:
    a, b = PunctuationSet.of(WORLD, one), PunctuationSet.of(WORLD, other)
    assert mask(a | b) == matched([*one, *other])
    assert mask(a.combine(b)) == [
        x and y for x, y in zip(matched(one), matched(other), strict=True)
    ]


@given(many, st.lists(st.sampled_from(RECORDS), max_size=6))
@settings(max_examples=40)
def test_without_keeps_all_that_has_no_match(
    found: list[Punctuation], records: list[tuple[Any, ...]]
) -> None:
    ps = PunctuationSet.of(WORLD, found)
    left = ps.without(columns(records))
    assert not left.matches(columns(records)).any()
    unmatched = [p for p in ps.punctuations if not any(p.matches(record) for record in records)]
    for least, ours, before in zip(matched(unmatched), mask(left), mask(ps), strict=True):
        assert least <= ours <= before


@given(many, punctuations)
@settings(max_examples=40)
def test_covers_is_never_wrong(found: list[Punctuation], p: Punctuation) -> None:
    ps = PunctuationSet.of(WORLD, found)
    if ps.covers(p):
        assert all(a <= b for a, b in zip(matched([p]), mask(ps), strict=True))
    else:
        assert not any(one.covers(p) for one in found)


@given(st.lists(st.tuples(*(st.sampled_from(values) for values in VALUES)), max_size=30))
@settings(max_examples=40)
def test_values_in_bulk_are_values_one_by_one(records: list[tuple[Any, ...]]) -> None:
    bulk = PunctuationSet.of_values(WORLD, dict(zip(WORLD.names, columns(records), strict=True)))
    single = [Punctuation(WORLD, tuple(map(Constant, record))) for record in records]
    assert mask(bulk) == matched(single)
