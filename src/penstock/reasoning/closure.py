"""Comparisons of attributes and integers, and what a conjunction of them implies.

An *element* is an attribute or a constant. An *atom* compares two elements with one of
`<, <=, =, >=, >`. It is a *filter* if its attributes belong to one stream, else a *join*.
Atoms are kept with the smaller side on the left, so only `<`, `<=` and `=` are ever stored.

Every atom is a difference bound: `a < b` is `a - b <= -1`, and a constant is a distance from an
extra variable that is always 0. A conjunction is satisfiable iff the graph of these bounds has no
negative cycle, and then the length of the shortest path from `a` to `b` is exactly the largest
value of `a - b`: the graph with integer weights has integer solutions at its bounds. So an atom is
implied iff the shortest path says so, strictness adding up along it: `10 < a < b < 13` implies
`a = 11`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
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


_ZERO = 0
"""The variable that stands for the number."""


class Closure:
    """The transitive closure P+ of a conjunction P, over the elements of P and those added.

    `bound(x, y)` is the largest possible `x - y`, infinite where there is none.
    """

    def __init__(self, atoms: Iterable[Atom], elements: Iterable[Element] = ()) -> None:
        atoms = tuple(atoms)
        known = {side for atom in atoms for side in (atom.left, atom.right)} | set(elements)
        self.attributes = tuple(sorted(e for e in known if isinstance(e, Attribute)))
        self.constants = tuple(sorted(e for e in known if isinstance(e, int)))
        self.elements: tuple[Element, ...] = (*self.attributes, *self.constants)
        self._number = {a: n for n, a in enumerate(self.attributes, start=1)}
        size = len(self.attributes) + 1
        self._bounds: list[list[float]] = [
            [0 if i == j else math.inf for j in range(size)] for i in range(size)
        ]
        self.satisfiable = True
        for atom in atoms:
            self._narrow(atom)
        self._close()

    def _place(self, element: Element) -> tuple[int, int]:
        """The variable that an element is at a fixed distance from, and that distance."""
        if isinstance(element, int):
            return _ZERO, element
        return self._number[element], 0

    def _edges(self, atom: Atom) -> Iterator[tuple[int, int, int]]:
        (i, x), (j, y) = self._place(atom.left), self._place(atom.right)
        yield i, j, y - x - (atom.comparison is Comparison.LESS)
        if atom.comparison is Comparison.EQUAL:
            yield j, i, x - y

    def _narrow(self, atom: Atom) -> None:
        for i, j, weight in self._edges(atom):
            self._bounds[i][j] = min(self._bounds[i][j], weight)

    def _close(self) -> None:
        bounds = self._bounds
        for k, through in enumerate(bounds):
            for row in bounds:
                to = row[k]
                if to < math.inf and row is not through:
                    row[:] = [min(b, to + t) for b, t in zip(row, through, strict=True)]
            if bounds[k][k] < 0:
                break
        self.satisfiable = all(row[i] >= 0 for i, row in enumerate(bounds))

    @staticmethod
    def hull(closures: Collection[Closure]) -> Closure:
        """What all of some closures over the same attributes imply."""
        first, *others = closures
        hull = first.extended(())
        constants = {constant for closure in closures for constant in closure.constants}
        hull.constants = tuple(sorted(constants))
        hull.elements = (*hull.attributes, *hull.constants)
        for other in others:
            for row, more in zip(hull._bounds, other._bounds, strict=True):
                row[:] = map(max, row, more)
        return hull

    def extended(self, atoms: Iterable[Atom]) -> Closure:
        """The closure with more atoms over the same elements."""
        more = object.__new__(Closure)
        more.attributes, more.constants = self.attributes, self.constants
        more.elements, more._number = self.elements, self._number
        more.satisfiable = self.satisfiable
        more._bounds = bounds = [row[:] for row in self._bounds]
        for atom in atoms:
            for i, j, weight in more._edges(atom):
                if bounds[j][i] + weight < 0:
                    more.satisfiable = False
                    return more
                if weight < bounds[i][j]:
                    after = bounds[j][:]
                    for row in bounds:
                        to = row[i] + weight
                        if to < math.inf:
                            row[:] = [min(b, to + t) for b, t in zip(row, after, strict=True)]
        return more

    def bound(self, x: Element, y: Element) -> float:
        if isinstance(x, Attribute) and isinstance(y, Attribute):
            return self._bounds[self._number[x]][self._number[y]]
        (i, offset), (j, other) = self._place(x), self._place(y)
        return self._bounds[i][j] + offset - other

    def less(self, x: Element, y: Element) -> bool:
        return self.bound(x, y) < 0

    def at_most(self, x: Element, y: Element) -> bool:
        return self.bound(x, y) <= 0

    def equal(self, x: Element, y: Element) -> bool:
        return self.bound(x, y) <= 0 and self.bound(y, x) <= 0

    def implies(self, atom: Atom) -> bool:
        match atom.comparison:
            case Comparison.LESS:
                return self.less(atom.left, atom.right)
            case Comparison.AT_MOST:
                return self.at_most(atom.left, atom.right)
            case Comparison.EQUAL:
                return self.equal(atom.left, atom.right)

    def strongest(self, x: Element, y: Element) -> Atom | None:
        """The strongest atom implied between two elements, if any."""
        if self.equal(x, y):
            return Atom(x, Comparison.EQUAL, y)
        for left, right in ((x, y), (y, x)):
            if self.at_most(left, right):
                strict = self.less(left, right)
                return Atom(left, Comparison.LESS if strict else Comparison.AT_MOST, right)
        return None

    def atoms(self) -> frozenset[Atom]:
        """P+: the strongest implied atom of every two elements, two constants excepted."""
        return self.induced(self.elements)

    def induced(self, elements: Collection[Element]) -> frozenset[Atom]:
        """IND(P, E): the atoms of P+ that involve only the given elements."""
        chosen = [element for element in self.elements if element in elements]
        found = (
            self.strongest(x, y)
            for x, y in combinations(chosen, 2)
            if isinstance(x, Attribute) or isinstance(y, Attribute)
        )
        return frozenset(atom for atom in found if atom is not None)

    def filters(self, stream: str) -> frozenset[Atom]:
        """The atoms of P+ that involve one stream only."""
        own = [a for a in self.attributes if a.stream == stream]
        return self.induced([*own, *self.constants])

    def joins(self) -> Iterator[Atom]:
        """The atoms of P+ between attributes of two streams."""
        for x, y in combinations(self.attributes, 2):
            if x.stream != y.stream and (atom := self.strongest(x, y)) is not None:
                yield atom

    def classes(self) -> tuple[frozenset[Element], ...]:
        """The equivalence classes of the elements: those equal in P+."""
        return self._classes(self.elements)

    def _classes(self, elements: Iterable[Element]) -> tuple[frozenset[Element], ...]:
        found: list[set[Element]] = []
        for element in elements:
            for group in found:
                if self.equal(element, next(iter(group))):
                    group.add(element)
                    break
            else:
                found.append({element})
        return tuple(frozenset(group) for group in found)

    def count_classes(self, elements: Collection[Element]) -> int:
        """|E|eq: into how many equivalence classes a set of elements falls."""
        return len(self._classes(elements))

    def lower_bounded(self, attribute: Attribute) -> bool:
        """P+ holds `k < a`, `k <= a` or `a = k` for a constant k."""
        return self._bounds[_ZERO][self._number[attribute]] < math.inf

    def upper_bounded(self, attribute: Attribute) -> bool:
        """P+ holds `a < k`, `a <= k` or `a = k` for a constant k."""
        return self._bounds[self._number[attribute]][_ZERO] < math.inf

    def bounded(self, attribute: Attribute) -> bool:
        return self.lower_bounded(attribute) and self.upper_bounded(attribute)

    def values(self, attribute: Attribute) -> tuple[float, float]:
        """The smallest and the largest value that an attribute can take."""
        number = self._number[attribute]
        return -self._bounds[_ZERO][number], self._bounds[number][_ZERO]

    def related(self, x: Element, y: Element) -> bool:
        """Whether `x - y` has a largest value: by order, or because constants lie between."""
        return self.bound(x, y) < math.inf

    def redundant(self, atom: Atom) -> bool:
        """Whether an inequality of P+ follows from two others of P+ that lie strictly between.

        `x < y` is redundant if an element e in neither's equivalence class has `x < e < y`, or if
        a constant k has `x = k < y` or `x < k = y`. With `<=` among the atoms, one of the two
        steps may be `<=` for a `<`, and both for a `<=`.
        """
        x, y = atom.left, atom.right
        needed = -1 if atom.comparison is Comparison.LESS else 0
        for e in self.elements:
            below = self.bound(x, e)
            if below > 0 or e in (x, y):
                continue
            above = self.bound(e, y)
            if above > 0 or max(below, -1) + max(above, -1) > needed:
                continue
            if isinstance(e, int) or not (self.equal(x, e) or self.equal(e, y)):
                return True
        return False
