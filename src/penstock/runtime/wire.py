"""Elements and reports as bytes, for their way between tasks and to the driver.

Rows between rounds travel as whole Arrow batches in a binary column: to Spark they are a few opaque
rows, so an exchange costs a copy and no conversion, whatever the columns are.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict

import pyarrow as pa

from penstock.element import Elements
from penstock.record import numpy as values_of
from penstock.runtime.task import Report
from penstock.state.store import RunRef

SCHEMA = pa.schema([("edge", pa.int32()), ("task", pa.int32()), ("data", pa.binary())])
SPARK_SCHEMA = "edge INT, task INT, data BINARY"
REPORT = -1
_ROWS = 1 << 18


def packed(x: Elements) -> Iterator[bytes]:
    """Elements in pieces that fit a row."""
    names = [*x.schema.names, "__ts", "__te", "__n"]
    for start in range(0, len(x), _ROWS):
        part = x.slice(start, min(start + _ROWS, len(x)))
        columns = [*part.columns, *map(pa.array, (part.ts, part.te, part.n))]
        batch = pa.RecordBatch.from_arrays(columns, names=names)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield sink.getvalue().to_pybytes()


def unpacked(schema: pa.Schema, data: pa.Buffer | bytes) -> Elements:
    batch = pa.ipc.open_stream(data).read_next_batch()
    width = len(schema)
    ts, te, n = (values_of(batch.column(width + i)) for i in range(3))
    return Elements(schema, tuple(batch.column(i) for i in range(width)), ts, te, n)


def packed_report(report: Report) -> bytes:
    return json.dumps(asdict(report)).encode()


def unpacked_report(data: bytes) -> Report:
    found = json.loads(data)
    return Report(
        areas={k: list(map(RunRef.from_json, refs)) for k, refs in found["areas"].items()},
        frontiers=found["frontiers"],
        views={k: RunRef.from_json(ref) for k, ref in found["views"].items()},
        metrics=found["metrics"],
    )
