"""Answers by trying every combination of tuples: slow, and plainly right."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median_low

from penstock.memory.predicates import Atom, Attribute, Comparison
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
