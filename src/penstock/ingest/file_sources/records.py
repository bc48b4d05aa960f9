"""Records of a file: rows of a schema, those that are none, and where each of them was.

Law: what is quick takes only what the exact way would take, as it would. All else goes the exact
way, record by record, so a record costs itself and never shows in its neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from penstock.ingest.fitting import Rejected, fitted_values, is_optional, shortened
from penstock.record import Ints, Mask

Values: TypeAlias = list[Any] | ValueError
"""What a record holds, a value for each column, or why it is none."""
Quick: TypeAlias = Callable[[list[bytes]], tuple[pa.RecordBatch, Mask]]
"""What surely is taken of some lines: their rows, in order, and which lines these are."""
Exact: TypeAlias = Callable[[str], list[tuple[str, Values]]]
"""The records of a line: what to show of each, and its values."""


@dataclass(frozen=True)
class Records:
    """Rows that were taken and records that were not, with the number of the line of each.

    The rows may lack columns that were added to the source later.
    """

    rows: pa.RecordBatch
    numbers: Ints
    rejected: tuple[tuple[int, Rejected], ...] = ()

    @property
    def last(self) -> int:
        """The number of the last line."""
        return max([*self.numbers[-1:].tolist(), *(n for n, _ in self.rejected[-1:])], default=0)


def records_of(
    lines: Sequence[bytes], numbers: Sequence[int], schema: pa.Schema, quick: Quick, exact: Exact
) -> Records:
    """The records of lines with these numbers; empty lines have none."""
    places = np.array([n for n, line in zip(numbers, lines, strict=True) if line], dtype=np.int64)
    lines = [line for line in lines if line]
    texts = np.array(_are_text(lines), dtype=np.bool_)
    some = lines if texts.all() else [x for x, is_text in zip(lines, texts, strict=True) if is_text]
    rows, taken = quick(some) if some else (empty(schema), np.zeros(0, dtype=np.bool_))
    done = np.zeros(len(lines), dtype=np.bool_)
    done[np.flatnonzero(texts)[taken]] = True
    if done.all():
        return Records(rows, places)
    left = exactly(
        (
            (int(places[i]), text, values)
            for i in np.flatnonzero(~done).tolist()
            for text, values in _exact(lines[i], exact)
        ),
        schema,
    )
    where = np.concatenate([places[done], left.numbers])
    order = np.argsort(where, kind="stable")
    both = pa.concat_batches([rows, left.rows]).take(pa.array(order))
    return Records(both, where[order], left.rejected)


def exactly(records: Iterable[tuple[int, str, Values]], schema: pa.Schema) -> Records:
    """Records one by one: the numbers of their lines, what to show of them, their values."""
    numbers: list[int] = []
    texts: list[str] = []
    held: list[list[Any]] = []
    rejected: list[tuple[int, Rejected]] = []
    for number, text, values in records:
        if isinstance(values, ValueError):
            rejected.append((number, Rejected(text, shortened(str(values), 300))))
        else:
            numbers.append(number)
            texts.append(text)
            held.append(values)
    fitted = fitted_values([[row[c] for row in held] for c in range(len(schema))], schema)
    for i, reason in fitted.reasons.items():
        rejected.append((numbers[i], Rejected(texts[i], reason)))
    good = [n for i, n in enumerate(numbers) if i not in fitted.reasons]
    rejected.sort(key=lambda one: one[0])
    return Records(fitted.good, np.array(good, dtype=np.int64), tuple(rejected))


def present(schema: pa.Schema, names: Iterable[str]) -> pa.Schema:
    """The columns to read of a file with these names: it may lack those that were added later."""
    known = set(names)
    return pa.schema([f for f in schema if not is_optional(f) or f.name.lower() in known])


def empty(schema: pa.Schema) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.nulls(0, kind) for kind in schema.types], schema=schema)


def too_long(line: bytes, number: int, schema: pa.Schema) -> Records:
    """A line that is not read because of its length, of which this is the beginning."""
    bad = Rejected(line.decode("utf-8", "replace"), "it is longer than 64 MiB")
    return Records(empty(schema), np.zeros(0, dtype=np.int64), ((number, bad),))


def _exact(line: bytes, exact: Exact) -> list[tuple[str, Values]]:
    try:
        return exact(line.decode())
    except UnicodeDecodeError:
        return [(line.decode("utf-8", "replace"), ValueError("it is no text in UTF-8"))]


def _are_text(lines: list[bytes]) -> list[bool]:
    """Which lines are texts of UTF-8."""
    if _is_text(b"\n".join(lines)):
        return [True] * len(lines)
    return list(map(_is_text, lines))


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
