"""Records as lines of text: an object or array of JSON, or values separated by commas."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.types as t

from penstock.runtime.fitting import is_optional
from penstock.runtime.rejected import shortened

_WHOLE = re.compile(r"[+-]?[0-9]+")
_TRUTH = {"true": True, "false": False}


def record_of(line: str, schema: pa.Schema) -> list[Any]:
    """The values of a line, one for each column; a ValueError where it is no record of them.

    Whether they are values of their columns is not looked at. In JSON, a column that an object does
    not have is NULL; among commas, nothing is.
    """
    text = line.strip()
    try:
        found = json.loads(text) if text.startswith(("{", "[")) else _split(text)
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
    if text.startswith(("{", "[")):
        return [_of_json(value, kind) for value, kind in zip(found, schema.types, strict=True)]
    return [_of_text(value, kind) for value, kind in zip(found, schema.types, strict=True)]


def _split(text: str) -> Sequence[str]:
    (values,) = csv.reader([text], skipinitialspace=True, strict=True)
    return values


def _of_json(value: Any, kind: pa.DataType) -> Any:
    """JSON has no times and no decimals: they are texts there."""
    written = t.is_temporal(kind) or t.is_decimal(kind)
    return _of_text(value, kind) if written and isinstance(value, str) else value


def _of_text(text: str | None, kind: pa.DataType) -> Any:
    """What a text says in a type; where it says nothing, the text itself, which does not fit."""
    if not text:
        return None
    for of, read in _READERS:
        if of(kind):
            try:
                return read(text)
            except (ValueError, ArithmeticError, KeyError, RecursionError):
                return text
    return text


def _whole(text: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise ValueError
    return int(text)


def _plain(of: Callable[[str], Any]) -> Callable[[str], Any]:
    """Without the underscores that Python allows in its numbers."""

    def read(text: str) -> Any:
        if "_" in text:
            raise ValueError
        return of(text)

    return read


_READERS: tuple[tuple[Callable[[pa.DataType], bool], Callable[[str], Any]], ...] = (
    (t.is_integer, _whole),
    (t.is_floating, _plain(float)),
    (t.is_decimal, _plain(Decimal)),
    (t.is_boolean, lambda text: _TRUTH[text.lower()]),
    (t.is_date, date.fromisoformat),
    (t.is_timestamp, datetime.fromisoformat),
    (t.is_nested, json.loads),
)
