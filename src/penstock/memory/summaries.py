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

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import PERCENTILES, SUMS, AggregateCall
from penstock.algebra.expr import Call, Column, Expr, Literal, columns, is_simple
from penstock.memory.check import MOST_ORDERS, failures
from penstock.memory.joined import Joined, joined
from penstock.memory.products import NoProductError, product_of
from penstock.memory.query import Query
from penstock.memory.rankings import Ranking, best_of, rankings_of
from penstock.memory.self_joins import derived_orders, fold
from penstock.reasoning.closure import Attribute
from penstock.reasoning.products import Rows, named, relations_of

MOST_CASES = 1_000_000  # combinations of values that a summary may tell apart


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

    @property
    def keys(self) -> tuple[tuple[str, ...], ...]:
        """Columns of each input that are equal in all combinations, those of one apart from others.

        Where a result is to be there once, it must show them.
        """
        classes: list[set[str]] = []
        for name, other in _equalities(self.conditions):
            met = [known for known in classes if {name, other} & known]
            classes = [known for known in classes if known not in met]
            classes.append({name, other}.union(*met))
        shown = {name for _, value in self.outputs for name in columns(value)}
        shown = shown.intersection(*(ranking.key for ranking in self.best))
        if self.rankings is not None:
            classes = [known for known in classes if known & shown]
        own = [[f.name for f in source.schema] for source in self.inputs]
        chosen = [[next((n for n in names if n in c), "") for names in own] for c in classes]
        full = [key for key in chosen if all(key)]
        return tuple(tuple(key[i] for key in full) for i in range(len(own)))


def _equalities(conditions: Iterable[Expr]) -> Iterator[tuple[str, str]]:
    for condition in conditions:
        match condition:
            case Call("=", (Column(a, kind), Column(b, other))) if kind == other:
                yield a, b


def summaries_of(plan: p.Node) -> tuple[Summary, ...]:
    """How a plan can be answered from summaries of the streams that it joins; () if it cannot.

    Where there are several, their results together are the answer, each once.
    """
    try:
        match plan:
            case p.Distinct(source, None):
                return _summaries(product_of(source, as_set=True), source.schema.names, True)
            case p.Join() | p.Map() | p.Filter():
                return _summaries(product_of(plan), plan.schema.names, False)
    except NoProductError:
        pass
    return ()


@dataclass(frozen=True)
class Part:
    """Some calls of an aggregation of rows, and how these can be as far as the calls see them."""

    rows: pa.Schema
    calls: tuple[AggregateCall, ...]
    summaries: tuple[Summary, ...]


def parts_of(plan: p.Aggregate) -> tuple[Part, ...]:
    """How an aggregation can be answered from summaries: its calls together, or else apart."""
    if plan.until is not None:
        return ()
    plan = _filters_as_values(plan)
    for calls in dict.fromkeys((_together(plan), _by_kind(plan), _one_by_one(plan))):
        rows = plan.input.schema
        parts = tuple(Part(rows, own, _summaries_for(plan, own)) for own in calls)
        if all(part.summaries for part in parts):
            return parts
    return ()


Calls = tuple[AggregateCall, ...]


def _filters_as_values(plan: p.Aggregate) -> p.Aggregate:
    """The plan where MIN and MAX are of values that are NULL where their filter is not met."""
    columns = {f.name: Column(f.name, f.type) for f in plan.input.schema}
    added: dict[str, Expr] = {}
    calls = []
    for call in plan.calls:
        if call.where is not None and call.function in ("min", "max"):
            value, name = columns[call.args[0]], f"{call.args[0]} where {call.where}"
            chosen = (columns[call.where], value, Literal(None, value.type))
            added[name] = Call("if", chosen, value.type)
            call = replace(call, args=(name,), where=None)
        calls.append(call)
    if not added:
        return plan
    rows = p.Map(plan.input, (*columns.items(), *added.items()))
    return replace(plan, input=rows, calls=tuple(calls))


def _together(plan: p.Aggregate) -> tuple[Calls, ...]:
    return (plan.calls,)


def _by_kind(plan: p.Aggregate) -> tuple[Calls, ...]:
    """Those that see how often a row is there, and those that do not."""
    kinds = (tuple(c for c in plan.calls if _counts_copies(c) == sees) for sees in (True, False))
    return tuple(filter(None, kinds))


def _one_by_one(plan: p.Aggregate) -> tuple[Calls, ...]:
    return tuple((call,) for call in plan.calls)


def _summaries_for(plan: p.Aggregate, calls: Calls) -> tuple[Summary, ...]:
    try:
        product = product_of(plan.input, as_set=True)
        if not any(_sees_copies(call, plan, product) for call in calls):
            best = {(call.args[0], call.function == "max") for call in calls if _is_best(call)}
            names = _read_by(plan.keys, [call for call in calls if not _is_best(call)])
            return _summaries(product, names, True, best=tuple(sorted(best)))
        product = product_of(plan.input)
        sums = [call for call in calls if _is_sum(call, product)]
        needed = _read_by(plan.keys, [call for call in calls if call not in sums])
        if not set(_columns_of(sums)) & set(needed):
            return _summaries(product, needed, False, tuple(_columns_of(sums)))
        return _summaries(product, _read_by(plan.keys, calls), False)
    except NoProductError:
        return ()


def kept_of(plan: p.Node) -> tuple[tuple[str, ...], ...]:
    """The calls, by part, of a plan that is answered from summaries: () if it is not."""
    if isinstance(plan, p.Aggregate):
        return tuple(tuple(call.name for call in part.calls) for part in parts_of(plan))
    return ((),) if summaries_of(plan) else ()


def is_summarized(plan: p.Node) -> bool:
    """Whether a plan, or the rows that it groups, is answered from summaries."""
    return bool(kept_of(plan))


