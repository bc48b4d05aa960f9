"""Functions of one column that keep its order, or turn it round.

What is known of a range of values of the column is then known of a range of values of the function:
it takes only the values at the ends of the ranges to say of which. NULL is made of NULL, and of
nothing else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock import record
from penstock.algebra.evaluate import evaluate
from penstock.algebra.expr import Call, Column, Expr, Literal, is_simple, takes
from penstock.element import Elements

_UNITS = ("year", "quarter", "month", "week", "day", "hour", "minute", "second")
_INSTANT = pa.timestamp("us", "UTC")


@dataclass(frozen=True)
class Monotone:
    """`rising`: the larger the column, the larger the function; `strict`: no two are the same."""

    column: Column
    rising: bool = True
    strict: bool = True


def monotone(expr: Expr) -> Monotone | None:
    """How an expression depends on its one column; None where that is not known.

    NaN is the largest double, and stays NaN: so of doubles only what rises is monotone.
    """
    match expr:
        case Column():
            return Monotone(expr)
        case Call("cast" | "unix_micros" | "timestamp_micros" | "unix_date", (inner,), kind):
            exact = not (inner.type == pa.int64() and pa.types.is_floating(kind))
            return _of(monotone(inner), strict=exact) if takes(expr) else None
        case Call("+" | "-", (inner, Literal(value))) if _is_number(value):
            return _of(monotone(inner), strict=not pa.types.is_floating(expr.type))
        case Call("+", (Literal(value), inner)) if _is_number(value):
            return _of(monotone(inner), strict=not pa.types.is_floating(expr.type))
        case Call("-", (Literal(value), inner)) if _is_number(value):
            return _turned(monotone(inner), expr.type)
        case Call("negative", (inner,)):
            return _turned(monotone(inner), expr.type)
        case (
            Call("*", (inner, Literal(value)))
            | Call("*", (Literal(value), inner))
            | Call("/", (inner, Literal(value)))
        ) if _is_number(value) and value:
            found = _of(monotone(inner), strict=not pa.types.is_floating(expr.type))
            return found if value > 0 else _turned(found, expr.type)
        case Call("-", (inner, Call("%", (same, Literal(int() as period))))):
            whole = inner == same and period > 0 and pa.types.is_integer(inner.type)
            return _of(monotone(inner), strict=False) if whole else None
        case Call(template, (inner,)) if "{" in template and is_simple(inner):
            known = _known(template, inner.type) is not None
            return _of(monotone(inner), strict=False) if known else None
    return None


def values(expr: Expr, column: pa.Array) -> pa.Array:
    """What a monotone function makes of the values of its column, as Spark would."""
    found = monotone(expr)
    assert found is not None
    if is_simple(expr):
        nothing = np.zeros(len(column), dtype=np.int64)
        schema = pa.schema([(found.column.name, column.type)])
        return evaluate(expr, Elements(schema, (column,), nothing, nothing, nothing))
    assert isinstance(expr, Call)
    (inner,) = expr.args
    make = _known(expr.function, inner.type)
    assert make is not None
    return make(values(inner, column)).cast(expr.type)


def _of(inner: Monotone | None, strict: bool) -> Monotone | None:
    if inner is None:
        return None
    return Monotone(inner.column, inner.rising, inner.strict and strict)


def _turned(inner: Monotone | None, kind: pa.DataType) -> Monotone | None:
    if inner is None or pa.types.is_floating(kind):
        return None
    return Monotone(inner.column, not inner.rising, inner.strict)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and math.isfinite(value)


# --- functions that only Spark evaluates for rows -------------------------------------------------

_TRUNCATED = re.compile(r"DATE_TRUNC\('(\w+)', \{0\}\)")
_DIVIDED = re.compile(r"(FLOOR|CEIL)\(\{0\} / ([1-9]\d{0,8})\)|\{0\} DIV ([1-9]\d{0,8})")


def _known(template: str, kind: pa.DataType) -> Callable[[pa.Array], pa.Array] | None:
    """What a function of Spark is on Arrow, for arguments of a type; all clocks are UTC."""
    if kind == _INSTANT:
        if (unit := _TRUNCATED.fullmatch(template)) and unit[1].lower() in _UNITS:
            return lambda times: pc.floor_temporal(times, unit=unit[1].lower())
        if template in ("CAST({0} AS DATE)", "TO_DATE({0})"):
            return lambda times: pc.floor_temporal(times, unit="day").cast(pa.timestamp("us"))
    if template == "YEAR({0})" and (kind == _INSTANT or pa.types.is_date(kind)):
        return pc.year
    found = _DIVIDED.fullmatch(template)
    if found and pa.types.is_integer(kind):
        divisor = int(found[2] or found[3])
        return lambda numbers: _divided(numbers, divisor, found[1])
    return None


def _divided(numbers: pa.Array, divisor: int, rounding: str | None) -> pa.Array:
    """A quotient rounded: as a double by FLOOR or CEIL, or by DIV towards zero."""
    whole = record.numpy(numbers).astype(np.int64)
    if rounding is None:
        found = whole // divisor + ((whole < 0) & (whole % divisor != 0))
    else:
        quotient = whole.astype(np.float64) / divisor
        found = (np.floor(quotient) if rounding == "FLOOR" else np.ceil(quotient)).astype(np.int64)
    return pa.array(found, mask=~record.valid(numbers))
