"""Files of Parquet: a task reads the row groups that begin in its split."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from penstock.ingest.file_sources.options import checked
from penstock.ingest.file_sources.records import Records, present
from penstock.ingest.file_sources.splits import Split, UnreadableFileError, unreadable
from penstock.ingest.fitting import (
    Rejected,
    convertible,
    fitted_columns,
    row_text,
    shortened,
    sql_type,
)
from penstock.record import Ints

_ROWS = 1 << 17


@dataclass(frozen=True)
class ParquetFormat:
    """Records of Parquet, whose columns go by their names."""

    record: ClassVar[str] = "row"
    divisible: ClassVar[bool] = True

    @staticmethod
    def of(options: Iterable[tuple[str, str]]) -> ParquetFormat:
        checked("parquet", options, ())
        return ParquetFormat()

    def read(self, split: Split, schema: pa.Schema) -> Iterator[Records]:
        with unreadable():
            raw = split.raw()
        with raw, unreadable(), pq.ParquetFile(raw, coerce_int96_timestamp_unit="us") as file:
            schema = present(schema, map(str.lower, file.schema_arrow.names))
            names = _names(file.schema_arrow, schema)
            groups, numbers = _groups(file.metadata, split)
            if not groups:
                return
            batches = file.iter_batches(_ROWS, groups, columns=names)
            rows = 0
            for batch in batches:
                here = numbers[rows : rows + batch.num_rows]
                rows += batch.num_rows
                yield _records(batch.select(names), here, schema)


def _records(rows: pa.RecordBatch, numbers: Ints, schema: pa.Schema) -> Records:
    fitted = fitted_columns(rows.columns, schema)
    rejected = tuple(
        (int(numbers[i]), Rejected(row_text(rows.slice(i, 1).to_pylist()[0]), reason))
        for i, reason in sorted(fitted.reasons.items())
    )
    good = np.ones(len(numbers), dtype=np.bool_)
    good[list(fitted.reasons)] = False
    return Records(fitted.good, numbers[good], rejected)


def _names(there: pa.Schema, schema: pa.Schema) -> list[str]:
    """The names that the columns have in a file, all of which are of types that can be read."""
    names = []
    for field in schema:
        known = [name for name in there.names if name == field.name] or [
            name for name in there.names if name.lower() == field.name.lower()
        ]
        if len(known) != 1:
            count = f"{len(known)} columns" if known else "no column"
            raise UnreadableFileError(
                f"it has {count} {field.name}; there are: {shortened(', '.join(there.names), 200)}"
            )
        kind = there.field(known[0]).type
        if not convertible(kind, field.type):
            raise UnreadableFileError(
                f"column {field.name} is {sql_type(kind)}, which is no {sql_type(field.type)}"
            )
        names.append(known[0])
    return names


def _groups(metadata: pq.FileMetaData, split: Split) -> tuple[list[int], Ints]:
    """The row groups of a split, and the numbers of their rows in the file."""
    groups, numbers, before = [], [np.zeros(0, dtype=np.int64)], 0
    for i in range(metadata.num_row_groups):
        group = metadata.row_group(i)
        start = min((_begin(group.column(c)) for c in range(group.num_columns)), default=0)
        if split.start <= start and (split.end is None or start < split.end):
            groups.append(i)
            numbers.append(np.arange(before, before + group.num_rows) + 1)
        before += group.num_rows
    return groups, np.concatenate(numbers)


def _begin(column: pq.ColumnChunkMetaData) -> int:
    return int(column.dictionary_page_offset or column.data_page_offset)
