"""A windowed aggregate through many steps on Spark; prints the memory after each.

python -m tests.faults.many_steps STEPS
"""

from __future__ import annotations

import json
import sys
import tempfile

import numpy as np
import pyarrow as pa

from penstock import connect
from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.runtime.spark import start_spark
from penstock.testing.processes import Memory, memory

ROWS, KEYS, TICKS, WINDOW = 10_000, 1_000, 100, 1_000
SCHEMA = pa.schema([("key", pa.int64()), ("value", pa.int64()), ("at", pa.int64())])


def rows(step: int) -> pa.Table:
    rng = np.random.default_rng(step)
    at = np.sort(rng.integers(step * TICKS, (step + 1) * TICKS, ROWS))
    columns = [rng.integers(0, KEYS, ROWS), rng.integers(0, 1000, ROWS), at]
    return pa.Table.from_arrays([pa.array(column) for column in columns], schema=SCHEMA)


def main(steps: int) -> list[Memory]:
    held = []
    with (
        tempfile.TemporaryDirectory() as directory,
        connect(directory, start_spark("local[2]"), retention=WINDOW, grace=0.0) as db,
    ):
        source = db.create_source("readings", SCHEMA, "at")
        window = p.Window(db.scan("readings"), "sliding", WINDOW)
        calls = (AggregateCall("count", (), "n"), AggregateCall("sum", ("value",), "total"))
        db.create_view("sums", p.Aggregate(window, ("key",), calls))
        for step in range(steps):
            source.append(rows(step))
            assert db.step() is not None
            held.append(memory())
    return held


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
