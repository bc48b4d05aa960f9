"""MaxRef and MinRef: the unbounded attributes whose order decides joins.

For a stream S, MaxRef(S) holds the unbounded attributes `a` of S in a non-redundant inequality
join `b < a` of P+, and MinRef(S) those in one of the form `a < b`. Of the tuples that agree on the
bounded attributes, one with the largest `a` joins whatever the others join, if `a` is all that
matters: the name says which tuple is worth keeping.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from penstock.memory.closure import Closure
from penstock.memory.predicates import Atom, Attribute, Comparison


class Extreme(StrEnum):
    MAX = "max"
    MIN = "min"


@dataclass(frozen=True, slots=True)
class Reference:
    """An attribute of a stream in an inequality join, whose `keep` value is worth keeping."""

    attribute: Attribute
    keep: Extreme
    join: Atom

    @property
    def partner(self) -> Attribute:
        """The attribute on the join's other side."""
        other = self.join.left if self.keep is Extreme.MAX else self.join.right
        assert isinstance(other, Attribute)
        return other


def sides(join: Atom) -> Iterator[Reference]:
    """A join as seen by its two streams."""
    for attribute, keep in ((join.left, Extreme.MIN), (join.right, Extreme.MAX)):
        assert isinstance(attribute, Attribute)
        yield Reference(attribute, keep, join)


def inequality_joins(closure: Closure) -> Iterator[Atom]:
    """The inequality joins of P+ that are not redundant."""
    for join in closure.joins():
        if join.comparison is not Comparison.EQUAL and not closure.redundant(join):
            yield join


def references(closure: Closure) -> tuple[Reference, ...]:
    """Every appearance of an unbounded attribute in a non-redundant inequality join."""
    return tuple(
        reference
        for join in inequality_joins(closure)
        for reference in sides(join)
        if not closure.bounded(reference.attribute)
    )
