"""Queries of the theory as plans, and random streams for them."""

from __future__ import annotations

from functools import reduce
from random import Random

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Column, Expr, Literal, compare, conjunction, promise
from penstock.element import INF
from penstock.memory.query import AggregateQuery, Query, Stream
from penstock.reasoning.closure import Atom, Element
from penstock.testing.random_streams import HORIZON

INT = pa.int64()
Rows = list[tuple[tuple[int | None, ...], int, int, int]]


def scan_of(stream: Stream) -> p.Scan:
    schema = pa.schema([*((name, INT) for name in stream.columns), ("ts", INT)])
    return p.Scan(stream.source, schema, True, "ts", promise(None, schema, schema.names))


def rows_of(query: Query | AggregateQuery) -> p.Node:
    """The join, where attribute a of stream S is the column S.a."""
    sides: list[p.Node] = []
    for stream in query.streams:
        names = [(str(a), Column(a.name, INT)) for a in stream.attributes]
        sides.append(p.Map(scan_of(stream), tuple(names)))
    product = reduce(p.Join, sides)
    conditions = tuple(map(condition, sorted(query.where, key=str)))
    return p.Filter(product, conjunction(conditions)) if conditions else product


def condition(atom: Atom) -> Expr:
    return compare(atom.comparison.value, value(atom.left), value(atom.right))


def value(element: Element) -> Expr:
    return Literal(element, INT) if isinstance(element, int) else Column(str(element), INT)


def plan_of(query: Query) -> p.Node:
    shown = {str(a): value(a) for a in query.select} or {"there": Literal(1, INT)}
    rows = p.Map(rows_of(query), tuple(shown.items()))
    return p.Distinct(rows) if query.distinct else rows


def aggregate_plan(query: AggregateQuery) -> p.Node:
    names = {"count_distinct": "count"}
    calls = tuple(
        AggregateCall(
            names.get(each.function.name, each.function.name),
            () if each.of is None else (str(each.of),),
            f"x{i}",
            distinct=each.function.name == "count_distinct",
        )
        for i, each in enumerate(query.aggregates)
    )
    return p.Aggregate(rows_of(query), tuple(map(str, query.group_by)), calls)


def random_rows(
    rng: Random, query: Query | AggregateQuery, size: int = 12, low: int = -9, high: int = 14
) -> dict[str, Rows]:
    streams: dict[str, Rows] = {}
    for stream in query.streams:
        found: Rows = []
        for _ in range(rng.randint(0, size)):
            ts = rng.randint(0, HORIZON)
            found.append(((*(rng.randint(low, high) for _ in stream.columns), ts), ts, INF, 1))
        streams[stream.source] = sorted(found, key=lambda row: row[1])
    return streams
