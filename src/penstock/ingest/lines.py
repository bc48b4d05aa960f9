"""Records as lines of text: an object or array of JSON, or values separated by commas."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from penstock.ingest.fitting import is_optional
from penstock.ingest.rejected import shortened
from penstock.ingest.text_values import TextValues, from_json

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
