"""The punctuations that come with a batch, by the schemes of its source."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.element import BEGIN
from penstock.punctuation import Constant, Punctuation, Range, text
from penstock.punctuation.bulk import well_formed, widened
from penstock.punctuation.schemes import InBand, InOrder, Scheme
from penstock.runtime.sources import event_times

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Mark: TypeAlias = tuple[str, int]
"""A punctuation as text, and the time of the row that it came with."""


def marks_in(
    rows: pa.Table | DataFrame,
    schemes: tuple[Scheme, ...],
    schema: pa.Schema,
    time: str | None,
    arrived: int | None,
) -> Iterator[Mark]:
    """The punctuations that come with a batch; texts that are none are left out."""
    for scheme in schemes:
        match scheme:
            case InBand(column):
                yield from _written(rows, column, schema, time, arrived)
            case InOrder(columns):
                yield from _reached(rows, columns, schema, time, arrived)


def _written(
    rows: Any, column: str, schema: pa.Schema, time: str | None, arrived: int | None
) -> Iterator[Mark]:
    found, at = _gathered(rows, (column,), time, arrived, not_null=True)
    texts = found.column(column).combine_chunks()
    place = schema.get_field_index(column)
    good = well_formed(texts, schema.remove(place))
    words = widened(texts.filter(pa.array(good)), schema, place)
    yield from zip(words, at[good].tolist(), strict=True)


def _reached(
    rows: Any, columns: tuple[str, ...], schema: pa.Schema, time: str | None, arrived: int | None
) -> Iterator[Mark]:
    """Where the largest value so far becomes larger; rows of one time come in any order."""
    found, at = _gathered(rows, columns, time, arrived)
    values = tuple(found.column(name).combine_chunks() for name in columns)
    known = ~record.any_null(values, len(at))
    values = tuple(value.filter(pa.array(known)) for value in values)
    at = at[known]
    rank = record.order_codes(values, [record.Direction()] * len(values), len(at))
    order = np.lexsort((rank, at))
    best = np.maximum.accumulate(rank[order]) if len(order) else rank
    last = np.append(at[order][1:] != at[order][:-1], True) if len(order) else np.zeros(0, bool)
    fresh = np.flatnonzero(last)
    fresh = fresh[record.starts_of(best[fresh])]
    first = {int(code): i for i, code in reversed(list(enumerate(rank.tolist())))}
    for place in fresh.tolist():
        row = first[int(best[place])]
        for one in _smaller(columns, [value[row].as_py() for value in values], schema):
            yield text.write(one), int(at[order[place]])


def _smaller(
    columns: tuple[str, ...], values: list[Any], schema: pa.Schema
) -> Iterator[Punctuation]:
    """All that comes before some values in the order of the columns."""
    for i, name in enumerate(columns):
        equal = {c: Constant(v) for c, v in zip(columns[:i], values[:i], strict=True)}
        below = Range(None, values[i], high_closed=False)
        yield Punctuation.of_mapping(schema, {**equal, name: below})


def _gathered(
    rows: Any,
    columns: tuple[str, ...],
    time: str | None,
    arrived: int | None,
    not_null: bool = False,
) -> tuple[pa.Table, record.Ints]:
    """Some columns of a batch, brought here, and the times of the rows."""
    wanted = [*columns, *([time] if time is not None and arrived is None else [])]
    if isinstance(rows, pa.Table):
        found = rows.select(list(dict.fromkeys(wanted)))
        if not_null:
            found = found.filter(found.column(columns[0]).is_valid())
    else:
        test = f"`{columns[0]}` IS NOT NULL" if not_null else "TRUE"
        found = rows.where(test).select(*dict.fromkeys(wanted)).toArrow()
    if arrived is not None or time is None:
        return found, np.full(found.num_rows, BEGIN if arrived is None else arrived)
    return found, event_times(found.column(time).combine_chunks())[0]
