"""Summaries: what to keep of streams, in place of their rows, for a join of bounded memory.

A row t of a stream meets those combinations r of rows of the others that satisfy the selection P.
As P is closed under implication, they are those whose attributes x lie within
`low(x|t) = max of t.a - bound(a, x)` and `high(x|t) = min of t.a + bound(x, a)`, over the joined
attributes a of t (see closure.py). So of a row nothing matters but its projected attributes and
these *limits*:

- Where duplicates count, rows of equal limits are one row with a weight. No join of a bounded query
  grows (growth.py), so an attribute beyond all constants can be replaced by the next value beyond
  them: it is compared with smaller ones above, and larger ones below. These are the buckets of
  section 7.1.
- Where they do not count, a row is not needed if another with the same projected and equated
  attributes has limits that are nowhere narrower. Of limits that rise together, the highest of the
  lowest attribute is left: the max-of-min representative of section 7.2, or the min-of-max. Where
  both high and low limits can widen for ever, a partner beyond all constants at one end is at that
  end only, so that rows are compared twice, with the limits of the one end cut off at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from penstock.algebra import plan as p
from penstock.algebra.aggregates import VARIANCES, AggregateCall
from penstock.algebra.expr import Expr, is_simple
from penstock.memory.check import failures
from penstock.memory.closure import Closure
from penstock.memory.folding import fold
from penstock.memory.joined import Joined, joined
from penstock.memory.predicates import Attribute, Element
from penstock.memory.products import NoProductError, Product, places, product_of
from penstock.memory.query import Query

MOST_CASES = 1_000_000  # combinations of values that a summary may tell apart

SUMMED = ("count", "sum", "avg", *VARIANCES)


@dataclass(frozen=True)
class Limit:
    """The least of `column + offset`, `end` at most; or the greatest of them, `end` at least."""

    terms: tuple[tuple[str, int], ...]
    end: int | None
    high: bool


@dataclass(frozen=True)
class Ranking:
    """Which rows of a stream are enough: of those alike in `key`, those of the widest limits.

    `ends` are where limits are cut off, the low and the high ones in turn; None: never.
    """

    key: tuple[str, ...]
    limits: tuple[Limit, ...]
    ends: tuple[int, int] | None = None


@dataclass(frozen=True)
class Summary:
    """A join of summaries: `inputs` give the rows of each stream with what can matter of them.

    `rankings` are for joins whose duplicates do not count. The columns `summed`, by input, do not
    tell rows apart, but are added up. `outputs` are over the columns of the inputs.
    """

    inputs: tuple[p.Node, ...]
    conditions: tuple[Expr, ...]
    outputs: tuple[tuple[str, Expr], ...]
    rankings: tuple[Ranking, ...] | None = None
    summed: tuple[tuple[str, ...], ...] = ()


def summary_of(plan: p.Node) -> Summary | None:
    """How a plan can be answered from summaries of the streams that it joins, if it can."""
    try:
        match plan:
            case p.Distinct(source, None):
                return _summary(product_of(source, as_set=True), source.schema.names, True)
            case p.Join() | p.Map() | p.Filter():
                return _summary(product_of(plan), plan.schema.names, False)
    except NoProductError:
        pass
    return None


def summary_of_groups(plan: p.Aggregate) -> Summary | None:
    """How the rows that a plan groups can be, as far as its functions see them."""
    if plan.until is not None:
        return None
    try:
        if not any(map(_counts_copies, plan.calls)):
            names = _read_by(plan.keys, plan.calls)
            return _summary(product_of(plan.input, as_set=True), names, True)
        product = product_of(plan.input)
        sums = [call for call in plan.calls if _is_sum(call, product)]
        needed = _read_by(plan.keys, [call for call in plan.calls if call not in sums])
        if not set(_columns_of(sums)) & set(needed):
            return _summary(product, needed, False, tuple(_columns_of(sums)))
        return _summary(product, _read_by(plan.keys, plan.calls), False)
    except NoProductError:
        return None


def is_summarized(plan: p.Node) -> bool:
    """Whether a plan, or the rows that it groups, is answered from summaries."""
    return _any_summary(plan) is not None


def described_summary(plan: p.Node) -> str | None:
    """How a plan is answered from summaries, in words."""
    summary = _any_summary(plan)
    if summary is None:
        return None
    kept = []
    for i, source in enumerate(summary.inputs):
        scan = next(node.name for node in source.walk() if isinstance(node, p.Scan))
        kept.append(f"{scan}: {_described(summary, i)}")
    return f"from summaries, {'; '.join(kept)}"


def _described(summary: Summary, i: int) -> str:
    def own(names: Iterable[str]) -> str:
        return ", ".join(name.partition(".")[2] for name in names)

    if summary.rankings is None:
        summed = summary.summed[i]
        told = [n for n in summary.inputs[i].schema.names if n not in summed]
        sums = "".join(f" and a sum of {name.rpartition('.')[2]}" for name in summed)
        return f"a count{sums} for each {own(told) if told != [f'{i}.there'] else 'row'}"
    ranking = summary.rankings[i]
    per = f" for each {own(ranking.key)}" if ranking.key else ""
    if not ranking.limits:
        return f"a row{per}"
    words = []
    for limit in ranking.limits:
        names = own(name for name, _ in limit.terms)
        several = len(limit.terms) > 1
        if limit.high:
            words.append(f"largest {f'least of {names}' if several else names}")
        else:
            words.append(f"smallest {f'greatest of {names}' if several else names}")
    return f"the {' and '.join(dict.fromkeys(words))}{per}"


def _any_summary(plan: p.Node) -> Summary | None:
    return summary_of_groups(plan) if isinstance(plan, p.Aggregate) else summary_of(plan)


def _counts_copies(call: AggregateCall) -> bool:
    return not (call.distinct or call.function in ("min", "max", "any_value", "collect_set"))


def _is_sum(call: AggregateCall, product: Product) -> bool:
    """Whether a function needs no more than sums over the rows of one stream."""
    read = {places(product.columns[column]) for column in call.columns}
    alone = len(read) == 1 and all(len(found) == 1 for found in read)
    return call.function in SUMMED and not call.distinct and alone


def _columns_of(calls: Iterable[AggregateCall]) -> Iterator[str]:
    yield from dict.fromkeys(column for call in calls for column in call.columns)


def _read_by(keys: tuple[str, ...], calls: Sequence[AggregateCall]) -> list[str]:
    return list(dict.fromkeys((*keys, *_columns_of(calls))))


def _summary(
    product: Product, names: Sequence[str], distinct: bool, summed: tuple[str, ...] = ()
) -> Summary | None:
    if len(product.scans) < 2:
        return None
    found = joined(product, names)
    if found is None:
        return None
    query = Query(found.streams, frozenset(), found.select, distinct)
    if distinct:
        folded, closure = fold(query, found.closure)
        if folded is not query:
            query, found = folded, found.folded(folded, closure)
    if any(failures(query, found.closure)) or _cases(query, found) > MOST_CASES:
        return None
    inputs, own = [], []
    for stream in query.streams:
        growing = [a for a in found.kept(stream.name) if not found.closure.bounded(a)]
        node, added = found.input(stream.name, () if distinct else growing, summed)
        inputs.append(node)
        own.append(added)
    rankings = tuple(_ranking(found, s.name) for s in query.streams) if distinct else None
    outputs = tuple((name, found.outputs[name]) for name in names)
    if summed and not all(is_simple(value) for _, value in outputs):
        return None  # only Spark could make them, and it knows no sums
    return Summary(tuple(inputs), found.conditions, outputs, rankings, tuple(own))


def _cases(query: Query, found: Joined) -> float:
    """How many combinations of values can be told apart; what is equal counts once."""
    closure = found.closure
    count = 1.0
    seen: list[Attribute] = []
    for a in dict.fromkeys((*query.select, *sorted(found.compared))):
        if any(closure.equal(a, other) for other in seen):
            continue
        seen.append(a)
        if closure.bounded(a):
            low, high = closure.values(a)
            count *= high - low + 1
        elif not query.distinct:
            least, greatest = found.windows[a]
            count *= greatest - least + 3
    return count


# --- limits ---------------------------------------------------------------------------------------


def _ranking(found: Joined, stream: str) -> Ranking:
    kept = found.kept(stream)
    key = [a for a in kept if a in found.select or a in found.equated]
    own = [a for a in kept if a in found.compared and a not in found.equated]
    limits: dict[Limit, None] = {}
    for x in found.closure.attributes:
        if x.stream != stream:
            for limit in (_limit(found.closure, x, own, high) for high in (True, False)):
                if limit is not None:
                    limits[limit] = None
    widening = {limit.high for limit in limits if limit.end is None}
    margin = len(found.closure.attributes) + 2
    windows = [found.windows[a] for a in own]
    ends = None
    if widening == {True, False}:
        ends = min(w[0] for w in windows) - margin, max(w[1] for w in windows) + margin
    return Ranking(tuple(map(str, key)), tuple(limits), ends)


def _limit(closure: Closure, x: Attribute, own: list[Attribute], high: bool) -> Limit | None:
    """How far x can go beside a row, where the row's attributes say more than constants do."""

    def most(a: Element, b: Element) -> float:
        return closure.bound(a, b) if high else closure.bound(b, a)

    terms = {str(a): most(x, a) for a in own if most(x, a) < most(x, 0) + most(0, a)}
    if not terms:
        return None
    sign = 1 if high else -1
    least = min(sign * int(offset) for offset in terms.values())
    end = None if most(x, 0) == math.inf else sign * int(most(x, 0)) - least
    offsets = ((a, sign * int(offset) - least) for a, offset in terms.items())
    return Limit(tuple(offsets), end, high)
