"""Self-joins: occurrences of a stream that a duplicate-eliminating query can do without.

An occurrence j is *redundant* if another occurrence k of the same stream *covers* it: whatever P+
says of an attribute of j, it also says of the same attribute of k, and the attributes of j that are
projected equal those of k. Then a tuple that fits k fits j too, so replacing j by k throughout
leaves the set of answers as it is.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations

from penstock.memory.closure import Closure
from penstock.memory.predicates import Atom, Attribute, Element
from penstock.memory.query import Query, Stream


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
