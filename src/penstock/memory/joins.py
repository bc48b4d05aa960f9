"""Which inequality joins need memory, decided without enumerating orders.

MaxRef(S) of a stream S holds the unbounded attributes `a` of S in a non-redundant inequality join
`b < a` of P+, and MinRef(S) those in one of the form `a < b`. Of the tuples that agree on the
bounded attributes, one with the largest `a` joins whatever the others join, if `a` is all that
matters: the name says which tuple is worth keeping.

Figure 2, step 4 of the paper looks for a violation of C3 in every query induced by at most four
attributes. The same violations have a closed form. Take n tuples s1..sn of a stream S and n
combinations r1..rn of tuples of the other streams, such that every si joins ri. Written as bounds
on differences these are n copies of P, and that a join fails between neighbouring copies is one
more bound. Such a system has integer solutions for every n iff no cycle of it gets shorter with n.
The cycles there are give these conditions:

`x < y` *grows* (`x1 < y1 <= x2 < y2 <= ...` goes on forever) unless x is upper-bounded and y is
lower-bounded: then all but boundedly many pairs are decided by constants.

Two growing joins of one stream S *conflict* if S can hold arbitrarily many tuples, each with a
combination that joins it and no other: what one join lets pass, the other stops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from penstock.reasoning.closure import Atom, Attribute, Closure, Comparison


class Extreme(StrEnum):
    """Which end of its values matters: the largest or the smallest."""

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


def _attributes(closure: Closure, stream: str, keep: Extreme) -> frozenset[Attribute]:
    return frozenset(
        reference.attribute
        for reference in references(closure)
        if reference.attribute.stream == stream and reference.keep is keep
    )


def max_ref(closure: Closure, stream: str) -> frozenset[Attribute]:
    return _attributes(closure, stream, Extreme.MAX)


def min_ref(closure: Closure, stream: str) -> frozenset[Attribute]:
    return _attributes(closure, stream, Extreme.MIN)


def grows(closure: Closure, join: Atom) -> bool:
    x, y = join.left, join.right
    assert isinstance(x, Attribute)
    assert isinstance(y, Attribute)
    return not (closure.upper_bounded(x) and closure.lower_bounded(y))


def growing_joins(closure: Closure) -> tuple[Atom, ...]:
    """C3 for duplicate-preserving queries: there is a violation iff one of these exists."""
    return tuple(join for join in inequality_joins(closure) if grows(closure, join))


def conflict(closure: Closure, first: Reference, second: Reference) -> bool:
    """Whether two references by growing joins to one stream cannot both keep their best tuple.

    Both keep the largest (or both the smallest) value: one attribute must be able to rise while
    the other falls, so the partner of the one is not held below the other.
    One keeps the largest and one the smallest: both rise, or both fall, so neither the two own
    attributes nor the two partners may tie a part that cannot rise to a part that cannot fall.
    """
    if first.keep is second.keep:
        return not (_holds(closure, first, second) and _holds(closure, second, first))
    high, low = (first, second) if first.keep is Extreme.MAX else (second, first)
    a, b = high.attribute, high.partner  # b < a
    c, d = low.attribute, low.partner  # c < d
    own = closure.lower_bounded(a) and closure.upper_bounded(c) and closure.related(b, d)
    other = closure.lower_bounded(d) and closure.upper_bounded(b) and closure.related(c, a)
    return not (own or other)


def _holds(closure: Closure, by: Reference, other: Reference) -> bool:
    """Whether the partner in one join also limits the attribute in the other."""
    if by.keep is Extreme.MAX:
        return closure.related(by.partner, other.attribute)
    return closure.related(other.attribute, by.partner)


def conflicts(closure: Closure) -> Iterator[tuple[Reference, Reference]]:
    """C3 for duplicate-eliminating queries: there is a violation iff one of these exists."""
    by_stream: dict[str, list[Reference]] = {}
    for join in growing_joins(closure):
        for reference in sides(join):
            by_stream.setdefault(reference.attribute.stream, []).append(reference)
    for found in by_stream.values():
        for first, second in combinations(found, 2):
            if conflict(closure, first, second):
                yield first, second
