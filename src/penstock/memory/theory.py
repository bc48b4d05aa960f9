"""The theory's verdict on a block, in words, and the size of the synopses that would do.

A synopsis of a stream has a bucket for each combination of values of its bounded attributes and,
for each unbounded attribute that is compared, of cases: to equal an integer from the smallest
constant to the largest, to lie below them, or above. Every order of these attributes counts apart.
A bucket holds one row and a count (section 7 of the paper).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import comb

from penstock.algebra import sizes
from penstock.algebra.cardinality import Bound
from penstock.algebra.sizes import Factor, Size
from penstock.memory.blocks import Block
from penstock.memory.check import check_aggregates, check_split
from penstock.memory.query import MAX, MIN, Aggregate, AggregateQuery, Kind, Query
from penstock.memory.report import OperatorVerdict
from penstock.memory.verdict import Failure, Role, Verdict
from penstock.reasoning.closure import Attribute, Closure
from penstock.reasoning.conditions import Split, TooManyPartsError, split
from penstock.reasoning.printing import listed


def verdict_of(
    block: Block, operator: str, parts: tuple[tuple[Aggregate, ...], ...]
) -> OperatorVerdict | None:
    """What the theory says of a block; None where its condition has too many cases.

    `parts` are the aggregates for which the engine keeps a summary of it each, () if it keeps none.
    """
    try:
        cases = split(block.condition)
    except TooManyPartsError:
        return None
    verdict = _verdict(block, cases)
    if verdict.bounded:
        keeps = f"Every row of {_names(block)} that passes the conditions."
        why = "A summary of the rows so far is enough: "
        why += "one row and a count for each case that later rows can tell apart."
        bound = _synopses(block, cases, parts)
        nothing = len(block.streams) == 1 and not cases.parts
        return OperatorVerdict(operator, bound, why, None if parts or nothing else keeps)
    targets = [str(a) for failure in verdict.failures for a in failure.attributes]
    return OperatorVerdict(
        operator,
        None,
        " ".join(dict.fromkeys(reasons(verdict.failures, block))),
        targets=tuple(dict.fromkeys(targets)),
        certain=verdict.certain and block.exact and not block.timed,
    )


def _verdict(block: Block, cases: Split) -> Verdict:
    if block.aggregates is None:
        return check_split(Query(block.streams, frozenset(), block.select, block.distinct), cases)
    found = [
        check_aggregates(AggregateQuery(block.streams, part, block.select, block.aggregates))
        for part in cases.parts
    ]
    failures = tuple(failure for verdict in found for failure in verdict.failures)
    sure = len(cases.parts) == 1 or cases.exact
    certain = sure and any(not verdict.bounded and verdict.certain for verdict in found)
    return Verdict(failures, certain=certain or not failures)


# --- sizes ----------------------------------------------------------------------------------------


def _synopses(block: Block, cases: Split, parts: tuple[tuple[Aggregate, ...], ...]) -> Bound:
    """A summary for each part, and where there are several, their answers side by side."""
    if len(parts) < 2:
        return _synopsis(block, cases)
    size = sizes.NOTHING
    for aggregates in parts:
        size = size.plus(_synopsis(replace(block, aggregates=aggregates), cases).size)
    for part in cases.parts:
        closure = Query(block.streams, part).closure()
        answer = sizes.product([_values(block, closure, a) for a in block.select])
        for _ in range(2 * (len(parts) - 1)):
            size = size.plus(answer)
    return Bound(size, ("domain",))


def _synopsis(block: Block, cases: Split) -> Bound:
    size = sizes.NOTHING
    query = Query(block.streams, frozenset(), block.select, block.distinct)
    if query.joins_itself and block.distinct:
        return Bound(sizes.of(f"rows of a summary of {_names(block)}"), ("domain",))
    for part in cases.parts:
        closure = query.having(*part).closure()
        for stream in block.streams if len(block.streams) > 1 else ():
            for _ in range(max(1, _extremes(block, stream.name))):
                size = size.plus(_buckets(block, closure, stream.name))
        if block.distinct or block.aggregates is not None:
            answer = [_values(block, closure, a) for a in block.select]
            for of in (None, *_all_values(block)):
                more = [] if of is None else [_values(block, closure, of)]
                size = size.plus(sizes.product([*answer, *more]))
            for _ in range(_best_values(block)):
                size = size.plus(sizes.product(answer))
    return Bound(size, ("domain",))


def _extremes(block: Block, stream: str) -> int:
    """How many orders a stream has a best row in, for MIN and MAX."""
    best = [a.of for a in block.aggregates or () if a.function in (MIN, MAX)]
    return sum(of is not None and of.stream == stream for of in best)


def _best_values(block: Block) -> int:
    """How many values of each group are kept beside the answer, to be surpassed."""
    best = [a for a in block.aggregates or () if a.function in (MIN, MAX)]
    return len(best) ** 2


def _all_values(block: Block) -> Iterator[Attribute]:
    """The attributes of which an aggregate needs all values."""
    for aggregate in block.aggregates or ():
        if aggregate.function.kind is Kind.HOLISTIC and aggregate.of is not None:
            yield aggregate.of


def _told_apart(block: Block) -> Iterator[Attribute]:
    """The attributes of which an aggregate needs more than sums."""
    for aggregate in block.aggregates or ():
        needed = aggregate.function.kind is Kind.HOLISTIC or aggregate.function in (MIN, MAX)
        if needed and aggregate.of is not None:
            yield aggregate.of


def _buckets(block: Block, closure: Closure, stream: str) -> Size:
    used = {a for join in closure.joins() for a in join.attributes}
    used |= {*block.select, *(a for a in _told_apart(block) if closure.bounded(a))}
    own = sorted(a for a in used if a.stream == stream)
    bounded = [a for a in own if closure.bounded(a)]
    others = [a for a in own if a not in bounded]
    factors = [_values(block, closure, a) for a in bounded]
    factors += [Factor(f"cases of {a}", _places(closure)) for a in others]
    if len(others) > 1:
        factors.append(Factor(f"orders of {listed(map(str, others))}", _weak_orders(len(others))))
    if not factors:
        factors.append(Factor(f"rows of {stream}", 1))
    return sizes.product(factors)


def _weak_orders(count: int) -> int:
    """The orders of so many attributes, ties included."""
    return sum(comb(count, k) * _weak_orders(count - k) for k in range(1, count + 1)) or 1


def _values(block: Block, closure: Closure, attribute: Attribute) -> Factor:
    low, high = closure.values(attribute)
    number = int(high - low) + 1 + (attribute in block.nullable)
    return Factor(f"values of {attribute}", number)


def _places(closure: Closure) -> int:
    """Each constant, each integer between two of them, and what lies beyond."""
    constants = closure.constants or (0,)
    return constants[-1] - constants[0] + 3


# --- words ----------------------------------------------------------------------------------------


def reasons(failures: tuple[Failure, ...], block: Block) -> Iterator[str]:
    """Why a query needs unbounded memory, for someone who writes SQL; one reason for each join."""
    together: dict[tuple[object, ...], list[Failure]] = {}
    for failure in failures:
        counted = failure.role is Role.COUNTED
        by = frozenset(() if counted else (reference.join for reference in failure.references))
        cause = (failure.role, failure.equality, failure.aggregate, by)
        together.setdefault(cause, []).append(failure)
    for found in together.values():
        attributes = dict.fromkeys(str(a) for failure in found for a in failure.attributes)
        streams = dict.fromkeys(failure.stream for failure in found)
        references = [reference for failure in found for reference in failure.references]
        joins = listed(dict.fromkeys(str(reference.join) for reference in references))
        it = "it" if len(attributes) == 1 else "them"
        yield _in_words(found[0], listed(attributes), it, joins, listed(streams), block)


def _in_words(failure: Failure, of: str, it: str, joins: str, streams: str, block: Block) -> str:
    match failure.role:
        case Role.PROJECTED if block.distinct:
            return (
                f"Each different value of {of} must be remembered, to be answered once, and "
                f"nothing bounds {it}."
            )
        case Role.PROJECTED:
            return (
                f"The answer shows {of}: what later rows may join must be kept with it, and "
                f"nothing bounds {it}."
            )
        case Role.EQUATED:
            return (
                f"{failure.equality} joins rows however far apart they come: every value of {of} "
                f"must be kept, and nothing bounds {it}."
            )
        case Role.COUNTED:
            return (
                f"How many rows a later one meets ({joins}) depends on every value of {of}, "
                f"and nothing bounds {it}."
            )
        case Role.COMPARED:
            return (
                f"{joins} order the rows of {streams} in two ways: no row is the best in both, so "
                "all of them must be kept."
            )
        case Role.GROUPED:
            return f"Each value of {of} is a group of its own, and nothing bounds {it}."
        case Role.AGGREGATED if failure.references:
            return (
                f"A later row asks for {failure.aggregate} of those that it joins ({joins}): any "
                "of them can be the one, so all of them must be kept."
            )
    return f"{failure.aggregate} needs all values of {of}, and nothing bounds {it}."


def _names(block: Block) -> str:
    return " and ".join(dict.fromkeys(stream.source for stream in block.streams))
