"""Self-joins: occurrences of a stream to do without, and the ways in which streams can be ordered.

An occurrence j is *redundant* if another occurrence k of the same stream *covers* it: whatever P+
says of an attribute of j, it also says of the same attribute of k, and the attributes of j that are
projected equal those of k. Then a tuple that fits k fits j too, so replacing j by k throughout
leaves the set of answers as it is.

A query is *locally totally ordered* if for every stream S its selection orders the attributes of S
and all constants of the query totally. Theorem 5.3: a query is bounded iff all locally totally
ordered queries derived from it by adding filters are; theorems 5.6 and 5.10 decide those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations

from penstock.memory.joins import Extreme, references
from penstock.memory.query import Query, Stream
from penstock.reasoning.closure import Atom, Attribute, Closure, Comparison, Element


def _renamed(element: Element, old: str, new: str) -> Element:
    if isinstance(element, Attribute) and element.stream == old:
        return Attribute(new, element.name)
    return element


def covers(closure: Closure, query: Query, k: Stream, j: Stream) -> bool:
    if k.source != j.source:
        return False
    said = (
        Atom(_renamed(a.left, j.name, k.name), a.comparison, _renamed(a.right, j.name, k.name))
        for a in closure.atoms()
        if j.name in a.streams
    )
    return all(map(closure.implies, said)) and all(
        closure.equal(attribute, Attribute(k.name, attribute.name))
        for attribute in query.select
        if attribute.stream == j.name
    )


def fold(query: Query, closure: Closure | None = None) -> tuple[Query, Closure]:
    """The query without redundant occurrences, and its closure over the same constants."""
    closure = closure or query.closure()
    for k, j in permutations(query.streams, 2):
        if covers(closure, query, k, j):
            kept = tuple(stream for stream in query.streams if stream != j)
            left = [a for stream in kept for a in stream.attributes]
            select = [_renamed(a, j.name, k.name) for a in query.select]
            folded = replace(
                query,
                streams=kept,
                where=_of_streams(closure, left),
                select=tuple(a for a in select if isinstance(a, Attribute)),
            )
            return fold(folded, Closure(folded.where, [*left, *closure.constants]))
    return query, closure


def _of_streams(closure: Closure, attributes: list[Attribute]) -> frozenset[Atom]:
    return closure.induced({*attributes, *closure.constants})


def derived_orders(query: Query) -> Iterator[Closure]:
    """The closure of every satisfiable locally totally ordered query derived from a query."""
    start = query.closure()
    if start.satisfiable:
        yield from _order(start, list(query.streams), [], list(start.constants))


def _order(
    closure: Closure, streams: list[Stream], todo: list[Attribute], row: list[Element]
) -> Iterator[Closure]:
    """Insert the attributes `todo` of a stream into the ordered row of elements, in all ways."""
    if not todo:
        if not streams:
            yield closure
        else:
            own = list(streams[0].attributes)
            yield from _order(closure, streams[1:], own, list(closure.constants))
        return
    attribute, rest = todo[0], todo[1:]
    for place in range(len(row) + 1):
        between = []
        if place > 0:
            between.append(Atom(row[place - 1], Comparison.LESS, attribute))
        if place < len(row):
            between.append(Atom(attribute, Comparison.LESS, row[place]))
        tried = closure.extended(between)
        if tried.satisfiable:
            yield from _order(tried, streams, rest, [*row[:place], attribute, *row[place:]])
        if place < len(row):
            tried = closure.extended([Atom(attribute, Comparison.EQUAL, row[place])])
            if tried.satisfiable:
                yield from _order(tried, streams, rest, row)


def c1(closure: Closure, query: Query) -> bool:
    """Every projected attribute is bounded."""
    return all(closure.bounded(attribute) for attribute in query.select)


def c2(closure: Closure) -> bool:
    """Both sides of every equality join are bounded."""
    return all(
        closure.bounded(attribute)
        for join in closure.joins()
        if join.comparison is Comparison.EQUAL
        for attribute in join.attributes
    )


def c3(closure: Closure, query: Query) -> bool:
    """Preserving duplicates: MaxRef and MinRef of all streams are empty.

    Eliminating them: of each stream, the two together have at most one equivalence class.
    """
    found = references(closure)
    if not query.distinct:
        return not found
    for stream in query.streams:
        own = [r for r in found if r.attribute.stream == stream.name]
        classes = [
            closure.count_classes({r.attribute for r in own if r.keep is keep}) for keep in Extreme
        ]
        if sum(classes) > 1:
            return False
    return True


def bounded_order(closure: Closure, query: Query) -> bool:
    """Theorems 5.6 and 5.10, for a closure that totally orders each stream of the query."""
    if len(query.streams) == 1 and not query.distinct:
        return True
    return c1(closure, query) and c2(closure) and c3(closure, query)
