"""Values of other domains as integers, so that one theory serves them all.

An attribute is bounded if the condition leaves it finitely many values. A discrete ordered domain
maps to the integers in order: dates to days, times to microseconds, decimals of a scale to their
smallest unit. A finite domain also bounds its attributes: booleans, enumerations. Strings can be
compared for equality only, as between any two strings in order there are others; each constant gets
a number of its own.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import ClassVar, TypeAlias

from penstock.memory.conditions import Condition, Every, Some, between, not_equal, one_of
from penstock.memory.predicates import Attribute, compare

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

    def members(self, attribute: Attribute) -> Condition:
        return ALWAYS


@dataclass(frozen=True, slots=True)
class Decimals:
    """Decimals of one scale: as many units of the last digit."""

    scale: int
    ordered: ClassVar[bool] = True

    def rank(self, value: object) -> Fraction:
        return Integers().rank(value) * 10**self.scale

    def members(self, attribute: Attribute) -> Condition:
        return ALWAYS


@dataclass(frozen=True, slots=True)
class Dates:
    """Dates are counted by days."""

    ordered: ClassVar[bool] = True

    def rank(self, value: object) -> Fraction:
        if not isinstance(value, date):
            raise TypeError(f"{value!r} is not a date")
        return Fraction(value.toordinal())

    def members(self, attribute: Attribute) -> Condition:
        return ALWAYS


@dataclass(frozen=True, slots=True)
class Times:
    """Timestamps, in microseconds since 1970; those without a zone are in UTC."""

    ordered: ClassVar[bool] = True

    def rank(self, value: object) -> Fraction:
        if not isinstance(value, datetime):
            raise TypeError(f"{value!r} is not a time")
        since = value.replace(tzinfo=value.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
        return Fraction(since // timedelta(microseconds=1))

    def members(self, attribute: Attribute) -> Condition:
        return ALWAYS


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

    def members(self, attribute: Attribute) -> Condition:
        return ALWAYS


Domain: TypeAlias = Integers | Decimals | Dates | Times | Enumeration | Strings


def condition(domain: Domain, left: Attribute, operator: str, right: object) -> Condition:
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


def is_in(domain: Domain, left: Attribute, values: tuple[object, ...]) -> Condition:
    ranks = [domain.rank(value) for value in values]
    return one_of(left, (int(rank) for rank in ranks if rank.denominator == 1))
