"""Expressions as Spark SQL, for Spark to evaluate what is not simple."""

from __future__ import annotations

import re
from collections.abc import Collection
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa

from penstock.algebra.expr import ARITHMETIC, COMPARISONS, Call, Column, Expr, Literal

_INSTANT = re.compile(r"\btimestamp\b(?![_:])")


def to_sql(expr: Expr, prefix: str = "", beside: Collection[str] = ()) -> str:
    """The SQL text of an expression over the columns of a row, or of a struct in it and some
    columns beside it.

    The name of a function may be a template in which `{0}`, `{1}`, ... stand for its arguments;
    with no argument it is a text with parentheses.
    """
    match expr:
        case Column(name):
            return f"{'' if name in beside else prefix}{_quoted(name)}"
        case Literal(value, kind):
            return _literal(value, kind)
    assert isinstance(expr, Call), f"{expr} is not Spark's to compute"
    call = expr
    args = [to_sql(arg, prefix, beside) for arg in call.args]
    match call.function:
        case "and" | "or" as word:
            return "(" + f" {word.upper()} ".join(args) + ")"
        case "not":
            return f"(NOT {args[0]})"
        case "is null":
            return f"({args[0]} IS NULL)"
        case "cast":
            return f"CAST({args[0]} AS {sql_type(call.type)})"
        case "if":
            args = [_of_any_type(arg, text) for arg, text in zip(call.args, args, strict=True)]
        case operator if operator in (*COMPARISONS, *ARITHMETIC):
            return f"({args[0]} {operator} {args[1]})"
        case template if "{" in template or "(" in template:
            return f"({template.format(*args)})"
    return f"{call.function}({', '.join(args)})"


def _of_any_type(expr: Expr, text: str) -> str:
    """A NULL that is nested, beside a value: Spark names the fields of that as it sees fit."""
    is_null = isinstance(expr, Literal) and expr.value is None
    return "NULL" if is_null and pa.types.is_nested(expr.type) else text


def text(value: str) -> Literal:
    return Literal(value, pa.string())


def sql_type(kind: pa.DataType) -> str:
    """The name of a type, whatever a session calls a TIMESTAMP."""
    from pyspark.sql.pandas.types import from_arrow_type

    return _INSTANT.sub("timestamp_ltz", from_arrow_type(kind).simpleString())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(value: Any, kind: pa.DataType) -> str:
    """A literal of just this type."""
    match value:
        case None:
            return f"CAST(NULL AS {sql_type(kind)})"
        case bool():
            return str(value).upper()
        case str():
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
            return f"CAST('{escaped}' AS {sql_type(kind)})"
        case bytes():
            return f"X'{value.hex()}'"
        case date() | int() | float() | Decimal():
            return f"CAST('{value}' AS {sql_type(kind)})"
    raise TypeError(f"{value!r} has no literal of type {kind}")
