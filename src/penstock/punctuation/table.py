"""Punctuations that constrain the same attributes, as one table.

Meaning: row g of the table says that the key attributes have exactly the values of row g and that
the `spread` attribute has a value of set g. The sets hold all the patterns of equal keys, merged.

State: for each key attribute its different values, sorted, and a code per row; the rows ascend.
Cost of a match: a hash lookup per key attribute, then a match in `ValueSets`; nothing is done per
punctuation. 100,000 punctuations of one key are a table without key attributes and with one set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from penstock.punctuation import pattern as pt
from penstock.punctuation.keys import Key, KeyRows, concat_rows, different, levels, rows_of
from penstock.punctuation.pattern import ANY, Pattern
from penstock.punctuation.valuesets import ValueSets, values_of
from penstock.record import Columns, Ints, Mask


@dataclass(frozen=True, eq=False)
class Table:
    """One row a punctuation: constants as a key, and the set of values of the column `spread`."""

    keys: KeyRows
    spread: int
    sets: ValueSets

    @staticmethod
    def of(sides: Sequence[tuple[int, ValueSets]], spread: int) -> Table:
        """From a set per row and constrained attribute; all but `spread` have one element each."""
        keys = tuple(Key.of(at, sets) for at, sets in sides if at != spread)
        return Table._merged(keys, spread, dict(sides)[spread])

    @staticmethod
    def _merged(keys: KeyRows, spread: int, sets: ValueSets) -> Table:
        """Rows of equal keys made one; rows that match nothing left out."""
        alive = np.flatnonzero(~sets.is_nothing)
        keys, sets = tuple(key.take(alive) for key in keys), sets.take(alive)
        first, row = different(keys, len(alive))
        count = len(first) if keys else 1
        return Table(tuple(key.take(first) for key in keys), spread, sets.merged(row, count))

    @property
    def shape(self) -> tuple[tuple[int, ...], int]:
        return tuple(key.attribute for key in self.keys), self.spread

    @property
    def attributes(self) -> set[int]:
        return {self.spread, *self.shape[0]}

    def __len__(self) -> int:
        return len(self.sets)

    def take(self, index: Ints) -> Table:
        """Some of the rows, in ascending order."""
        return Table(
            tuple(key.take(index) for key in self.keys), self.spread, self.sets.take(index)
        )

    def with_sets(self, sets: ValueSets) -> Table:
        return Table._merged(self.keys, self.spread, sets)

    def sides(self) -> tuple[tuple[int, ValueSets], ...]:
        """All constrained attributes, with a set per row."""
        points = ((key.attribute, key.sets()) for key in self.keys)
        return tuple(sorted([*points, (self.spread, self.sets)], key=lambda side: side[0]))

    @cached_property
    def _levels(self) -> list[Ints]:
        return levels(self.keys, len(self))

    def rows_of(self, columns: Columns, length: int) -> Ints | None:
        """The row with each record's keys, -1 for none; None where there are no keys."""
        return rows_of(self.keys, self._levels, columns, length)

    def which(self, columns: Columns, length: int) -> Ints:
        """The piece that matches each record, in the order of `pieces`; -1 for none."""
        return self.sets.which(self.rows_of(columns, length), columns[self.spread])

    def matches(self, columns: Columns, length: int) -> Mask:
        return self.sets.contain(self.rows_of(columns, length), columns[self.spread])

    @property
    def piece_count(self) -> int:
        return self.sets.pieces[2]

    def pieces(self, width: int) -> Iterator[tuple[Pattern, ...]]:
        """The punctuations that the table stands for."""
        for row in range(len(self)):
            sides: list[Pattern] = [ANY] * width
            for key in self.keys:
                code = int(key.code[row])
                known = key.keys[code : code + 1].tolist()
                sides[key.attribute] = pt.Constant(key.domain.value(known[0]) if known else None)
            for pattern in pt.patterns(self.sets, row):
                sides[self.spread] = pattern
                yield tuple(sides)

    def without(self, columns: Columns, length: int) -> Table:
        """The largest part, split along `spread`, that none of the records matches."""
        rows = self.rows_of(columns, length)
        column = columns[self.spread]
        hit = np.flatnonzero(self.sets.which(rows, column) >= 0)
        owner = np.zeros(len(hit), dtype=np.int64) if rows is None else rows[hit]
        found = column.take(pa.array(hit))
        return self.with_sets(self.sets - values_of(self.sets.domain, len(self), owner, found))


def concat(tables: Sequence[Table]) -> Table:
    """What any of several tables of one shape matches."""
    if len(tables) == 1:
        return tables[0]
    sets = ValueSets.concat([table.sets for table in tables])
    keys = concat_rows([table.keys for table in tables])
    return Table._merged(keys, tables[0].spread, sets)
