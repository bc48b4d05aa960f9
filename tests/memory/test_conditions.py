"""Disjunctions as disjoint parts, and other domains as integers."""

import os
from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from itertools import product
from random import Random

import pytest

from penstock.memory.check import check, check_split
from penstock.memory.query import Query, Stream
from penstock.reasoning.closure import Atom, Attribute, Closure, Element, compare
from penstock.reasoning.conditions import (
    ALWAYS,
    BOOLEANS,
    NEVER,
    Condition,
    Dates,
    Decimals,
    Enumeration,
    Every,
    Integers,
    Some,
    Strings,
    TooManyPartsError,
    UnorderedError,
    between,
    compared,
    negation,
    not_equal,
    split,
)

EFFORT = int(os.environ.get("PENSTOCK_EFFORT", "1"))
S = Stream("S", ("a", "b"))
T = Stream("T", ("c",))
A, B, C = S["a"], S["b"], T["c"]


def one_of(element: Element, values: Iterable[int]) -> Some:
    """IN. Of no values at all, it is false."""
    options = tuple(compare(element, "=", value) for value in sorted(set(values)))
    return Some(options, exclusive=True)


def random_condition(rng: Random, depth: int) -> Condition:
    if depth == 0 or rng.random() < 0.3:
        left: Element = rng.choice([A, B, C])
        sides: list[Element] = [A, B, C, 0, 1, 3]
        right = rng.choice(sides)
        kind = rng.randrange(8)
        if kind == 0:
            return not_equal(left, right)
        if kind == 1:
            return one_of(left, rng.sample(range(4), rng.randint(0, 3)))
        if kind == 2:
            return between(left, 0, rng.randint(0, 3))
        return compare(left, rng.choice(["<", "<=", "=", ">=", ">"]), right)
    parts = tuple(random_condition(rng, depth - 1) for _ in range(rng.randint(1, 3)))
    return Every(parts) if rng.random() < 0.5 else Some(parts)


def true_of(condition: Condition, values: dict[Attribute, int]) -> bool:
    def value(element: Element) -> int:
        return element if isinstance(element, int) else values[element]

    match condition:
        case Atom(left, _, right):
            return condition.holds(value(left), value(right))
        case Every(conditions):
            return all(true_of(part, values) for part in conditions)
        case Some(conditions):
            return any(true_of(part, values) for part in conditions)


def test_oracle_exactly_one_part_holds_where_the_condition_does() -> None:
    for seed in range(100 * EFFORT):
        tested = random_condition(Random(seed), 2)
        parts = split(tested).parts
        assert all(Closure(part).satisfiable for part in parts)
        for row in product(range(-1, 5), repeat=3):
            values = dict(zip((A, B, C), row, strict=True))
            holding = sum(true_of(Every(tuple(part)), values) for part in parts)
            assert holding == true_of(tested, values), f"seed {seed}: {values}"
            assert true_of(negation(tested), values) != true_of(tested, values), f"seed {seed}"


def test_filters_split_exactly_and_joins_do_not() -> None:
    assert split(not_equal(A, 5)).exact
    assert split(Every((compare(A, "<", C), not_equal(A, B)))).exact
    assert not split(not_equal(A, C)).exact
    assert not split(Some((compare(A, "<", 3), compare(B, "<", C)))).exact


def test_a_condition_of_too_many_parts_is_refused() -> None:
    with pytest.raises(TooManyPartsError):
        split(Every((one_of(A, range(20)), one_of(B, range(20)))))


def test_checks_of_split_conditions() -> None:
    equal = Query((S, T), frozenset({compare(A, "=", C)}))
    assert check_split(equal, split(one_of(A, (1, 5, 1000)))).bounded
    unbounded = check_split(equal, split(not_equal(A, 5)))
    assert not unbounded.bounded
    assert unbounded.certain
    product_of = Query((S, T), distinct=True)
    assert check_split(product_of, split(not_equal(A, C))).bounded
    counting = check_split(Query((S, T)), split(not_equal(A, C)))
    assert not counting.bounded
    assert not counting.certain
    assert check_split(equal, split(NEVER)).bounded


@pytest.mark.parametrize(
    ("operator", "value", "expected"),
    [
        ("<", "1.005", compare(A, "<=", 100)),
        (">=", "1.005", compare(A, ">=", 101)),
        ("=", "1.005", NEVER),
        ("<>", "1.005", ALWAYS),
        ("=", "1.50", compare(A, "=", 150)),
        ("<", "-1.005", compare(A, "<=", -101)),
    ],
)
def test_decimals_round_the_way_that_keeps_the_meaning(
    operator: str, value: str, expected: Condition
) -> None:
    assert compared(Decimals(2), A, operator, Decimal(value)) == expected


def test_other_domains() -> None:
    day = compared(Dates(), A, "<", date(2024, 3, 1))
    assert day == compare(A, "<", date(2024, 3, 1).toordinal())
    assert compared(Integers(), A, "<=", Decimal("2.5")) == compare(A, "<=", 2)
    sizes = Enumeration(("S", "M", "L"))
    assert compared(sizes, A, ">", "S") == compare(A, ">", 0)
    assert sizes.members(A) == between(A, 0, 2)
    with pytest.raises(ValueError, match="is not one of"):
        compared(sizes, A, "=", "XL")
    with pytest.raises(TypeError):
        compared(Integers(), A, "=", True)


def test_a_finite_domain_bounds_its_attributes() -> None:
    where = split(Every((BOOLEANS.members(A), compare(A, "=", C))))
    assert check_split(Query((S, T), select=(A,), distinct=True), where).bounded


def test_strings_are_equal_or_not() -> None:
    strings = Strings()
    with pytest.raises(UnorderedError):
        compared(strings, A, "<", "x")
    where = Every(
        (
            Some(tuple(compared(strings, A, "=", text) for text in ("x", "y"))),
            compared(strings, A, "=", C),
        )
    )
    assert check_split(Query((S, T)), split(where)).bounded
    different = Every((compared(strings, A, "<>", "x"), compared(strings, A, "=", C)))
    assert not check_split(Query((S, T)), split(different)).bounded
    assert check(Query((S,))).bounded
