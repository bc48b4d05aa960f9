"""The punctuations of one stream, each with the time from which on it holds.

Meaning: a punctuation p with the time t says that no row that matches p has an event time of t or
later. The time is one more attribute of the punctuation, `[t, )`, so all that holds of sets of
punctuations holds of these. Once time has passed t for good, t no longer matters and is forgotten:
then punctuations of one shape merge, and a set stays as small as what it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from penstock.element import BEGIN, INF
from penstock.punctuation import bulk, text
from penstock.punctuation.blocks import Block, Side, arranged
from penstock.punctuation.covering import begin_of, without_attribute
from penstock.punctuation.pattern import Range
from penstock.punctuation.punctuation import Punctuation
from penstock.punctuation.punctuation_set import PunctuationSet
from penstock.punctuation.table import Table
from penstock.punctuation.valuesets import ValueSets
from penstock.record import Columns, Ints, Mask

Entry: TypeAlias = tuple[str, int]
"""A punctuation as text, and from when on it holds."""

AT = pa.field("__at", pa.int64(), nullable=False)


@dataclass(frozen=True, eq=False)
class Closings:
    """`ended`: when the stream ended; None where more rows may come."""

    schema: pa.Schema
    timed: PunctuationSet
    ended: int | None = None

    @staticmethod
    def none(schema: pa.Schema) -> Closings:
        return Closings(schema, PunctuationSet(schema.append(AT)))

    @staticmethod
    def finite(schema: pa.Schema) -> Closings:
        """Of a table, which has all its rows from the beginning."""
        return Closings(schema, PunctuationSet.everything(schema.append(AT)), BEGIN)

    def read(self, entries: Sequence[Entry]) -> Closings:
        """The same and more, from their texts."""
        texts, times = zip(*entries, strict=True) if entries else ((), ())
        words, at = pa.array(texts, pa.string()), np.array(times, dtype=np.int64)
        boxes, plain = bulk.read(words, at, self.schema)
        if boxes:
            new = PunctuationSet(self.timed.schema, arranged(boxes))
            self = replace(self, timed=self.timed | new)
        rest = np.flatnonzero(~plain).tolist()
        return self.also((text.parse(texts[i], self.schema), times[i]) for i in rest)

    def also(self, punctuations: Iterable[tuple[Punctuation, int]]) -> Closings:
        wide = self.schema.append(AT)
        new = [
            Punctuation(wide, (*one.patterns, Range(at, None) if at > BEGIN else Range()))
            for one, at in punctuations
        ]
        if not new:
            return self
        return replace(self, timed=self.timed | PunctuationSet.of(wide, new))

    def entries(self) -> list[Entry]:
        """The same to be read again, in as few words as there are."""
        found = []
        for one in self.timed.punctuations:
            *patterns, when = one.patterns
            at = when.low if isinstance(when, Range) and when.low is not None else BEGIN
            found.append((text.write(Punctuation(self.schema, tuple(patterns))), at))
        return found

    def __bool__(self) -> bool:
        return bool(self.timed) or self.ended is not None

    def settled(self, frontier: int) -> Closings:
        """The same for whoever looks from the frontier on: what holds since before, always did."""
        boxes: list[Sequence[Side]] = []
        for block in self.timed.blocks:
            sides, time = _split(block, len(self.schema))
            if time is None:
                boxes.append(sides)
                continue
            past = begin_of(time) < frontier
            for rows, kept in ((np.flatnonzero(past), ()), (np.flatnonzero(~past), (time,))):
                if len(rows):
                    chosen = [(at, sets.take(rows)) for at, sets in sides]
                    boxes.append(chosen + [(len(self.schema), sets.take(rows)) for sets in kept])
        return replace(self, timed=PunctuationSet(self.timed.schema, arranged(boxes)))

    def over(self, names: Sequence[str]) -> Times:
        """When rows with these values are closed, whatever is in the other columns."""
        known: dict[tuple[str, ...], Times] = self.__dict__.setdefault("_known", {})
        if tuple(names) not in known:
            known[tuple(names)] = self._over(names)
        return known[tuple(names)]

    def _over(self, names: Sequence[str]) -> Times:
        place, blocks = len(self.schema), self.timed.blocks
        for number, name in enumerate(self.schema.names):
            if name not in names:
                blocks = without_attribute(blocks, number, place)
        return Times(PunctuationSet(self.timed.schema, blocks).project([*names, AT.name]))

    @cached_property
    def times(self) -> Times:
        return Times(self.timed)


@dataclass(frozen=True, eq=False)
class Times:
    """A table of times: from when on there are no more rows with some values."""

    timed: PunctuationSet

    def __bool__(self) -> bool:
        return bool(self.timed)

    def __reduce__(self) -> tuple[object, ...]:
        return Times, (self.timed,)

    @property
    def always(self) -> bool:
        """Whether there never were any rows to come."""
        return any(not block.sides() for block in self.timed.blocks)

    def first(self, columns: Columns, length: int) -> Ints:
        """For each record the time from which on it is closed, INF for never."""
        found = np.full(length, INF, dtype=np.int64)
        for block in self.timed.blocks:
            np.minimum(found, self._first(block, columns, length), out=found)
        return found

    def find(self, columns: Columns, length: int) -> pa.Array:
        times = self.first(columns, length)
        return pa.array(times, mask=times == INF)

    def _first(self, block: Block, columns: Columns, length: int) -> Ints:
        place = len(self.timed.schema) - 1
        sides, time = _split(block, place)
        if time is None:
            return np.where(block.matches(columns, length), BEGIN, INF)
        begin = begin_of(time)
        if isinstance(block, Table) and block.spread == place:
            rows = block.rows_of(columns, length)
            if rows is None:
                return np.full(length, begin[0], dtype=np.int64)
            return np.where(rows >= 0, begin[np.maximum(rows, 0)], INF)
        parts: list[Mask] = [sets.contain(None, columns[at]) for at, sets in sides]
        return np.where(reduce(np.logical_and, parts), begin[0], INF)


def _split(block: Block, place: int) -> tuple[list[Side], ValueSets | None]:
    """The sides of a block but for its time, and its time."""
    sides = block.sides()
    time = next((sets for at, sets in sides if at == place), None)
    return [side for side in sides if side[0] != place], time
