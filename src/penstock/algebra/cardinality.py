"""How many records of a plan are there at one time, at most: what operators answer in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from penstock.algebra import sizes
from penstock.algebra.operators.node import Node
from penstock.algebra.sizes import Size


@dataclass(frozen=True)
class Bound:
    """So much, and what bounds it: `window`, `row window`, `time`, `key`, `domain`, ..."""

    size: Size
    by: tuple[str, ...]

    def times(self, other: Bound) -> Bound:
        return Bound(self.size.times(other.size), _each(self.by, other.by))

    def plus(self, other: Bound) -> Bound:
        return Bound(self.size.plus(other.size), _each(self.by, other.by))


NONE = Bound(sizes.NOTHING, ())
ONE = Bound(sizes.ONE, ())


def total(bounds: Iterable[Bound]) -> Bound:
    """All together."""
    found = NONE
    for bound in bounds:
        found = found.plus(bound)
    return found


def least(bounds: Iterable[Bound | None]) -> Bound | None:
    """The best of those that there are."""
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return None
    chosen = sizes.least([bound.size for bound in known])
    return next(bound for bound in known if bound.size is chosen)


def all_of(bounds: Iterable[Bound | None]) -> Bound | None:
    """All together, where each of them is bounded."""
    listed = list(bounds)
    known = [bound for bound in listed if bound is not None]
    return total(known) if len(known) == len(listed) else None


def rows_of_each(rows: int, bound: Bound | None, by: str) -> Bound | None:
    """So many rows of each of these."""
    return None if bound is None else Bound(sizes.of("rows", rows), (by,)).times(bound)


class Cardinalities(Protocol):
    """What operators ask: of their inputs, and of what sources are declared to be."""

    def of(self, plan: Node) -> Bound | None:
        """How many records of a plan are there at a time."""

    def values(self, plan: Node, names: tuple[str, ...]) -> Bound | None:
        """How many different values columns have."""

    def partitions(self, plan: Node, names: tuple[str, ...]) -> Bound | None:
        """How many parts the records of a plan have, by the values of columns."""

    def keys(self, plan: Node, key: tuple[str, ...]) -> Bound:
        """As many as there are keys, where nothing says how many that is."""

    def arriving(self, plan: Node, length: int, by: str) -> Bound:
        """The records that come within a length of time."""


def _each(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*a, *b)))
