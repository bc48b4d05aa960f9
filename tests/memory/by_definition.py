"""The check by definition: exponential, for small queries, as the reference."""

from __future__ import annotations

from itertools import combinations

from penstock.memory.query import Query, Stream
from penstock.memory.self_joins import bounded_order, c1, c2, derived_orders
from penstock.reasoning.closure import Attribute, Closure


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
