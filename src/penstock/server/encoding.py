"""Rows as they are sent: JSON, lines of JSON, CSV or a stream of Arrow, as the Accept header asks.

In JSON, times are ISO 8601 in UTC, decimals are texts, bytes are base64, durations are
microseconds, and what JSON has no number for is "NaN", "Infinity" or "-Infinity".
"""

from __future__ import annotations

import base64
import io
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from http import HTTPStatus
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pyarrow.types as t

from penstock.server.problems import ProblemError


class Form(StrEnum):
    """The media types that there are; the first is for those who take anything."""

    JSON = "application/json"
    LINES = "application/x-ndjson"
    CSV = "text/csv"
    ARROW = "application/vnd.apache.arrow.stream"


def accepted(accept: str | None) -> Form:
    """The form that a header prefers of those that there are."""
    if not accept:
        return Form.JSON
    wanted: list[tuple[float, int, str]] = []
    for number, part in enumerate(accept.split(",")):
        name, *parameters = (one.strip() for one in part.split(";"))
        quality = 1.0
        for parameter in parameters:
            if parameter.startswith("q="):
                try:
                    quality = float(parameter[2:])
                except ValueError:
                    quality = 0.0
        if quality > 0:
            wanted.append((-quality, number, name.lower()))
    for _, _, name in sorted(wanted):
        for form in Form:
            if name in (form, "*/*", f"{form.split('/')[0]}/*"):
                return form
    raise ProblemError(
        HTTPStatus.NOT_ACCEPTABLE,
        "NOT_ACCEPTABLE",
        f"Found {accept[:80]!r}, expected one of {', '.join(Form)}.",
    )


def encoded(
    form: Form, schema: pa.Schema, batches: Iterable[pa.RecordBatch], about: Mapping[str, Any]
) -> Iterator[bytes]:
    """The rows in a form, piece by piece; JSON begins with what there is to say about them."""
    match form:
        case Form.JSON:
            return _json(schema, batches, about)
        case Form.LINES:
            return (line for batch in batches for line in _lines(batch))
        case Form.CSV:
            return _csv(schema, batches)
    return _arrow(schema, batches)


def _json(
    schema: pa.Schema, batches: Iterable[pa.RecordBatch], about: Mapping[str, Any]
) -> Iterator[bytes]:
    columns = [{"name": field.name, "type": str(field.type)} for field in schema]
    head = dumped({**about, "columns": columns})
    yield f'{head[:-1]},"rows":['.encode()
    first = True
    for batch in batches:
        text = ",".join(map(dumped, rows_of(batch)))
        if text:
            yield (text if first else f",{text}").encode()
            first = False
    yield b"]}"


def _lines(batch: pa.RecordBatch) -> Iterator[bytes]:
    yield "".join(f"{dumped(row)}\n" for row in rows_of(batch)).encode()


def _csv(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    head = io.BytesIO()
    texts = pa.schema([(field.name, pa.string()) for field in schema])
    with pc.CSVWriter(head, texts):
        pass
    yield head.getvalue()
    options = pc.WriteOptions(include_header=False)
    for batch in batches:
        columns = [_csv_column(column) for column in batch.columns]
        out = io.BytesIO()
        pc.write_csv(pa.table(columns, names=batch.schema.names), out, options)
        yield out.getvalue()


def _csv_column(column: pa.Array) -> pa.Array:
    kind = column.type
    if t.is_integer(kind) or t.is_boolean(kind) or t.is_string(kind) or t.is_null(kind):
        return column
    texts = [v if v is None or isinstance(v, str) else dumped(v) for v in values_of(column)]
    return pa.array(texts, pa.string())


def _arrow(schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    out = io.BytesIO()
    with pa.ipc.new_stream(out, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            yield out.getvalue()
            out.seek(0)
            out.truncate()
    yield out.getvalue()


def rows_of(batch: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """Rows whose values JSON has."""
    names = batch.schema.names
    columns = [values_of(column) for column in batch.columns]
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def values_of(column: pa.Array) -> list[Any]:
    """The values of a column as JSON has them; times may be of any year."""
    kind = column.type
    if t.is_dictionary(kind):
        return values_of(column.dictionary_decode())
    if t.is_integer(kind) or t.is_string(kind) or t.is_boolean(kind):
        return column.to_pylist()
    if t.is_timestamp(kind):
        return [v and v.replace(" ", "T") for v in column.cast(pa.string()).to_pylist()]
    if t.is_date(kind) or t.is_decimal(kind):
        return column.cast(pa.string()).to_pylist()
    if t.is_duration(kind):
        return column.cast(pa.duration("us")).cast(pa.int64()).to_pylist()
    try:
        return [plain(value) for value in column.to_pylist()]
    except (OverflowError, ValueError):  # a time within that Python does not have
        return [None if not one.is_valid else str(one) for one in column]


def plain(value: Any) -> Any:
    """A value of Python as JSON has it."""
    for kind, shown in _SHOWN.items():
        if isinstance(value, kind):
            return shown(value)
    return value if value is None or isinstance(value, str | int) else str(value)


_SHOWN: Mapping[Any, Callable[[Any], Any]] = {
    float: lambda v: (
        v if math.isfinite(v) else {math.inf: "Infinity", -math.inf: "-Infinity"}.get(v, "NaN")
    ),
    bytes: lambda v: base64.b64encode(v).decode(),
    datetime: lambda v: v.isoformat(),
    date: lambda v: v.isoformat(),
    Decimal: str,
    timedelta: lambda v: v // timedelta(microseconds=1),
    dict: lambda v: {name: plain(one) for name, one in v.items()},
    tuple: lambda v: [plain(one) for one in v],
    list: lambda v: [plain(one) for one in v],
}
