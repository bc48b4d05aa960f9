"""Punctuations of one shape with the times from which on they hold, as one table.

Meaning: row g says from when on there are no more records whose key attributes have exactly the
values of row g, for each value of the `spread` attribute. As `Table`, with a time for each value in
place of a set of values: so punctuations of any times merge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from penstock.element import INF
from penstock.punctuation.blocks import Side, Sides
from penstock.punctuation.keys import Key, KeyRows, concat_rows, different, levels, rows_of
from penstock.punctuation.steps import Steps
from penstock.record import Columns, Ints


@dataclass(frozen=True, eq=False)
class Timetable:
    """One row a key: from when on which values of the column `spread` are closed."""

    keys: KeyRows
    spread: int
    steps: Steps

    @staticmethod
    def of(sides: Sides, spread: int, times: Ints) -> Timetable:
        """From boxes with a time each; all sides but `spread` have one element each."""
        keys = tuple(Key.of(at, sets) for at, sets in sides if at != spread)
        first, row = different(keys, len(times))
        steps = Steps.of(dict(sides)[spread], times, row, len(first))
        return Timetable(tuple(key.take(first) for key in keys), spread, steps)

    @property
    def shape(self) -> tuple[tuple[int, ...], int]:
        return tuple(key.attribute for key in self.keys), self.spread

    @property
    def attributes(self) -> set[int]:
        return {self.spread, *self.shape[0]}

    def __len__(self) -> int:
        return len(self.steps)

    def __reduce__(self) -> tuple[object, ...]:
        return Timetable, (self.keys, self.spread, self.steps)

    def take(self, index: Ints) -> Timetable:
        keys = tuple(key.take(index) for key in self.keys)
        return Timetable(keys, self.spread, self.steps.take(index))

    def with_steps(self, steps: Steps) -> Timetable:
        """The rows that still say something, with other times."""
        table = Timetable(self.keys, self.spread, steps)
        some = steps.soonest < INF
        return table if some.all() else table.take(np.flatnonzero(some))

    def settled(self, frontier: int) -> Timetable:
        return self.with_steps(self.steps.settled(frontier))

    def moved(self, places: Sequence[int]) -> Timetable:
        """The same of records whose attributes are at other places."""
        order = sorted(self.keys, key=lambda key: places[key.attribute])
        keys = tuple(key._replace(attribute=places[key.attribute]) for key in order)
        if order != list(self.keys):
            first, _ = different(keys, len(self))
            steps = self.steps.take(first)
            return Timetable(tuple(k.take(first) for k in keys), places[self.spread], steps)
        return Timetable(keys, places[self.spread], self.steps)

    @cached_property
    def _levels(self) -> list[Ints]:
        return levels(self.keys, len(self))

    def first(self, columns: Columns, length: int) -> Ints:
        """For each record the time from which on it is closed."""
        rows = rows_of(self.keys, self._levels, columns, length)
        return self.steps.at(rows, columns[self.spread])

    def key_sides(self) -> list[Side]:
        return [(key.attribute, key.sets()) for key in self.keys]

    def boxes(self) -> tuple[list[Side], Ints]:
        """A box for each row and time, and its time."""
        row, time, sets = self.steps.pieces()
        sides = [(a, s.take(row)) for a, s in self.key_sides()]
        return sorted([*sides, (self.spread, sets)], key=lambda side: side[0]), time


def times_of(key: Key, one: Steps) -> Ints:
    """The time of each row's value of a key attribute, by one function."""
    return np.append(one.of_keys(key.keys), one.null[0])[key.code]


def concat(tables: Sequence[Timetable]) -> Timetable:
    """What several tables of one shape say together."""
    if len(tables) == 1:
        return tables[0]
    keys = concat_rows([table.keys for table in tables])
    steps = Steps.concat([table.steps for table in tables])
    first, row = different(keys, len(steps))
    keys = tuple(key.take(first) for key in keys)
    return Timetable(keys, tables[0].spread, steps.least(row, len(first)))
