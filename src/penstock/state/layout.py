"""How a run is laid out as two Arrow batches: its hashes, and its rows.

Numbers that are all the same, as most of those that say when rows are valid are, take no place.
State is otherwise laid out as kernels read it, so that a file can be used as it lies on disk. What
is written to be read once, rows that came and results, is *packed*: numbers are small ones above a
base, and a text that comes again and again may be written once (`record.pick`).
"""

from __future__ import annotations

import json
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from penstock.algebra.arrival import SEQUENCE
from penstock.element import INF, Elements
from penstock.record import Hashes, Ints
from penstock.record import numpy as values_of
from penstock.state.run import Run, StateTableSpec

TIMES = ("__ts", "__te", "__n", "__keep")
_BASES, _PACKED = b"bases", b"packed"
_Smaller: TypeAlias = tuple[pa.Array, int | None]
_SMALLER = (np.uint8, np.uint16, np.uint32)


def to_batches(run: Run, packed: bool) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The hashes, and the rows; of packed runs, rows must be kept longer than they begin."""
    x, te, keep = run.elements, run.elements.te, run.keep
    if packed:
        te, keep = np.where(te == INF, 0, te - x.ts), np.where(keep == te, 0, keep - x.ts)
    smaller = _small if packed else _same
    columns = [(column, None) if not packed else _small(column) for column in x.columns]
    columns += [smaller(pa.array(each)) for each in (x.ts, te, x.n, keep, *x.sums.values())]
    names = [*x.schema.names, *TIMES, *x.sums]
    return _batch([smaller(pa.array(run.hashes))], ["hash"], packed), _batch(columns, names, packed)


def _batch(columns: list[_Smaller], names: list[str], packed: bool) -> pa.RecordBatch:
    arrays, bases = zip(*columns, strict=True)
    batch = pa.RecordBatch.from_arrays(list(arrays), names=names)
    return batch.replace_schema_metadata({_BASES: json.dumps(bases), _PACKED: json.dumps(packed)})


def hashes_of(batch: pa.RecordBatch) -> Hashes:
    (base,) = json.loads(batch.schema.metadata[_BASES])
    return _numbers(batch.column(0), base).astype(np.uint32, copy=False)


def rows_of(spec: StateTableSpec, batch: pa.RecordBatch) -> tuple[Elements, Ints]:
    """The elements, and until when they are kept, in the columns that the state table has by now.

    What it has got since is NULL, but for the order of arrival, which was none. Types may be wider.
    """
    width, said = batch.schema.names.index(TIMES[0]), batch.schema.metadata
    bases = json.loads(said[_BASES])
    if width == len(spec.schema):
        columns = tuple(map(_column, batch.columns[:width], spec.schema.types, bases))
    else:
        places = {name: place for place, name in enumerate(batch.schema.names[:width])}
        columns = tuple(
            _column(batch.column(places[f.name]), f.type, bases[places[f.name]])
            if f.name in places
            else _added(f, batch.num_rows)
            for f in spec.schema
        )
    ts, te, n, keep, *sums = map(_numbers, batch.columns[width:], bases[width:])
    if json.loads(said[_PACKED]):
        te = np.where(te == 0, INF, ts + te)
        keep = np.where(keep == 0, te, ts + keep)
    weights = dict(zip(batch.schema.names[width + len(TIMES) :], sums, strict=True))
    return Elements(spec.schema, columns, ts, te, n, weights), keep


def _added(field: pa.Field, length: int) -> pa.Array:
    zero = 0 if field.name == SEQUENCE else None
    return pa.repeat(pa.scalar(zero, field.type), length)


def _same(column: pa.Array) -> _Smaller:
    """No bytes and the one value that all rows have, or the column and None."""
    values = _integers(column)
    if len(values) == 0 or values[0] != values[-1] or np.any(values != values[0]):
        return column, None
    return pa.nulls(len(column)), int(values[0])


def _small(column: pa.Array) -> _Smaller:
    """The column as what is to be added to a base, or as it is and None."""
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


def _column(column: pa.Array, kind: pa.DataType, base: int | None) -> pa.Array:
    if base is None:
        if pa.types.is_dictionary(column.type):
            return column.dictionary_decode()
        return column.cast(kind) if _is_narrower(column.type, kind) else column
    values = np.ascontiguousarray(_numbers(column, base).astype(f"i{kind.bit_width // 8}"))
    return pa.Array.from_buffers(kind, len(values), [None, pa.py_buffer(values)])


def _is_narrower(own: pa.DataType, kind: pa.DataType) -> bool:
    """Whether numbers are of another type than they have by now."""
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal)
    return own != kind and any(of(own) and of(kind) for of in numbers)


def _numbers(column: pa.Array, base: int | None) -> Ints:
    if pa.types.is_null(column.type):
        return np.broadcast_to(np.int64(base or 0), len(column))
    values = _integers(column)
    return values if base is None else np.add(values, base, dtype=np.int64)


def _integers(column: pa.Array) -> Ints:
    """The values with the sign that their type has."""
    unsigned = pa.types.is_unsigned_integer(column.type)
    values = values_of(column)
    return values.view(f"u{values.itemsize}") if unsigned else values
