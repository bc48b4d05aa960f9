"""Stream prefixes that no evaluation can forget, for a query of unbounded memory.

A witness of size n has n items (arrivals) and some probes (later arrivals). After different subsets
of n/2 items, some probe shows different output, so an evaluation must have been in different
states: there are exponentially many subsets, and so linearly many bits to keep.

All witnesses are made one way. Item i is a tuple si of the stream at fault; with probe i, a tuple
ri of every other stream, it satisfies the selection. These are n copies of the selection, and a few
bounds between neighbouring copies:
- projected, equated: an attribute of the stream rises (or falls) from copy to copy;
- counted: the join fails between s(i+1) and ri, so probe i meets no item after i: of two subsets
  that first differ in item i, it meets one more tuple in one of them;
- compared: the first join fails as above and the second between si and r(i+1), so that probe i
  meets item i alone;
- aggregated: the join fails as above while the attribute of the MAX rises: probe i shows item i,
  if it was there, and a smaller maximum otherwise.
Where a stream is joined to itself, items also meet each other, and the items are probes as well:
such a witness is a candidate, and `distinguishes` is the judge.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median_low
from typing import TypeAlias

from penstock.memory.joins import Extreme, Reference
from penstock.memory.query import (
    AVG,
    COUNT_DISTINCT,
    MAX,
    MEDIAN,
    MIN,
    SUM,
    Aggregate,
    AggregateQuery,
    Query,
)
from penstock.memory.verdict import Failure, Role
from penstock.reasoning.closure import Atom, Attribute, Comparison, Element


@dataclass(frozen=True, slots=True)
class Arrival:
    """A row of a stream, in the order of its columns."""

    source: str
    row: tuple[int, ...]


Binding = dict[Attribute, int]


def matches(query: Query | AggregateQuery, arrived: Iterable[Arrival]) -> list[Binding]:
    """Every combination of a row per occurrence that the selection holds of."""
    rows: dict[str, list[tuple[int, ...]]] = {}
    for arrival in arrived:
        rows.setdefault(arrival.source, []).append(arrival.row)
    found: list[tuple[int, ...]] = [()]
    known: list[Attribute] = []
    todo = set(query.where)
    for stream in query.streams:
        known += stream.attributes
        place = {attribute: i for i, attribute in enumerate(known)}
        ready = [atom for atom in todo if place.keys() >= {*atom.attributes}]
        todo.difference_update(ready)
        found = [before + row for before in found for row in rows.get(stream.source, ())]
        for atom in ready:
            test = _test(atom, place)
            found = [values for values in found if test(values)]
    return [dict(zip(known, values, strict=True)) for values in found]


_COMPARED = {
    Comparison.LESS: operator.lt,
    Comparison.AT_MOST: operator.le,
    Comparison.EQUAL: operator.eq,
}


def _test(atom: Atom, place: Mapping[Attribute, int]) -> Callable[[tuple[int, ...]], bool]:
    """An atom as a function of the values of attributes, each in its place."""
    holds = _COMPARED[atom.comparison]
    match atom.left, atom.right:
        case Attribute() as x, Attribute() as y:
            i, j = place[x], place[y]
            return lambda values: bool(holds(values[i], values[j]))
        case Attribute() as x, constant:
            i = place[x]
            return lambda values: bool(holds(values[i], constant))
        case constant, Attribute() as y:
            j = place[y]
            return lambda values: bool(holds(constant, values[j]))
    return lambda _: bool(holds(atom.left, atom.right))


def answer(query: Query | AggregateQuery, arrived: Iterable[Arrival]) -> Counter[object]:
    """The bag of rows that a query answers after some arrivals."""
    found = matches(query, arrived)
    if isinstance(query, Query):
        rows = Counter[object](tuple(match[a] for a in query.select) for match in found)
        return Counter(set(rows)) if query.distinct else rows
    groups: dict[tuple[int, ...], list[Binding]] = {}
    for match in found:
        groups.setdefault(tuple(match[a] for a in query.group_by), []).append(match)
    return Counter(
        (*key, *(_aggregate(aggregate, group) for aggregate in query.aggregates))
        for key, group in groups.items()
    )


def _aggregate(aggregate: Aggregate, group: Sequence[Binding]) -> float:
    if aggregate.of is None:
        return len(group)
    values = [match[aggregate.of] for match in group]
    if aggregate.function == SUM:
        return sum(values)
    if aggregate.function == AVG:
        return sum(values) / len(values)
    if aggregate.function == MIN:
        return min(values)
    if aggregate.function == MAX:
        return max(values)
    if aggregate.function == MEDIAN:
        return median_low(values)
    if aggregate.function == COUNT_DISTINCT:
        return len(set(values))
    return len(values)


def seen(
    query: Query | AggregateQuery,
    before: Sequence[Arrival],
    after: Sequence[Arrival],
    shown: Counter[object] | None = None,
) -> Counter[object]:
    """What a reader of the output is shown by later arrivals.

    A select-project-join query streams its new rows; an aggregate query shows its whole answer.
    `shown` is the answer before, where it is known.
    """
    whole = answer(query, [*before, *after])
    if isinstance(query, AggregateQuery):
        return whole
    return whole - (answer(query, before) if shown is None else shown)


Variable: TypeAlias = tuple[int, Attribute] | None  # an attribute in a copy; None is zero
Bound: TypeAlias = tuple[Variable, Variable, int]  # the first is at most the second plus the third

SHARED = -1  # the copy of the tuples that all items meet
FREE = 1_000_000  # where the values of attributes begin that the selection does not mention


@dataclass(frozen=True, slots=True)
class Witness:
    """Prefixes to tell apart, and for each the arrivals that show the difference."""

    items: tuple[tuple[Arrival, ...], ...]
    probes: tuple[tuple[Arrival, ...], ...]


def witness(query: Query | AggregateQuery, failure: Failure, size: int) -> Witness | None:
    """A witness of a size for one of the failures of a query's verdict.

    None where the bounds have no solution, as can be for a failure that is not the only one.
    """
    if failure.role is Role.AGGREGATED and not failure.references:
        return _with_shared_partners(query, failure, size)
    own, others = failure.stream, [s.name for s in query.streams if s.name != failure.stream]
    values = solve(list(_system(query, failure, size)))
    if values is None:
        return None
    items = [_rows(query, values, copy, [own]) for copy in range(size)]
    probes = [_rows(query, values, copy, others) for copy in range(size)]
    both = [(*item, *probe) for item, probe in zip(items, probes, strict=True)]
    if failure.role is Role.GROUPED:
        return Witness(tuple(both), ((),))
    if not others:
        return Witness(tuple(items), tuple(items))
    if len({stream.source for stream in query.streams}) < len(query.streams):
        return Witness(tuple(items), (*probes, *items, *both))
    return Witness(tuple(items), tuple(probes))


def _with_shared_partners(
    query: Query | AggregateQuery, failure: Failure, size: int
) -> Witness | None:
    """For aggregates that need all values: the items rise, and all meet the same tuples.

    COUNT(DISTINCT) tells by staying the same that it has seen an item before. MEDIAN is pushed to
    every rank by repeating an item below all others, or above.
    """
    own, others = failure.stream, [s.name for s in query.streams if s.name != failure.stream]
    copies = size + 2
    values = solve(list(_system(query, failure, copies, own)))
    if values is None:
        return None
    shared = _rows(query, values, SHARED, others)
    rows = [_rows(query, values, copy, [own]) for copy in range(copies)]
    items, outer = rows[1:-1], (rows[0], rows[-1])
    if failure.aggregate is not None and failure.aggregate.function == COUNT_DISTINCT:
        return Witness(tuple(items), tuple((*shared, *item) for item in items))
    pushes = ((*shared, *(push * times)) for push in outer for times in range(size + 1))
    return Witness(tuple(items), tuple(pushes))


def _copy(where: Iterable[Atom], copy: int, own: str | None = None) -> Iterator[Bound]:
    """The selection in one copy, where the other streams than `own`, if given, are shared."""

    def variable(element: Element) -> tuple[Variable, int]:
        if isinstance(element, int):
            return None, element
        return (copy if own in (None, element.stream) else SHARED, element), 0

    for atom in where:
        (x, left), (y, right) = variable(atom.left), variable(atom.right)
        yield x, y, right - left - (atom.comparison is Comparison.LESS)
        if atom.comparison is Comparison.EQUAL:
            yield y, x, left - right


def _system(
    query: Query | AggregateQuery, failure: Failure, copies: int, own: str | None = None
) -> Iterator[Bound]:
    """The copies, and the bounds between neighbours."""
    rises = _rises(query, failure)
    for copy in range(copies):
        yield from _copy(failure.where, copy, own)
        if copy + 1 == copies:
            return
        if failure.references:
            yield _fails(failure.references[0], own=copy + 1, other=copy)
        if failure.role is Role.COMPARED:
            yield _fails(failure.references[1], own=copy, other=copy + 1)
        elif failure.role is not Role.COUNTED:
            low, high = (copy, copy + 1) if rises else (copy + 1, copy)
            attribute = failure.attributes[0]
            yield (low, attribute), (high, attribute), -1


def _rises(query: Query | AggregateQuery, failure: Failure) -> bool:
    if failure.references and failure.aggregate is not None:
        return failure.aggregate.function == MAX
    return not query.closure().upper_bounded(failure.attributes[0])


def _fails(reference: Reference, own: int, other: int) -> Bound:
    """The join is false of the tuple in copy `own` and its partner in copy `other`."""
    a, b = (own, reference.attribute), (other, reference.partner)
    x, y = (b, a) if reference.keep is Extreme.MAX else (a, b)
    return y, x, 0 if reference.join.comparison is Comparison.LESS else -1


def _rows(
    query: Query | AggregateQuery,
    values: dict[Variable, int],
    copy: int,
    names: Sequence[str],
) -> tuple[Arrival, ...]:
    """The tuples of a copy. Attributes that the selection leaves free get values of their own."""
    attributes = [attribute for stream in query.streams for attribute in stream.attributes]
    free = {a: n for n, a in enumerate(attributes, start=FREE + copy * len(attributes))}
    return tuple(
        Arrival(stream.source, tuple(values.get((copy, a), free[a]) for a in stream.attributes))
        for stream in query.streams
        if stream.name in names
    )


def solve(bounds: Sequence[Bound]) -> dict[Variable, int] | None:
    """Integers within the bounds, if there are any: shortest paths by Bellman and Ford.

    The bounds are relaxed forth and back in turn, so a chain through all copies settles at once.
    """
    values: dict[Variable, int] = dict.fromkeys((v for bound in bounds for v in bound[:2]), 0)
    values.setdefault(None, 0)
    for turn in range(len(values) + 1):
        changed = False
        for x, y, most in bounds if turn % 2 == 0 else reversed(bounds):
            if values[y] + most < values[x]:
                values[x] = values[y] + most
                changed = True
        if not changed:
            zero = values[None]
            return {variable: value - zero for variable, value in values.items()}
    return None


def distinguishes(query: Query | AggregateQuery, tested: Witness) -> bool:
    """Whether any two different halves of the items are told apart by some probe."""
    shown = set()
    for half in combinations(tested.items, len(tested.items) // 2):
        before = [arrival for item in half for arrival in item]
        known = answer(query, before)
        outputs = tuple(
            frozenset(seen(query, before, probe, known).items()) for probe in tested.probes
        )
        if outputs in shown:
            return False
        shown.add(outputs)
    return True
