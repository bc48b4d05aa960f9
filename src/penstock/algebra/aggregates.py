"""The aggregate functions: their names, arguments and result types."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa

from penstock.errors import PlanError
from penstock.kinds import kind

VARIANCES = ("var_pop", "var_samp", "stddev_pop", "stddev_samp")
DISCRETE = ("percentile_disc", "percentile_disc_desc")
PERCENTILES = ("median", "percentile", *DISCRETE)
CHOICES = ("min", "max", "any_value")
TIMED = ("first", "last")
LISTS = ("collect_list", "collect_set")
SUMS = ("count", "sum", "avg", "try_sum", "try_avg", *VARIANCES)
"""Functions of sums, which subtract as they add; all others need the values themselves."""
FUNCTIONS = (*SUMS, *PERCENTILES, *CHOICES, *TIMED, *LISTS)


@kind("aggregate call")
@dataclass(frozen=True, slots=True)
class AggregateCall:
    """`function(args) FILTER (WHERE where) AS name`, over columns of the input.

    `count` without arguments counts rows. `first` and `last` take the value and the column that
    orders the rows. `parameter` is the fraction of a percentile; `percentile_disc_desc` has the
    greatest values first. As in SQL, rows whose argument is NULL do not take part; of `first` and
    `last`, those whose order is NULL. `try_` is NULL where the result does not fit its type.
    """

    function: str
    args: tuple[str, ...]
    name: str
    distinct: bool = False
    where: str | None = None
    parameter: float | None = None

    def __post_init__(self) -> None:
        if self.function not in FUNCTIONS:
            raise PlanError(f"no aggregate {self.function!r}; there are {', '.join(FUNCTIONS)}")
        wanted = {0, 1} if self.function == "count" else {2 if self.function in TIMED else 1}
        if len(self.args) not in wanted:
            raise PlanError(f"{self.function} takes {wanted} arguments, not {len(self.args)}")
        needs_fraction = self.function in ("percentile", *DISCRETE)
        if needs_fraction != (self.parameter is not None):
            raise PlanError(f"{self.function}: a fraction is for percentiles, and only for them")
        if self.parameter is not None and not 0 <= self.parameter <= 1:
            raise PlanError(f"{self.function}: the fraction {self.parameter} is not in 0 to 1")

    @property
    def plain(self) -> str:
        """The function, whatever it gives where its result does not fit."""
        return self.function.removeprefix("try_")

    @property
    def columns(self) -> tuple[str, ...]:
        """Every column the call reads, once."""
        return tuple(dict.fromkeys((*self.args, *((self.where,) if self.where else ()))))

    def describe(self) -> str:
        words = ["distinct"] if self.distinct else []
        words += [", ".join(self.args)] if self.args else []
        words += [f"where {self.where}"] if self.where is not None else []
        words += [f"at {self.parameter}"] if self.parameter is not None else []
        return f"{self.name}={self.function}({' '.join(words)})"


def result_type(call: AggregateCall, schema: pa.Schema) -> pa.DataType:
    """The type of a call's result, as Spark types it."""
    if call.function == "count":
        return pa.int64()
    kind = schema.field(call.args[0]).type
    if call.plain in ("sum", "avg", *VARIANCES, "median", "percentile") and not _number(kind):
        raise PlanError(f"{call.function}({call.args[0]}): {kind} is not a number")
    if call.plain == "sum":
        if pa.types.is_decimal(kind):
            return pa.decimal128(min(kind.precision + 10, 38), kind.scale)
        return pa.float64() if pa.types.is_floating(kind) else pa.int64()
    if call.plain == "avg" and pa.types.is_decimal(kind):
        return _bounded_decimal(kind.precision + 4, kind.scale + 4)
    if call.plain in ("avg", *VARIANCES, "median", "percentile"):
        return pa.float64()
    if call.function in LISTS:
        return pa.list_(kind)
    return kind


def _number(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def _bounded_decimal(precision: int, scale: int) -> pa.DataType:
    """Spark's rule for a precision beyond 38: keep the digits before the point, and 6 after it."""
    if precision <= 38:
        return pa.decimal128(precision, scale)
    whole = precision - scale
    return pa.decimal128(38, max(38 - whole, min(scale, 6)))
