"""The check by definition: exponential, for small queries and as the reference in tests.

A query is *locally totally ordered* if for every stream S its selection orders the attributes of S
and all constants of the query totally. Theorem 5.3: a query is bounded iff all locally totally
ordered queries derived from it by adding filters are; theorems 5.6 and 5.10 decide those.
"""

from __future__ import annotations

from collections.abc import Iterator

from penstock.memory.closure import Closure
from penstock.memory.predicates import Atom, Attribute, Comparison, Element
from penstock.memory.query import Query, Stream
from penstock.memory.references import Extreme, references


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
