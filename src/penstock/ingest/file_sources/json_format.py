"""Files of JSON: an object a line, or one document of a whole file (`multiLine`).

An array, in a line or as a document, holds several records. Fields that no column is called after
are not read, a column whose field is not there is NULL.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json as pj
import pyarrow.types as t

from penstock import record
from penstock.ingest.file_sources.options import TEXT, TIMES, checked, flag, text_values
from penstock.ingest.file_sources.records import (
    Records,
    Values,
    empty,
    exactly,
    records_of,
    too_long,
)
from penstock.ingest.file_sources.splits import Split, UnreadableFileError, lines_of
from penstock.ingest.file_sources.text_columns import taken
from penstock.ingest.fitting import fit, row_text, shortened
from penstock.ingest.text_values import TextValues, from_json
from penstock.record import Mask

_FEW = 8
_EXACT_INTEGERS = float(1 << 53)


@dataclass(frozen=True)
class JsonFormat:
    """Records of JSON."""

    values: TextValues
    whole_file: bool = False

    @property
    def record(self) -> str:
        """What is counted in a file."""
        return "record" if self.whole_file else "line"

    @staticmethod
    def of(options: Iterable[tuple[str, str]]) -> JsonFormat:
        found = checked("json", options, (*TEXT, *TIMES, "multiLine"))
        return JsonFormat(text_values(found), flag(found, "multiline"))

    @property
    def divisible(self) -> bool:
        return not self.whole_file

    def read(self, split: Split, schema: pa.Schema) -> Iterator[Records]:
        if self.whole_file:
            yield self._document(split, schema)
            return
        for block in lines_of(split):
            if block.is_cut:
                yield too_long(block.lines[0], block.before + 1, schema)
                continue
            lines = [line.strip() for line in block.lines]
            yield records_of(
                lines,
                block.numbers,
                schema,
                lambda some: self._quick(some, schema),
                lambda text: self._exact(text, schema),
            )

    # --- exactly --------------------------------------------------------------------------------

    def _exact(self, text: str, schema: pa.Schema) -> list[tuple[str, Values]]:
        try:
            found = from_json(text)
        except (ValueError, RecursionError) as error:
            return [(text, ValueError(f"it is no JSON: {_problem(error)}"))]
        if not isinstance(found, list):
            return [(text, self._row(found, schema))]
        return [(row_text(one), self._row(one, schema)) for one in found]

    def _row(self, found: Any, schema: pa.Schema) -> Values:
        if not isinstance(found, dict):
            return ValueError("it is no object of JSON")
        return [
            self.values.of_json(_known(found.get(field.name), field.type), field.type)
            for field in schema
        ]

    def _document(self, split: Split, schema: pa.Schema) -> Records:
        """A file as one document: its records are numbered."""
        with split.opened() as file:
            data = file.read()
        try:
            found = from_json(data.decode("utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise UnreadableFileError(f"it is no JSON: {_problem(error)}") from None
        ones = found if isinstance(found, list) else [found]
        rows = ((i, row_text(one), self._row(one, schema)) for i, one in enumerate(ones, 1))
        return exactly(rows, schema)

    # --- quickly --------------------------------------------------------------------------------

    def _quick(self, lines: list[bytes], schema: pa.Schema) -> tuple[pa.RecordBatch, Mask]:
        """A line that begins and ends as an object does is one record, or none: the lines are not
        read as one text in which an object could be spread over two of them."""
        kinds = [_as_written(kind) for kind in schema.types]
        like = np.array([x[:1] == b"{" and x[-1:] == b"}" for x in lines], dtype=np.bool_)
        known = [kind for kind in kinds if kind is not None]
        if len(known) < len(kinds) or not like.any():
            return empty(schema), np.zeros(len(lines), dtype=np.bool_)
        wanted = pa.schema(zip(schema.names, known, strict=True))
        places = np.flatnonzero(like)
        some = [lines[i] for i in places.tolist()] if not like.all() else lines
        table, read = _parsed(some, wanted)
        columns, done = [], np.ones(table.num_rows, dtype=np.bool_)
        for column, kind in zip(table.columns, schema.types, strict=True):
            held, good = self._held(column, kind)
            columns.append(held)
            done &= good
        rows = pa.RecordBatch.from_arrays(columns, schema=schema)
        where = places[np.flatnonzero(read)[done]]
        mask = np.zeros(len(lines), dtype=np.bool_)
        mask[where] = True
        return (rows if done.all() else rows.filter(pa.array(done))), mask

    def _held(self, column: pa.Array, kind: pa.DataType) -> tuple[pa.Array, Mask]:
        """A column as it is written, as one that holds the values."""
        if t.is_temporal(kind):
            held, good = taken(column, kind, self.values)
            return held, good
        good = np.ones(len(column), dtype=np.bool_)
        if t.is_floating(kind):  # an integer that is no DOUBLE is not rounded to one
            small = pc.less(pc.abs(column), _EXACT_INTEGERS)
            good = record.numpy(small.fill_null(True))
        elif t.is_list(kind) and t.is_floating(kind.value_type):
            small = pc.less(pc.abs(column.flatten()), _EXACT_INTEGERS)
            if not record.numpy(small.fill_null(True)).all():
                good = ~good
        held, bad = fit(column, kind)
        return held, good & ~bad


def _as_written(kind: pa.DataType) -> pa.DataType | None:
    """The type that a column is read in first; None where there is no quick way."""
    if t.is_string(kind) or t.is_boolean(kind):
        return kind
    if t.is_integer(kind):
        return pa.int64()
    if t.is_floating(kind):
        return pa.float64()
    if t.is_temporal(kind):
        return pa.string()
    if t.is_list(kind) and not t.is_temporal(kind.value_type) and not t.is_nested(kind.value_type):
        inner = _as_written(kind.value_type)
        return None if inner is None else pa.list_(pa.field("element", inner))
    return None


def _parsed(lines: list[bytes], schema: pa.Schema) -> tuple[pa.RecordBatch, Mask]:
    """The lines that Arrow reads, each as one row, and which these are. Where it stops at a line,
    each half is read by itself, and a few lines not at all."""
    data = b"\n".join(lines)
    try:
        found = pj.read_json(
            io.BytesIO(data),
            read_options=pj.ReadOptions(use_threads=False, block_size=len(data) + 16),
            parse_options=pj.ParseOptions(
                explicit_schema=schema, unexpected_field_behavior="ignore"
            ),
        )
        if found.num_rows == len(lines):
            rows = found.combine_chunks().to_batches()[0]
            return rows, np.ones(len(lines), dtype=np.bool_)
    except (pa.ArrowException, ValueError):
        pass
    if len(lines) <= _FEW:
        return empty(schema), np.zeros(len(lines), dtype=np.bool_)
    middle = len(lines) // 2
    parts = [_parsed(half, schema) for half in (lines[:middle], lines[middle:])]
    return pa.concat_batches([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _known(value: Any, kind: pa.DataType) -> Any:
    """A value without the fields that its type does not have."""
    if isinstance(value, dict) and t.is_struct(kind):
        return {f.name: _known(value[f.name], f.type) for f in kind if f.name in value}
    if isinstance(value, list) and t.is_list(kind):
        return [_known(item, kind.value_type) for item in value]
    if isinstance(value, dict) and t.is_map(kind):
        return {k: _known(v, kind.item_type) for k, v in value.items()}
    return value


def _problem(error: Exception) -> str:
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    if isinstance(error, json.JSONDecodeError):
        return f"{error.msg} at character {error.pos + 1}"
    return shortened(str(error), 200)
