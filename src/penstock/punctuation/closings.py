"""The punctuations of one stream, each with the time from which on it holds.

Meaning: a punctuation p with the time t says that no row that matches p has an event time of t or
later. Once time has passed t for good, t no longer matters and is forgotten: then punctuations of
one shape merge, and as many as there were stay as small as what they say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from penstock.element import BEGIN, INF
from penstock.punctuation import bulk, text
from penstock.punctuation.blocks import Box
from penstock.punctuation.covering import without_attribute
from penstock.punctuation.punctuation import Punctuation
from penstock.punctuation.schedule import NOTHING, Schedule
from penstock.record import Columns, Ints

Entry: TypeAlias = tuple[str, int]
"""A punctuation as text, and from when on it holds."""


@dataclass(frozen=True, eq=False)
class Closings:
    """`ended`: when the stream ended; None where more rows may come."""

    schema: pa.Schema
    schedule: Schedule = NOTHING
    ended: int | None = None

    @staticmethod
    def finite(schema: pa.Schema) -> Closings:
        """Of a table, which has all its rows from the beginning."""
        return Closings(schema, Schedule(BEGIN), BEGIN)

    def read(self, entries: Sequence[Entry]) -> Closings:
        """The same and more, from their texts."""
        if not entries:
            return self
        texts, times = zip(*entries, strict=True)
        return self.read_columns(pa.array(texts, pa.string()), np.array(times, dtype=np.int64))

    def read_columns(self, texts: pa.Array, times: Ints) -> Closings:
        boxes = bulk.read(texts, times, self.schema)
        return replace(self, schedule=self.schedule.and_also(boxes)) if boxes else self

    def also(self, punctuations: Iterable[tuple[Punctuation, int]]) -> Closings:
        boxes = bulk.boxes(self.schema, punctuations)
        return replace(self, schedule=self.schedule.and_also(boxes)) if boxes else self

    def entries(self) -> list[Entry]:
        """The same to be read again, in as few words as there are."""
        found = []
        for sides, times in self.schedule.boxes():
            for row, time in enumerate(times.tolist()):
                one = Box(tuple((a, sets.take(np.array([row]))) for a, sets in sides))
                for patterns in one.pieces(len(self.schema)):
                    found.append((text.write(Punctuation(self.schema, patterns)), time))
        return found

    def __bool__(self) -> bool:
        return bool(self.schedule) or self.ended is not None

    def over_from(self, ended: int | None) -> Closings:
        """The same of a stream that is over from a time on: that is to punctuate everything."""
        if ended is None:
            return self
        always = min(self.schedule.always, ended)
        return replace(self, schedule=replace(self.schedule, always=always), ended=ended)

    def settled(self, frontier: int) -> Closings:
        """The same for whoever looks from the frontier on: what holds since before, always did."""
        return replace(self, schedule=self.schedule.settled(frontier))

    def over(self, names: Sequence[str]) -> Times:
        """When rows with these values are closed, whatever is in the other columns."""
        known: dict[tuple[str, ...], Times] = self.__dict__.setdefault("_known", {})
        if tuple(names) not in known:
            known[tuple(names)] = self._over(names)
        return known[tuple(names)]

    def _over(self, names: Sequence[str]) -> Times:
        schedule, places = self.schedule, []
        for number, name in enumerate(self.schema.names):
            if name not in names:
                schedule = without_attribute(schedule, number)
            places.append(names.index(name) if name in names else -1)
        fields = [self.schema.field(name) for name in names]
        return Times(pa.schema(fields), schedule.moved(places))

    @property
    def times(self) -> Times:
        return Times(self.schema, self.schedule)

    def at_arrival(self, time: str | None) -> Closings:
        """The same for rows that arrive from now on.

        A punctuation that speaks of event time, such as "no more of key 1 before 20", has named the
        times it is about. It rules out every later arrival among them, however early its time.
        Other punctuations hold after the rows that had come: earlier times may still arrive.
        """
        if time is None:
            return self
        known: dict[str, Closings] = self.__dict__.setdefault("_at_arrival", {})
        if time not in known:
            place = self.schema.get_field_index(time)
            known[time] = replace(self, schedule=self.schedule.from_the_beginning(place))
        return known[time]


@dataclass(frozen=True, eq=False)
class Times:
    """A table of times: from when on there are no more rows with some values."""

    schema: pa.Schema
    schedule: Schedule

    def __bool__(self) -> bool:
        return bool(self.schedule)

    @property
    def always(self) -> bool:
        """Whether there never were any rows to come."""
        return self.schedule.always == BEGIN

    def first(self, columns: Columns, length: int) -> Ints:
        """For each record the time from which on it is closed, INF for never."""
        return self.schedule.first(columns, length)

    def find(self, columns: Columns, length: int) -> pa.Array:
        times = self.first(columns, length)
        return pa.array(times, mask=times == INF)
