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
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.element import INF, Elements
from penstock.ingest.fitting import Failed, fit, fit_values, sql_type
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
ORIGIN = pa.schema([(name, pa.string()) for name in ("__file", "__position")])
REFUSED = pa.schema([*ORIGIN, ("__record", pa.string()), ("__reason", pa.string())])
"""What rows of files come with: where they were, and the text and the reason of a record that was
refused, whose columns are all NULL then."""
_LONGEST_TEXT, _LONGEST_VALUE, _EXAMPLES = 10_000, 80, 3


@dataclass(frozen=True)
class Rejected:
    """One record that was not taken."""

    text: str | None
    reason: str
    file: str | None = None
    position: str | None = None

    @property
    def place(self) -> str:
        """Where it was, if it was in a file."""
        return ", ".join(filter(None, (self.file, self.position))) if self.file else ""


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
        shown = str(value) if isinstance(value, Decimal) else repr(value)
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


def refused(rejected: Sequence[Rejected], schema: pa.Schema) -> pa.RecordBatch:
    """Records that were rejected, as rows of these columns and those of `REFUSED`."""
    shown = [
        (one.file, one.position, one.text and shortened(one.text, _LONGEST_TEXT), one.reason)
        for one in rejected
    ]
    texts = [pa.array([one[i] for one in shown], pa.string()) for i in range(len(REFUSED))]
    columns = [pa.nulls(len(rejected), kind) for kind in schema.types]
    return pa.RecordBatch.from_arrays([*columns, *texts], schema=pa.schema([*schema, *REFUSED]))


def refused_in(rows: pa.RecordBatch) -> tuple[pa.RecordBatch, list[Rejected]]:
    """Rows that were taken, without what tells why others were not, and these others."""
    bad = record.valid(rows.column("__reason"))
    names = [name for name in rows.schema.names if name not in REFUSED.names[2:]]
    good = rows.select(names)
    if not bad.any():
        return good, []
    told = rows.select(REFUSED.names).filter(pa.array(bad)).to_pylist()
    return good.filter(pa.array(~bad)), [
        Rejected(one["__record"], one["__reason"], one["__file"], one["__position"]) for one in told
    ]


def origin_of(rows: pa.RecordBatch | Elements, i: int) -> tuple[str, str]:
    """The file and the position of a row that comes from a file."""
    file, position = (rows.column(name)[i].as_py() for name in ORIGIN.names)
    return file, position
