"""What follows from conditions: columns that are equal, ranges of values, what is never NULL.

Columns that are equal form classes, and one of a class stands for all. What is compared with
constants has a range. A condition follows from others where ranges are in one another, where it is
one of them, or where it is made of such by AND and OR.
Law: a condition that is said to follow is TRUE of every record of which all the others are. What is
not known to follow may follow nevertheless.

Expressions have a canonical form, in which those that mean the same are more often equal.
Law: an expression and its form have the same value for every record, NULL and errors included.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from penstock.algebra.expr import (
    CHECKED,
    COMPARISONS,
    CONVERSIONS,
    MIRRORED,
    Call,
    Column,
    Expr,
    Literal,
    columns,
    conjuncts,
    with_columns,
)
from penstock.algebra.times import moved_by

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


FROM, UNTIL = "from now", "until now"
"""Conditions on the current time: it has reached a time, it has not reached it yet."""

_COMMUTATIVE = ("=", "<>", "<=>", "+", "*")
_NEGATED = {"=": "<>", "<>": "=", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def canonical(expr: Expr) -> Expr:
    if not isinstance(expr, Call):
        return expr
    args = tuple(map(canonical, expr.args))
    match expr.function, args:
        case ("and" | "or") as word, _:
            return _flat(word, args)
        case "not", (Call("not", (inner,)),):
            return inner
        case "not", (Call(comparison, sides),) if comparison in _NEGATED:
            return canonical(Call(_NEGATED[comparison], sides, expr.type))
        case (">" | ">=") as function, (left, right):
            return Call(MIRRORED[function], (right, left), expr.type)
        case function, (_, _) if function in _COMMUTATIVE:
            return Call(function, tuple(sorted(args, key=_order)), expr.type)
    return Call(expr.function, args, expr.type)


def is_exact(kind: pa.DataType) -> bool:
    """Whether values that are equal are the same: of floats, 0.0 equals -0.0."""
    return not (pa.types.is_floating(kind) or pa.types.is_nested(kind))


def _flat(word: str, args: tuple[Expr, ...]) -> Expr:
    parts: dict[Expr, None] = {}
    for arg in args:
        match arg:
            case Call(function, inner) if function == word:
                parts |= dict.fromkeys(inner)
            case _:
                parts[arg] = None
    listed = tuple(sorted(parts, key=_order))
    return listed[0] if len(listed) == 1 else Call(word, listed, pa.bool_())


def _order(expr: Expr) -> tuple[str, str]:
    return str(expr), str(expr.type)


@dataclass(frozen=True)
class Range:
    """Values from `low` to `high`, None where there is no bound, or one of `values`."""

    low: Any = None
    low_open: bool = False
    high: Any = None
    high_open: bool = False
    values: frozenset[Any] | None = None

    def holds(self, value: Any) -> bool:
        if self.values is not None and value not in self.values:
            return False
        above = self.low is None or self.low < value or (self.low == value and not self.low_open)
        below = self.high is None or value < self.high
        return above and (below or (value == self.high and not self.high_open))

    def within(self, other: Range) -> bool:
        """Whether all values of this range are in another."""
        if self.values is not None:
            return all(other.holds(value) for value in self.values if self.holds(value))
        if other.values is not None:
            return self.only is not None and other.holds(self.only)
        return self._above(other) and self._below(other)

    def _above(self, other: Range) -> bool:
        if other.low is None or self.low is None:
            return other.low is None
        if self.low == other.low:
            return self.low_open or not other.low_open
        return bool(self.low > other.low)

    def _below(self, other: Range) -> bool:
        if other.high is None or self.high is None:
            return other.high is None
        if self.high == other.high:
            return self.high_open or not other.high_open
        return bool(self.high < other.high)

    def meet(self, other: Range) -> Range:
        low, low_open = self.low, self.low_open
        if not self._above(other):
            low, low_open = other.low, other.low_open
        high, high_open = self.high, self.high_open
        if not self._below(other):
            high, high_open = other.high, other.high_open
        values = self.values
        if other.values is not None:
            values = other.values if values is None else values & other.values
        return Range(low, low_open, high, high_open, values)

    @property
    def only(self) -> Any:
        """The one value there is, None where there may be several."""
        if self.values is not None:
            return next(iter(self.values)) if len(self.values) == 1 else None
        is_point = self.low is not None and self.low == self.high
        return self.low if is_point and not (self.low_open or self.high_open) else None


class Conjunction:
    """Conditions that are met, and what follows from them: equal columns, constants, ranges."""

    def __init__(self, conditions: Iterable[Expr]) -> None:
        self._conditions = [p for c in conditions for p in conjuncts(canonical(c))]
        self._classes: dict[str, str] = {}
        self._strict: dict[str, str] = {}
        for condition in self._conditions:
            match condition:
                case Call("=" | "<=>" as operator, (Column(a, kind), Column(b))) if is_exact(kind):
                    _unite(self._classes, a, b)
                    if operator == "=":
                        _unite(self._strict, a, b)
        self._known = {self.represent(condition) for condition in self._conditions}
        self._ranges: dict[Expr, Range] = {}
        for condition in self._known:
            found = range_of(condition)
            if found is not None:
                self._ranges[found[0]] = self._ranges.get(found[0], Range()).meet(found[1])

    def represent(self, expr: Expr) -> Expr:
        """The expression in its form, each column replaced by the one that stands for its class."""

        def representative(column: Column) -> Column:
            if not is_exact(column.type):
                return column
            return Column(_root(self._classes, column.name), column.type)

        return canonical(with_columns(expr, representative))

    def constant(self, expr: Expr) -> Literal | None:
        """The one value that an expression can have."""
        found = self._ranges.get(self.represent(expr))
        if found is None or found.only is None or not is_exact(expr.type):
            return None
        return Literal(found.only, expr.type)

    def implies(self, condition: Expr) -> bool:
        form = canonical(condition)
        match form:
            case Literal(value):
                return value is True
            case Call("and", args):
                return all(map(self.implies, args))
            case Call("=" | "<=>" as operator, (Column(a, kind), Column(b))) if is_exact(kind):
                if _root(self._strict, a) == _root(self._strict, b):
                    return a != b or self._is_compared(form.args[0])
                if operator == "<=>" and _root(self._classes, a) == _root(self._classes, b):
                    return True
                return self._same_constants(*form.args)
        form = self.represent(form)
        if form in self._known or self._in_range(form):
            return True
        match form:
            case Call("or", args):
                return any(map(self.implies, args))
            case Call("not", (Call("is null", (Column() as column,)),)):
                return self._is_compared(column)
            case Call("from now" | "until now" as word, (time,)):
                return self._is_now(word, time)
        return False

    def _same_constants(self, a: Expr, b: Expr) -> bool:
        left, right = self.constant(a), self.constant(b)
        return left is not None and left == right

    def _in_range(self, condition: Expr) -> bool:
        wanted = range_of(condition)
        if wanted is None:
            return False
        found = self._ranges.get(wanted[0])
        return found is not None and found.within(wanted[1])

    def _is_compared(self, column: Expr) -> bool:
        """Whether a condition is there that a NULL in the column does not meet."""
        form = self.represent(column)
        nulls = columns(form)
        return any(columns(c) & nulls and never_true(c, nulls) for c in self._known)

    def _is_now(self, word: str, time: Expr) -> bool:
        """Whether it is later than another time that is known to have come, or the reverse."""
        wanted, by = moved_by(time)
        for condition in self._known:
            match condition:
                case Call(other, (known,)) if other == word:
                    base, offset = moved_by(known)
                    later = offset >= by if word == FROM else offset <= by
                    if base == wanted and later:
                        return True
        return False


def range_of(condition: Expr) -> tuple[Expr, Range] | None:
    """What a comparison with a constant says of an expression."""
    match condition:
        case Call("=" | "<=>", (value, Literal() as constant)) | Call(
            "=" | "<=>", (Literal() as constant, value)
        ):
            if _is_comparable(value, constant):
                return value, Range(constant.value, False, constant.value, False)
        case Call("<" | "<=" as operator, (Literal() as low, value)):
            if _is_comparable(value, low):
                return value, Range(low=low.value, low_open=operator == "<")
        case Call("<" | "<=" as operator, (value, Literal() as high)):
            if _is_comparable(value, high):
                return value, Range(high=high.value, high_open=operator == "<")
        case Call("or", args):
            return _one_of(args)
    return None


def _one_of(alternatives: tuple[Expr, ...]) -> tuple[Expr, Range] | None:
    """Alternatives that all say which value one expression has."""
    found = [range_of(arg) for arg in alternatives]
    known = [each for each in found if each is not None and each[1].only is not None]
    if len(known) < len(found) or len({value for value, _ in known}) > 1:
        return None
    return known[0][0], Range(values=frozenset(r.only for _, r in known))


def _is_comparable(value: Expr, constant: Literal) -> bool:
    """Whether constants of the type are ordered here as they are in SQL."""
    known = constant.value is not None and constant.value == constant.value
    plain = value.type == constant.type and not pa.types.is_nested(value.type)
    return bool(known and plain) and not isinstance(value, Literal)


def _root(classes: dict[str, str], name: str) -> str:
    while name in classes:
        name = classes[name]
    return name


def _unite(classes: dict[str, str], a: str, b: str) -> None:
    low, high = sorted((_root(classes, a), _root(classes, b)))
    if low != high:
        classes[high] = low