def described_summary(plan: p.Node) -> str | None:
    """How a plan is answered from summaries, in words."""
    if isinstance(plan, p.Aggregate):
        parts = parts_of(plan)
        texts = [_described_all(part.summaries) for part in parts]
        if len(parts) > 1:
            calls = (" and ".join(named(call.name) for call in part.calls) for part in parts)
            texts = [f"for {names} {text}" for names, text in zip(calls, texts, strict=True)]
    else:
        found = summaries_of(plan)
        texts = [_described_all(found)] if found else []
    return f"from summaries, {'; '.join(texts)}" if texts else None


def _described_all(summaries: tuple[Summary, ...]) -> str:
    kept: dict[str, None] = {}
    for summary in summaries:
        for i, source in enumerate(summary.inputs):
            scan = next(node.name for node in source.walk() if isinstance(node, p.Scan))
            kept[f"{scan}: {_described(summary, i)}"] = None
    apart = f", in {len(summaries)} orders of its columns" if len(summaries) > 1 else ""
    return "; ".join(kept) + apart


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


def _counts_copies(call: AggregateCall) -> bool:
    return not (call.distinct or call.function in ("min", "max", "any_value", "collect_set"))


def _sees_copies(call: AggregateCall, plan: p.Aggregate, product: Rows) -> bool:
    """Whether a call counts copies of rows; of a constant of its group many functions do not."""
    if not _counts_copies(call) or not call.args or call.where is not None:
        return _counts_copies(call)
    found = joined(product, (*plan.keys, call.args[0]))
    own = [] if found is None else found.attributes_of(call.args[0])
    if found is None or len(own) != 1:
        return True
    low, high = found.closure.values(own[0])
    if call.plain == "sum":
        return not low == high == 0
    groups = [a for key in plan.keys for a in found.attributes_of(key)]
    constant = low == high or any(found.closure.equal(own[0], group) for group in groups)
    return not (call.plain in ("avg", *PERCENTILES) and constant)


def _is_best(call: AggregateCall) -> bool:
    return call.function in ("min", "max")


def _is_sum(call: AggregateCall, product: Rows) -> bool:
    """Whether a function needs no more than sums over the rows of one stream."""
    read = {relations_of([product.outputs[column]]) for column in call.columns}
    alone = len(read) == 1 and all(len(found) == 1 for found in read)
    return call.function in SUMS and not call.distinct and alone


def _columns_of(calls: Iterable[AggregateCall]) -> Iterator[str]:
    yield from dict.fromkeys(column for call in calls for column in call.columns)


def _read_by(keys: tuple[str, ...], calls: Sequence[AggregateCall]) -> list[str]:
    return list(dict.fromkeys((*keys, *_columns_of(calls))))


def _summaries(
    product: Rows,
    names: Sequence[str],
    distinct: bool,
    summed: tuple[str, ...] = (),
    best: tuple[tuple[str, bool], ...] = (),
) -> tuple[Summary, ...]:
    """`best` are columns of which the largest value, or the smallest, is all that matters."""
    every = tuple(dict.fromkeys((*names, *(name for name, _ in best))))
    found = joined(product, every) if len(product.relations) > 1 else None
    if found is None:
        return ()
    request = _Request(tuple(names), every, summed, best)
    query = Query(found.streams, frozenset(), found.select, distinct)
    if distinct and not found.never and not found.mixed:
        folded, closure = fold(query, found.closure)
        if folded is not query:
            query, found = folded, found.folded(folded, closure)
    summary = _summary(found, query, request)
    if summary is None and query.joins_itself and distinct and found.orderly:
        return _by_orders(found, query, request)
    return () if summary is None else (summary,)


@dataclass(frozen=True)
class _Request:
    names: tuple[str, ...]
    every: tuple[str, ...]
    summed: tuple[str, ...]
    best: tuple[tuple[str, bool], ...]


def _by_orders(found: Joined, query: Query, request: _Request) -> tuple[Summary, ...]:
    """A summary for each way in which the attributes of the streams can be ordered, or none.

    A row of a stream is in one order only. So the results of all of them are those of the query,
    and an occurrence that another does not cover altogether it may cover in each.
    """
    whole = replace(query, where=found.closure.atoms())
    summaries: dict[Summary, None] = {}
    for number, order in enumerate(derived_orders(whole)):
        folded, closure = fold(replace(whole, where=order.atoms()), order)
        summary = _summary(found.folded(folded, closure), folded, request)
        if summary is None or number == MOST_ORDERS:
            return ()
        summaries[summary] = None
    return tuple(summaries)


def _summary(found: Joined, query: Query, request: _Request) -> Summary | None:
    distinct, names, best, summed = query.distinct, request.names, request.best, request.summed
    extremes = [found.extreme(name, high) for name, high in best if name not in names]
    key = [a for a in found.select if a not in {extreme.attribute for extreme in extremes}]
    key += [a for name in names for a in found.attributes_of(name) if a not in key]
    query = replace(query, select=tuple(key))
    grows = any(failures(query, found.closure)) or _cases(query, found) > MOST_CASES
    if grows and not found.never:
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
    outputs = tuple((name, found.outputs[name]) for name in request.every)
    if summed and not all(is_simple(value) for _, value in outputs):
        return None  # only Spark could make them, and it knows no sums
    ranked = tuple(best_of(query, extreme) for extreme in extremes)
    return Summary(tuple(inputs), found.conditions, outputs, rankings, tuple(own), ranked)


def _cases(query: Query, found: Joined) -> float:
    """How many combinations of values can be told apart; what is equal counts once."""
    closure = found.closure
    count = 1.0
    seen: list[Attribute] = []
    for a in dict.fromkeys((*query.select, *sorted(found.compared | found.mixed))):
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
