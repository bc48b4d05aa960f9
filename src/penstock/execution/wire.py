"""Elements and reports on their way between tasks and to the driver.

Rows between stages travel as whole Arrow batches in a binary column: to Spark they are a few opaque
rows, so an exchange costs a copy and no conversion, whatever the columns are. Only where Spark is
to evaluate something on the way do elements travel as rows, in a struct column for their edge.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pyarrow as pa

from penstock.element import Elements
from penstock.execution.task import Report
from penstock.physical.program import Edge, Program
from penstock.record import numpy as values_of

_ROW = [("edge", pa.int32()), ("task", pa.int32()), ("data", pa.binary())]
_TIMES = [(name, pa.int64()) for name in ("__ts", "__te", "__n")]
REPORT, LOST = -1, -2
_ROWS = 1 << 18


def schema(program: Program, stage: int) -> pa.Schema:
    """Of what leaves a stage."""
    structs = [
        (column(edge), pa.struct([*program.places[edge.producer].operator.schema, *_TIMES]))
        for edge in program.leaving(stage)
        if edge.mode == "spark"
    ]
    return pa.schema([*_ROW, *structs])


def column(edge: Edge) -> str:
    return f"edge{edge.number}"


def row(out: pa.Schema, edge: int, task: int, data: bytes) -> pa.RecordBatch:
    """A row that is opaque to Spark."""
    values = {"edge": edge, "task": task, "data": data}
    return pa.RecordBatch.from_arrays(
        [pa.array([values.get(f.name)], f.type) for f in out], schema=out
    )


def rows(out: pa.Schema, edge: Edge, task: int, x: Elements) -> pa.RecordBatch:
    """Elements as rows that Spark can compute with."""
    kind = out.field(column(edge)).type
    arrays = [*x.columns, *map(pa.array, (x.ts, x.te, x.n))]
    struct = pa.StructArray.from_arrays(arrays, fields=list(kind))
    constants = {"edge": edge.number, "task": task}
    return pa.RecordBatch.from_arrays(
        [
            struct
            if f.name == column(edge)
            else pa.repeat(pa.scalar(constants.get(f.name), f.type), len(x))
            for f in out
        ],
        schema=out,
    )


def computed(schema: pa.Schema, struct: pa.StructArray) -> Elements:
    """Elements from the rows of an edge's struct."""
    *columns, ts, te, n = struct.flatten()
    return Elements(schema, tuple(columns), values_of(ts), values_of(te), values_of(n))


def packed(x: Elements) -> Iterator[bytes]:
    """Elements in pieces that fit a row."""
    names = [*x.schema.names, "__ts", "__te", "__n", *x.sums]
    for start in range(0, len(x), _ROWS):
        part = x.slice(start, min(start + _ROWS, len(x)))
        weights = (part.ts, part.te, part.n, *part.sums.values())
        columns = [*part.columns, *map(pa.array, weights)]
        batch = pa.RecordBatch.from_arrays(columns, names=names)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield sink.getvalue().to_pybytes()


def unpacked(schema: pa.Schema, data: pa.Buffer | bytes) -> Elements:
    batch = pa.ipc.open_stream(data).read_next_batch()
    width, names = len(schema), batch.schema.names
    ts, te, n = (values_of(batch.column(width + i)) for i in range(3))
    sums = {names[i]: values_of(batch.column(i)) for i in range(width + 3, len(names))}
    return Elements(schema, tuple(batch.column(i) for i in range(width)), ts, te, n, sums)


def packed_report(report: Report) -> bytes:
    return pickle.dumps(report)


def unpacked_report(data: bytes) -> Report:
    report: Report = pickle.loads(data)
    return report
