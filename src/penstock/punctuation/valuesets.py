"""Many sets of values of one attribute at once, each a list of ascending cuts.

Law: a value is in a set where an odd number of the set's cuts are at most its key. So the cuts
are, alternately, the first key of an interval and the first key after it; the last interval may
have no end. A set has exactly one such list: sets are equal where their lists are. NULL is apart.

Union, intersection and difference are one sweep over the cuts of all sets, with another weight.

State: two arrays with an entry per cut, sorted by set and then by cut. Cost: a sort of the cuts;
for matching, a hash lookup among single values and a binary search among longer intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from penstock import element, record
from penstock.punctuation.domain import Domain, Keys
from penstock.record import Ints, Mask


class Intervals(NamedTuple):
    """Of each interval: its set, its first key, and how many values it has: 1, 2, or 3 for more."""

    owner: Ints
    start: Keys
    values: Ints
    end: Ints
    """Where its end is among the cuts, -1 for none."""


@dataclass(frozen=True, eq=False)
class ValueSets:
    """Sets side by side: the cuts of each belong to its number in `owner`."""

    domain: Domain
    null: Mask
    """Whether each set has NULL in it."""
    owner: Ints
    """The set that each cut is of."""
    cut: Keys

    def __post_init__(self) -> None:
        if not self.domain.nullable:
            object.__setattr__(self, "null", self._has_all_values())

    def __len__(self) -> int:
        return len(self.null)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ValueSets)
            and self.domain == other.domain
            and np.array_equal(self.null, other.null)
            and np.array_equal(self.owner, other.owner)
            and np.array_equal(self.cut, other.cut)
        )

    @staticmethod
    def everything(domain: Domain, count: int = 1) -> ValueSets:
        cut = np.repeat(domain.key_array([domain.first]), count)
        return ValueSets(domain, np.ones(count, dtype=np.bool_), np.arange(count), cut)

    @staticmethod
    def nothing(domain: Domain, count: int = 1) -> ValueSets:
        none = np.empty(0, dtype=np.int64)
        return ValueSets(domain, np.zeros(count, dtype=np.bool_), none, domain.key_array([]))

    @staticmethod
    def of_intervals(
        domain: Domain, null: Mask, owner: Ints, start: Keys, stop_owner: Ints, stop: Keys
    ) -> ValueSets:
        """From intervals in any order, which may overlap; those without end have no stop."""
        weight = np.concatenate([np.ones_like(owner), -np.ones_like(stop_owner)])
        owner, cut = np.concatenate([owner, stop_owner]), np.concatenate([start, stop])
        return ValueSets(domain, null, *_sweep(owner, cut, weight))

    @staticmethod
    def of_points(domain: Domain, count: int, owner: Ints, keys: Keys) -> ValueSets:
        """Sets of single values, none of them NULL."""
        last = keys == domain.last
        ends = domain.next_of(keys[~last])
        null = np.zeros(count, dtype=np.bool_)
        return ValueSets.of_intervals(domain, null, owner, keys, owner[~last], ends)

    # --- algebra --------------------------------------------------------------------------------

    @cached_property
    def offset(self) -> Ints:
        """Where the cuts of each set begin, and at last the number of all cuts."""
        return np.searchsorted(self.owner, np.arange(len(self) + 1))

    @cached_property
    def _weight(self) -> Ints:
        """Of each cut: 1 where an interval begins, -1 where it ends."""
        place = np.arange(len(self.owner)) - self.offset[self.owner]
        return 1 - 2 * (place % 2)

    def merged(self, into: Ints, count: int) -> ValueSets:
        """The union of the sets that have the same number in `into`, `count` of them."""
        null = np.zeros(count, dtype=np.bool_)
        null[into[self.null]] = True
        swept = _sweep(into[self.owner], self.cut, self._weight)
        return ValueSets(self.domain, null, *swept)

    def __or__(self, other: ValueSets) -> ValueSets:
        return self._swept(other, self.null | other.null, 1, 1)

    def __and__(self, other: ValueSets) -> ValueSets:
        return self._swept(other, self.null & other.null, 1, 2)

    def __sub__(self, other: ValueSets) -> ValueSets:
        return self._swept(other, self.null & ~other.null, -1, 1)

    def complement(self) -> ValueSets:
        return ValueSets.everything(self.domain, len(self)) - self

    def _swept(self, other: ValueSets, null: Mask, sign: int, least: int) -> ValueSets:
        owner = np.concatenate([self.owner, other.owner])
        cut = np.concatenate([self.cut, other.cut])
        weight = np.concatenate([self._weight, sign * other._weight])
        return ValueSets(self.domain, null, *_sweep(owner, cut, weight, least))

    def within(self, one: ValueSets) -> ValueSets:
        """Each set's part in a single other set, at the cost of what it returns."""
        owner, start, _, end = self.intervals
        ended = end >= 0
        first = np.searchsorted(one.cut, start, side="right")
        stop = np.full(len(start), len(one.cut), dtype=np.int64)
        stop[ended] = np.searchsorted(one.cut, self.cut[end[ended]], side="left")
        size = stop - first
        whose = np.repeat(np.arange(len(start)), size)
        inner = np.arange(len(whose)) - (np.cumsum(size) - size)[whose] + first[whose]
        at_start, at_end = np.flatnonzero(first % 2), np.flatnonzero(ended & (stop % 2 == 1))
        cut = np.concatenate([start[at_start], one.cut[inner], self.cut[end[at_end]]])
        whose = np.concatenate([at_start, whose, at_end])
        order = np.lexsort((np.repeat([0, 1, 2], [len(at_start), len(inner), len(at_end)]), whose))
        null = self.null & one.null[0]
        return ValueSets(self.domain, null, owner[whose[order]], cut[order])

    def take(self, index: Ints) -> ValueSets:
        begin, size = self.offset[index], np.diff(self.offset)[index]
        owner = np.repeat(np.arange(len(index)), size)
        place = np.arange(len(owner)) - (np.cumsum(size) - size)[owner] + begin[owner]
        return ValueSets(self.domain, self.null[index], owner, self.cut[place])

    @staticmethod
    def concat(parts: Sequence[ValueSets]) -> ValueSets:
        before = np.cumsum([0, *(len(part) for part in parts)])
        owner = [part.owner + n for part, n in zip(parts, before[:-1], strict=True)]
        null = np.concatenate([part.null for part in parts])
        cut = np.concatenate([part.cut for part in parts])
        return ValueSets(parts[0].domain, null, np.concatenate(owner), cut)

    # --- what kind of sets ----------------------------------------------------------------------

    def _has_all_values(self) -> Mask:
        size = np.bincount(self.owner, minlength=len(self.null))
        full = np.zeros(len(self.null), dtype=np.bool_)
        full[self.owner[self.cut == self.domain.first]] = True
        return full & (size == 1)

    @cached_property
    def is_everything(self) -> Mask:
        return self._has_all_values() & self.null

    @cached_property
    def is_nothing(self) -> Mask:
        return (np.diff(self.offset) == 0) & ~self.null

    @cached_property
    def spans(self) -> tuple[Ints, Keys, Ints]:
        """Of each interval: its set, its first key, and where its end is, as for `Intervals`."""
        begins = np.flatnonzero(self._weight > 0)
        owner, start = self.owner[begins], self.cut[begins]
        ends = begins + 1
        return owner, start, np.where(ends < self.offset[owner + 1], ends, -1)

    @cached_property
    def intervals(self) -> Intervals:
        owner, start, end = self.spans
        values = np.full(len(owner), 3, dtype=np.int64)
        ended = np.flatnonzero(end >= 0)
        stop = self.cut[end[ended]]
        second = self.domain.next_of(start[ended])
        one = second == stop
        values[ended[one]] = 1
        rest = np.flatnonzero(~one)
        values[ended[rest[self.domain.next_of(second[rest]) == stop[rest]]]] = 2
        if self.domain.last is not None:
            values[(end < 0) & (start == self.domain.last)] = 1
            values[(end < 0) & (start == self.domain.before(self.domain.last))] = 2
        return Intervals(owner, start, values, end)

    @cached_property
    def points(self) -> tuple[Mask, Keys, Mask]:
        """Which sets have exactly one element; its key; whether it is NULL (the key is then any).

        The keys are those of the sets with one element only, in order.
        """
        size = np.bincount(self.intervals.owner, weights=self.intervals.values, minlength=len(self))
        is_null = self.null & (size == 0)
        is_value = ~self.null & (size == 1)
        one = is_null | is_value
        keys = np.repeat(self.domain.key_array([self.domain.first]), len(self))
        single = is_value[self.intervals.owner]
        keys[self.intervals.owner[single]] = self.intervals.start[single]
        return one, keys[one], is_null[one]

    @cached_property
    def sizes(self) -> Ints:
        """How many elements each set has; -1 where that is more than a list of them."""
        owner, _, values, _ = self.intervals
        found = np.bincount(owner, weights=values, minlength=len(self)).astype(np.int64)
        found[owner[values > 2]] = -1
        return np.where(found >= 0, found + self.null, -1) if self.domain.nullable else found

    def elements(self) -> tuple[Ints, ValueSets]:
        """Each element of sets that are lists, as a set of its own, and the set that it is of."""
        owner, start, values, _ = self.intervals
        two = np.flatnonzero(values == 2)
        null = np.flatnonzero(self.null) if self.domain.nullable else np.empty(0, dtype=np.int64)
        whose = np.concatenate([owner, owner[two], null])
        keys = np.concatenate([start, self.domain.next_of(start[two])])
        points = ValueSets.of_points(self.domain, len(whose), np.arange(len(keys)), keys)
        is_null = np.arange(len(whose)) >= len(keys)
        return whose, ValueSets(self.domain, is_null, points.owner, points.cut)

    # --- matching -------------------------------------------------------------------------------

    @cached_property
    def pieces(self) -> tuple[Ints, Ints, int]:
        """A number for each set's list, one for each interval (its own, or its set's list), and
        how many there are: the patterns that the sets are written as, in order."""
        owner, _, values, _ = self.intervals
        listed = values <= 2
        has_list = self.null.copy()
        has_list[owner[listed]] = True
        ranges = np.bincount(owner[~listed], minlength=len(self))
        size = has_list + ranges
        list_of = np.cumsum(size) - size
        before: Ints = np.cumsum(~listed) - ~listed  # ranges before this one, in all sets
        first = np.cumsum(ranges) - ranges
        own = (list_of + has_list)[owner] + before - first[owner]
        return list_of, np.where(listed, list_of[owner], own), int(size.sum())

    def contain(self, row_set: Ints | None, column: pa.Array) -> Mask:
        """Whether the value of row i is in set `row_set[i]`; as for `which`."""
        if len(self) == 0:
            return np.zeros(len(column), dtype=np.bool_)
        found = (self._find_points(row_set, column) >= 0) | (
            self._find_ranges(row_set, column) >= 0
        )
        if column.null_count:
            null = self.null[0] if row_set is None else self.null[np.maximum(row_set, 0)]
            found = np.where(record.valid(column), found, null)
        return found if row_set is None else found & (row_set >= 0)

    def which(self, row_set: Ints | None, column: pa.Array) -> Ints:
        """The piece of set `row_set[i]` that the value of row i is in, -1 for none.

        A row whose set is -1 is in none; without `row_set` there is one set.
        """
        list_of, piece, _ = self.pieces
        found = np.full(len(column), -1, dtype=np.int64)
        if len(self) == 0:
            return found
        known = record.valid(column)
        mine = np.zeros(len(column), dtype=np.int64) if row_set is None else row_set
        if self.null.any() and column.null_count:
            lonely = ~known & (mine >= 0) & self.null[mine]
            found[lonely] = list_of[mine[lonely]]
        usable = known & (mine >= 0)
        for interval, at in (
            (self._point_index[2], self._find_points(row_set, column)),
            (self._range_index[3], self._find_ranges(row_set, column)),
        ):
            hit = np.flatnonzero(usable & (at >= 0))
            found[hit] = piece[interval[at[hit]]]
        return found

    @cached_property
    def _point_index(self) -> tuple[Keys, Ints, Ints]:
        """The different values of lists, and for each listed value its (set, value) code and its
        interval, in the order of the codes."""
        owner, start, values, _ = self.intervals
        one, two = np.flatnonzero(values <= 2), np.flatnonzero(values == 2)
        interval = np.concatenate([one, two])
        listed = np.concatenate([start[one], self.domain.next_of(start[two])])
        keys, code = np.unique(listed, return_inverse=True)
        codes = owner[interval] * max(len(keys), 1) + code
        order = np.argsort(codes)
        return keys, codes[order], interval[order]

    def _find_points(self, row_set: Ints | None, column: pa.Array) -> Ints:
        """For each row, which of the points is its value; -1 for none."""
        keys, codes, _ = self._point_index
        if len(keys) == 0:
            return np.full(len(column), -1, dtype=np.int64)
        place = self.domain.index(keys, column)
        if row_set is None:
            return place
        return index_of(
            codes, np.where((place < 0) | (row_set < 0), -1, row_set * len(keys) + place)
        )

    @cached_property
    def _range_index(self) -> tuple[Keys, Ints, Ints, Ints]:
        """The different cuts of ranges, the (set, cut) code of each, where those of a set begin,
        and the interval that each cut begins or ends."""
        interval = np.flatnonzero(self.intervals.values > 2)
        owner, start, _, end = (part[interval] for part in self.intervals)
        ended = end >= 0
        owners = np.concatenate([owner, owner[ended]])
        cuts = np.concatenate([start, self.cut[end[ended]]])
        whose = np.concatenate([interval, interval[ended]])
        keys, code = np.unique(cuts, return_inverse=True)
        codes = owners * (len(keys) + 1) + code + 1
        order = np.argsort(codes)
        begin = np.searchsorted(codes[order], np.arange(len(self)) * (len(keys) + 1))
        return keys, codes[order], begin, whose[order]

    def _find_ranges(self, row_set: Ints | None, column: pa.Array) -> Ints:
        """For each row, a cut of the range that its value is in; -1 for none."""
        keys, codes, begin, _ = self._range_index
        if len(keys) == 0:
            return np.full(len(column), -1, dtype=np.int64)
        rank = self.domain.rank(keys, column)
        if row_set is not None:
            mine = np.maximum(row_set, 0)
            rank = np.searchsorted(codes, mine * (len(keys) + 1) + rank, side="right")
            inside = (rank - begin[mine]) % 2 == 1
        else:
            inside = rank % 2 == 1
        return np.where(inside, rank - 1, -1)


