"""Summaries: what to keep of streams, in place of their rows, for a join of bounded memory.

- Where duplicates count, rows that meet the same are one row with a weight. No join of a bounded
  query grows (growth.py), so an attribute beyond all constants can be replaced by the next value
  beyond them: it is compared with smaller ones above, and larger ones below. These are the buckets
  of section 7.1. What is only summed is added up in each (section 8.2).
- Where they do not count, a row is not needed if another meets all that it meets: rankings.py.
  MIN and MAX are such a case, of one more join, with a threshold that they are to surpass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from penstock.algebra import plan as p
from penstock.algebra.aggregates import VARIANCES, AggregateCall
from penstock.algebra.expr import Expr, is_simple
from penstock.memory.check import failures
from penstock.memory.folding import fold
from penstock.memory.joined import Joined, joined
from penstock.memory.predicates import Attribute
from penstock.memory.products import NoProductError, Product, places, product_of
from penstock.memory.query import Query
from penstock.memory.rankings import Ranking, best_of, rankings_of

MOST_CASES = 1_000_000  # combinations of values that a summary may tell apart

SUMMED = ("count", "sum", "avg", *VARIANCES)


@dataclass(frozen=True)
class Summary:
    """A join of summaries: `inputs` give the rows of each stream with what can matter of them.

    `rankings` are for joins whose duplicates do not count; `best`, of which only some results do.
    The columns `summed`, by input, do not tell rows apart, but are added up. `outputs` are over the
    columns of the inputs.
    """

    inputs: tuple[p.Map, ...]
    conditions: tuple[Expr, ...]
    outputs: tuple[tuple[str, Expr], ...]
    rankings: tuple[tuple[Ranking, ...], ...] | None = None
    summed: tuple[tuple[str, ...], ...] = ()
    best: tuple[Ranking, ...] = ()


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
            product = product_of(plan.input, as_set=True)
            best = {(call.args[0], call.function == "max") for call in plan.calls if _is_best(call)}
            names = _read_by(plan.keys, [call for call in plan.calls if not _is_best(call)])
            return _summary(product, names, True, best=tuple(sorted(best)))
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
        shown = dict(summary.inputs[i].outputs)
        sums = "".join(f" and a sum of {shown[name]}" for name in summed)
        return f"a count{sums} for each {own(told) if told != [f'{i}.there'] else 'row'}"
    (first, *_) = rankings = summary.rankings[i]
    per = f" for each {own(first.key)}" if first.key else ""
    words = []
    for limit in (limit for ranking in rankings for limit in ranking.limits):
        names = own(name for name, _ in limit.terms)
        several = len(limit.terms) > 1
        if limit.high:
            words.append(f"largest {f'least({names})' if several else names}")
        else:
            words.append(f"smallest {f'greatest({names})' if several else names}")
    return f"the {' and '.join(dict.fromkeys(words))}{per}" if words else f"a row{per}"


def _any_summary(plan: p.Node) -> Summary | None:
    return summary_of_groups(plan) if isinstance(plan, p.Aggregate) else summary_of(plan)


def _counts_copies(call: AggregateCall) -> bool:
    return not (call.distinct or call.function in ("min", "max", "any_value", "collect_set"))


def _is_best(call: AggregateCall) -> bool:
    return call.function in ("min", "max") and call.where is None


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
    product: Product,
    names: Sequence[str],
    distinct: bool,
    summed: tuple[str, ...] = (),
    best: tuple[tuple[str, bool], ...] = (),
) -> Summary | None:
    """`best` are columns of which the largest value, or the smallest, is all that matters."""
    if len(product.scans) < 2:
        return None
    every = tuple(dict.fromkeys((*names, *(name for name, _ in best))))
    found = joined(product, every)
    if found is None:
        return None
    query = Query(found.streams, frozenset(), found.select, distinct)
    if distinct:
        folded, closure = fold(query, found.closure)
        if folded is not query:
            query, found = folded, found.folded(folded, closure)
    extremes = [found.extreme(name, high) for name, high in best if name not in names]
    key = [a for a in found.select if a not in {extreme.attribute for extreme in extremes}]
    key += [a for name in names for a in found.attributes_of(name) if a not in key]
    query = replace(query, select=tuple(key))
    if any(failures(query, found.closure)) or _cases(query, found) > MOST_CASES:
        return None
    rankings = None
    if distinct:
        rankings = rankings_of(found, query, extremes)
        if rankings is None:
            return None
    inputs, own = [], []
    for stream in query.streams:
        growing = [a for a in found.kept(stream.name) if not found.closure.bounded(a)]
        node, added = found.input(stream.name, () if distinct else growing, summed)
        inputs.append(node)
        own.append(added)
    outputs = tuple((name, found.outputs[name]) for name in every)
    if summed and not all(is_simple(value) for _, value in outputs):
        return None  # only Spark could make them, and it knows no sums
    ranked = tuple(best_of(query, extreme) for extreme in extremes)
    return Summary(tuple(inputs), found.conditions, outputs, rankings, tuple(own), ranked)


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
