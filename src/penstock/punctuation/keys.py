"""Constants of several attributes, a tuple per row, as codes.

Each attribute has its different values, sorted, and a code per row: a row is found by a hash lookup
per attribute, whatever the number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from penstock import record
from penstock.punctuation.domain import Domain, Keys
from penstock.punctuation.valuesets import ValueSets, index_of
from penstock.record import Columns, Ints


class Key(NamedTuple):
    """The values of a key attribute: ascending keys, and a code per row; the last code is NULL."""

    attribute: int
    domain: Domain
    keys: Keys
    code: Ints

    @staticmethod
    def of(attribute: int, sets: ValueSets) -> Key:
        """From sets of one element each."""
        _, key, is_null = sets.points
        distinct, place = np.unique(key[~is_null], return_inverse=True)
        code = np.full(len(sets), len(distinct), dtype=np.int64)
        code[~is_null] = place
        return Key(attribute, sets.domain, distinct, code)

    def take(self, index: Ints) -> Key:
        return self._replace(code=self.code[index])

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


KeyRows: TypeAlias = tuple[Key, ...]


def different(keys: KeyRows, count: int) -> tuple[Ints, Ints]:
    """The first of each of the different rows, which ascend, and of each row which of them it is.

    Without keys all rows are one.
    """
    if not keys:
        return np.zeros(min(count, 1), dtype=np.int64), np.zeros(count, dtype=np.int64)
    code = np.zeros(count, dtype=np.int64)
    first = code
    for key in keys:
        wide = code * (len(key.keys) + 1) + key.code
        _, first, code = np.unique(wide, return_index=True, return_inverse=True)
    return first, code


def levels(keys: KeyRows, count: int) -> list[Ints]:
    """The different beginnings of the rows, one key longer each time, as codes."""
    found = []
    before = np.zeros(count, dtype=np.int64)
    for key in keys:
        codes, before = np.unique(before * (len(key.keys) + 1) + key.code, return_inverse=True)
        found.append(codes)
    return found


def rows_of(keys: KeyRows, levels: Sequence[Ints], columns: Columns, length: int) -> Ints | None:
    """The row with each record's keys, -1 for none; None where there are no keys."""
    if not keys:
        return None
    row = np.zeros(length, dtype=np.int64)
    for key, codes in zip(keys, levels, strict=True):
        code = key.codes_in(columns)
        wanted = np.where((row >= 0) & (code >= 0), row * (len(key.keys) + 1) + code, -1)
        complete = len(codes) and codes[-1] == len(codes) - 1
        row = np.where(wanted < len(codes), wanted, -1) if complete else index_of(codes, wanted)
    return row


def concat_rows(parts: Sequence[KeyRows]) -> KeyRows:
    """All rows of several, of the same attributes, one after the other."""
    return tuple(
        key[0]._replace(code=np.concatenate([part.code for part in key]))
        for key in zip(*aligned(parts), strict=True)
    )


def aligned(parts: Sequence[KeyRows]) -> list[KeyRows]:
    """The same with codes that mean the same in all of them."""
    columns = []
    for same in zip(*parts, strict=True):
        keys = np.unique(np.concatenate([part.keys for part in same]))
        columns.append([_recoded(part, keys) for part in same])
    return [tuple(column[at] for column in columns) for at in range(len(parts))]


def _recoded(key: Key, keys: Keys) -> Key:
    place = np.append(np.searchsorted(keys, key.keys), len(keys))
    return key._replace(keys=keys, code=place[key.code])
