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
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.punctuation import pattern as pt
from penstock.punctuation.domain import Domain, Keys
from penstock.punctuation.pattern import ANY, Pattern
from penstock.punctuation.valuesets import ValueSets, index_of, values_of
from penstock.record import Columns, Ints, Mask


class Key(NamedTuple):
    """The values of a key attribute: ascending keys, and a code per row; the last code is NULL."""

    attribute: int
    domain: Domain
    keys: Keys
    code: Ints

    def codes_in(self, columns: Columns) -> Ints:
        """The code of each record's value, -1 where it is no value of this key."""
        column = columns[self.attribute]
        code = self.domain.index(self.keys, column)
        return np.where(record.valid(column), code, len(self.keys)) if column.null_count else code

    def sets(self) -> ValueSets:
        """The value of each row, as a set."""
        known = np.flatnonzero(self.code < len(self.keys))
        sets = ValueSets.of_points(self.domain, len(self.code), known, self.keys[self.code[known]])
        return ValueSets(self.domain, self.code == len(self.keys), sets.owner, sets.cut)


@dataclass(frozen=True, eq=False)
class Table:
    keys: tuple[Key, ...]
    spread: int
    sets: ValueSets

    @staticmethod
    def of(sides: Sequence[tuple[int, ValueSets]], spread: int) -> Table:
        """From a set per row and constrained attribute; all but `spread` have one element each."""
        keys = []
        count = len(sides[0][1])
        for attribute, sets in sides:
            if attribute != spread:
                _, key, is_null = sets.points
                distinct, place = np.unique(key[~is_null], return_inverse=True)
                code = np.full(count, len(distinct), dtype=np.int64)
                code[~is_null] = place
                keys.append(Key(attribute, sets.domain, distinct, code))
        return Table._merged(tuple(keys), spread, dict(sides)[spread])

    @staticmethod
    def _merged(keys: tuple[Key, ...], spread: int, sets: ValueSets) -> Table:
        """Rows of equal keys made one; rows that match nothing left out."""
        alive = np.flatnonzero(~sets.is_nothing)
        sets = sets.take(alive)
        if not keys:
            return Table((), spread, sets.merged(np.zeros(len(sets), dtype=np.int64), 1))
        matrix = np.stack([key.code[alive] for key in keys], axis=1)
        rows, row = np.unique(matrix, axis=0, return_inverse=True)
        merged = sets.merged(row.reshape(-1), len(rows))
        coded = [key._replace(code=rows[:, at]) for at, key in enumerate(keys)]
        return Table(tuple(coded), spread, merged)

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
        keys = tuple(key._replace(code=key.code[index]) for key in self.keys)
        return Table(keys, self.spread, self.sets.take(index))

    def with_sets(self, sets: ValueSets) -> Table:
        return Table._merged(self.keys, self.spread, sets)

    def sides(self) -> tuple[tuple[int, ValueSets], ...]:
        """All constrained attributes, with a set per row."""
        points = ((key.attribute, key.sets()) for key in self.keys)
        return tuple(sorted([*points, (self.spread, self.sets)], key=lambda side: side[0]))

    @cached_property
    def _levels(self) -> list[Ints]:
        """The different beginnings of the rows, one key longer each time, as codes."""
        found = []
        before = np.zeros(len(self), dtype=np.int64)
        for key in self.keys:
            codes, before = np.unique(before * (len(key.keys) + 1) + key.code, return_inverse=True)
            found.append(codes)
        return found

    def rows_of(self, columns: Columns, length: int) -> Ints | None:
        """The row with each record's keys, -1 for none; None where there are no keys."""
        if not self.keys:
            return None
        row = np.zeros(length, dtype=np.int64)
        for key, codes in zip(self.keys, self._levels, strict=True):
            code = key.codes_in(columns)
            wanted = np.where((row >= 0) & (code >= 0), row * (len(key.keys) + 1) + code, -1)
            complete = len(codes) and codes[-1] == len(codes) - 1
            row = np.where(wanted < len(codes), wanted, -1) if complete else index_of(codes, wanted)
        return row

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
    parts = aligned(tables)
    keys = tuple(
        part[0]._replace(code=np.concatenate([key.code for key in part]))
        for part in zip(*parts, strict=True)
    )
    sets = ValueSets.concat([table.sets for table in tables])
    return Table._merged(keys, tables[0].spread, sets)


def aligned(tables: Sequence[Table]) -> list[tuple[Key, ...]]:
    """The keys of tables of one shape, with codes that mean the same in all of them."""
    columns = []
    for parts in zip(*(table.keys for table in tables), strict=True):
        keys = np.unique(np.concatenate([part.keys for part in parts]))
        columns.append([_recoded(part, keys) for part in parts])
    return [tuple(column[at] for column in columns) for at in range(len(tables))]


def _recoded(key: Key, keys: Keys) -> Key:
    place = np.append(np.searchsorted(keys, key.keys), len(keys))
    return key._replace(keys=keys, code=place[key.code])
