"""Patterns against their definition, tried on every value that could make a difference."""

import datetime as dt
import math
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import PlanError
from penstock.punctuation import pattern as pt
from penstock.punctuation.domain import domain_of
from penstock.punctuation.pattern import (
    ANY,
    NONE,
    Constant,
    Empty,
    Pattern,
    Range,
    ValueList,
    Wildcard,
)
from tests.punctuation.small_domains import (
    NAMES,
    VALUES,
    domain,
    oracle_matches,
    patterns,
    universe,
)

INT, TEXT, TIME = domain_of(pa.int32()), domain_of(pa.string()), domain_of(pa.timestamp("us"))


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        (Wildcard(), [1, 20, None], []),
        (Constant(17), [17], [16, None]),
        (Range(17, 20), [17, 18, 20], [16, 21, None]),
        (Range(17, 20, False, False), [18, 19], [17, 20, None]),
        (ValueList((1001, 2004)), [1001, 2004], [1002, None]),
        (Empty(), [], [0, None]),
        (Constant(None), [None], [0]),
        (ValueList((1, None)), [1, None], [0]),
        (Range(), [0, -5], [None]),
    ],
)
def test_the_papers_five_kinds(pattern: Pattern, yes: list[Any], no: list[Any]) -> None:
    assert [pt.matches(value, pattern, INT) for value in yes] == [True] * len(yes)
    assert [pt.matches(value, pattern, INT) for value in no] == [False] * len(no)


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        (Range(1, 3, False, False), Constant(2)),
        (Range(2, 2), Constant(2)),
        (Range(2, 2, True, False), NONE),
        (Range(3, 1), NONE),
        (Range(1, 2, False, False), NONE),
        (Range(17, 20, True, False), Range(17, 19)),
        (Range(1, 2), ValueList((1, 2))),
        (ValueList((7,)), Constant(7)),
        (ValueList((3, 1, 2, 3)), Range(1, 3)),
        (ValueList((9, 1, 2, 3)), ValueList((1, 2, 3, 9))),
        (ValueList((2, None)), ValueList((None, 2))),
        (Range(-(2**31), 5), Range(None, 5)),
        (Range(-(2**31), 2**31 - 1), Range()),
        (Range(2**31 - 1, None, False), NONE),
    ],
)
def test_integers_have_one_way_to_say_it(written: Pattern, canonical: Pattern) -> None:
    assert pt.canonical(written, INT) == canonical


def test_other_types_know_their_next_value() -> None:
    noon, one = dt.datetime(2024, 2, 29, 12), dt.datetime(2024, 2, 29, 13)
    money, day = domain_of(pa.decimal128(6, 2)), domain_of(pa.date32())
    number = domain_of(pa.float64())
    cases: list[tuple[Pattern, Pattern, Any]] = [
        (Range(noon, one, True, False), Range(noon, one, True, False), TIME),
        (Range(Decimal("1.00"), Decimal("1.02"), False, False), Constant(Decimal("1.01")), money),
        (Range(dt.date(2024, 2, 28), dt.date(2024, 3, 1), False, False),
         Constant(dt.date(2024, 2, 29)), day),
        (Range("a", "a\0", False, False), NONE, TEXT),
        (Range("a", "b", False, False), Range("a", "b", False, False), TEXT),
        (Range(1.0, 2.0, False, False), Range(1.0, 2.0, False, False), number),
        (Range(1.0, math.inf), Range(1.0, math.inf), number),
        (Range(0.0, 5e-324, False, False), NONE, number),
        (ValueList((False, True)), Range(), domain_of(pa.bool_())),
        (ValueList((False, True, None)), ANY, domain_of(pa.bool_())),
        (ValueList((False, True)), ANY, domain_of(pa.bool_(), nullable=False)),
        (Constant(None), NONE, domain_of(pa.bool_(), nullable=False)),
    ]  # fmt: skip
    for written, canonical, where in cases:
        assert pt.canonical(written, where) == canonical


def test_combine_examples() -> None:
    assert pt.combine(Range(2, 4), Range(0, 3), INT) == ValueList((2, 3))
    assert pt.combine(Range(0, 9), ValueList((5, 12, None)), INT) == Constant(5)
    assert pt.combine(ValueList((1, 2)), ValueList((2, 3)), INT) == Constant(2)
    assert pt.combine(Constant(1), Constant(2), INT) == NONE
    assert pt.combine(ANY, Constant(None), INT) == Constant(None)
    assert pt.combine(Range(), Constant(None), INT) == NONE


def test_union_examples() -> None:
    """The paper's sort: [2,4], then [0,3], gives [0,4]."""
    assert pt.union([Range(2, 4), Range(0, 3)], INT) == (Range(0, 4),)
    assert pt.union([Constant(n) for n in range(9)], INT) == (Range(0, 8),)
    assert pt.union([Constant(9), Constant(None), Range(0, 3), Constant(4)], INT) == (
        ValueList((None, 9)),
        Range(0, 4),
    )
    assert pt.union([], INT) == () == pt.union([NONE], INT)
    assert pt.complement([Range(20, 95)], INT) == (
        Constant(None),
        Range(None, 19),
        Range(96, None),
    )
    assert pt.complement([Range(None, 5), Range(6, None), Constant(None)], INT) == ()
    assert pt.complement([Range(None, 5), Range(6, None)], INT) == (Constant(None),)
    assert pt.complement([Range(None, 5), Range(6, None)], domain_of(pa.int32(), False)) == ()


