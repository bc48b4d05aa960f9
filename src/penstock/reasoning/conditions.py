"""Predicates of plans as conditions on attributes, and these as disjoint conjunctions.

Values of other domains are integers here, so that one closure serves them all. A discrete ordered
domain maps to the integers in order: dates to days, times to microseconds, decimals of a scale to
their smallest unit. A finite domain bounds its attributes: booleans. Strings and doubles can be
compared for equality only, as between any two of them in order there are others; each constant gets
a number of its own. What does not fit is None: an opaque condition, which bounds nothing.

A split of a condition is *exact* if it is made by filters: a filter needs no memory, so a query is
bounded iff each of its parts is, and as the parts are disjoint no duplicate is gained or lost. A
split by joins (`s.a <> t.b`) shows boundedness only: the parts may need memory where the whole does
not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, TypeAlias

import pyarrow as pa

from penstock.algebra.expr import MIRRORED, Call, Column, Expr, Literal
from penstock.reasoning.closure import Atom, Attribute, Closure, Comparison, Element, compare

MOST_PARTS = 256


@dataclass(frozen=True, slots=True)
class Every:
    """All of the conditions hold."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """One of the conditions holds, or several unless they are `exclusive`."""

    conditions: tuple[Condition, ...]
    exclusive: bool = False


Condition: TypeAlias = Atom | Every | Some


def not_equal(left: Element, right: Element) -> Some:
    return Some((compare(left, "<", right), compare(left, ">", right)), exclusive=True)


def between(element: Element, low: Element, high: Element) -> Every:
    return Every((compare(low, "<=", element), compare(element, "<=", high)))


def negation(condition: Condition) -> Condition:
    match condition:
        case Every(conditions):
            return Some(tuple(negation(part) for part in conditions))
        case Some(conditions):
            return Every(tuple(negation(part) for part in conditions))
        case Atom(left, Comparison.EQUAL, right):
            return not_equal(left, right)
        case Atom(left, Comparison.LESS, right):
            return compare(right, "<=", left)
        case Atom(left, _, right):
            return compare(right, "<", left)


def attributes_of(condition: Condition) -> Iterator[Attribute]:
    """The attributes that a condition is about."""
    for atom in _atoms(condition):
        yield from atom.attributes


def is_conjunction(condition: Condition | None) -> bool:
    """Whether a condition is known, and no choice between others."""
    match condition:
        case Every(parts):
            return all(map(is_conjunction, parts))
    return isinstance(condition, Atom)


def excludes_null(condition: Condition, attribute: Attribute) -> bool:
    """Whether a condition is never met where an attribute is NULL."""
    match condition:
        case Atom():
            return attribute in condition.attributes
        case Every(parts):
            return any(excludes_null(part, attribute) for part in parts)
        case Some(parts):
            return all(excludes_null(part, attribute) for part in parts)


class TooManyPartsError(ValueError):
    """A condition has more disjoint parts than can be judged one by one."""


@dataclass(frozen=True, slots=True)
class Split:
    """The satisfiable parts of a condition, no two of which hold together."""

    parts: tuple[frozenset[Atom], ...]
    exact: bool


def split(condition: Condition) -> Split:
    parts: list[frozenset[Atom]] = []
    for part in _parts((condition,), frozenset()):
        parts.append(part)
        if len(parts) > MOST_PARTS:
            raise TooManyPartsError(f"the condition splits into more than {MOST_PARTS} parts")
    return Split(tuple(parts), exact=not any(atom.is_join for atom in _choices(condition)))


def _parts(todo: tuple[Condition, ...], known: frozenset[Atom]) -> Iterator[frozenset[Atom]]:
    """The parts of `known` and all of `todo`, pruned as soon as they contradict."""
    if not todo:
        yield known
        return
    first, rest = todo[0], todo[1:]
    match first:
        case Atom():
            if Closure(known | {first}).satisfiable:
                yield from _parts(rest, known | {first})
        case Every(conditions):
            yield from _parts((*conditions, *rest), known)
        case Some(conditions, exclusive):
            for number, option in enumerate(conditions):
                before = () if exclusive else conditions[:number]
                yield from _parts((*map(negation, before), option, *rest), known)


def _choices(condition: Condition) -> Iterator[Atom]:
    """The atoms that a condition chooses between."""
    match condition:
        case Every(conditions):
            for part in conditions:
                yield from _choices(part)
        case Some(conditions):
            for part in conditions:
                yield from _atoms(part)


def _atoms(condition: Condition) -> Iterator[Atom]:
    match condition:
        case Atom():
            yield condition
        case Every(conditions) | Some(conditions):
            for part in conditions:
                yield from _atoms(part)


NEVER = Some(())
ALWAYS = Every(())


class UnorderedError(ValueError):
    """A comparison that the domain has no discrete order for."""


@dataclass(frozen=True, slots=True)
class Integers:
    """Integers stand for themselves."""

    ordered: ClassVar[bool] = True

    def rank(self, value: object) -> Fraction:
        """Where a value lies among the integers that stand for the domain."""
        if isinstance(value, bool) or not isinstance(value, int | Decimal | Fraction):
            raise TypeError(f"{value!r} is not an integer")
        return Fraction(value)


@dataclass(frozen=True, slots=True)
class Decimals:
    """Decimals of one scale: as many units of the last digit."""

    scale: int
    ordered: ClassVar[bool] = True

    def rank(self, value: object) -> Fraction:
        return Integers().rank(value) * 10**self.scale


@dataclass(frozen=True, slots=True)
class Dates:
    """Dates are counted by days."""

    ordered: ClassVar[bool] = True

    def rank(self, value: object) -> Fraction:
        if not isinstance(value, date):
            raise TypeError(f"{value!r} is not a date")
        return Fraction(value.toordinal())


@dataclass(frozen=True, slots=True)
class Times:
    """Timestamps, in microseconds since 1970; those without a zone are in UTC."""

    ordered: ClassVar[bool] = True

    def rank(self, value: object) -> Fraction:
        if not isinstance(value, datetime):
            raise TypeError(f"{value!r} is not a time")
        since = value.replace(tzinfo=value.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        return Fraction(since // timedelta(microseconds=1))


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Finitely many values, in their order."""

    values: tuple[Hashable, ...]
    ordered: ClassVar[bool] = True

    def rank(self, value: object) -> Fraction:
        if value not in self.values:
            known = ", ".join(map(repr, self.values))
            raise ValueError(f"{value!r} is not one of {known}")
        return Fraction(self.values.index(value))

    def members(self, attribute: Attribute) -> Condition:
        return between(attribute, 0, len(self.values) - 1)


