"""Answers by trying every combination of tuples: slow, and plainly right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median_low

from penstock.memory.predicates import Atom, Attribute, Element
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
    found: list[Binding] = [{}]
    todo = set(query.where)
    for stream in query.streams:
        bound = {*(found[0] if found else ()), *stream.attributes}
        ready = [atom for atom in todo if bound.issuperset(atom.attributes)]
        todo.difference_update(ready)
        found = [
            binding
            for before in found
            for row in rows.get(stream.source, ())
            if _holds(ready, binding := before | dict(zip(stream.attributes, row, strict=True)))
        ]
    return found


def _holds(atoms: Iterable[Atom], binding: Binding) -> bool:
    def value(element: Element) -> int:
        return element if isinstance(element, int) else binding[element]

    return all(atom.holds(value(atom.left), value(atom.right)) for atom in atoms)


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
    query: Query | AggregateQuery, before: Sequence[Arrival], after: Sequence[Arrival]
) -> Counter[object]:
    """What a reader of the output is shown by later arrivals.

    A select-project-join query streams its new rows; an aggregate query shows its whole answer.
    """
    whole = answer(query, [*before, *after])
    return whole if isinstance(query, AggregateQuery) else whole - answer(query, before)