@given(st.data())
@settings(max_examples=40)
def test_match_is_its_definition(data: st.DataObject) -> None:
    name = data.draw(NAMES)
    p = data.draw(patterns(name))
    for value in universe(name):
        assert pt.matches(value, p, domain(name)) == oracle_matches(value, p)


@given(st.data())
@settings(max_examples=40)
def test_canonical_says_the_same_in_one_way(data: st.DataObject) -> None:
    name = data.draw(NAMES)
    p, q = data.draw(patterns(name)), data.draw(patterns(name))
    where, values = domain(name), universe(name)
    one, other = pt.canonical(p, where), pt.canonical(q, where)
    assert [oracle_matches(v, one) for v in values] == [oracle_matches(v, p) for v in values]
    assert same(pt.canonical(one, where), one)
    alike = [oracle_matches(v, p) for v in values] == [oracle_matches(v, q) for v in values]
    if where.ordered:
        assert same(one, other) == alike
    elif same(one, other):
        assert alike


@given(st.data(), st.booleans())
@settings(max_examples=40)
def test_combine_is_and(data: st.DataObject, nullable: bool) -> None:
    name = data.draw(NAMES)
    p, q = data.draw(patterns(name)), data.draw(patterns(name))
    where = domain(name, nullable)
    both = pt.combine(p, q, where)
    for value in universe(name, nullable):
        assert oracle_matches(value, both) == (
            oracle_matches(value, p) and oracle_matches(value, q)
        )
    assert same(pt.canonical(both, where), both)
    assert same(pt.combine(q, p, where), both)


@given(st.data(), st.booleans())
@settings(max_examples=40)
def test_covers_is_for_every_value(data: st.DataObject, nullable: bool) -> None:
    name = data.draw(NAMES.filter(lambda found: domain(found).ordered))
    p, q = data.draw(patterns(name)), data.draw(patterns(name))
    every = all(oracle_matches(v, p) for v in universe(name, nullable) if oracle_matches(v, q))
    assert pt.covers(p, q, domain(name, nullable)) == every


@given(st.data(), st.booleans())
@settings(max_examples=40)
def test_union_and_complement_split_the_domain(data: st.DataObject, nullable: bool) -> None:
    name = data.draw(NAMES.filter(lambda found: domain(found).ordered))
    many = data.draw(st.lists(patterns(name), max_size=5))
    where = domain(name, nullable)
    merged, rest = pt.union(many, where), pt.complement(many, where)
    for value in universe(name, nullable):
        matched = any(oracle_matches(value, p) for p in many)
        assert sum(oracle_matches(value, p) for p in merged) == matched
        assert sum(oracle_matches(value, p) for p in rest) == (not matched)
    assert [p for p in merged if p == pt.canonical(p, where) or _has_nan(p)] == list(merged)


@given(st.data())
@settings(max_examples=40)
def test_columns_match_like_values(data: st.DataObject) -> None:
    name = data.draw(NAMES)
    many = data.draw(st.lists(patterns(name), min_size=1, max_size=4))
    values = data.draw(st.lists(st.sampled_from(universe(name)), max_size=12))
    rows = np.array(data.draw(st.lists(st.integers(-1, len(many) - 1), min_size=12, max_size=12)))
    sets = pt.value_sets(many, domain(name))
    column = pa.array([None, *values, None], type=VALUES[name][0]).slice(1, len(values))
    mine = rows[: len(values)].astype(np.int64)
    expected = [n >= 0 and oracle_matches(v, many[n]) for v, n in zip(values, mine, strict=True)]
    assert sets.contain(mine, column).tolist() == expected
    assert (sets.which(mine, column) >= 0).tolist() == expected
    merged = pt.value_set(many, domain(name))
    expected = [any(oracle_matches(v, p) for p in many) for v in values]
    assert merged.contain(None, column).tolist() == expected


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        (Constant("17"), pa.int32()),
        (Constant(1.5), pa.int32()),
        (Constant(300), pa.int8()),
        (Constant(17), pa.string()),
        (Constant(dt.datetime(2024, 1, 1, 5)), pa.date32()),
        (Constant(dt.datetime(2024, 1, 1)), pa.timestamp("us", "UTC")),
        (Range(Decimal("1.555"), None), pa.decimal128(10, 2)),
        (Range([1], None), pa.list_(pa.int32())),
    ],
)
def test_refuses_values_of_other_types(pattern: Pattern, kind: pa.DataType) -> None:
    with pytest.raises(PlanError):
        pt.checked(pattern, domain_of(kind))


def test_a_list_needs_a_value() -> None:
    with pytest.raises(PlanError, match=r"Empty\(\)"):
        ValueList(())


def same(p: Pattern, q: Pattern) -> bool:
    """Equal, where NaN equals NaN."""
    return repr(p) == repr(q)


def _has_nan(p: Pattern) -> bool:
    return "nan" in repr(p)
