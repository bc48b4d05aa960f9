"""Rows that a query of unbounded memory cannot forget: witnesses as rows of sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.memory.blocks import Block, block_of
from penstock.memory.check import check, check_aggregates
from penstock.memory.joined import literal_of
from penstock.memory.query import AggregateQuery, Query
from penstock.memory.values import ColumnAnalysis, Declared
from penstock.memory.witness import Arrival, Witness, witness
from penstock.reasoning.closure import Atom
from penstock.reasoning.conditions import TooManyPartsError, split


@dataclass(frozen=True)
class Row:
    """A row of a source, by column."""

    source: str
    values: dict[str, Any]


@dataclass(frozen=True)
class Prefix:
    """`items` are rows that must all be remembered; after some of them, each of the `probes`, rows
    that come together, tells which there were."""

    items: tuple[Row, ...]
    probes: tuple[tuple[Row, ...], ...]


def prefix_of(plan: p.Node, declared: Declared, size: int) -> Prefix | None:
    """A prefix of so many items for a plan of unbounded memory, or for what it reads.

    None where the plan is bounded, or the theory does not know it, or not as columns of sources.
    """
    block = block_of(plan, declared, ColumnAnalysis(declared))
    if block is None:
        below = (prefix_of(source, declared, size) for source in plan.inputs)
        return next((found for found in below if found is not None), None)
    scans = {scan.name: scan for scan in plan.walk() if isinstance(scan, p.Scan)}
    for stream in block.streams:
        if not {*stream.columns} <= {*scans[stream.source].schema.names}:
            return None
    found = _witness(block, size)
    if found is None:
        return None
    order = {stream.source: stream.columns for stream in block.streams}

    def row(arrival: Arrival) -> Row:
        schema = scans[arrival.source].schema
        values = zip(order[arrival.source], arrival.row, strict=True)
        return Row(arrival.source, {name: _value(v, schema.field(name).type) for name, v in values})

    items = tuple(row(arrival) for item in found.items for arrival in item)
    return Prefix(items, tuple(tuple(map(row, probe)) for probe in found.probes))


def _witness(block: Block, size: int) -> Witness | None:
    try:
        parts = split(block.condition).parts
    except TooManyPartsError:
        return None
    for part in parts:
        query = _query(block, part)
        verdict = check(query) if isinstance(query, Query) else check_aggregates(query)
        for failure in verdict.failures:
            found = witness(query, failure, size)
            if found is not None:
                return found
    return None


def _query(block: Block, part: frozenset[Atom]) -> Query | AggregateQuery:
    if block.aggregates is None:
        return Query(block.streams, part, block.select, block.distinct)
    return AggregateQuery(block.streams, part, block.select, block.aggregates)


def _value(rank: int, kind: pa.DataType) -> Any:
    if pa.types.is_string(kind):
        return f"{rank}"
    if pa.types.is_floating(kind):
        return float(rank)
    literal = literal_of(rank, kind)
    return None if literal is None else literal.value
