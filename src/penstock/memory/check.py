"""The polynomial check whether a query can be evaluated in bounded memory (figure 2 of the paper).

Let P be the selection, and n the number of streams.
1. An unsatisfiable P, or n = 1 with duplicates preserved: bounded.
2. An unbounded attribute is projected: unbounded (C1).
3. An unbounded attribute is in an equality join: unbounded (C2).
4. A growing inequality join where duplicates are preserved, or two conflicting ones of one stream
   where they are eliminated: unbounded (C3). See joins.py.
5. Otherwise bounded.

With grouping and aggregation (theorems 8.3 to 8.6, amended), the answer is kept, so every grouping
attribute must be bounded. Several aggregates need what each of them needs. Of the standard ones,
- SUM, COUNT and AVG are bounded iff the reduced characteristic query is, duplicates preserved;
- MEDIAN and COUNT(DISTINCT) moreover need their attribute bounded;
- MIN and MAX need the reduced characteristic query, duplicates eliminated. The largest `a` is one
  more order to keep the best tuple in, as if a threshold were joined by `threshold < a`: no growing
  join of the same stream may conflict with it.
An aggregate of an attribute that is constant in every group does not see duplicates if it returns
that constant (AVG, MEDIAN), nor does a SUM of zeros.
Any other function is bounded if the characteristic query is: nothing is known otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from penstock.memory.joins import conflicts, growing_joins, sides
from penstock.memory.query import (
    AVG,
    MAX,
    MEDIAN,
    MIN,
    SUM,
    Aggregate,
    AggregateQuery,
    Kind,
    Query,
    Stream,
)
from penstock.memory.self_joins import bounded_order, derived_orders, fold
from penstock.memory.verdict import BOUNDED, Failure, Role, Verdict
from penstock.memory.witness import distinguishes, witness
from penstock.reasoning.closure import Atom, Attribute, Closure, Comparison
from penstock.reasoning.conditions import Split

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


def check_aggregates(query: AggregateQuery) -> Verdict:
    closure = query.closure()
    if not closure.satisfiable:
        return Verdict()
    grouped = tuple(
        Failure(Role.GROUPED, attribute.stream, (attribute,), query.where)
        for attribute in unbounded(closure, query.group_by)
    )
    verdicts = [_check_one(query, closure, aggregate) for aggregate in query.aggregates]
    if not verdicts:
        verdicts = [_without_groups(query, distinct=True)]
    found = (*grouped, *(failure for verdict in verdicts for failure in verdict.failures))
    sure = bool(grouped) or any(not v.bounded and v.certain for v in verdicts)
    return Verdict(tuple(dict.fromkeys(found)), certain=sure or not found)


def _check_one(query: AggregateQuery, closure: Closure, aggregate: Aggregate) -> Verdict:
    function = aggregate.function
    reduced = _without_groups(query, distinct=not _sees_duplicates(query, closure, aggregate))
    own = list(_own_failures(query, closure, aggregate))
    found = tuple(replace(f, aggregate=aggregate) for f in (*reduced.failures, *own))
    certain = function.standard and (reduced.certain or bool(own))
    return Verdict(found, certain=certain or not found)


def _without_groups(query: AggregateQuery, *, distinct: bool) -> Verdict:
    """The verdict on the joins of the reduced characteristic query; groups are reported apart."""
    return check(replace(query.reduced(distinct=distinct), select=()))


def _sees_duplicates(query: AggregateQuery, closure: Closure, aggregate: Aggregate) -> bool:
    function, of = aggregate.function, aggregate.of
    if not function.duplicate_sensitive or of is None:
        return function.duplicate_sensitive
    low, high = closure.values(of)
    if function in (AVG, MEDIAN):
        return low < high and not any(closure.equal(of, group) for group in query.group_by)
    return not (function == SUM and low == high == 0)


def _own_failures(
    query: AggregateQuery, closure: Closure, aggregate: Aggregate
) -> Iterator[Failure]:
    """What the aggregated attribute itself fails."""
    function, of = aggregate.function, aggregate.of
    if of is None or closure.bounded(of):
        return
    if function in (MIN, MAX):
        yield from _extreme_failures(query, of, aggregate)
        return
    pushed_down = function.standard or len(query.streams) == 1
    if function.kind is Kind.HOLISTIC or not pushed_down:
        yield Failure(Role.AGGREGATED, of.stream, (of,), query.where)


def _extreme_failures(
    query: AggregateQuery, of: Attribute, aggregate: Aggregate
) -> Iterator[Failure]:
    threshold = Stream(str(aggregate), ("threshold",))
    beyond = threshold["threshold"]
    left, right = (beyond, of) if aggregate.function == MAX else (of, beyond)
    virtual = Atom(left, Comparison.LESS, right)
    tested = Query((*query.streams, threshold), query.where | {virtual}, (), distinct=True)
    for failure in compared(tested, tested.closure()):
        real = tuple(r for r in failure.references if beyond not in r.join.attributes)
        if len(real) == 1:
            attributes = tuple(dict.fromkeys((of, real[0].attribute)))
            yield Failure(Role.AGGREGATED, of.stream, attributes, query.where, real)
