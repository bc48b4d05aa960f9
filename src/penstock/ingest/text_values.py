"""What a text says as a value of a type, exactly or not at all.

Law: where a text says nothing in a type, what comes out is the text itself, which does not fit. No
digit is dropped: a number that is too large for a DOUBLE is none, nor is a time with nanoseconds.

A line of text is a record: an object or array of JSON, or values separated by commas.
"""

from __future__ import annotations

import base64
import csv
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal, InvalidOperation
from functools import cached_property
from math import isinf
from typing import Any

import pyarrow as pa
import pyarrow.types as t

from penstock.algebra.calendar import zone_named
from penstock.errors import PlanError
from penstock.ingest.fitting import is_optional, shortened

_WHOLE = re.compile(r"[+-]?[0-9]+")
_FRACTION = re.compile(r"[.,][0-9]{6}[0-9]*[1-9]")
_INFINITE = re.compile(r"[+-]?inf(inity)?", re.IGNORECASE)
_TRUTH = {"true": True, "false": False}
_NOT_NUMBERS = {"NaN", "Infinity", "-Infinity", "INF", "-INF", "+INF", "+Infinity"}
_ERRORS = (ValueError, ArithmeticError, KeyError, RecursionError)


@dataclass(frozen=True)
class TextValues:
    """How values are written: the zone of times that name none, and patterns of dates and times.

    Without a pattern they are as ISO 8601 has them.
    """

    zone: str = "UTC"
    dates: TimePattern | None = None
    times: TimePattern | None = None
    local_times: TimePattern | None = None

    def of_text(self, text: str, kind: pa.DataType) -> Any:
        """What a text says in a type."""
        if not text:
            return None
        for of, read in self._readers:
            if of(kind):
                try:
                    return read(text, kind)
                except _ERRORS:
                    return text
        return text

    def of_json(self, value: Any, kind: pa.DataType) -> Any:
        """A value of JSON, which has no times, no decimals and no bytes: they are texts there."""
        if isinstance(value, str):
            written = t.is_temporal(kind) or t.is_decimal(kind)
            number = t.is_floating(kind) and value in _NOT_NUMBERS
            return self.of_text(value, kind) if written or number or _is_binary(kind) else value
        if isinstance(value, list) and _is_list(kind):
            return [self.of_json(item, kind.value_type) for item in value]
        if isinstance(value, dict) and t.is_struct(kind):
            kinds = {field.name: field.type for field in kind}
            return {n: self.of_json(v, kinds[n]) if n in kinds else v for n, v in value.items()}
        if isinstance(value, dict) and t.is_map(kind):
            pairs = value.items()
            return [
                (self.of_text(k, kind.key_type) if k else k, self.of_json(v, kind.item_type))
                for k, v in pairs
            ]
        return value

    @cached_property
    def _readers(
        self,
    ) -> tuple[tuple[Callable[[pa.DataType], bool], Callable[[str, pa.DataType], Any]], ...]:
        return (
            (t.is_integer, lambda text, _: _whole(text)),
            (t.is_floating, lambda text, _: _floating(text)),
            (t.is_decimal, lambda text, _: Decimal(_without_underscores(text))),
            (t.is_boolean, lambda text, _: _TRUTH[text.strip().lower()]),
            (t.is_date, lambda text, _: self._date(text.strip())),
            (t.is_timestamp, lambda text, kind: self._timestamp(text.strip(), kind)),
            (_is_binary, lambda text, _: base64.b64decode(text, validate=True)),
            (t.is_nested, lambda text, kind: self.of_json(from_json(text), kind)),
        )

    def _date(self, text: str) -> date:
        if self.dates is None:
            return date.fromisoformat(text)
        found = self.dates.read(text)
        if found.tzinfo is not None or found.time() != datetime.min.time():
            raise ValueError
        return found.date()

    def _timestamp(self, text: str, kind: pa.TimestampType) -> datetime:
        pattern = self.local_times if kind.tz is None else self.times
        if pattern is not None:
            found = pattern.read(text)
        else:
            if _FRACTION.search(text):
                raise ValueError
            found = datetime.fromisoformat(text)
        if kind.tz is None:
            if found.tzinfo is not None:
                raise ValueError
            return found
        return found if found.tzinfo is not None else found.replace(tzinfo=zone_named(self.zone))


def is_written(kind: pa.DataType) -> bool:
    """Whether the values of a type are written as texts or in JSON."""
    if _is_list(kind):
        return is_written(kind.value_type)
    if t.is_map(kind):
        return is_written(kind.key_type) and is_written(kind.item_type)
    if t.is_struct(kind):
        is_variant = [field.name for field in kind] == ["value", "metadata"]
        return not is_variant and all(is_written(field.type) for field in kind)
    return not t.is_duration(kind) and not t.is_interval(kind)


def from_json(text: str) -> Any:
    """A value of JSON, whose numbers keep all their digits."""
    try:
        return json.loads(text, parse_float=Decimal)
    except InvalidOperation:
        raise ValueError("a number has too many digits in its exponent") from None


def _whole(text: str) -> int:
    text = text.strip()
    if not _WHOLE.fullmatch(text):
        raise ValueError
    return int(text)


