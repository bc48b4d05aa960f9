"""The punctuations that come with a batch, by the schemes of its source."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.element import BEGIN
from penstock.punctuation import Constant, Punctuation, Range, text
from penstock.punctuation.bulk import well_formed, widened
from penstock.punctuation.closings import Entry
from penstock.punctuation.schemes import InBand, InOrder, Scheme
from penstock.runtime.sources import event_times
from penstock.state.manifest import SourceState

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@dataclass(frozen=True)
class Marks:
    """Punctuations as texts, and the times of the rows that they came with."""

    texts: pa.Array
    at: record.Ints

    def __len__(self) -> int:
        return len(self.texts)

    def entries(self) -> tuple[Entry, ...]:
        return tuple(zip(self.texts.to_pylist(), self.at.tolist(), strict=True))


def marks_in(
    rows: pa.Table | DataFrame | None,
    schemes: tuple[Scheme, ...],
    schema: pa.Schema,
    time: str | None,
    arrived: int | None,
    state: SourceState,
) -> Marks:
    """The punctuations that come with a batch; texts that are none are left out."""
    found = [Marks(pa.array([], pa.string()), np.empty(0, dtype=np.int64))]
    for scheme in schemes:
        match scheme:
            case InBand(column):
                found.append(_written(rows, column, schema, time, arrived))
            case InOrder():
                reached = list(_reached(rows, scheme, schema, time, arrived, state))
                texts, at = zip(*reached, strict=True) if reached else ((), ())
                found.append(Marks(pa.array(texts, pa.string()), np.array(at, dtype=np.int64)))
    texts = pa.concat_arrays([marks.texts for marks in found])
    return Marks(texts, np.concatenate([marks.at for marks in found]))


def _written(
    rows: Any, column: str, schema: pa.Schema, time: str | None, arrived: int | None
) -> Marks:
    found, at = _gathered(rows, (column,), time, arrived, not_null=True)
    texts = found.column(column).combine_chunks()
    place = schema.get_field_index(column)
    good = well_formed(texts, schema.remove(place))
    return Marks(widened(texts.filter(pa.array(good)), schema, place), at[good])


def _reached(
    rows: Any,
    scheme: InOrder,
    schema: pa.Schema,
    time: str | None,
    arrived: int | None,
    state: SourceState,
) -> Iterator[tuple[str, int]]:
    """Where the largest value so far becomes larger; rows of one time come in any order."""
    found, at = _gathered(rows, scheme.columns, time, arrived)
    values = tuple(found.column(name).combine_chunks() for name in scheme.columns)
    known = ~record.any_null(values, len(at))
    values, at = tuple(value.filter(pa.array(known)) for value in values), at[known]
    if len(at) == 0:
        return
    rank = record.order_codes(values, [record.Direction()] * len(values), len(at))
    order = np.lexsort((rank, at))
    best, at = np.maximum.accumulate(rank[order]), at[order]
    fresh = np.flatnonzero(np.append(at[1:] != at[:-1], True))
    fresh = fresh[record.starts_of(best[fresh])]
    place = fresh + state.accepted if scheme.by_rows else at[fresh]
    before = state.accepted if scheme.by_rows else max(state.largest, 0)
    span = np.append(before // scheme.every, place // scheme.every)
    codes, first = np.unique(rank, return_index=True)
    for i in fresh[span[1:] > span[:-1]].tolist():
        row = int(first[np.searchsorted(codes, best[i])])
        for one in _smaller(scheme.columns, [value[row].as_py() for value in values], schema):
            yield text.write(one), int(at[i])


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