BOOLEANS = Enumeration((False, True))


@dataclass(slots=True)
class Strings:
    """Strings under equality, IN and `<>`. One object per query: it numbers the constants met."""

    numbers: dict[str, int] = field(default_factory=dict)
    ordered: ClassVar[bool] = False

    def rank(self, value: object) -> Fraction:
        if not isinstance(value, str):
            raise TypeError(f"{value!r} is not a string")
        return Fraction(self.numbers.setdefault(value, len(self.numbers)))


Domain: TypeAlias = Integers | Decimals | Dates | Times | Enumeration | Strings


def compared(domain: Domain, left: Attribute, operator: str, right: object) -> Condition:
    """`left operator right`, where right is a value of the domain or an attribute over it too.

    A value between two members of the domain, as 1.005 is at scale 2, is rounded the way that
    keeps the meaning.
    """
    if operator not in ("=", "<>") and not domain.ordered:
        raise UnorderedError(f"{left} {operator} ...: strings are known to be equal or not only")
    if isinstance(right, Attribute):
        return not_equal(left, right) if operator == "<>" else compare(left, operator, right)
    rank = domain.rank(right)
    if rank.denominator == 1:
        whole = int(rank)
        return not_equal(left, whole) if operator == "<>" else compare(left, operator, whole)
    if operator in ("=", "<>"):
        return NEVER if operator == "=" else ALWAYS
    if operator in ("<", "<="):
        return compare(left, "<=", math.floor(rank))
    return compare(left, ">=", math.ceil(rank))


AttributeOf: TypeAlias = Callable[[Expr], Attribute | None]


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
            return BOOLEANS
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
                return ALWAYS
            case Literal(value, _) if not value:
                return NEVER
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
            case Call(operator, (left, right)) if operator in MIRRORED:
                return self._compared(operator, left, right, attribute_of)
            case Column(_, kind) if pa.types.is_boolean(kind):
                return self._compared("=", predicate, Literal(True, kind), attribute_of)
        return None

    def _compared(
        self, operator: str, left: Expr, right: Expr, attribute_of: AttributeOf
    ) -> Condition | None:
        if isinstance(left, Literal):
            left, operator, right = right, MIRRORED[operator], left
        own = attribute_of(left)
        domain = self.domain(left.type)
        if own is None or domain is None or not (domain.ordered or operator in ("=", "<>")):
            return None
        if not isinstance(right, Literal):
            other = attribute_of(right)
            same = _comparable(left.type) == _comparable(right.type)
            return compared(domain, own, operator, other) if other and same else None
        if right.value is None:
            return NEVER
        value = right.value
        if isinstance(value, float):
            value = repr(value + 0.0)  # -0.0 equals 0.0
        elif isinstance(value, Decimal) and pa.types.is_integer(left.type):
            value = Fraction(value)
        try:
            return compared(domain, own, operator, value)
        except (TypeError, ValueError):
            return None


def _comparable(kind: pa.DataType) -> object:
    return "integer" if pa.types.is_integer(kind) else kind


def uncast(value: Expr) -> Expr:
    """Without casts between integers, which change no value."""
    match value:
        case Call("cast", (inner,), kind) if pa.types.is_integer(kind):
            return uncast(inner) if pa.types.is_integer(inner.type) else value
    return value
