"""The polynomial check whether a query can be evaluated in bounded memory (figure 2 of the paper).

Let P be the selection, and n the number of streams.
1. An unsatisfiable P, or n = 1 with duplicates preserved: bounded.
2. An unbounded attribute is projected: unbounded (C1).
3. An unbounded attribute is in an equality join: unbounded (C2).
4. A growing inequality join where duplicates are preserved, or two conflicting ones of one stream
   where they are eliminated: unbounded (C3). See growth.py.
5. Otherwise bounded.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from penstock.memory.closure import Closure
from penstock.memory.conditions import Split
from penstock.memory.enumeration import bounded_order, derived_orders
from penstock.memory.folding import fold
from penstock.memory.growth import conflicts, growing_joins
from penstock.memory.predicates import Attribute, Comparison
from penstock.memory.query import Query
from penstock.memory.references import sides
from penstock.memory.verdict import BOUNDED, Failure, Role, Verdict
from penstock.memory.witness import distinguishes, witness

MOST_ORDERS = 200  # of a self-join, tried before giving up
MOST_WITNESSES = 2  # of a self-join, tried before giving up
MOST_OCCURRENCES = 3  # in a self-join whose witnesses are tried


def check(query: Query) -> Verdict:
    """The verdict on a query; exact unless it eliminates duplicates and joins a stream to itself.

    Such a self-join is bounded if it is without its redundant occurrences, or if all locally
    totally ordered queries derived from it are without theirs. It is unbounded if a witness tells
    all its prefixes apart, which hold more tuples than there are occurrences, and undecided
    otherwise.
    """
    if not (query.distinct and query.joins_itself):
        return Verdict(tuple(failures(query, query.closure())))
    folded, closure = fold(query)
    found = tuple(failures(folded, closure))
    if not found or not folded.joins_itself:
        return Verdict(found)
    if _bounded_in_every_order(folded):
        return BOUNDED
    return Verdict(found, certain=any(_proven(folded, f) for f in found[:MOST_WITNESSES]))


def check_split(query: Query, split: Split) -> Verdict:
    """The verdict on a query whose selection also has a condition that was split into parts."""
    verdicts = [check(query.having(*part)) for part in split.parts]
    found = tuple(failure for verdict in verdicts for failure in verdict.failures)
    sure = any(not verdict.bounded and verdict.certain for verdict in verdicts)
    exact = split.exact and not query.joins_itself
    return Verdict(found, certain=not found or (sure and (exact or len(verdicts) == 1)))


def failures(query: Query, closure: Closure) -> Iterator[Failure]:
    """Every condition that a query violates, its streams taken to be different ones."""
    if not closure.satisfiable or (len(query.streams) == 1 and not query.distinct):
        return
    yield from projected(query, closure)
    yield from equated(query, closure)
    yield from compared(query, closure) if query.distinct else counted(query, closure)


def unbounded(closure: Closure, attributes: tuple[Attribute, ...]) -> Iterator[Attribute]:
    return (a for a in dict.fromkeys(attributes) if not closure.bounded(a))


def projected(query: Query, closure: Closure) -> Iterator[Failure]:
    """C1."""
    for attribute in unbounded(closure, query.select):
        yield Failure(Role.PROJECTED, attribute.stream, (attribute,), query.where)


def equated(query: Query, closure: Closure) -> Iterator[Failure]:
    """C2."""
    for join in closure.joins():
        if join.comparison is Comparison.EQUAL:
            for attribute in unbounded(closure, join.attributes):
                stream = attribute.stream
                yield Failure(Role.EQUATED, stream, (attribute,), query.where, equality=join)


def counted(query: Query, closure: Closure) -> Iterator[Failure]:
    """C3 where duplicates are preserved."""
    for join in growing_joins(closure):
        for reference in sides(join):
            own = reference.attribute
            yield Failure(Role.COUNTED, own.stream, (own,), query.where, (reference,))


def compared(query: Query, closure: Closure) -> Iterator[Failure]:
    """C3 where duplicates are eliminated."""
    for pair in conflicts(closure):
        own = tuple(dict.fromkeys(reference.attribute for reference in pair))
        yield Failure(Role.COMPARED, own[0].stream, own, query.where, pair)


def _bounded_in_every_order(query: Query) -> bool:
    orders = list(islice(derived_orders(query), MOST_ORDERS + 1))
    return len(orders) <= MOST_ORDERS and all(
        bounded_order(closure, folded)
        for folded, closure in (fold(replace(query, where=o.atoms()), o) for o in orders)
    )


def _proven(query: Query, failure: Failure) -> bool:
    if len(query.streams) > MOST_OCCURRENCES:
        return False
    found = witness(query, failure, 2 * len(query.streams) + 2)
    return found is not None and distinguishes(query, found)
