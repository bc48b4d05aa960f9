"""Values as text and as JSON, for every type of Spark: `read(write(v)) == v`.

Numbers, booleans, dates and times are written bare, as Spark prints them; strings in single quotes
with Python's escapes for quotes, backslashes and control characters; binaries as `X'00FF'`; and
arrays, structs, maps and calendar intervals as JSON in single quotes. NULL is `null`. A timestamp
with time zone is written in UTC and ends in `Z`.
"""

from __future__ import annotations

import datetime as dt
import json
import math
import re
from decimal import Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

_UNPRINTABLE = re.compile("[\0-\x1f\\\\'\x7f-\x9f\ud800-\udfff\ufffe\uffff]")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)|''", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "0": "\0"}
_DURATION = re.compile(r"([+-]?)(\d+) (\d\d):([0-5]\d):([0-5]\d)(?:\.(\d{1,6}))?")
_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def write(value: Any, kind: pa.DataType) -> str:
    if value is None:
        return "null"
    if _is_text(kind):
        return quote(value)
    if _is_binary(kind):
        return f"X'{value.hex().upper()}'"
    if is_nested(kind):
        return quote(json.dumps(to_json(value, kind), separators=(",", ":"), ensure_ascii=False))
    return _bare(value)


def read(word: str, kind: pa.DataType) -> Any:
    """The value that a bare word or a quoted literal stands for; ValueError says what is wrong."""
    if word == "null":
        return None
    if word[:1] in ("'", '"') and (_is_text(kind) or is_nested(kind)):
        text = unquote(word)
        return text if _is_text(kind) else from_json(json.loads(text), kind)
    if word[:2] in ("X'", "x'") and _is_binary(kind):
        return bytes.fromhex(word[2:-1])
    if _is_text(kind) or _is_binary(kind) or is_nested(kind):
        raise ValueError(word)
    return _read_bare(word, kind)


def expected(kind: pa.DataType) -> str:
    """What a value of the type looks like, for errors."""
    for test, example in _EXAMPLES:
        if test(kind):
            return f"{example}, a value of type {kind}"
    return f"a value of type {kind}"


def quote(text: str) -> str:
    return "'" + _UNPRINTABLE.sub(_escaped, text) + "'"


def unquote(word: str) -> str:
    return _ESCAPE.sub(_unescaped, word[1:-1])


