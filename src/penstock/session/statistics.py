"""What a session has seen of its sources: rows, in what time, and different values."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from penstock.algebra.closing import with_closing
from penstock.algebra.plan import Node, Scan
from penstock.ingest.sources import SourceDefinition, input_state_table
from penstock.reasoning.products import Forms
from penstock.rewrite import ORDER_JOINS
from penstock.runtime.engine import Engine
from penstock.runtime.jobs import store_of
from penstock.sharing.join_order import SourceStatistics, ordered

_SAMPLE = 10_000
_FEW = 0.1


def in_order(plan: Node, engine: Engine) -> Node:
    """The plan with its joins in the order that seems best by now."""
    scans = [node.name for node in plan.walk() if isinstance(node, Scan)]
    if len(scans) < 3 or ORDER_JOINS in engine.options.rules_off:
        return plan
    tables = frozenset(name for name, source in engine.sources.items() if source.is_table)
    seen = {n: _seen(engine.sources[n], engine) for n in set(scans) if n in engine.sources}
    known = {name: one for name, one in seen.items() if one.rows}
    found = ordered(plan, known, Forms(tables))
    return plan if found is plan else with_closing(found)


def _seen(source: SourceDefinition, engine: Engine) -> SourceStatistics:
    state, state_table = engine.source_state(source.name), input_state_table(source)
    refs = [
        ref for ref in engine.manifest.state_table(state_table.name).refs if ref.statistics.rows
    ]
    if not refs:
        return SourceStatistics(state.accepted)
    first = min(ref.statistics.keep_quantiles[0] for ref in refs)
    span = 0 if source.is_table else max(state.largest + 1 - first, 1)
    sample = store_of(engine.runs).open(state_table, refs[-1]).elements.slice(0, _SAMPLE)
    values = {
        name: _values(column, state.accepted)
        for name, column in zip(state_table.schema.names, sample.columns, strict=True)
        if not pa.types.is_nested(column.type)
    }
    return SourceStatistics(state.accepted, span, values)


def _values(column: pa.Array, rows: int) -> int:
    """How many different values all rows have, from some: as many, or as many more as there are."""
    found = pc.count_distinct(column).as_py()
    return found if found < _FEW * len(column) else max(found, found * rows // len(column))
