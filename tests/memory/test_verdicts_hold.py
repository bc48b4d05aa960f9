"""Oracle: the kernels, run for hours of event time, keep no more than the verdicts say.

Where a verdict says that the engine keeps more, it does: the note goes when the engine gets better.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.element import BEGIN, INF, Elements
from penstock.memory.api import context_of
from penstock.memory.report import MemoryVerdict
from penstock.punctuation.closings import Closings
from penstock.sql import parse
from penstock.sql import statements as s
from penstock.state.compaction import merge
from penstock.testing.local_pipeline import LocalPipeline, MemoryStore
from tests.memory.verdict_cases import SOURCES, cases, verdict

pytestmark = pytest.mark.long

START = datetime(2025, 1, 1, tzinfo=UTC)
STEP = timedelta(minutes=10)
ROWS_IN_A_STEP = 5
STEPS = 60

JUDGED = [(case, verdict(case.sql)) for case in cases()]
BOUNDED = [(case, found) for case, found in JUDGED if found.bounded and found.operators]


def plan_of(sql: str) -> p.Node:
    *definitions, query = parse(sql)
    assert isinstance(query, s.Query)
    plan = context_of(SOURCES).after(definitions).plan(query)
    assert plan is not None
    return plan


class Rows:
    """Rows of any source: half of the values are small, the others never seen before."""

    def __init__(self, rng: Random, fresh: bool) -> None:
        self._rng = rng
        self._fresh = fresh
        self._count = 100

    def of(self, scan: p.Scan, time: datetime) -> tuple[Any, ...]:
        return tuple(self._value(field, time) for field in scan.schema)

    def _value(self, field: pa.Field, time: datetime) -> Any:
        self._count += 1
        new = self._fresh and self._rng.random() < 0.5
        number = self._count if new else self._rng.randrange(25)
        match field.name:
            case "ts":
                return time
            case "channel":
                return self._rng.choice(("web", "app", "phone"))
            case "category":
                return self._rng.randrange(10)
            case "expires":
                return time + timedelta(minutes=self._rng.randrange(60))
        if pa.types.is_boolean(field.type):
            return self._rng.random() < 0.5
        if pa.types.is_decimal(field.type):
            return Decimal(number).quantize(Decimal("0.01"))
        return f"{number}" if pa.types.is_string(field.type) else number


def sizes_of_state(plan: p.Node, fresh: bool) -> tuple[int, int]:
    """How many rows are kept, halfway and in the end."""
    rng, store = Random(7), MemoryStore()
    rows, pipeline = Rows(rng, fresh), LocalPipeline(plan, store)
    scans = {node.name: node for node in plan.walk() if isinstance(node, p.Scan)}
    tables = {name: scan for name, scan in scans.items() if not scan.is_stream}
    said = {name: Closings.finite(scan.schema) for name, scan in tables.items()}
    sizes = []
    for step in range(STEPS):
        inputs = {}
        for name, scan in scans.items():
            times = [START + step * STEP + STEP * rng.random() for _ in range(ROWS_IN_A_STEP)]
            if scan.is_stream:
                listed = [(rows.of(scan, t), micros(t), INF, 1) for t in times]
            else:
                listed = [(rows.of(scan, t), BEGIN, INF, 1) for t in times if step == 0]
            inputs[name] = Elements.of(scan.schema, listed)
        pipeline.step(inputs, micros(START + (step + 1) * STEP), said)
        sizes.append(kept(pipeline, store))
    return sizes[STEPS // 2 - 1], sizes[-1]


def kept(pipeline: LocalPipeline, store: MemoryStore) -> int:
    opened = [state_table.open(store) for state_table in pipeline.state_tables.values()]
    return sum(
        len(merge(state_table.spec, state_table.runs, state_table.frontier))
        for state_table in opened
        if state_table.runs
    )


def micros(time: datetime) -> int:
    return (time - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def by(found: MemoryVerdict) -> set[str]:
    return {word for operator in found.operators for word in operator.within.by}  # type: ignore[union-attr]


@pytest.mark.parametrize(("case", "found"), BOUNDED, ids=lambda value: getattr(value, "title", ""))
def test_oracle_no_more_is_kept_than_the_verdict_says(case: Any, found: MemoryVerdict) -> None:
    half, whole = sizes_of_state(plan_of(case.sql), fresh="key" not in by(found))
    if any(operator.engine_keeps for operator in found.operators):
        assert whole > 1.5 * half
    elif found.number is not None:
        assert whole <= found.number
    else:
        assert whole <= 1.3 * half + 10
