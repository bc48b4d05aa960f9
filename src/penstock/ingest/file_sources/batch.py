"""The files of a batch, as tasks read them.

Law: a file is read to its end or rejected by name, and others go on. The rows of a batch come in
the order of its files, and in a file in the order in which they are written.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Protocol
from urllib.parse import unquote

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock.errors import PlanError
from penstock.ingest.file_sources.csv_format import CsvFormat
from penstock.ingest.file_sources.json_format import JsonFormat
from penstock.ingest.file_sources.parquet_format import ParquetFormat
from penstock.ingest.file_sources.records import Records
from penstock.ingest.file_sources.splits import (
    SIZE,
    Split,
    UnreadableFileError,
    local_path,
    splits_of,
)
from penstock.ingest.file_sources.text_format import TextFormat
from penstock.ingest.fitting import REFUSED, Rejected, fitted_values, refused, sql_type
from penstock.ingest.text_values import TextValues, is_written

_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


class FileFormat(Protocol):
    """How records are written in files."""

    @property
    def record(self) -> str:
        """What is counted in a file: a line, a row."""

    @property
    def divisible(self) -> bool:
        """Whether a file can be read from its middle."""

    def read(self, split: Split, schema: pa.Schema) -> Iterator[Records]: ...


def format_of(name: str, options: Iterable[tuple[str, str]]) -> FileFormat | None:
    """The format of files that are read here; None for one that Spark reads."""
    options = list(options)
    match name.lower():
        case "json":
            return JsonFormat.of(options)
        case "csv":
            return CsvFormat.of(options)
        case "parquet":
            return ParquetFormat.of(options)
        case "text":
            return TextFormat.of(options)
    return None


def check_columns(name: str, schema: pa.Schema) -> None:
    """Refuse columns whose values no file of a format has, and names that are taken."""
    if name.lower() == "text" and (not len(schema) or schema.field(0).type != pa.string()):
        raise PlanError(
            "USING text gives each line as one column: write (line STRING), and take it apart in a "
            "view. Only columns that folders are called after, as day=2026-01-01, may follow"
        )
    for field in schema:
        if field.name.lower() in REFUSED.names:
            raise PlanError(
                f"column {field.name!r} is called as what tells where a record was; choose another "
                "name"
            )
        if name.lower() in ("json", "csv") and not is_written(field.type):
            raise PlanError(
                f"USING {name} does not read column {field.name}: {sql_type(field.type)} has no "
                "text. Make it a STRING, and take it apart in a view"
            )


@dataclass(frozen=True)
class FileBatch:
    """The splits of some files, in order, and how they are read.

    Files that are not of this machine come `through_spark`, each as a whole: only Spark knows
    how to reach them.
    """

    format: FileFormat
    schema: pa.Schema
    splits: tuple[Split, ...]
    through_spark: bool = False

    @staticmethod
    def of(
        format: FileFormat,
        schema: pa.Schema,
        paths: Iterable[str],
        largest: int = SIZE,
    ) -> FileBatch:
        """Files by their paths, as URIs or as this machine has them."""
        paths = list(paths)
        if any(local_path(path) is None for path in paths):
            whole = tuple(Split(path, values=_values_in(path, schema)) for path in paths)
            return FileBatch(format, schema, whole, through_spark=True)
        splits: list[Split] = []
        for path in paths:
            values = _values_in(path, schema)
            for split in splits_of(path, _size(path), format.divisible, largest):
                splits.append(replace(split, values=values))
        return FileBatch(format, schema, tuple(splits))

    def with_content(self, path: str, content: bytes) -> FileBatch:
        """One file, which is here."""
        values = _values_in(path, self.schema)
        return replace(self, splits=(Split(path, content=content, values=values),))

    def tasks(self, parallelism: int) -> int:
        """How many tasks read the files."""
        return max(1, min(parallelism, len(self.splits)))

    def shares(self, tasks: int) -> list[FileBatch]:
        """Parts of the batch for so many tasks, one after the other, about as large each."""
        sizes = np.cumsum([split.size for split in self.splits] or [1])
        owner = np.minimum((sizes - 1) * tasks // sizes[-1], tasks - 1).tolist()
        return [
            replace(self, splits=tuple(self.splits[i] for i, task in enumerate(owner) if task == k))
            for k in range(tasks)
        ]

    @property
    def rows_schema(self) -> pa.Schema:
        """The columns, and what tells where a row was or why a record is none."""
        return pa.schema([*self.schema, *REFUSED])

    def rows(self) -> Iterator[pa.RecordBatch]:
        """All records: rows, and those that are none, as `rejected.refused` has them."""
        for split in self.splits:
            last = 0
            try:
                for found in self._records(split):
                    yield from self._told(found, split)
                    last = max(last, found.last)
            except UnreadableFileError as error:
                reason = f"the file cannot be read: {error}"
                where = f"after {split.position(self.format.record, last)}" if last else None
                yield refused([Rejected(None, reason, split.shown, where)], self.schema)

    def _records(self, split: Split) -> Iterator[Records]:
        known = dict(split.values)
        inside = pa.schema([field for field in self.schema if field.name not in known])
        constants = self._constants(split)
        for found in self.format.read(split, inside):
            rows, count = found.rows, found.rows.num_rows
            there = {name: rows.column(name) for name in rows.schema.names}
            there |= {name: pa.repeat(value, count) for name, value in constants.items()}
            columns = [there.get(f.name, pa.nulls(count, f.type)) for f in self.schema]
            yield replace(found, rows=pa.RecordBatch.from_arrays(columns, schema=self.schema))

    def _told(self, found: Records, split: Split) -> Iterator[pa.RecordBatch]:
        """Records with the places where they were."""
        if found.rows.num_rows:
            yield self._placed(found, split)
        if found.rejected:
            bad = [
                replace(one, file=split.shown, position=split.position(self.format.record, n))
                for n, one in found.rejected
            ]
            yield refused(bad, self.schema)

    def _placed(self, found: Records, split: Split) -> pa.RecordBatch:
        count, columns = found.rows.num_rows, found.rows.columns
        numbers = pa.array(found.numbers).cast(pa.string())
        what = split.position(self.format.record, 0).split(" 0", 1)
        places = pc.binary_join_element_wise(f"{what[0]} ", numbers, what[1], "")
        where = [pa.repeat(split.shown, count), places, *(pa.nulls(count, pa.string()),) * 2]
        return pa.RecordBatch.from_arrays([*columns, *where], schema=self.rows_schema)

    def _constants(self, split: Split) -> dict[str, pa.Scalar]:
        """The values that the path of a file names."""
        found = {}
        for name, text in split.values:
            kind = self.schema.field(name).type
            is_text = pa.types.is_string(kind)
            value = None if text == _NO_VALUE else text
            if value is not None and not is_text:
                value = getattr(self.format, "values", TextValues()).of_text(value, kind)
            fitted = fitted_values([[value]], pa.schema([self.schema.field(name)]))
            if fitted.reasons:
                raise UnreadableFileError(f"in its path {fitted.reasons[0]}")
            found[name] = fitted.rows.column(0)[0]
        return found


def _values_in(path: str, schema: pa.Schema) -> tuple[tuple[str, str], ...]:
    """Columns that folders are called after, as `day=2026-01-01` is."""
    names = {name.lower(): name for name in schema.names}
    folders = PurePosixPath(local_path(path) or path).parts[:-1]
    pairs = (folder.split("=", 1) for folder in folders if "=" in folder)
    found = {names[k.lower()]: unquote(v) for k, v in pairs if k.lower() in names}
    return tuple(found.items())


def _size(path: str) -> int:
    """How large a file is; 0 where it is gone, or its size is not to be known."""
    try:
        return os.path.getsize(local_path(path) or path)
    except (OSError, ValueError):
        return 0
