"""The paper on bounded memory to the letter, where the check goes about it in another way."""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations

from penstock.memory.closure import Closure
from penstock.memory.enumeration import bounded_order, c1, c2, derived_orders
from penstock.memory.predicates import Atom, Attribute, Comparison, Element
from penstock.memory.query import Query, Stream
from penstock.memory.references import Extreme, references


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


def without_redundancy(closure: Closure) -> frozenset[Atom]:
    """The equalities and the inequalities of P+ that are not redundant: they imply P+."""
    return frozenset(
        atom
        for atom in closure.atoms()
        if atom.comparison is Comparison.EQUAL or not closure.redundant(atom)
    )


def totally_orders(closure: Closure, elements: Collection[Element]) -> bool:
    """Of every two elements, P+ says which is smaller or that they are equal."""
    return all(
        closure.less(x, y) or closure.less(y, x) or closure.equal(x, y)
        for x, y in combinations(elements, 2)
    )
