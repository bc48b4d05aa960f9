"""What a source did not take, and why: its dead letters.

A record is rejected where it cannot be read, or holds a value that its column cannot: it costs
itself and nothing else. What is kept of it is its text, the file or the like that it came from, its
place there, the reason, and when that was.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.element import INF, Elements
from penstock.record import Ints
from penstock.runtime.fitting import Failed, fit, fit_values, sql_type
from penstock.state.run import AreaSpec

ErrorPolicy: TypeAlias = Literal["keep", "drop", "fail"]
SCHEMA = pa.schema(
    [
        ("record", pa.string()),
        ("file", pa.string()),
        ("position", pa.string()),
        ("reason", pa.string()),
        ("at", pa.timestamp("us", tz="UTC")),
    ]
)
ORIGIN = pa.schema([("__corrupt", pa.string()), ("__file", pa.string()), ("__start", pa.int64())])
"""What a row from a file comes with: its text if it is malformed, the file, where a task began."""
_PLACE = pa.field("__place", pa.int64())
PLACED = pa.schema([*list(ORIGIN)[1:], _PLACE])
_LONGEST_TEXT, _LONGEST_VALUE, _EXAMPLES = 10_000, 80, 3


@dataclass(frozen=True)
class Rejected:
    """One record that was not taken."""

    text: str | None
    reason: str
    file: str | None = None
    position: str | None = None


def rejected_area(source: str) -> AreaSpec:
    return AreaSpec(f"rejected {source}", SCHEMA, tuple(SCHEMA.names), order="time")


def rejected_rows(rejected: Sequence[Rejected]) -> Elements:
    """Records that were rejected now, as rows of their area."""
    at = time.time_ns() // 1000
    texts = [None if r.text is None else shortened(r.text, _LONGEST_TEXT) for r in rejected]
    columns = (
        pa.array(texts, pa.string()),
        pa.array([r.file for r in rejected], pa.string()),
        pa.array([r.position for r in rejected], pa.string()),
        pa.array([r.reason for r in rejected], pa.string()),
        pa.array([at] * len(rejected), SCHEMA.field("at").type),
    )
    when = np.full(len(rejected), at, dtype=np.int64)
    return Elements(SCHEMA, columns, when, np.full_like(when, INF), np.ones_like(when))


def few(reasons: Iterable[str]) -> list[str]:
    """A few different reasons."""
    return list(dict.fromkeys(reasons))[:_EXAMPLES]


def shortened(text: str, length: int = _LONGEST_VALUE) -> str:
    """A text that can be written and is not long."""
    text = text.encode("utf-8", "replace").decode()
    return text if len(text) <= length else f"{text[:length]}... ({len(text)} characters)"


def row_text(row: Mapping[str, Any] | Sequence[Any]) -> str:
    """A row of values as JSON."""
    try:
        return json.dumps(row, default=_shown, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return _shown(row)


def _shown(value: Any) -> str:
    try:
        return str(value)
    except Exception:  # a value may be anything
        return f"a {type(value).__name__}"


def misfit(value: Any, field: pa.Field) -> str:
    """Why a row is rejected whose value its column does not take."""
    try:
        shown = repr(value)
    except Exception:  # a value may be anything
        shown = f"a {type(value).__name__}"
    return f"{field.name} is {shortened(shown)}, which is no {sql_type(field.type)}"


@dataclass(frozen=True)
class Fitted:
    """Rows in the types of their columns, those left out that do not fit, with the reasons."""

    rows: pa.RecordBatch
    reasons: Mapping[int, str]

    @property
    def good(self) -> pa.RecordBatch:
        if not self.reasons:
            return self.rows
        keep = np.ones(self.rows.num_rows, dtype=np.bool_)
        keep[list(self.reasons)] = False
        return self.rows.filter(pa.array(keep))


def fitted_columns(columns: Sequence[pa.Array], schema: pa.Schema) -> Fitted:
    """Columns of convertible types as rows of the schema."""
    parts = [fit(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return _fitted(columns, parts, schema)


def fitted_values(columns: Sequence[Sequence[Any]], schema: pa.Schema) -> Fitted:
    """Columns of Python's values as rows of the schema."""
    parts = [fit_values(values, field.type) for values, field in zip(columns, schema, strict=True)]
    return _fitted(columns, parts, schema)


def _fitted(given: Sequence[Any], parts: Sequence[Failed], schema: pa.Schema) -> Fitted:
    reasons: dict[int, str] = {}
    for values, (_, bad), field in zip(given, parts, schema, strict=True):
        for i in np.flatnonzero(bad).tolist():
            value = values[i].as_py() if isinstance(values, pa.Array) else values[i]
            reasons.setdefault(i, misfit(value, field))
    rows = pa.RecordBatch.from_arrays([part[0] for part in parts], schema=schema)
    return Fitted(rows, reasons)


class Places:
    """Counts the rows of each file, in the order in which a task reads them."""

    def __init__(self) -> None:
        self._at: tuple[str | None, int | None] = (None, None)
        self._count = 0

    def of(self, files: pa.Array, starts: pa.Array) -> pa.Array:
        """The number of each row among those read from one place of its file."""
        keys = (files, starts)
        groups = record.group_rows(keys, record.hash_rows(keys, len(files))).code
        fresh = np.flatnonzero(record.starts_of(groups))
        ends = [*fresh[1:].tolist(), len(files)]
        places: Ints = np.empty(len(files), dtype=np.int64)
        for first, last in zip(fresh.tolist(), ends, strict=True):
            here = (files[first].as_py(), starts[first].as_py())
            if here != self._at:
                self._at, self._count = here, 0
            places[first:last] = self._count + 1 + np.arange(last - first)
            self._count += last - first
        return pa.array(places)


def position(start: int | None, place: int) -> str:
    """Where a record is: its number, from where reading began."""
    return f"record {place}" if not start else f"record {place} from byte {start}"


def origin_of(rows: pa.RecordBatch | Elements, i: int) -> tuple[str, str]:
    """The file and the position of a row that comes from a file."""
    file, start, place = (rows.column(name)[i].as_py() for name in PLACED.names)
    return file, position(start, place)
