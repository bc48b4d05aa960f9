"""How a run is laid out as an Arrow batch.

State is laid out as kernels read it, so that a file can be used as it lies on disk. What is written
to be read once, rows that came and results, is *packed*: numbers become small ones above a base, or
take no place at all where they are all the same, as most of those that say when rows are valid are.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa

from penstock.element import INF, Elements
from penstock.record import Ints
from penstock.record import numpy as values_of
from penstock.state.run import AreaSpec, Run, Statistics

_TIMES = ("__ts", "__te", "__n", "__keep", "__hash")
_BASES = b"bases"
_SMALLER = (np.uint8, np.uint16, np.uint32)


def to_batch(run: Run, packed: bool) -> pa.RecordBatch:
    """Packed runs need rows longer than they begin: `keep` is after `ts`."""
    x, te, keep = run.elements, run.elements.te, run.keep
    if packed:
        te, keep = np.where(te == INF, 0, te - x.ts), np.where(keep == te, 0, keep - x.ts)
    numbers = map(pa.array, (x.ts, te, x.n, keep, run.hashes, *x.sums.values()))
    columns, names = [*x.columns, *numbers], [*x.schema.names, *_TIMES, *x.sums]
    if not packed:
        return pa.RecordBatch.from_arrays(columns, names=names)
    small, bases = zip(*map(_packed, columns), strict=True)
    batch = pa.RecordBatch.from_arrays(list(small), names=names)
    return batch.replace_schema_metadata({_BASES: json.dumps(bases)})


def from_batch(spec: AreaSpec, batch: pa.RecordBatch, statistics: Statistics) -> Run:
    kinds = [*spec.schema.types, *[pa.int64()] * 4, pa.uint32()]
    kinds += [pa.int64()] * (batch.num_columns - len(kinds))
    packed = batch.schema.metadata is not None
    bases = json.loads(batch.schema.metadata[_BASES]) if packed else [None] * len(kinds)
    columns = list(map(_unpacked, batch.columns, kinds, bases))
    width = len(spec.schema)
    ts, te, n, keep, hashes, *sums = map(values_of, columns[width:])
    if packed:
        te = np.where(te == 0, INF, ts + te)
        keep = np.where(keep == 0, te, ts + keep)
    names = batch.schema.names[width + len(_TIMES) :]
    x = Elements(
        spec.schema, tuple(columns[:width]), ts, te, n, dict(zip(names, sums, strict=True))
    )
    return Run(x, hashes.view(np.uint32), keep, statistics)


def _packed(column: pa.Array) -> tuple[pa.Array, int | None]:
    """The column as what is added to a base, or as it is and None."""
    kind = column.type
    whole = pa.types.is_integer(kind) or pa.types.is_timestamp(kind)
    if not whole or kind == pa.uint64() or column.null_count or len(column) == 0:
        return column, None
    values = _integers(column)
    base = int(values.min())
    span = int(values.max()) - base
    if span == 0:
        return pa.nulls(len(column)), base
    for small in _SMALLER:
        if np.dtype(small).itemsize < values.dtype.itemsize and span <= np.iinfo(small).max:
            added = np.empty(len(values), dtype=small)
            return pa.array(np.subtract(values, base, out=added, casting="unsafe")), base
    return column, None


def _unpacked(column: pa.Array, kind: pa.DataType, base: int | None) -> pa.Array:
    if base is None:
        return column
    wide = np.dtype(f"i{kind.bit_width // 8}")
    if pa.types.is_null(column.type):
        values = np.full(len(column), base).astype(wide)
    else:
        values = np.add(_integers(column), base, dtype=np.int64).astype(wide, copy=False)
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _integers(column: pa.Array) -> Ints:
    """The values with the sign that their type has."""
    unsigned = pa.types.is_unsigned_integer(column.type)
    values = values_of(column)
    return values.view(f"u{values.itemsize}") if unsigned else values