def _floating(text: str) -> float:
    number = float(_without_underscores(text))
    if isinf(number) and not _INFINITE.fullmatch(text.strip()):
        raise ValueError
    return number


def _without_underscores(text: str) -> str:
    """Python allows them in its numbers."""
    if "_" in text:
        raise ValueError
    return text.strip()


def _is_binary(kind: pa.DataType) -> bool:
    return bool(t.is_binary(kind) or t.is_large_binary(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind))


_PARTS = {
    "yyyy": r"(?P<year>[0-9]{4})",
    "uuuu": r"(?P<year>[0-9]{4})",
    "MM": r"(?P<month>[0-9]{2})",
    "M": r"(?P<month>[0-9]{1,2})",
    "dd": r"(?P<day>[0-9]{2})",
    "d": r"(?P<day>[0-9]{1,2})",
    "HH": r"(?P<hour>[0-9]{2})",
    "H": r"(?P<hour>[0-9]{1,2})",
    "mm": r"(?P<minute>[0-9]{2})",
    "m": r"(?P<minute>[0-9]{1,2})",
    "ss": r"(?P<second>[0-9]{2})",
    "s": r"(?P<second>[0-9]{1,2})",
    **{"S" * n: rf"(?P<fraction>[0-9]{{{n}}})" for n in range(1, 7)},
    "X": r"(?P<zone>Z|[+-][0-9]{2}(?:[0-9]{2})?)",
    "XX": r"(?P<zone>Z|[+-][0-9]{4})",
    "XXX": r"(?P<zone>Z|[+-][0-9]{2}:[0-9]{2})",
    "Z": r"(?P<zone>[+-][0-9]{4})",
}
_TOKEN = re.compile(
    r"'(?P<text>(?:[^']|'')*)'|(?P<part>(?P<letter>[a-zA-Z])(?P=letter)*)|(?P<sign>.)", re.S
)
_UNITS = ("year", "month", "day", "hour", "minute", "second")
_FIRST = {"year": 1970, "month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}


@dataclass(frozen=True)
class TimePattern:
    """A pattern in Java's letters, which reads texts as times."""

    text: str

    def __post_init__(self) -> None:
        assert self._regex is not None

    def read(self, text: str) -> datetime:
        """The time that a text is, of a zone if it names one; a ValueError where it is none."""
        found = self._regex.fullmatch(text)
        if found is None:
            raise ValueError(f"it is not of the form {self.text}")
        said = found.groupdict()
        year, month, day, hour, minute, second = (
            int(said.get(unit) or _FIRST[unit]) for unit in _UNITS
        )
        micros = int((said.get("fraction") or "0").ljust(6, "0"))
        zone = _zone(said["zone"]) if said.get("zone") else None
        return datetime(year, month, day, hour, minute, second, micros, tzinfo=zone)

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        parts = []
        for token in _TOKEN.finditer(self.text):
            part = token["part"]
            if part is None:
                literal = token["sign"] or token["text"].replace("''", "'") or "'"
                parts.append(re.escape(literal))
            elif part in _PARTS:
                parts.append(_PARTS[part])
            else:
                raise PlanError(
                    f"the pattern {self.text!r} has {part!r}, which is not read here. Use yyyy MM "
                    "dd HH mm ss, S for digits of a second, XXX for the zone, and texts in quotes"
                )
        try:
            return re.compile("".join(parts))
        except re.error:
            raise PlanError(f"the pattern {self.text!r} has a part of a time twice") from None


def _zone(text: str) -> timezone:
    if text == "Z":
        return UTC
    digits = text[1:].replace(":", "").ljust(4, "0")
    length = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-length if text[0] == "-" else length)


VALUES = TextValues()


def record_of(line: str, schema: pa.Schema) -> list[Any]:
    """The values of a line, one for each column; a ValueError where it is no record of them.

    Whether they are values of their columns is not looked at. In JSON, a column that an object does
    not have is NULL; among commas, nothing is.
    """
    text = line.strip()
    try:
        found = from_json(text) if text.startswith(("{", "[")) else _split(text)
    except (ValueError, csv.Error, RecursionError) as error:
        raise ValueError(f"it cannot be read: {shortened(str(error))}") from None
    if isinstance(found, dict):
        unknown = [name for name in found if name not in schema.names]
        if unknown:
            raise ValueError(f"there is no column {shortened(repr(unknown[0]))}")
        found = [found.get(name) for name in schema.names]
    least = next((i for i, field in enumerate(schema) if is_optional(field)), len(schema))
    if least <= len(found):  # columns that were added later may be missing
        found = [*found, *([None] * (len(schema) - len(found)))]
    if len(found) != len(schema):
        raise ValueError(f"it has {len(found)} values, expected {len(schema)}")
    read = VALUES.of_json if text.startswith(("{", "[")) else VALUES.of_text
    return [read(value, kind) for value, kind in zip(found, schema.types, strict=True)]


def _split(text: str) -> Sequence[str]:
    (values,) = csv.reader([text], skipinitialspace=True, strict=True)
    return values
