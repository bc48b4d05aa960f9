"""What is known of an expression's value where certain columns are all NULL.

Nothing is known of functions other than those of `expr.SIMPLE`.
"""

from __future__ import annotations

from penstock.algebra.expr import (
    CHECKED,
    COMPARISONS,
    CONVERSIONS,
    Call,
    Column,
    Expr,
    Literal,
)

_STRICT = frozenset((*COMPARISONS, *CHECKED, *CONVERSIONS, "not", "date_format")) - {"<=>"}
"""Functions that are NULL where any argument is."""


def always_null(expression: Expr, nulls: frozenset[str]) -> bool:
    match expression:
        case Column(name):
            return name in nulls
        case Literal(value):
            return value is None
        case Call("coalesce", args):
            return all(always_null(arg, nulls) for arg in args)
        case Call("if", (_, then, otherwise)):
            return always_null(then, nulls) and always_null(otherwise, nulls)
        case Call(function, args):
            return function in _STRICT and any(always_null(arg, nulls) for arg in args)
    return False


def never_true(predicate: Expr, nulls: frozenset[str]) -> bool:
    match predicate:
        case Literal(value):
            return value is not True
        case Call("and", args):
            return any(never_true(arg, nulls) for arg in args)
        case Call("or", args):
            return all(never_true(arg, nulls) for arg in args)
        case Call("not", (Call("is null", (arg,)),)):
            return always_null(arg, nulls)
    return always_null(predicate, nulls)
