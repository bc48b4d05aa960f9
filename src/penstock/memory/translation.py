"""Predicates of plans as conditions on attributes, as far as the theory reaches.

Integers, dates, times, decimals and booleans are compared in order; strings and doubles for
equality only. What does not fit is None: an opaque condition, which bounds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

import pyarrow as pa

from penstock.algebra.expr import Call, Column, Expr, Literal
from penstock.memory import domains
from penstock.memory.conditions import Condition, Every, Some, negation
from penstock.memory.domains import Dates, Decimals, Domain, Integers, Strings, Times
from penstock.memory.predicates import Attribute

AttributeOf: TypeAlias = Callable[[Expr], Attribute | None]

_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}


@dataclass
class Translation:
    """One per query: it numbers the strings and doubles that the query names."""

    _strings: Strings = field(default_factory=Strings)

    @property
    def strings(self) -> Mapping[str, int]:
        """The numbers of the strings met so far."""
        return self._strings.numbers

    def domain(self, kind: pa.DataType) -> Domain | None:
        if pa.types.is_integer(kind):
            return Integers()
        if pa.types.is_boolean(kind):
            return domains.BOOLEANS
        if pa.types.is_date(kind):
            return Dates()
        if pa.types.is_timestamp(kind):
            return Times()
        if pa.types.is_decimal(kind):
            return Decimals(kind.scale)
        if pa.types.is_string(kind) or pa.types.is_floating(kind):
            return self._strings
        return None

    def condition(self, predicate: Expr, attribute_of: AttributeOf) -> Condition | None:
        """The condition that a predicate is, or one that it implies; None where none is known."""
        match predicate:
            case Literal(True, _):
                return domains.ALWAYS
            case Literal(value, _) if not value:
                return domains.NEVER
            case Call("and", args):
                parts = [self.condition(arg, attribute_of) for arg in args]
                return Every(tuple(part for part in parts if part is not None))
            case Call("or", args):
                options = [self._exact(arg, attribute_of) for arg in args]
                found = tuple(option for option in options if option is not None)
                return Some(found) if len(found) == len(options) else None
        return self._exact(predicate, attribute_of)

    def _exact(
        self, predicate: Expr, attribute_of: AttributeOf, negated: bool = False
    ) -> Condition | None:
        """The condition that says what a predicate says of rows without NULL, and no less.

        Of rows with NULL a comparison is not true, nor is its negation. That NULL equals NULL is
        beyond conditions: `a <=> 5` is `a = 5`, but its negation is true of NULL as well.
        """
        match predicate:
            case Call("and" | "or" as word, args):
                found = [self._exact(arg, attribute_of, negated) for arg in args]
                parts = tuple(part for part in found if part is not None)
                if len(parts) < len(found):
                    return None
                return Every(parts) if word == "and" else Some(parts)
            case Call("not", (inner,)):
                inside = self._exact(inner, attribute_of, not negated)
                return None if inside is None else negation(inside)
            case Call("<=>", (left, right)):
                constants = [side for side in (left, right) if isinstance(side, Literal)]
                if negated or not any(side.value is not None for side in constants):
                    return None
                return self._compared("=", left, right, attribute_of)
            case Call(operator, (left, right)) if operator in _TURNED:
                return self._compared(operator, left, right, attribute_of)
            case Column(_, kind) if pa.types.is_boolean(kind):
                return self._compared("=", predicate, Literal(True, kind), attribute_of)
        return None

    def _compared(
        self, operator: str, left: Expr, right: Expr, attribute_of: AttributeOf
    ) -> Condition | None:
        if isinstance(left, Literal):
            left, operator, right = right, _TURNED[operator], left
        own = attribute_of(left)
        domain = self.domain(left.type)
        if own is None or domain is None:
            return None
        if not domain.ordered and operator not in ("=", "<>"):
            return None
        if not isinstance(right, Literal):
            other = attribute_of(right)
            same = _comparable(left.type) == _comparable(right.type)
            return domains.condition(domain, own, operator, other) if other and same else None
        if right.value is None:
            return domains.NEVER
        value = right.value
        if isinstance(value, float):
            value = repr(value + 0.0)  # -0.0 equals 0.0
        elif isinstance(value, Decimal) and pa.types.is_integer(left.type):
            value = Fraction(value)
        try:
            return domains.condition(domain, own, operator, value)
        except (TypeError, ValueError):
            return None


def _comparable(kind: pa.DataType) -> object:
    return "integer" if pa.types.is_integer(kind) else kind
