"""Values into columns: taken as they are, or not at all; and the records that are rejected.

Law: a value that is taken is what the column holds then. 2.0 is the INT 2 and 1.5 is none, and True
is no number. Only a FLOAT rounds, and a DOUBLE what was a decimal: to the nearest they can hold.
A record with a value that is not taken is kept aside with its text, the reason and its place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Context, Decimal, InvalidOperation
from time import time_ns
from typing import Any, Literal, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as t

from penstock import record
from penstock.element import INF, Elements
from penstock.record import Mask
from penstock.state.run import StateTableSpec

Failed: TypeAlias = tuple[pa.Array, Mask]
"""A column that holds NULL where a value does not fit, and where that is."""
_FEW = 8
_INFINITE = float("inf")
_MOST_DIGITS = 400
"""More than the largest DOUBLE has."""
_ALL_DIGITS = Context(prec=100)
_OPTIONAL = {b"optional": b""}
_MISFITS = (pa.ArrowException, OverflowError, TypeError, ValueError, ArithmeticError)


def optional(field: pa.Field) -> pa.Field:
    """A column that rows may come without: it is NULL then."""
    return field.with_metadata(_OPTIONAL)


def is_optional(field: pa.Field) -> bool:
    return bool(field.metadata) and _OPTIONAL.keys() <= field.metadata.keys()


def convertible(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether values of one type may be of another: numbers, texts, times among themselves."""
    if given == wanted or t.is_null(given):
        return True
    if t.is_dictionary(given):
        return convertible(given.value_type, wanted)
    if any(of(given) and of(wanted) for of in (_is_number, _is_text, _is_binary, _is_moment)):
        return True
    if _is_list(given) and _is_list(wanted):
        return convertible(given.value_type, wanted.value_type)
    if t.is_map(given) and t.is_map(wanted):
        items = convertible(given.item_type, wanted.item_type)
        return items and convertible(given.key_type, wanted.key_type)
    if t.is_struct(given) and t.is_struct(wanted):
        names = [f.name for f in given], [f.name for f in wanted]
        pairs = zip(given, wanted, strict=False)
        return names[0] == names[1] and all(convertible(a.type, b.type) for a, b in pairs)
    return False


def sql_type(kind: pa.DataType) -> str:
    """A type as SQL names it, where it does."""
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import from_arrow_type

    try:
        return from_arrow_type(kind).simpleString().upper()
    except PySparkTypeError:
        return str(kind)


def fit(column: pa.Array, wanted: pa.DataType) -> Failed:
    """A column of a type that is convertible, in the type that is wanted."""
    given = column.type
    if given == wanted:
        return column, np.zeros(len(column), dtype=np.bool_)
    if t.is_dictionary(given):
        return fit(column.dictionary_decode(), wanted)
    if t.is_integer(given) and t.is_integer(wanted):
        return _by_halves(column, wanted)
    if _is_number(given) and _is_number(wanted) and not t.is_decimal(given):
        return _there_and_back(column, wanted)
    if _is_moment(given) and t.is_date(wanted):
        return _there_and_back(column, wanted)
    return _by_halves(column, wanted)


def _there_and_back(column: pa.Array, wanted: pa.DataType) -> Failed:
    """Values fit that are the same when they are turned back."""
    if t.is_decimal(wanted) or t.is_date(wanted):
        found, bad = _by_halves(column, wanted)
    else:
        found, bad = column.cast(wanted, safe=False), np.zeros(len(column), dtype=np.bool_)
    if t.is_floating(wanted):
        if t.is_floating(column.type):
            infinite = pc.and_(pc.is_inf(found), pc.invert(pc.is_inf(column)))
            bad |= record.numpy(infinite.fill_null(False))
        else:
            bad |= ~_equal(found.cast(column.type, safe=False), column) | _too_large(found, 64)
    else:
        bad |= ~_equal(found.cast(column.type, safe=False), column)
        if t.is_integer(wanted):
            bad |= _too_large(column, wanted.bit_width)
    return _without(found, bad & record.valid(column))


def _equal(one: pa.Array, other: pa.Array) -> Mask:
    equal: Mask = record.numpy(pc.equal(one, other).fill_null(False))
    return equal


def _too_large(numbers: pa.Array, bits: int) -> Mask:
    """Which floating numbers are beyond the integers of so many bits."""
    large: Mask = record.numpy(pc.greater_equal(numbers, 2.0 ** (bits - 1)).fill_null(False))
    return large


def _without(column: pa.Array, bad: Mask) -> Failed:
    if bad.any():
        column = pc.if_else(pa.array(bad), pa.scalar(None, column.type), column)
    return column, bad


def _by_halves(column: pa.Array, wanted: pa.DataType) -> Failed:
    """What converts; where something does not, each half by itself."""
    try:
        return column.cast(wanted), np.zeros(len(column), dtype=np.bool_)
    except _MISFITS:
        if len(column) == 1:
            return pa.nulls(1, wanted), np.ones(1, dtype=np.bool_)
    middle = len(column) // 2
    parts = [_by_halves(half, wanted) for half in (column[:middle], column[middle:])]
    return pa.concat_arrays([part[0] for part in parts]), np.concatenate([p[1] for p in parts])


# --- Python's values ----------------------------------------------------------------------------


