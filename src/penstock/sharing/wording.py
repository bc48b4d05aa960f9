"""Expressions of forms for people to read."""

from __future__ import annotations

from penstock.algebra.expr import COMPARISONS, Call, Column, Expr
from penstock.sharing.expressions import is_aggregate
from penstock.sharing.form import Aggregation


def told(condition: Expr) -> str:
    """A condition without parentheses around it."""
    text = shown(condition)
    is_comparison = isinstance(condition, Call) and condition.function in COMPARISONS
    return text[1:-1] if is_comparison else text


def shown(expr: Expr) -> str:
    """An expression without the numbers of relations."""
    match expr:
        case Column(name):
            return name.rpartition(":")[2]
        case Call("until now", (time,)):
            return f"NOW() < {shown(time)}"
        case Call("from now", (time,)):
            return f"{shown(time)} <= NOW()"
        case Call("cast", (arg,)):
            return shown(arg)
        case Call() if is_aggregate(expr):
            return _aggregate(Aggregation.of(expr))
        case Call(function, args, kind):
            return str(Call(function, tuple(Column(shown(arg), arg.type) for arg in args), kind))
    return str(expr)


def _aggregate(call: Aggregation) -> str:
    args = ", ".join(map(shown, call.args)) or "*"
    text = f"{call.function}({'DISTINCT ' if call.distinct else ''}{args})"
    return text if call.where is None else f"{text} FILTER (WHERE {told(call.where)})"
