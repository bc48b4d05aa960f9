"""The check for queries with grouping and aggregation (theorems 8.3 to 8.6, amended).

The answer is kept, so every grouping attribute must be bounded. Several aggregates need what each
of them needs. Of the standard ones,
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

from penstock.memory.check import check, compared, unbounded
from penstock.memory.closure import Closure
from penstock.memory.predicates import Atom, Attribute, Comparison
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
from penstock.memory.verdict import Failure, Role, Verdict


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