def fit_values(values: Sequence[Any], wanted: pa.DataType) -> Failed:
    """A column of Python's values; where some do not fit, each half by itself."""
    kinds = {type(value) for value in values} - {type(None)}
    if kinds <= _plain(wanted):
        try:
            return pa.array(values, wanted), np.zeros(len(values), dtype=np.bool_)
        except _MISFITS:
            pass
    if len(values) > _FEW:
        middle = len(values) // 2
        parts = [fit_values(half, wanted) for half in (values[:middle], values[middle:])]
        return pa.concat_arrays([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
    found, bad = [], np.zeros(len(values), dtype=np.bool_)
    for i, value in enumerate(values):
        try:
            found.append(pa.scalar(_converted(value, wanted), wanted).as_py())
        except _MISFITS:
            found.append(None)
            bad[i] = True
    return pa.array(found, wanted), bad


def _plain(wanted: pa.DataType) -> set[type]:
    """The types of values that Arrow takes as they are, or not at all."""
    return next((kinds for of, kinds in _PLAIN if of(wanted)), set())


_PLAIN: tuple[tuple[Callable[[pa.DataType], bool], set[type]], ...] = (
    (t.is_boolean, {bool}),
    (t.is_integer, {int}),
    (t.is_float64, {float, int}),
    (t.is_decimal, {Decimal, int}),
    (lambda kind: _is_text(kind), {str}),
    (lambda kind: _is_binary(kind), {bytes}),
    (t.is_timestamp, {datetime}),
    (t.is_date, {date}),
)


def _converted(value: Any, wanted: pa.DataType) -> Any:
    """A value as one that Arrow takes without changing it; an error where there is none."""
    if value is None:
        return None
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else _moment(value, wanted)
    if isinstance(value, np.generic):
        return _converted(value.item(), wanted)
    if t.is_boolean(wanted):
        return _must(value, isinstance(value, bool))
    if _is_number(wanted):
        return _number(value, wanted)
    if _is_text(wanted):
        return _must(value, isinstance(value, str))
    if _is_binary(wanted):
        return bytes(_must(value, isinstance(value, bytes | bytearray | memoryview)))
    if t.is_date(wanted):
        whole = not isinstance(value, datetime) or value.timetz() == time()
        _must(value, isinstance(value, date) and whole)
        return value.date() if isinstance(value, datetime) else value
    if t.is_timestamp(wanted):
        return _must(value, isinstance(value, date))
    return _nested(value, wanted)


def _moment(value: np.datetime64, wanted: pa.DataType) -> Any:
    """A time of NumPy as one of Python, of which it must be the same."""
    _must(value, t.is_timestamp(wanted) or t.is_date(wanted))
    found = value.astype("datetime64[us]")
    _must(value, found == value and isinstance(found.item(), datetime))
    return _converted(found.item(), wanted)


def _number(value: Any, wanted: pa.DataType) -> Any:
    _must(value, isinstance(value, int | float | Decimal) and not isinstance(value, bool))
    if isinstance(value, Decimal) and value.is_finite() and value.adjusted() > _MOST_DIGITS:
        raise OverflowError("it has too many digits")  # which nobody should write out
    if t.is_integer(wanted):
        return int(_must(value, value == int(value)))
    if t.is_floating(wanted):
        exact = isinstance(value, Decimal) or value != value or float(value) == value
        number = float(_must(value, exact))
        largest = float(np.finfo(wanted.to_pandas_dtype()).max)
        infinite = isinstance(value, int | float) or not value.is_finite()
        return _must(number, not abs(number) > largest or (abs(number) == _INFINITE and infinite))
    exact_value = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    try:
        rounded = exact_value.quantize(Decimal(1).scaleb(-wanted.scale), context=_ALL_DIGITS)
    except InvalidOperation as error:
        raise ValueError("it has too many digits") from error
    return _must(rounded, rounded == exact_value)


def _nested(value: Any, wanted: pa.DataType) -> Any:
    if _is_list(wanted):
        _must(value, isinstance(value, list | tuple | np.ndarray))
        return [_converted(item, wanted.value_type) for item in value]
    if t.is_map(wanted):
        _must(value, isinstance(value, dict | list | tuple))
        pairs = value.items() if isinstance(value, dict) else value
        kinds = wanted.key_type, wanted.item_type
        return [(_converted(k, kinds[0]), _converted(v, kinds[1])) for k, v in pairs]
    if t.is_struct(wanted):
        fields = {f.name: f.type for f in wanted}
        if isinstance(value, tuple):
            value = dict(zip(fields, value, strict=True))
        _must(value, isinstance(value, dict) and value.keys() <= fields.keys())
        return {name: _converted(value.get(name), kind) for name, kind in fields.items()}
    return value


def _must(value: Any, fits: bool) -> Any:
    if not fits:
        raise TypeError(f"a {type(value).__name__} does not fit")
    return value


def _is_number(kind: pa.DataType) -> bool:
    return bool(t.is_integer(kind) or t.is_floating(kind) or t.is_decimal(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(t.is_string(kind) or t.is_large_string(kind) or t.is_string_view(kind))


def _is_binary(kind: pa.DataType) -> bool:
    views = t.is_binary_view(kind) or t.is_fixed_size_binary(kind)
    return bool(t.is_binary(kind) or t.is_large_binary(kind) or views)


def _is_moment(kind: pa.DataType) -> bool:
    return bool(t.is_timestamp(kind) or t.is_date(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind))


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


def rejected_state_table(source: str) -> StateTableSpec:
    return StateTableSpec(f"rejected {source}", SCHEMA, tuple(SCHEMA.names), order="time")


def rejected_rows(rejected: Sequence[Rejected]) -> Elements:
    """Records that were rejected now, as rows of their state table."""
    at = time_ns() // 1000
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
    refused = rows.select(REFUSED.names).filter(pa.array(bad)).to_pylist()
    return good.filter(pa.array(~bad)), [
        Rejected(one["__record"], one["__reason"], one["__file"], one["__position"])
        for one in refused
    ]


def origin_of(rows: pa.RecordBatch | Elements, i: int) -> tuple[str, str]:
    """The file and the position of a row that comes from a file."""
    file, position = (rows.column(name)[i].as_py() for name in ORIGIN.names)
    return file, position
