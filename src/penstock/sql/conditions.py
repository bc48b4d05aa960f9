"""Conditions that can be patterns of a punctuation: each about one column, all of them true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NoReturn, TypeAlias

from sqlglot import exp

from penstock.sql.statements import Between, OneOf, Pattern
from penstock.sql.text import Name

Refuse: TypeAlias = Callable[[str, exp.Expr | None], NoReturn]

CONSTANTS = (
    exp.Boolean,
    exp.Cast,
    exp.DataType,
    exp.DataTypeParam,
    exp.Interval,
    exp.Literal,
    exp.Neg,
    exp.Null,
    exp.Paren,
    exp.Var,
)
FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}
FORMS = "Write column = constant, IN (list), BETWEEN, <, <=, > or >=, joined by AND."


def patterns_of(condition: exp.Expr, refuse: Refuse) -> tuple[Pattern, ...]:
    """One pattern for each column; two bounds of a column become one range."""
    patterns: dict[str, Pattern] = {}
    for part in condition.unnest().flatten() if isinstance(condition, exp.And) else [condition]:
        pattern = _pattern(part.unnest(), refuse)
        key = pattern.column.text.upper()
        before = patterns.get(key)
        both = pattern if before is None else _both(before, pattern)
        if both is None:
            refuse(f"There are two conditions on column {pattern.column}. Write one.", part)
        patterns[key] = both
    return tuple(patterns.values())


def _pattern(part: exp.Expr, refuse: Refuse) -> Pattern:
    match part:
        case exp.Between():
            low, high = part.args["low"], part.args["high"]
            return Between(
                _column(part.this, refuse), _constant(low, refuse), _constant(high, refuse)
            )
        case exp.In() if part.expressions:
            values = tuple(_constant(value, refuse) for value in part.expressions)
            return OneOf(_column(part.this, refuse), values)
        case exp.EQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            left, right = part.this, part.expression
            kind: type[exp.Expr] = type(part)
            if isinstance(right, exp.Column) and not isinstance(left, exp.Column):
                left, right, kind = right, left, FLIPPED[kind]
            return _comparison(_column(left, refuse), _constant(right, refuse), kind)
    refuse(f"This condition cannot be a pattern of a punctuation. {FORMS}", part)


def _comparison(column: Name, value: exp.Expr, kind: type[exp.Expr]) -> Pattern:
    if kind is exp.EQ:
        return OneOf(column, (value,))
    if kind in (exp.LT, exp.LTE):
        return Between(column, None, value, high_open=kind is exp.LT)
    return Between(column, value, None, low_open=kind is exp.GT)


def _both(first: Pattern, second: Pattern) -> Pattern | None:
    match first, second:
        case Between(low=None), Between(high=None):
            return replace(first, low=second.low, low_open=second.low_open)
        case Between(high=None), Between(low=None):
            return replace(first, high=second.high, high_open=second.high_open)
    return None


def _column(tree: exp.Expr, refuse: Refuse) -> Name:
    if not isinstance(tree, exp.Column) or tree.table:
        refuse(f"Expected the name of a column. {FORMS}", tree)
    return Name.of(tree.this)


def _constant(tree: exp.Expr, refuse: Refuse) -> exp.Expr:
    if not all(isinstance(node, CONSTANTS) for node in tree.walk()):
        refuse(f"Expected a constant. {FORMS}", tree)
    return tree.unnest()
