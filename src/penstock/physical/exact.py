"""Sums that do not depend on order and retract exactly.

A sum of integers, decimals or floats is kept as an integer in *limbs*: `sum = total of
limb[i] * 2**(32 * i)`, each limb an int64 that adds and subtracts like any other weight. A double
is a 53-bit integer times a power of two, so it spreads over three limbs at most; the limbs of usual
data are few. NaN and the infinities are counted. A limb that is missing is zero.

Law: limbs are a group homomorphism: adding rows and then rounding gives the correctly rounded sum
of the rows that are there, whatever came and went before, in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock import record
from penstock.record import Ints, Mask

Limbs: TypeAlias = dict[str, Ints]
Doubles: TypeAlias = npt.NDArray[np.float64]

_BITS = 32
_BASE = np.int64(1) << _BITS
_LOW = _BASE - 1
_ROOT_OF_LARGEST = 2.0**511
_SPECIAL = {"nan": np.nan, "+inf": np.inf, "-inf": -np.inf}


def limbs_of(column: pa.Array, n: Ints) -> Limbs:
    """What each row adds to a sum: its value, `n` times. NULLs add nothing."""
    if column.null_count:
        n = np.where(record.valid(column), n, 0)
    if pa.types.is_floating(column.type):
        return doubles_limbs(doubles(column), n)
    values = record.numpy(column)
    if values.ndim == 1:
        return _nonzero(_split(values.astype(np.int64), 0, n))
    low, high = values[:, 0].view(np.uint64), values[:, 1]
    negative = high < 0
    high = np.where(negative, ~high, high)
    low = np.where(negative, ~low, low)  # the magnitude less one where negative
    sign = np.where(negative, -n, n)
    halves = _split_unsigned(low, 0, sign) | _split(high, 2, sign)
    return _nonzero(add(halves, {"0": np.where(negative, -n, 0)}))


def doubles(column: pa.Array) -> Doubles:
    """A numeric column as doubles, zero where NULL."""
    values: Doubles = record.numpy(pc.cast(column, pa.float64(), safe=False)).astype(np.float64)
    return np.where(record.valid(column), values, 0.0) if column.null_count else values


def doubles_limbs(values: Doubles, n: Ints) -> Limbs:
    finite = np.isfinite(values)
    result: Limbs = {}
    if not finite.all():
        for name, special in _SPECIAL.items():
            same = np.isnan(values) if name == "nan" else values == special
            result[name] = np.where(same, n, 0)
        values = np.where(finite, values, 0.0)
    fraction, exponent = np.frexp(values)
    mantissa = np.ldexp(fraction, 53).astype(np.int64)
    exponent = np.where(mantissa == 0, 0, exponent.astype(np.int64) - 53)
    sign = np.sign(mantissa) * n
    mantissa = np.abs(mantissa)
    place, shift = exponent >> 5, exponent & 31
    low = (mantissa & _LOW) << shift  # below 2**63
    high = (mantissa >> _BITS) << shift  # below 2**52
    parts = (low & _LOW, (low >> _BITS) + (high & _LOW), high >> _BITS)
    for p in _small_set(place):
        here = np.where(place == p, sign, 0)
        for i, part in enumerate(parts):
            name = str(p + i)
            result[name] = result.get(name, 0) + part * here
    return _nonzero(result)


def square_limbs(values: Doubles, n: Ints) -> Limbs:
    """The exact squares of doubles, as two doubles each: the product and its rounding error.

    A square beyond the doubles counts as infinite.
    """
    finite = np.abs(values) < _ROOT_OF_LARGEST
    clean = np.where(finite, values, 0.0)
    product = clean * clean
    scaled = 134217729.0 * clean  # 2**27 + 1: halves of 26 bits
    high = scaled - (scaled - clean)
    low = clean - high
    error = ((high * high - product) + 2.0 * high * low) + low * low
    product = np.where(finite, product, np.where(np.isnan(values), np.nan, np.inf))
    return add(doubles_limbs(product, n), doubles_limbs(np.where(finite, error, 0.0), n))


def add(a: Mapping[str, Ints], b: Mapping[str, Ints]) -> Limbs:
    return {name: a.get(name, 0) + b.get(name, 0) for name in {**a, **b}}  # type: ignore[misc]


def carried(limbs: Mapping[str, Ints]) -> Limbs:
    """The same sums with every limb below 2**32 in magnitude, so that many can be added up."""
    result = {name: limbs[name] for name in _SPECIAL if name in limbs}
    numbers = sorted(int(name) for name in limbs if name not in _SPECIAL)
    carry: Ints | int = 0
    place = numbers[0] if numbers else 0
    while numbers or np.any(carry):
        here = limbs[str(numbers.pop(0))] if numbers and numbers[0] == place else 0
        value = np.asarray(here + carry, dtype=np.int64)
        carry = np.where(value < 0, -(-value >> _BITS), value >> _BITS)
        result[str(place)] = value - carry * _BASE
        place += 1
    return _nonzero(result)


def to_doubles(limbs: Mapping[str, Ints], rows: int) -> Doubles:
    """Each sum, correctly rounded."""
    whole = _whole(limbs, rows)
    if whole is not None:
        return whole.astype(np.float64)
    place, magnitude, negative = _magnitudes(limbs, rows)
    height = len(magnitude)
    filled = magnitude != 0
    top = height - 1 - np.argmax(filled[::-1], axis=0)  # the highest limb that is not zero
    padded = np.concatenate([np.zeros((3, rows), dtype=np.int64), magnitude])
    a, b, c = (
        np.take_along_axis(padded, (top + 3 - i)[None, :], axis=0)[0].astype(np.uint64)
        for i in range(3)
    )
    below = np.cumsum(padded != 0, axis=0)
    sticky = np.take_along_axis(below, top[None, :], axis=0)[0] > 0
    shift = (32 - np.frexp(a.astype(np.float64))[1]).astype(np.uint64)
    shift = np.where(a == 0, np.uint64(0), shift)
    joined = ((a << np.uint64(32)) | b) << shift
    joined |= (c << shift) >> np.uint64(32)
    rest = (c << shift) & np.uint64(0xFFFF_FFFF)
    joined |= ((rest != 0) | sticky).astype(np.uint64)
    exponent = _BITS * (top + place - 1) - shift.astype(np.int64)
    with np.errstate(over="ignore"):  # a sum beyond the doubles is infinite
        result = np.ldexp(joined.astype(np.float64), exponent.astype(np.int32))
    result = np.where(negative, -result, result)
    return _with_specials(result, limbs)


def to_double_pairs(limbs: Mapping[str, Ints], rows: int) -> tuple[Doubles, Doubles]:
    """Each sum as a double and the double nearest to what is left of it."""
    high = to_doubles(limbs, rows)
    minus = doubles_limbs(np.where(np.isfinite(high), high, 0.0), np.full(rows, -1))
    low = to_doubles(carried(add(limbs, minus)), rows)
    return high, np.where(np.isfinite(high), low, 0.0)


def to_ints(limbs: Mapping[str, Ints], rows: int) -> tuple[Ints, Mask]:
    """Each sum as an int64, and which of them do not fit one."""
    whole = _whole(limbs, rows)
    if whole is not None:
        return whole, np.zeros(rows, dtype=np.bool_)
    low, high, negative, beyond = _two_words(limbs, rows)
    beyond |= (high != 0) | ((low >> np.uint64(63)).astype(np.bool_) & ~_lowest(low, negative))
    value = low.view(np.int64)
    return np.where(negative, -value, value), beyond


def _whole(limbs: Mapping[str, Ints], rows: int) -> Ints | None:
    """The sums, where all are whole and not near the border of 64 bits, as most are."""
    if not limbs.keys() <= {"0", "1"}:
        return None
    zero = np.zeros(rows, dtype=np.int64)
    digit = limbs.get("0", zero)
    rest = limbs.get("1", zero) + (digit >> _BITS)
    return (rest << _BITS) | (digit & _LOW) if np.all(np.abs(rest) < 1 << 31) else None


def to_decimals(limbs: Mapping[str, Ints], rows: int, kind: pa.DataType) -> tuple[pa.Array, Mask]:
    """Each sum as the unscaled value of a decimal, and which of them do not fit its digits."""
    low, high, negative, beyond = _two_words(limbs, rows)
    limit = 10**kind.precision
    limit_high, limit_low = np.uint64(limit >> 64), np.uint64(limit & (2**64 - 1))
    beyond |= (high > limit_high) | ((high == limit_high) & (low >= limit_low))
    low = np.where(negative, ~low + np.uint64(1), low)
    high = np.where(negative, ~high + (low == 0).astype(np.uint64), high)
    words = np.stack([low, high], axis=1)
    words = pa.py_buffer(np.ascontiguousarray(words))
    return pa.Array.from_buffers(kind, rows, [None, words]), beyond


def divided(limbs: Mapping[str, Ints], rows: int, factor: int, divisor: Ints) -> Limbs:
    """`sum * factor / divisor`, rounded half away from zero; the divisor is below 2**31."""
    wide = carried({name: limb * factor for name, limb in carried(limbs).items()})
    _, magnitude, negative = _magnitudes({"0": np.zeros(rows, dtype=np.int64), **wide}, rows)
    rest = np.zeros(rows, dtype=np.int64)
    result: Limbs = {}
    for i in range(len(magnitude) - 1, -1, -1):
        rest = (rest << _BITS) | magnitude[i]
        result[str(i)] = rest // divisor
        rest = rest % divisor
    result["0"] = result["0"] + (2 * rest >= divisor)
    sign = np.where(negative, -1, 1)
    return carried({name: limb * sign for name, limb in result.items()})


def _split(values: Ints, place: int, n: Ints) -> Limbs:
    """Signed 64-bit values; the limbs of a negative one are negative."""
    unsigned = np.abs(values).view(np.uint64)  # right for the lowest int64 too
    return _split_unsigned(unsigned, place, np.where(values < 0, -n, n))


def _split_unsigned(values: npt.NDArray[np.uint64], place: int, n: Ints) -> Limbs:
    low = (values & np.uint64(_LOW)).astype(np.int64)
    high = (values >> np.uint64(_BITS)).astype(np.int64)
    return {str(place): low * n, str(place + 1): high * n}


def _nonzero(limbs: Limbs) -> Limbs:
    return {name: limb for name, limb in limbs.items() if np.any(limb)}


def _small_set(values: Ints) -> list[int]:
    low = int(values.min(initial=0))
    return [low + int(i) for i in np.flatnonzero(np.bincount(values - low))] if len(values) else []


def _magnitudes(limbs: Mapping[str, Ints], rows: int) -> tuple[int, Ints, npt.NDArray[np.bool_]]:
    """The lowest place, the limbs of the absolute values from there on, and the signs."""
    numbers = {int(name): limb for name, limb in limbs.items() if name not in _SPECIAL}
    low, high = min(numbers, default=0), max(numbers, default=0)
    table = np.zeros((high - low + 3, rows), dtype=np.int64)
    for place, limb in numbers.items():
        table[place - low] = limb
    negative = _propagate(table)
    table[:, negative] *= -1
    _propagate(table)
    return low, table, negative


def _propagate(table: Ints) -> npt.NDArray[np.bool_]:
    """Carry upwards so that all limbs but the last are digits; true where the whole is negative."""
    for i in range(len(table) - 1):
        carry = table[i] >> _BITS
        table[i] &= _LOW
        table[i + 1] += carry
    negative: npt.NDArray[np.bool_] = table[-1] < 0
    return negative


def _two_words(
    limbs: Mapping[str, Ints], rows: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], Mask, Mask]:
    """The magnitudes modulo 2**128, which of them are negative, and which are larger."""
    zero = np.zeros(rows, dtype=np.int64)
    _, table, negative = _magnitudes({"0": zero, "3": zero, **limbs}, rows)
    beyond: Mask = (table[4:] != 0).any(axis=0)
    digits = table[:4].astype(np.uint64)
    low = digits[0] | (digits[1] << np.uint64(_BITS))
    high = digits[2] | (digits[3] << np.uint64(_BITS))
    return low, high, negative, beyond


def _lowest(low: npt.NDArray[np.uint64], negative: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The one magnitude of 64 bits that an int64 can hold, with a minus sign."""
    lowest: npt.NDArray[np.bool_] = negative & (low == np.uint64(1 << 63))
    return lowest


def _with_specials(result: Doubles, limbs: Mapping[str, Ints]) -> Doubles:
    for name in ("+inf", "-inf", "nan"):
        if name in limbs:
            with np.errstate(invalid="ignore"):
                result = np.where(limbs[name] > 0, result + _SPECIAL[name], result)
    return result
