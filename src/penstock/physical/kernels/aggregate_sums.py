"""Aggregates that are functions of sums: count, sum, avg, variance and standard deviation.

Law: every sum is a weight that adds and subtracts exactly, so a result depends on the rows that are
there and on nothing else. A *source* is what a sum runs over: a column, under a filter, all of its
values or each different one once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.algebra.aggregates import SUMS, VARIANCES, AggregateCall
from penstock.element import Elements
from penstock.errors import ArithmeticOverflowError
from penstock.kinds import kind
from penstock.physical import exact
from penstock.physical.exact import Doubles
from penstock.record import Ints, Mask

_NOISE = 2.0**-102


@kind("summed")
@dataclass(frozen=True, slots=True)
class Source:
    """What a sum is of: a column or the rows, where a condition holds, each value once or not."""

    column: str | None
    where: str | None
    distinct: bool

    @staticmethod
    def of(call: AggregateCall) -> Source:
        return Source(call.args[0] if call.args else None, call.where, call.distinct)

    def __str__(self) -> str:
        distinct = "distinct " if self.distinct else ""
        where = f" where {self.where}" if self.where else ""
        return f"{distinct}{self.column or '*'}{where}"

    @property
    def takes_all(self) -> bool:
        """Whether every row takes part but for those without a value."""
        return self.where is None and not self.distinct

    def count(self, sums: Mapping[str, Ints], all_rows: Ints) -> Ints:
        """How many rows take part, of all there are."""
        if not self.takes_all:
            return sums.get(f"{self} count", np.zeros_like(all_rows))
        missing = sums.get(f"{self} missing")
        return all_rows if missing is None else all_rows - missing

    def reads(self, names: Collection[str]) -> bool:
        return self.column in names or self.where in names

    def rows(self, x: Elements) -> Mask:
        """The rows that take part: the filter is true of them and the value is not NULL."""
        taking = np.ones(len(x), dtype=np.bool_)
        if self.where is not None:
            taking &= record.numpy(x.column(self.where).fill_null(False)).astype(np.bool_)
        if self.column is not None:
            taking &= record.valid(x.column(self.column))
        return taking


def sources(calls: Iterable[AggregateCall]) -> dict[Source, set[str]]:
    """What these calls sum, and the functions that ask for it."""
    wanted: dict[Source, set[str]] = {}
    for call in calls:
        if call.function in SUMS:
            wanted.setdefault(Source.of(call), set()).add(call.plain)
    return wanted


def contributions(source: Source, functions: set[str], x: Elements) -> dict[str, Ints]:
    """What each row adds to the sums that these functions of the source need.

    Of a source that mostly takes all rows it is the others that are counted, where there are any.
    """
    taking, n, sums = source.rows(x), x.n, {}
    if not source.takes_all:
        sums[f"{source} count"] = n = np.where(taking, n, 0)
    elif not taking.all():
        sums[f"{source} missing"] = np.where(taking, 0, n)
        n = np.where(taking, n, 0)
    if source.column is not None and functions & {"sum", "avg"}:
        sums |= _named(source, "sum", exact.limbs_of(x.column(source.column), n))
    if source.column is not None and functions & set(VARIANCES):
        doubles = exact.doubles(x.column(source.column))
        sums |= _named(source, "double", exact.doubles_limbs(doubles, n))
        sums |= _named(source, "square", exact.square_limbs(doubles, n))
    return sums


def carried(sums: Mapping[str, Ints]) -> dict[str, Ints]:
    """The same sums, with small limbs."""
    stems = {name.rpartition(" limb ")[0] for name in sums if " limb " in name}
    result = {name: values for name, values in sums.items() if " limb " not in name}
    for stem in stems:
        limbs = exact.carried(_limbs(sums, stem))
        result |= {f"{stem} limb {place}": limb for place, limb in limbs.items()}
    return result


def finish(
    call: AggregateCall,
    kind: pa.DataType,
    argument: pa.DataType,
    sums: Mapping[str, Ints],
    all_rows: Ints,
) -> pa.Array:
    """The results of a call, one per frame, from the sums of each frame."""
    source, rows = Source.of(call), len(all_rows)
    count = source.count(sums, all_rows)
    if call.function == "count":
        return pa.array(count)
    none = count == 0
    if call.function in VARIANCES:
        return _variance(call.function, source, sums, count)
    limbs = _limbs(sums, f"{source} sum")
    if call.plain == "avg":
        divisor = np.where(none, 1, count)
        if not pa.types.is_decimal(kind):
            return pa.array(exact.to_doubles(limbs, rows) / divisor, mask=none)
        limbs = exact.divided(limbs, rows, 10 ** (kind.scale - argument.scale), divisor)
    if pa.types.is_floating(kind):
        return pa.array(exact.to_doubles(limbs, rows), mask=none)
    if pa.types.is_decimal(kind):
        column, beyond = exact.to_decimals(limbs, rows, kind)
    else:
        values, beyond = exact.to_ints(limbs, rows)
        column = pa.array(values)
    if call.plain == call.function and beyond.any():
        raise ArithmeticOverflowError(
            f"{call.function}({source}): the result does not fit {kind}; cast to a wider type, or "
            f"write try_{call.function}, which is NULL then"
        )
    return _nulled(column, none | beyond)


def _variance(function: str, source: Source, sums: Mapping[str, Ints], count: Ints) -> pa.Array:
    """`(sum of squares - square of sum / count) / divisor`, in twice the precision of a double."""
    rows = len(count)
    divisor = count - 1 if function.endswith("_samp") else count
    none = divisor <= 0
    n = np.where(none, 1, count).astype(np.float64)
    total = exact.to_double_pairs(_limbs(sums, f"{source} double"), rows)
    squares = exact.to_double_pairs(_limbs(sums, f"{source} square"), rows)
    with np.errstate(invalid="ignore", over="ignore"):
        square_high, square_low = _product(total[0], total[0])
        square_low = square_low + 2.0 * total[0] * total[1]
        mean_high = square_high / n
        back_high, back_low = _product(mean_high, n)
        mean_low = ((square_high - back_high) - back_low + square_low) / n
        spread = (squares[0] - mean_high) + (squares[1] - mean_low)
        spread = np.where(spread <= _NOISE * squares[0], 0.0, spread)  # as of equal values
        result = spread / np.where(none, 1, divisor)
    return pa.array(np.sqrt(result) if function.startswith("stddev") else result, mask=none)


def _product(a: Doubles, b: Doubles) -> tuple[Doubles, Doubles]:
    """A product of doubles and its rounding error."""
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    product = a * b
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, np.where(np.isfinite(error), error, 0.0)


def _halves(a: Doubles) -> tuple[Doubles, Doubles]:
    scaled = 134217729.0 * a
    high = scaled - (scaled - a)
    return high, a - high


def _named(source: Source, what: str, limbs: Mapping[str, Ints]) -> dict[str, Ints]:
    return {f"{source} {what} limb {place}": limb for place, limb in limbs.items()}


def _limbs(sums: Mapping[str, Ints], stem: str) -> dict[str, Ints]:
    prefix = f"{stem} limb "
    return {
        name.removeprefix(prefix): limb for name, limb in sums.items() if name.startswith(prefix)
    }


def _nulled(column: pa.Array, none: Mask) -> pa.Array:
    rows = pa.array(np.arange(len(column)), mask=none)
    return column.take(rows) if none.any() else column
