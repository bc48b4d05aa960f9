"""The casts that Spark adds, for the types on which Penstock computes itself."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pyarrow as pa

from penstock.algebra.expr import DIGITS, Call, Expr, Literal, is_simple, widens

NULL = Literal(None, pa.null())
MOST_DIGITS = 38
INTEGERS = (pa.int8(), pa.int16(), pa.int32(), pa.int64())


def shown(kind: pa.DataType) -> str:
    """A type as SQL names it."""
    return "NULL" if pa.types.is_null(kind) else sql_type(kind).upper()


def sql_type(kind: pa.DataType) -> str:
    from pyspark.sql.pandas.types import from_arrow_type

    return from_arrow_type(kind).simpleString()


def whole_number(value: int) -> Literal:
    """A whole number that is written, with its sign: of the narrower type that holds it."""
    return Literal(value, pa.int32() if -(2**31) <= value < 2**31 else pa.int64())


def is_time(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date(kind))


def has_map(kind: pa.DataType) -> bool:
    """Whether values of a type hold maps, which are equal whatever the order of their entries."""
    return bool(pa.types.is_map(kind)) or any(
        has_map(kind.field(i).type) for i in range(kind.num_fields)
    )


def has_decimal(*values: Expr) -> bool:
    return any(pa.types.is_decimal(value.type) for value in values)


def widened(expr: Expr, kind: pa.DataType) -> Expr | None:
    """The expression in a type that holds all its values, where Penstock can cast to it."""
    if expr.type == kind:
        return expr
    match expr:
        case Literal(None, _):
            return Literal(None, kind)
        case Literal(int() as value, _) if kind in INTEGERS and expr.type in INTEGERS:
            if -(2 ** (kind.bit_width - 1)) <= value < 2 ** (kind.bit_width - 1):
                return Literal(value, kind)
            return None
        case Literal((int() | Decimal()) as value, _) if pa.types.is_float64(kind):
            return Literal(float(value), kind)
    fits = is_simple(expr) and widens(expr.type, kind)
    return Call("cast", (expr,), kind) if fits else None


def unified(values: Sequence[Expr]) -> list[Expr] | None:
    """The values in the one of their types that holds them all; None where only Spark knows."""
    kinds = [value.type for value in values if not pa.types.is_null(value.type)]
    if not kinds:
        return list(values)
    for kind in kinds:
        cast = [widened(value, kind) for value in values]
        narrowed = any(_narrows(value.type, kind) for value in values)
        if not narrowed and all(value is not None for value in cast):
            return [value for value in cast if value is not None]
    return None


def _narrows(kind: pa.DataType, to: pa.DataType) -> bool:
    if kind in INTEGERS and to in INTEGERS:
        return kind.bit_width > to.bit_width
    return pa.types.is_decimal(kind) and kind != to and not pa.types.is_floating(to)


def comparable(left: Expr, right: Expr) -> tuple[Expr, Expr] | None:
    """Both sides of a comparison in one type; a constant takes the type of the other side."""
    for value, constant in ((left, right), (right, left)):
        if isinstance(constant, Literal):
            fitted = _fitted(constant, value.type)
            if fitted is not None:
                return (value, fitted) if value is left else (fitted, value)
    both = unified([left, right])
    return (both[0], both[1]) if both else None


def _fitted(constant: Literal, kind: pa.DataType) -> Literal | None:
    """The same number as a constant of another type."""
    value = constant.value
    if pa.types.is_decimal(kind) and isinstance(value, int | Decimal):
        if isinstance(value, bool):
            return None
        exact = Decimal(value).quantize(Decimal(1).scaleb(-kind.scale))
        digits = len(exact.as_tuple().digits)
        return Literal(exact, kind) if exact == value and digits <= kind.precision else None
    cast = widened(constant, kind)
    return cast if isinstance(cast, Literal) else None


def choice(test: Expr, then: Expr, otherwise: Expr) -> Expr | None:
    both = unified([then, otherwise])
    return Call("if", (test, *both), both[0].type) if both else None


def arithmetic(operator: str, a: Expr, b: Expr) -> Expr | None:
    """Sums and the like of two numbers, where Penstock can compute them."""
    if has_decimal(a, b):
        return _decimal_arithmetic(operator, a, b)
    both = unified([a, b])
    if both is None or not (both[0].type in INTEGERS or pa.types.is_floating(both[0].type)):
        return None
    return Call(operator, tuple(both), both[0].type)


def _decimal_arithmetic(operator: str, a: Expr, b: Expr) -> Expr | None:
    """Decimals whose exact result, as Spark types it, has a digit for all that it can be."""
    left, right = _as_decimal(a), _as_decimal(b)
    if left is None or right is None:
        return None
    p, q, s, t = left.type.precision, right.type.precision, left.type.scale, right.type.scale
    match operator:
        case "+" | "-":
            scale = max(s, t)
            precision = max(p - s, q - t) + scale + 1
        case "*":
            precision, scale = p + q + 1, s + t
        case _:
            return None
    if precision > MOST_DIGITS:
        return None
    return Call(operator, (left, right), pa.decimal128(precision, scale))


def _as_decimal(expr: Expr) -> Expr | None:
    """A whole number as the decimal that Spark makes of it: a constant has the digits it needs."""
    match expr:
        case Literal(int() as value, kind) if kind in INTEGERS:
            return Literal(Decimal(value), pa.decimal128(len(str(abs(value))), 0))
    if expr.type in DIGITS:
        return widened(expr, pa.decimal128(DIGITS[expr.type], 0))
    return expr if pa.types.is_decimal(expr.type) else None


def quotient(a: Expr, b: Expr) -> Expr | None:
    """Spark divides numbers as doubles, and decimals in a way of their own."""
    if any(pa.types.is_decimal(value.type) and not isinstance(value, Literal) for value in (a, b)):
        return None
    if all(pa.types.is_decimal(value.type) or value.type in INTEGERS for value in (a, b)) and any(
        pa.types.is_decimal(value.type) for value in (a, b)
    ):
        return None
    doubles = [widened(value, pa.float64()) for value in (a, b)]
    if doubles[0] is None or doubles[1] is None:
        return None
    return Call("/", (doubles[0], doubles[1]), pa.float64())