def values_of(domain: Domain, count: int, owner: Ints, column: pa.Array) -> ValueSets:
    """The values of a column, NULL too, each in the set of its row: `count` sets."""
    known = record.valid(column)
    rows = column.filter(pa.array(known)) if column.null_count else column
    sets = ValueSets.of_points(domain, count, owner[known], domain.keys_of(rows))
    null = np.zeros(count, dtype=np.bool_)
    null[owner[~known]] = True
    return ValueSets(domain, null, sets.owner, sets.cut)


def index_of(table: Ints, values: Ints) -> Ints:
    """Where each value is in the table, -1 for nowhere."""
    found = pc.index_in(pa.array(values), pa.array(table))
    return found.fill_null(-1).to_numpy().astype(np.int64)


def _sweep(owner: Ints, cut: Keys, weight: Ints, least: int = 1) -> tuple[Ints, Keys]:
    """The cuts where the running weight of a set begins or ceases to be at least `least`."""
    if len(owner) == 0:
        return owner.astype(np.int64), cut
    by = np.unique(cut, return_inverse=True)[1] if cut.dtype == object else cut
    order = np.lexsort((by, owner))
    owner, cut, by, weight = owner[order], cut[order], by[order], weight[order]
    fresh = np.flatnonzero(record.starts_of(owner, by))
    total = np.add.reduceat(weight, fresh)
    owner, cut = owner[fresh], cut[fresh]
    begin = record.starts_of(owner)
    inside = element.running_sum(total, begin) >= least
    was = np.concatenate([np.zeros(1, dtype=np.bool_), inside[:-1]]) & ~begin
    changed = inside != was
    return owner[changed], cut[changed]
