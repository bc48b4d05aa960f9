"""Sums that forget nothing: any order, any retraction, one rounding at the end."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.physical import exact
from penstock.physical.exact import Limbs

finite = st.floats(allow_nan=False, allow_infinity=False)
any_float = st.floats()
longs = st.integers(-(2**63), 2**63 - 1)
counts = st.integers(-3, 3)


def total(values: list[float], n: list[int] | None = None) -> Limbs:
    """The limbs of a sum of doubles, each taken some times."""
    weights = np.array(n if n is not None else [1] * len(values), dtype=np.int64)
    return summed(exact.doubles_limbs(np.array(values, dtype=np.float64), weights))


def total_of(column: pa.Array) -> Limbs:
    return summed(exact.limbs_of(column, np.ones(len(column), dtype=np.int64)))


def summed(limbs: Limbs) -> Limbs:
    return {name: limb.sum(keepdims=True) for name, limb in limbs.items()}


def rounded(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def as_double(limbs: Limbs) -> float:
    return float(exact.to_doubles(limbs, 1)[0])


@given(st.lists(finite))
def test_a_sum_of_doubles_is_correctly_rounded(values: list[float]) -> None:
    assert as_double(total(values)) == rounded(sum(map(Fraction, values), Fraction(0)))


@given(st.lists(st.floats(-1e9, 1e9)))
def test_usual_sums_are_those_of_fsum(values: list[float]) -> None:
    assert as_double(total(values)) == math.fsum(values)


@given(st.lists(st.tuples(finite, counts)))
def test_weights_multiply(pairs: list[tuple[float, int]]) -> None:
    expected = sum((Fraction(v) * n for v, n in pairs), Fraction(0))
    assert as_double(total([v for v, _ in pairs], [n for _, n in pairs])) == rounded(expected)


@given(st.lists(any_float), st.lists(any_float), st.randoms())
def test_what_came_and_went_leaves_no_trace(
    stay: list[float], leave: list[float], rng: object
) -> None:
    """Infinities and NaN too: a sum that held them once is a number again."""
    signed = [*((v, 1) for v in stay), *((v, 1) for v in leave), *((v, -1) for v in leave)]
    rng.shuffle(signed)  # type: ignore[attr-defined]
    found = as_double(total([v for v, _ in signed], [n for _, n in signed]))
    expected = as_double(total(stay))
    assert found == expected or (math.isnan(found) and math.isnan(expected))


@given(st.lists(any_float, max_size=6))
def test_infinities_and_nan_add_up_as_floats_do(values: list[float]) -> None:
    found = as_double(total(values))
    special = [v for v in values if not math.isfinite(v)]
    if special:
        expected = sum(special)
        assert found == expected or (math.isnan(found) and math.isnan(expected))


@given(st.lists(st.lists(finite, min_size=1), min_size=1))
def test_carrying_keeps_sums_and_makes_limbs_small(batches: list[list[float]]) -> None:
    limbs: Limbs = {}
    for batch in batches:
        limbs = exact.carried(exact.add(limbs, total(batch)))
        assert all(abs(int(limb[0])) < 2**32 for limb in limbs.values())
    expected = sum((Fraction(v) for batch in batches for v in batch), Fraction(0))
    assert as_double(limbs) == rounded(expected)


@given(st.lists(finite, min_size=1))
def test_a_pair_of_doubles_holds_twice_the_precision(values: list[float]) -> None:
    expected = sum(map(Fraction, values), Fraction(0))
    if math.isfinite(rounded(expected)):
        high, low = (float(part[0]) for part in exact.to_double_pairs(total(values), 1))
        assert high == rounded(expected)
        assert low == rounded(expected - Fraction(high))


@given(st.lists(st.floats(1e-100, 1e100) | st.floats(-1e100, -1e-100), min_size=1))
def test_squares_are_exact(values: list[float]) -> None:
    ones = np.ones(len(values), dtype=np.int64)
    found = summed(exact.square_limbs(np.array(values), ones))
    assert as_double(found) == rounded(sum((Fraction(v) ** 2 for v in values), Fraction(0)))


def test_squares_beyond_the_doubles_are_infinite_while_they_are_there() -> None:
    values, weights = np.array([1e200, 2.0, 1e200]), np.array([1, 1, -1])
    assert as_double(summed(exact.square_limbs(values[:2], weights[:2]))) == math.inf
    assert as_double(summed(exact.square_limbs(values, weights))) == 4.0


@given(st.lists(longs))
def test_sums_of_longs_are_exact_or_beyond(values: list[int]) -> None:
    limbs = total_of(pa.array(values, type=pa.int64()))
    found, beyond = exact.to_ints(limbs, 1)
    assert beyond.tolist() == [not -(2**63) <= sum(values) < 2**63]
    assert beyond.any() or found.tolist() == [sum(values)]


@pytest.mark.parametrize("limit", [2**63 - 1, -(2**63)])
def test_the_border_of_longs(limit: int) -> None:
    step = 1 if limit > 0 else -1
    column = pa.array([limit, step, -step], type=pa.int64())
    found, beyond = exact.to_ints(total_of(column), 1)
    assert (found.tolist(), beyond.tolist()) == ([limit], [False])
    assert exact.to_ints(total_of(column.slice(0, 2)), 1)[1].tolist() == [True]


@given(st.lists(st.integers(-(10**38) + 1, 10**38 - 1), max_size=8))
def test_sums_of_decimals_are_exact_or_beyond(unscaled: list[int]) -> None:
    kind = pa.decimal128(38, 6)
    values = [Decimal(f"{v}E-6") for v in unscaled]
    limbs = total_of(pa.array(values, type=kind))
    found, beyond = exact.to_decimals(limbs, 1, kind)
    assert beyond.tolist() == [abs(sum(unscaled)) >= 10**38]
    assert beyond.any() or found.to_pylist() == [Decimal(f"{sum(unscaled)}E-6")]


def test_a_decimal_sum_must_fit_its_precision() -> None:
    limbs = total_of(pa.array([Decimal("99.99"), Decimal("0.01")], type=pa.decimal128(4, 2)))
    found, beyond = exact.to_decimals(limbs, 1, pa.decimal128(5, 2))
    assert (found.to_pylist(), beyond.tolist()) == ([Decimal("100.00")], [False])
    assert exact.to_decimals(limbs, 1, pa.decimal128(4, 2))[1].tolist() == [True]


@given(
    st.lists(st.integers(-(10**30), 10**30), max_size=5),
    st.sampled_from([1, 10**4]),
    st.integers(1, 2**31 - 1),
)
def test_division_rounds_half_away_from_zero(values: list[int], factor: int, divisor: int) -> None:
    column = pa.array([Decimal(v) for v in values], type=pa.decimal128(38, 0))
    limbs = exact.divided(total_of(column), 1, factor, np.array([divisor]))
    quotient = Fraction(sum(values) * factor, divisor)
    expected = math.floor(abs(quotient) + Fraction(1, 2)) * (1 if quotient >= 0 else -1)
    found, _ = exact.to_decimals(limbs, 1, pa.decimal128(38, 0))
    assert found.to_pylist() == [Decimal(expected)]


def test_null_adds_nothing() -> None:
    for kind in (pa.int64(), pa.float64(), pa.decimal128(9, 2)):
        column = pa.array([None, 2, None], type=kind)
        assert as_double(total_of(column)) == (200 if pa.types.is_decimal(kind) else 2)
    assert exact.to_ints(total_of(pa.array([], type=pa.int64())), 1)[0].tolist() == [0]
