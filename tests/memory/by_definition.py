"""The check by definition: exponential, for small queries, as the reference.

Theorem 5.3: a query is bounded iff all locally totally ordered queries derived from it by adding
filters are; theorems 5.6 and 5.10 decide those.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

from penstock.memory.joins import Extreme, Reference, inequality_joins, sides
from penstock.memory.query import Query, Stream
from penstock.memory.self_joins import derived_orders
from penstock.reasoning.closure import Attribute, Closure, Comparison, Element


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
        numbers = [
            len(classes(closure, {r.attribute for r in own if r.keep is keep})) for keep in Extreme
        ]
        if sum(numbers) > 1:
            return False
    return True


def bounded_order(closure: Closure, query: Query) -> bool:
    """Theorems 5.6 and 5.10, for a closure that totally orders each stream of the query."""
    if len(query.streams) == 1 and not query.distinct:
        return True
    return c1(closure, query) and c2(closure) and c3(closure, query)


def bounded_by_enumeration(query: Query) -> bool:
    """Theorem 5.3."""
    return all(bounded_order(closure, query) for closure in derived_orders(query))


def bounded_by_figure_2(query: Query) -> bool:
    """The algorithm of figure 2 to the letter: step 4 enumerates sets of at most 4 attributes."""
    closure = query.closure()
    if not closure.satisfiable or (len(query.streams) == 1 and not query.distinct):
        return True
    if not (c1(closure, query) and c2(closure)):
        return False
    limits = {*closure.constants[:1], *closure.constants[-1:]}
    return all(
        bounded_by_enumeration(_induced(query, closure, chosen, limits))
        for size in range(1, 5)
        for chosen in combinations(query.attributes, size)
    )


def _induced(
    query: Query, closure: Closure, chosen: tuple[Attribute, ...], limits: set[int]
) -> Query:
    streams = tuple(
        Stream(stream.name, own)
        for stream in query.streams
        if (own := tuple(a.name for a in chosen if a.stream == stream.name))
    )
    return Query(streams, closure.induced({*chosen, *limits}), (), query.distinct)


def classes(closure: Closure, elements: Iterable[Element]) -> tuple[frozenset[Element], ...]:
    """The equivalence classes of elements: those equal in P+."""
    found: list[set[Element]] = []
    for element in elements:
        for group in found:
            if closure.equal(element, next(iter(group))):
                group.add(element)
                break
        else:
            found.append({element})
    return tuple(frozenset(group) for group in found)
