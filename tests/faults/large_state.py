"""A run whose state grows beyond the memory that its process may have; prints what it found.

    python -m tests.faults.large_state DIRECTORY STEPS MEGABYTES [here | whole | spark]

Items come and stay, each with a payload; sales are joined with them. The limit is one of heap
(RLIMIT_DATA): files that are mapped do not count, and need not stay in memory. It holds for this
process, beyond what it has at first, or (spark) for Python workers, from whoever starts them. Most
of the state is merged once, from step MERGED on, over some ten steps; with `whole`, not in parts.
"""

from __future__ import annotations

import json
import resource
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.element import snapshot
from penstock.ingest.sources import SourceDefinition
from penstock.runtime.engine import Engine
from penstock.runtime.jobs import Jobs, SparkJobs
from penstock.runtime.options import Options
from penstock.runtime.spark import start_spark
from penstock.state import compaction
from penstock.testing.engine_runs import LocalJobs, published
from penstock.testing.processes import kilobytes

ROWS, WIDTH, SALES = 30_000, 300, 50
MERGED = 32

ITEMS_SOURCE = SourceDefinition(
    "items", pa.schema([("id", pa.int64()), ("payload", pa.binary()), ("made", pa.int64())]), "made"
)
SALES_SOURCE = SourceDefinition(
    "sales", pa.schema([("item", pa.int64()), ("at", pa.int64())]), "at"
)
SOLD = p.Aggregate(
    p.Join(
        p.Scan("sales", SALES_SOURCE.schema, append_only=True),
        p.Scan("items", ITEMS_SOURCE.schema, append_only=True),
        on=(p.Equality("item", "id"),),
    ),
    ("item", "payload"),
    (AggregateCall("count", (), "times"),),
)


def payload(item: int) -> bytes:
    return item.to_bytes(8, "little") * (WIDTH // 8)


def items(step: int) -> pa.Table:
    ids = np.arange(step * ROWS, (step + 1) * ROWS)
    data = pa.py_buffer(np.repeat(ids, WIDTH // 8))
    ends = pa.py_buffer(np.arange(ROWS + 1, dtype=np.int32) * (WIDTH // 8 * 8))
    payloads = pa.Array.from_buffers(pa.binary(), ROWS, [None, ends, data])
    made = pa.array(np.full(ROWS, step))
    return pa.Table.from_arrays([pa.array(ids), payloads, made], schema=ITEMS_SOURCE.schema)


def sales(step: int) -> pa.Table:
    """Of items of any age: each step looks everywhere in the state."""
    sold = np.random.default_rng(step).integers(0, (step + 1) * ROWS, SALES)
    columns = [pa.array(sold), pa.array(np.full(SALES, step))]
    return pa.Table.from_arrays(columns, schema=SALES_SOURCE.schema)


def run(engine: Engine, steps: int) -> Iterator[dict[str, Any]]:
    """The progress of each step."""
    engine.define("items", ITEMS_SOURCE)
    engine.define("sales", SALES_SOURCE)
    engine.define("sold", SOLD)
    for step in range(steps):
        engine.receive_table("items", items(step))
        engine.receive_table("sales", sales(step))
        engine.advance_watermark("items", step + 1)
        engine.advance_watermark("sales", step + 1)
        progress = engine.step()
        assert progress is not None
        engine.collect_garbage()
        yield progress


def is_right(engine: Engine, steps: int) -> bool:
    expected = Counter(item for step in range(steps) for item in sales(step)["item"].to_pylist())
    found = snapshot(published(engine, "sold"), steps - 1)
    return found == Counter({(i, payload(i), n): 1 for i, n in expected.items()})


def limits_of_workers(jobs: SparkJobs) -> set[int]:
    def limit(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            found = resource.getrlimit(resource.RLIMIT_DATA)[0]
            yield pa.record_batch([pa.array([found] * len(batch))], names=["id"])

    rows = jobs.spark.range(0, 4, 1, 2).mapInArrow(limit, "id LONG").toArrow()
    return set(rows["id"].to_pylist())


def bytes_of(progress: dict[str, Any]) -> int:
    return sum(state_table["bytes"] for state_table in progress["state"].values())


def on_disk(engine: Engine) -> int:
    return sum(path.stat().st_size for path in engine.runs.iterdir())


def main(directory: str, steps: int, megabytes: int, where: str = "here") -> dict[str, Any]:
    jobs: Jobs = SparkJobs(start_spark("local[2]")) if where == "spark" else LocalJobs()
    compaction.FANS = (MERGED,)
    if where == "whole":
        compaction.PART = sys.maxsize
    if isinstance(jobs, SparkJobs):
        limits = limits_of_workers(jobs)
    else:
        limit = kilobytes("VmData") * 1024 + megabytes * 2**20
        resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
        limits = {limit}
    engine = Engine(Path(directory), jobs, Options(tasks=1, grace=0.0, keep_input=False))
    sizes = [(bytes_of(progress), on_disk(engine)) for progress in run(engine, steps)]
    found = {
        "state": sizes[-1][0],
        "disk": sizes[-1][1],
        "most": max(disk / state for state, disk in sizes),
        "limits": sorted(limits),
        "right": is_right(engine, steps),
    }
    engine.close()
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])))
