"""Conditions beyond conjunctions, split into disjoint conjunctions.

A split is *exact* if it is made by filters: a filter needs no memory, so a query is bounded iff
each of its parts is, and as the parts are disjoint no duplicate is gained or lost. A split by joins
(`s.a <> t.b`) shows boundedness only: the parts may need memory where the whole does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from penstock.memory.closure import Closure
from penstock.memory.predicates import Atom, Attribute, Comparison, Element, compare

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


def one_of(element: Element, values: Iterable[int]) -> Some:
    """IN. Of no values at all, it is false."""
    options = tuple(compare(element, "=", value) for value in sorted(set(values)))
    return Some(options, exclusive=True)


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
    match condition:
        case Atom():
            yield from condition.attributes
        case Every(parts) | Some(parts):
            for part in parts:
                yield from attributes_of(part)


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
