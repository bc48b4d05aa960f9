"""Random values and random expressions of a given type, over small domains.

Values repeat and are NULL often, so that duplicates, ties and the third truth value abound. Every
function of `expr.SIMPLE` occurs. Nothing here divides by zero or overflows.
"""

from __future__ import annotations

import math
from datetime import date
from random import Random
from typing import Any

import pyarrow as pa

from penstock.algebra import expr as ex

INT, FLOAT, TEXT, BOOL = pa.int64(), pa.float64(), pa.string(), pa.bool_()
TYPES = (INT, FLOAT, TEXT, BOOL)

_DOMAINS: dict[pa.DataType, tuple[Any, ...]] = {
    INT: (0, 1, 2),
    FLOAT: (0.0, -0.0, 1.5, math.nan),
    TEXT: ("", "x", "y"),
    BOOL: (False, True),
}


def random_value(rng: Random, kind: pa.DataType) -> Any:
    """A value of the type's small domain, NULL one time in five, and always where it has none."""
    domain = _DOMAINS.get(kind)
    return None if domain is None or rng.random() < 0.2 else rng.choice(domain)


def random_expression(rng: Random, schema: pa.Schema, kind: pa.DataType, depth: int = 2) -> ex.Expr:
    """An expression of the type over the schema's columns, up to `depth` calls deep."""
    if depth == 0 or rng.random() < 0.25:
        return _leaf(rng, schema, kind)
    if rng.random() < 0.2:
        return _choice(rng, schema, kind, depth)
    if kind == BOOL:
        return _condition(rng, schema, depth)
    if kind in (INT, FLOAT):
        return _arithmetic(rng, schema, kind, depth)
    if kind == TEXT and rng.random() < 0.2:
        pattern = ex.Literal(rng.choice(("yyyy-MM-dd", "HH:mm:ss")), TEXT)
        return ex.Call("date_format", (_instant(rng, schema, depth), pattern), TEXT)
    return _leaf(rng, schema, kind)


def random_predicate(rng: Random, schema: pa.Schema) -> ex.Expr:
    """A condition that is often, but not always, a conjunction."""
    parts = tuple(_condition(rng, schema, 2) for _ in range(rng.choice((1, 1, 1, 2, 3))))
    return ex.conjunction(parts)


def random_column(rng: Random, schema: pa.Schema, kind: pa.DataType) -> ex.Expr:
    """A column of the type, or a constant where there is none."""
    fields = [field for field in schema if field.type == kind]
    if not fields:
        return ex.Literal(random_value(rng, kind), kind)
    return ex.Column(rng.choice(fields).name, kind)


def _leaf(rng: Random, schema: pa.Schema, kind: pa.DataType) -> ex.Expr:
    if rng.random() < 0.2:
        return ex.Literal(random_value(rng, kind), kind)
    return random_column(rng, schema, kind)


def _choice(rng: Random, schema: pa.Schema, kind: pa.DataType, depth: int) -> ex.Expr:
    first, second = (random_expression(rng, schema, kind, depth - 1) for _ in range(2))
    if rng.random() < 0.5:
        return ex.Call("coalesce", (first, second), kind)
    return ex.Call("if", (random_expression(rng, schema, BOOL, depth - 1), first, second), kind)


def _condition(rng: Random, schema: pa.Schema, depth: int) -> ex.Expr:
    kinds = [field.type for field in schema] or [INT]
    match rng.choice(("compare", "compare", "compare", "and", "or", "or", "not", "is null")):
        case "compare":
            kind = rng.choice(kinds)
            sides = (random_expression(rng, schema, kind, depth - 1) for _ in range(2))
            return ex.compare(rng.choice(ex.COMPARISONS), *sides)
        case "not":
            return ex.Call("not", (random_expression(rng, schema, BOOL, depth - 1),), BOOL)
        case "is null":
            kind = rng.choice(kinds)
            return ex.Call("is null", (random_expression(rng, schema, kind, depth - 1),), BOOL)
        case word:
            count = rng.choice((2, 2, 3))
            args = tuple(random_expression(rng, schema, BOOL, depth - 1) for _ in range(count))
            return ex.Call(word, args, BOOL)


def _arithmetic(rng: Random, schema: pa.Schema, kind: pa.DataType, depth: int) -> ex.Expr:
    if rng.random() < 0.2:
        return _conversion(rng, schema, kind, depth)
    left = random_expression(rng, schema, kind, depth - 1)
    operator = rng.choice(ex.CHECKED)
    if operator == "/" and kind != FLOAT:
        operator = "negative"
    if operator not in ex.ARITHMETIC:
        return ex.Call(operator, (left,), kind)
    if operator in ("+", "-"):
        return ex.arithmetic(operator, left, random_expression(rng, schema, kind, depth - 1))
    factor = rng.choice((2, 3) if operator in ("/", "%") else (-1, 2))
    return ex.arithmetic(
        operator, left, ex.Literal(float(factor) if kind == FLOAT else factor, kind)
    )


def _instant(rng: Random, schema: pa.Schema, depth: int) -> ex.Expr:
    arg = random_expression(rng, schema, INT, depth - 1)
    return ex.Call("timestamp_micros", (arg,), pa.timestamp("us", "UTC"))


def _conversion(rng: Random, schema: pa.Schema, kind: pa.DataType, depth: int) -> ex.Expr:
    """There and back by way of another type."""
    arg = random_expression(rng, schema, INT, depth - 1)
    if kind == FLOAT:
        return ex.cast(arg, FLOAT)
    if rng.random() < 0.5:
        return ex.Call("unix_micros", (_instant(rng, schema, depth),), INT)
    day = ex.Literal(rng.choice((None, date(1970, 1, 1), date(1970, 1, 3))), pa.date32())
    return ex.cast(ex.Call("unix_date", (day,), pa.int32()), INT)
