"""The punctuations that come with a batch, by the schemes of its source.

Law: a scheme sees the rows that are accepted, and no other. A row that is late, malformed or ruled
out neither ends a group nor moves time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, reduce
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock import record
from penstock.algebra.expr import Expr
from penstock.element import BEGIN, INF
from penstock.execution.expressions import with_columns
from penstock.ingest.sources import Ingest, SourceDefinition, event_times
from penstock.ingest.times import ticks
from penstock.punctuation import Constant, Punctuation, Range, text
from penstock.punctuation.bulk import well_formed, widened
from penstock.punctuation.closings import Closings, Entry
from penstock.punctuation.schemes import InBand, InOrder, Punctuated, Scheme
from penstock.state.manifest import SourceState

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Compute: TypeAlias = Callable[[pa.Table, Mapping[str, Expr]], pa.Table]
"""Adds columns that Spark computes to a table."""
_MOST_PASSES = 8


@dataclass(frozen=True)
class Marks:
    """Punctuations as texts with the times from which on they hold, and what they say of time.

    `frontier`: no more rows before it. Punctuations of the event time alone are part of it.
    """

    texts: pa.Array
    at: record.Ints
    frontier: int = BEGIN

    def entries(self) -> tuple[Entry, ...]:
        return tuple(zip(self.texts.to_pylist(), self.at.tolist(), strict=True))

    def and_also(self, other: Marks) -> Marks:
        return Marks(
            pa.concat_arrays([self.texts, other.texts]),
            np.concatenate([self.at, other.at]),
            max(self.frontier, other.frontier),
        )


class Written(NamedTuple):
    """In-band punctuations: their texts, the places and times of their rows, where these have one.

    `frontier` is what others say of time alone.
    """

    texts: pa.Array
    places: record.Ints
    times: record.Ints
    known: record.Mask
    frontier: int


NO_MARKS = Marks(pa.array([], pa.string()), np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class Batch:
    """A batch on its way in. What schemes ask for is brought here.

    `ingest` judges its rows, and `state` is that of the source before it. Punctuations hold from
    `earliest` on, or later.
    """

    rows: pa.Table | DataFrame
    schemes: tuple[Scheme, ...]
    ingest: Ingest
    state: SourceState
    earliest: int
    compute: Compute

    def marks(self, closed: Closings) -> Marks:
        """What the batch punctuates. Texts that are no punctuations are left out.

        `closed` is what was ruled out before the batch. A punctuation holds after the time of its
        row, or after the accepted rows before it where it has none. What it rules out does not
        count for other punctuations, so there is a second pass, and seldom a third. Where rows
        come in the order of time, the result does not depend on how they are cut into batches.
        """
        written = [self._written(column) for column in columns_of_marks(self.schemes)]
        orders = [scheme for scheme in self.schemes if isinstance(scheme, InOrder)]
        if all(one.known.all() for one in written) and not orders:
            return reduce(
                Marks.and_also, (self._timed(one, one.times) for one in written), NO_MARKS
            )
        found = self._marks(written, orders, closed)
        for _ in range(_MOST_PASSES):
            before = found
            found = self._marks(written, orders, closed.read_columns(found.texts, found.at))
            if found.entries() == before.entries():
                break
        return found

    def _marks(self, written: list[Written], orders: list[InOrder], closed: Closings) -> Marks:
        """One pass: what is punctuated where this much is closed."""
        accepted = self._accepted(closed)
        counted = accepted.copy()
        for one in written:
            counted[one.places[one.known]] = True
        seen = np.where(counted, self._times[0], BEGIN)
        seen = np.maximum(np.maximum.accumulate(seen), self.state.largest)
        found = NO_MARKS
        for one in written:
            times = np.where(one.known, one.times, seen[one.places])
            found = found.and_also(self._timed(one, times))
        for scheme in orders:
            reached = list(self._reached(scheme, accepted))
            texts, at = zip(*reached, strict=True) if reached else ((), ())
            times = np.maximum(np.array(at, dtype=np.int64), self.earliest)
            found = found.and_also(Marks(pa.array(texts, pa.string()), times))
        return found

    @property
    def _source(self) -> SourceDefinition:
        return self.ingest.source

    # --- in-band --------------------------------------------------------------------------------

    def _written(self, column: str) -> Written:
        """The punctuations in a column, and what those that speak of time alone say."""
        schema = self._source.schema
        place, texts = schema.get_field_index(column), self._head.column(column).combine_chunks()
        places = np.flatnonzero(record.valid(texts))
        texts = texts.take(pa.array(places))
        good = well_formed(texts, schema.remove(place))
        texts, places = widened(texts.filter(pa.array(good)), schema, place), places[good]
        texts, rest, frontier = _without_time(texts, self._source)
        times, unknown = self._times
        places = places[rest]
        return Written(texts, places, times[places], ~unknown[places], frontier)

    def _timed(self, one: Written, at: record.Ints) -> Marks:
        return Marks(one.texts, np.maximum(at + 1, self.earliest), one.frontier)

    # --- by order -------------------------------------------------------------------------------

    def _reached(self, scheme: InOrder, accepted: record.Mask) -> Iterator[tuple[str, int]]:
        """Where the largest value becomes larger, and from when on it ends the smaller ones.

        Every so much time: from the next multiple of it on. Every so many rows: the last one of so
        many ends what is smaller than it.
        """
        places = np.flatnonzero(accepted)
        places = places[np.argsort(self._times[0][places], kind="stable")]
        found = self._whole.take(pa.array(places))
        values = tuple(found.column(name).combine_chunks() for name in scheme.columns)
        known = ~record.any_null(values, len(places))
        if scheme.by_rows:
            known &= (self.state.accepted + 1 + np.arange(len(places))) % scheme.every == 0
        values, at = (
            tuple(value.filter(pa.array(known)) for value in values),
            self._times[0][places[known]],
        )
        if len(at) == 0:
            return
        rank = record.order_codes(values, [record.Direction()] * len(values), len(at))
        at = at + 1 if scheme.by_rows else (at // scheme.every + 1) * scheme.every
        best = np.maximum.accumulate(rank)
        last = np.flatnonzero(np.append(at[1:] != at[:-1], True))
        last = last[record.starts_of(best[last])]
        codes, first = np.unique(rank, return_index=True)
        schema = self._source.schema
        for i in last.tolist():
            row = int(first[np.searchsorted(codes, best[i])])
            for one in _smaller(scheme.columns, [value[row].as_py() for value in values], schema):
                yield text.write(one), int(at[i])

    # --- judging --------------------------------------------------------------------------------

    def _accepted(self, closed: Closings) -> record.Mask:
        columns = [column.combine_chunks() for column in self._whole.columns]
        batch = pa.RecordBatch.from_arrays(columns, schema=self._whole.schema)
        return replace(self.ingest, closed=closed.times).accepted(batch)

    @cached_property
    def _times(self) -> tuple[record.Ints, record.Mask]:
        """The times of all rows, and which have none."""
        arrived, time, length = self.ingest.arrived, self._source.time, len(self._head)
        if arrived is not None or time is None:
            at = np.full(length, BEGIN if arrived is None else arrived)
            return at, np.zeros(length, dtype=np.bool_)
        return event_times(self._head.column(time).combine_chunks())

    @cached_property
    def _head(self) -> pa.Table:
        """All rows, with their times and the columns that may hold punctuations."""
        if isinstance(self.rows, pa.Table):
            return self.rows
        if any(isinstance(scheme, InOrder) for scheme in self.schemes):
            return self._whole
        time = [] if self.ingest.arrived is not None else [self._source.time]
        marks = columns_of_marks(self.schemes)
        return self.rows.select(*filter(None, dict.fromkeys([*marks, *time]))).toArrow()

    @cached_property
    def _whole(self) -> pa.Table:
        """All rows, with the columns that judging and schemes need."""
        computed = self.ingest.computed
        if isinstance(self.rows, pa.Table):
            return self.compute(self.rows, computed) if computed else self.rows
        return with_columns(self.rows, computed).toArrow()


def _without_time(texts: pa.Array, source: SourceDefinition) -> tuple[pa.Array, record.Mask, int]:
    """The punctuations that speak of more than time, which ones they are, and what the rest say."""
    if source.time is None or not len(texts):
        return texts, np.ones(len(texts), dtype=np.bool_), BEGIN
    of_time = _speaks_of_time_alone(texts, source.schema, source.time)
    frontiers = {
        words: as_frontier(text.parse(words, source.schema), source)
        for words in pc.unique(texts.filter(pa.array(of_time))).to_pylist()
    }
    moving = {words: frontier for words, frontier in frontiers.items() if frontier is not None}
    moves = pc.is_in(texts, pa.array(list(moving), pa.string()))
    rest = ~record.numpy(moves)
    return texts.filter(pa.array(rest)), rest, max(moving.values(), default=BEGIN)


def _speaks_of_time_alone(texts: pa.Array, schema: pa.Schema, time: str) -> record.Mask:
    """Which punctuations leave all columns open but for the event time, or that one too."""
    return record.numpy(
        pc.match_substring_regex(texts, _all_but(len(schema), schema.names.index(time)))
    )


@lru_cache(maxsize=64)
def _all_but(columns: int, place: int) -> str:
    """Texts of punctuations in which only one place has a pattern."""
    before, after = r"\*\s*,\s*" * place, r"\s*,\s*\*" * (columns - place - 1)
    return rf"^\s*<\s*{before}[^'\"]*{after}\s*>\s*$"


def _smaller(
    columns: tuple[str, ...], values: list[Any], schema: pa.Schema
) -> Iterator[Punctuation]:
    """All that comes before some values in the order of the columns."""
    for i, name in enumerate(columns):
        equal = {c: Constant(v) for c, v in zip(columns[:i], values[:i], strict=True)}
        below = Range(None, values[i], high_closed=False)
        yield Punctuation.of_mapping(schema, {**equal, name: below})


def schemes_of(source: str, definitions: Mapping[str, Any]) -> tuple[Scheme, ...]:
    streams = [d for d in definitions.values() if isinstance(d, Punctuated) and d.source == source]
    return tuple(dict.fromkeys(scheme for stream in streams for scheme in stream.schemes))


def operations_of(source: str, definitions: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of a source that say what is to be done, each once."""
    streams = [d for d in definitions.values() if isinstance(d, Punctuated) and d.source == source]
    return tuple(dict.fromkeys(column for stream in streams for column in stream.operations))


def columns_of_marks(schemes: Iterable[Scheme]) -> tuple[str, ...]:
    """The columns that hold in-band punctuations, each once."""
    return tuple(dict.fromkeys(s.column for s in schemes if isinstance(s, InBand)))


def as_frontier(punctuation: Punctuation, source: SourceDefinition) -> int | None:
    """The frontier that a punctuation is, if it speaks of time only: no more rows before it."""
    constrained = punctuation.constrained
    if not constrained:
        return INF
    if source.time is None or constrained != (source.time,):
        return None
    match punctuation[source.time]:
        case Range(None, high, _, closed) if high is not None:
            return ticks(high) + int(closed)
    return None