def to_json(value: Any, kind: pa.DataType) -> Any:
    """The value as JSON's own where JSON has it exactly, else as the text of its literal."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else _bare(value)
    if pa.types.is_struct(kind):
        return {field.name: to_json(value.get(field.name), field.type) for field in kind}
    if pa.types.is_map(kind):
        pairs = value.items() if isinstance(value, dict) else value
        return [[to_json(k, kind.key_type), to_json(v, kind.item_type)] for k, v in pairs]
    if _is_list(kind):
        return [to_json(item, kind.value_type) for item in value]
    if isinstance(value, tuple):  # a calendar interval: months, days, nanoseconds
        return list(value)
    return value.hex().upper() if isinstance(value, bytes) else _bare(value)


def from_json(data: Any, kind: pa.DataType) -> Any:
    """The inverse of `to_json`; ValueError where the data cannot be of the type."""
    if data is None:
        return None
    if pa.types.is_struct(kind):
        _require(isinstance(data, dict) and set(data) <= {f.name for f in kind}, data)
        return {field.name: from_json(data.get(field.name), field.type) for field in kind}
    if pa.types.is_map(kind):
        _require(_is_json_list(data) and all(_is_json_list(p) and len(p) == 2 for p in data), data)
        return [(from_json(k, kind.key_type), from_json(v, kind.item_type)) for k, v in data]
    if _is_list(kind):
        _require(_is_json_list(data), data)
        return [from_json(item, kind.value_type) for item in data]
    if pa.types.is_interval(kind):
        _require(_is_json_list(data) and len(data) == 3, data)
        return pa.MonthDayNano(data)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_floating(kind):
        word = data if data in ("NaN", "Infinity", "-Infinity") else json.dumps(data)
        return _read_bare(word, kind)
    if pa.types.is_decimal(kind) and isinstance(data, int) and not isinstance(data, bool):
        return Decimal(data)
    _require(isinstance(data, str), data)
    if _is_text(kind):
        return data
    return bytes.fromhex(data) if _is_binary(kind) else _read_bare(data, kind)


def is_nested(kind: pa.DataType) -> bool:
    """Whether values of the type are only equal or not: it has no order that patterns know of."""
    return bool(pa.types.is_nested(kind) or pa.types.is_interval(kind) or pa.types.is_null(kind))


def _bare(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            special = {math.inf: "Infinity", -math.inf: "-Infinity"}
            return "NaN" if value != value else special.get(value, repr(value + 0.0))
        case Decimal():
            return f"{value:f}"
        case dt.datetime() if value.tzinfo:
            return f"{value.astimezone(dt.UTC).replace(tzinfo=None).isoformat(' ')}Z"
        case dt.datetime():
            return value.isoformat(" ")
        case dt.timedelta():
            size = abs(value)
            rest = (dt.datetime.min + dt.timedelta(0, size.seconds, size.microseconds)).time()
            return f"{'-' if value < dt.timedelta(0) else ''}{size.days} {rest.isoformat()}"
    return str(value)


def _read_bare(word: str, kind: pa.DataType) -> Any:
    if pa.types.is_boolean(kind):
        return {"true": True, "false": False}[word.lower()]
    if pa.types.is_integer(kind):
        _require(re.fullmatch(r"[+-]?\d+", word) is not None, word)
        return int(word)
    if pa.types.is_floating(kind):
        return _FLOATS[word] if word in _FLOATS else _finite(word)
    if pa.types.is_decimal(kind):
        _require(re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)", word) is not None, word)
        return Decimal(word)
    if pa.types.is_date(kind):
        return dt.date.fromisoformat(word)
    if pa.types.is_timestamp(kind):
        moment = dt.datetime.fromisoformat(word)
        _require((moment.tzinfo is not None) == (kind.tz is not None), word)
        return moment.astimezone(dt.UTC) if kind.tz else moment
    if pa.types.is_time(kind):
        return dt.time.fromisoformat(word)
    if pa.types.is_duration(kind):
        return _duration(word)
    raise ValueError(word)


def _finite(word: str) -> float:
    number = float(word)
    _require(math.isfinite(number) and "_" not in word, word)
    return number


def _duration(word: str) -> dt.timedelta:
    found = _DURATION.fullmatch(word)
    _require(found is not None, word)
    assert found is not None
    sign, days, hours, minutes, seconds, fraction = found.groups()
    micros = int((fraction or "").ljust(6, "0"))
    size = dt.timedelta(int(days), int(seconds), micros, 0, int(minutes), int(hours))
    return -size if sign == "-" else size


def _escaped(found: re.Match[str]) -> str:
    letter = found[0]
    if letter in "\\'":
        return "\\" + letter
    return {"\n": "\\n", "\t": "\\t", "\r": "\\r"}.get(letter, f"\\u{ord(letter):04x}")


def _unescaped(found: re.Match[str]) -> str:
    code = found[1]
    if code is None:
        return "'"
    return chr(int(code[1:], 16)) if len(code) > 1 else _SHORT.get(code, code)


def _require(condition: bool, found: object) -> None:
    if not condition:
        raise ValueError(str(found))


def _is_json_list(data: Any) -> bool:
    return isinstance(data, list)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _is_binary(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


_EXAMPLES = (
    (pa.types.is_boolean, "true or false"),
    (pa.types.is_integer, "a number like 17"),
    (pa.types.is_floating, "a number like 1.5, NaN, Infinity"),
    (pa.types.is_decimal, "a number like 1.50"),
    (_is_text, "a text in quotes like 'S01'"),
    (_is_binary, "bytes like X'00FF'"),
    (pa.types.is_date, "a date like 2024-02-29"),
    (lambda kind: pa.types.is_timestamp(kind) and kind.tz, "a time like 2024-02-29 17:00:00Z"),
    (pa.types.is_timestamp, "a time like 2024-02-29 17:00:00"),
    (pa.types.is_time, "a time of day like 17:00:00"),
    (pa.types.is_duration, "a duration like 1 17:00:00 (days, then time)"),
    (is_nested, "JSON in quotes like '[1,2]'"),
)
READ_ERRORS = (ValueError, KeyError, InvalidOperation, OverflowError, TypeError, pa.ArrowException)
"""What `read` and `from_json` may raise on what is not a value of the type."""
