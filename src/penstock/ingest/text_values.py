"""What a text says as a value of a type, exactly or not at all.

Law: where a text says nothing in a type, what comes out is the text itself, which does not fit. No
digit is dropped: a number that is too large for a DOUBLE is none, nor is a time with nanoseconds.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from functools import cached_property
from math import isinf
from typing import Any

import pyarrow as pa
import pyarrow.types as t

from penstock.algebra.calendar import zone_named
from penstock.ingest.time_patterns import TimePattern

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
