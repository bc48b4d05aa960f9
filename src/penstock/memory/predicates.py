"""Atomic predicates between attributes of streams and integer constants.

An *element* is an attribute or a constant. An *atom* compares two elements with one of
`<, <=, =, >=, >`. It is a *filter* if its attributes belong to one stream, else a *join*.
Atoms are kept with the smaller side on the left, so only `<`, `<=` and `=` are ever stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias


@dataclass(frozen=True, slots=True, order=True)
class Attribute:
    """A column of a stream."""

    stream: str
    name: str

    def __str__(self) -> str:
        return f"{self.stream}.{self.name}"


Element: TypeAlias = Attribute | int


class Comparison(StrEnum):
    """The comparisons of the theory; all others are put in terms of these."""

    LESS = "<"
    AT_MOST = "<="
    EQUAL = "="


@dataclass(frozen=True, slots=True)
class Atom:
    """A comparison between two attributes, or of an attribute with an integer."""

    left: Element
    comparison: Comparison
    right: Element

    def __post_init__(self) -> None:
        if self.comparison is Comparison.EQUAL and _rank(self.right) < _rank(self.left):
            left, right = self.right, self.left
            object.__setattr__(self, "left", left)
            object.__setattr__(self, "right", right)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        return tuple(side for side in (self.left, self.right) if isinstance(side, Attribute))

    @property
    def constants(self) -> tuple[int, ...]:
        return tuple(side for side in (self.left, self.right) if isinstance(side, int))

    @property
    def streams(self) -> frozenset[str]:
        return frozenset(attribute.stream for attribute in self.attributes)

    @property
    def is_join(self) -> bool:
        return len(self.streams) == 2

    def holds(self, left: int, right: int) -> bool:
        match self.comparison:
            case Comparison.LESS:
                return left < right
            case Comparison.AT_MOST:
                return left <= right
            case Comparison.EQUAL:
                return left == right

    def __str__(self) -> str:
        return f"{self.left} {self.comparison} {self.right}"


def _rank(element: Element) -> tuple[int, str, str, int]:
    """Attributes before constants, each in their own order: one spelling for every equality."""
    if isinstance(element, Attribute):
        return (0, element.stream, element.name, 0)
    return (1, "", "", element)


_WRITTEN = {
    "<": (Comparison.LESS, False),
    "<=": (Comparison.AT_MOST, False),
    "=": (Comparison.EQUAL, False),
    ">=": (Comparison.AT_MOST, True),
    ">": (Comparison.LESS, True),
}


def compare(left: Element, operator: str, right: Element) -> Atom:
    """The atom `left operator right`, where the operator is one of `<, <=, =, >=, >`."""
    if operator not in _WRITTEN:
        raise ValueError(f"{operator!r} is not one of {', '.join(_WRITTEN)}")
    comparison, swapped = _WRITTEN[operator]
    return Atom(right, comparison, left) if swapped else Atom(left, comparison, right)
