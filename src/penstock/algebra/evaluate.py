"""Simple expressions on Arrow columns, with the results that Spark would give.

NULLs follow SQL's three-valued logic, NaN equals NaN and is the largest number, arithmetic that
overflows or divides by zero is an error. Functions that are not simple are Spark's to evaluate.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock import record
from penstock.algebra.expr import (
    CHECKED,
    CLOSED,
    CONVERSIONS,
    EARLIEST,
    ENDED,
    LATEST,
    Call,
    Column,
    Expr,
    Literal,
    Lookup,
    narrows,
    takes,
)
from penstock.algebra.formats import formatted
from penstock.element import INF, Elements
from penstock.errors import ArithmeticOverflowError, DivisionByZeroError, UnsupportedError
from penstock.record import Ints, Mask


def evaluate(expr: Expr, x: Elements) -> pa.Array:
    match expr:
        case Column(name):
            return x.column(name)
        case Literal(value, kind):
            return pa.repeat(pa.scalar(value, type=kind), len(x))
        case Lookup(table, args):
            return table.find(tuple(evaluate(arg, x) for arg in args), len(x))
        case Call(function, _, kind) if function in (CLOSED, ENDED):
            return pa.nulls(len(x), kind)
        case Call("if", (test, then, otherwise)) if _can_fail(expr):
            chosen = evaluate_mask(test, x)
            yes, no = evaluate(then, x.where(chosen)), evaluate(otherwise, x.where(~chosen))
            return _interleaved(chosen, yes, no)
        case Call("and" | "or" | "coalesce", (first, *rest)) if rest and _can_fail(expr):
            return _one_after_the_other(expr, first, tuple(rest), x)
        case Call("if", (test, then, otherwise)):
            yes, no = evaluate(then, x), evaluate(otherwise, x)
            return pc.if_else(evaluate(test, x).fill_null(False), yes, no)
        case Call("date_format", (time, Literal(str() as pattern))) if takes(expr):
            return formatted(evaluate(time, x), pattern)
        case Call("<=>", (left, right)):
            return _same(evaluate(left, x), evaluate(right, x))
        case Call(function, args) if function in _FUNCTIONS and takes(expr):
            values = [evaluate(arg, x) for arg in args]
            try:
                result = _FUNCTIONS[function](*values)
                return result if result.type == expr.type else _cast(result, expr.type)
            except ZeroDivisionError as error:
                raise DivisionByZeroError(f"{expr}: division by zero") from error
            except pa.ArrowInvalid as error:
                raise ArithmeticOverflowError(f"{expr}: {error}") from error
    raise UnsupportedError(f"{expr} is not a simple expression; only Spark can evaluate it")


def evaluate_mask(expr: Expr, x: Elements) -> Mask:
    """Where a predicate is true: neither false nor NULL."""
    return record.numpy(evaluate(expr, x).fill_null(False)).astype(np.bool_)


def evaluate_ints(expr: Expr, x: Elements, null: int = INF) -> Ints:
    values: Ints = record.numpy(evaluate(expr, x).fill_null(null))
    return values


def _can_fail(expr: Expr) -> bool:
    """Whether a value may be an error; what SQL does not look at must not be evaluated then."""
    match expr:
        case Call("cast", (arg,)) if pa.types.is_date(arg.type) or narrows(expr):
            return True
        case Call(function, args):
            return function in CHECKED or any(map(_can_fail, args))
    return False


def _one_after_the_other(call: Call, first: Expr, rest: tuple[Expr, ...], x: Elements) -> pa.Array:
    """`and`, `or` and `coalesce` look at an argument only where those before do not decide."""
    head = evaluate(first, x)
    decided = record.valid(head)
    if call.function != "coalesce":
        decided &= record.numpy(head) == (call.function == "or")
    tail = evaluate(Call(call.function, rest, call.type), x.where(~decided))
    undecided = head.filter(pa.array(~decided))
    both = _FUNCTIONS[call.function](undecided, tail)
    return _interleaved(decided, head.filter(pa.array(decided)), both)


def _interleaved(mask: Mask, where: pa.Array, otherwise: pa.Array) -> pa.Array:
    """The values of one where the mask is true, in order, and of the other elsewhere."""
    row = np.where(mask, np.cumsum(mask) - 1, len(where) + np.cumsum(~mask) - 1)
    return pa.concat_arrays([where, otherwise]).take(pa.array(row))


def _cast(column: pa.Array, kind: pa.DataType) -> pa.Array:
    """An error where a value does not fit; but an integer becomes the nearest double."""
    return column.cast(kind, safe=not pa.types.is_floating(kind))


def _same(a: pa.Array, b: pa.Array) -> pa.Array:
    rows = np.arange(len(a))
    return pa.array(record.equal_rows((a,), rows, (b,), rows))


def _comparison(arrow: Callable[..., Any], test: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A comparison; floats by way of their ranks, where NaN is equal to itself and largest."""

    def compare(a: pa.Array, b: pa.Array) -> pa.Array:
        if not (pa.types.is_floating(a.type) or pa.types.is_nested(a.type)):
            return arrow(a, b)
        both = record.order_codes((pa.concat_arrays([a, b]),), [record.Direction()], 2 * len(a))
        unknown = record.any_null((a, b), len(a))
        return pa.array(test(both[: len(a)], both[len(a) :]), mask=unknown)

    return compare


def _division(divide: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A function of a dividend and a divisor, which must not be zero where both are known."""

    def divided(a: pa.Array, b: pa.Array) -> pa.Array:
        unknown = record.any_null((a, b), len(a))
        divisor = np.where(unknown, 1, record.numpy(b))
        if np.any(divisor == 0):
            raise ZeroDivisionError
        with np.errstate(invalid="ignore", over="ignore"):
            return pa.array(divide(record.numpy(a), divisor), type=a.type, mask=unknown)

    return divided


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "=": _comparison(pc.equal, np.equal),
    "<>": _comparison(pc.not_equal, np.not_equal),
    "<": _comparison(pc.less, np.less),
    "<=": _comparison(pc.less_equal, np.less_equal),
    ">": _comparison(pc.greater, np.greater),
    ">=": _comparison(pc.greater_equal, np.greater_equal),
    "and": lambda *args: reduce(pc.and_kleene, args),
    "or": lambda *args: reduce(pc.or_kleene, args),
    "not": pc.invert,
    "is null": pc.is_null,
    "coalesce": pc.coalesce,
    "+": pc.add_checked,
    "-": pc.subtract_checked,
    "*": pc.multiply_checked,
    "/": _division(np.divide),
    "%": _division(np.fmod),
    "negative": pc.negate_checked,
    "abs": pc.abs_checked,
    EARLIEST: pc.min_element_wise,
    LATEST: lambda *args: pc.max_element_wise(*args, skip_nulls=False),
    **dict.fromkeys(CONVERSIONS, lambda arg: arg),
}
