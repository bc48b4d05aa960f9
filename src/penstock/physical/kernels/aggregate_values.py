"""Aggregates that need the values themselves: min, max, percentiles, first, last, lists.

Law: the values of a group are a multiset in a fixed order; a result is the value at some place of
it, or all of it. Frames are the stretches of time during which a group does not change; rows belong
to the frame they enter in, so what a group holds during a frame is what entered in its frames so
far, and that is a range of the rows in frame order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
import pyarrow as pa

from penstock import sorting
from penstock.algebra.aggregates import (
    CHOICES,
    DISCRETE,
    LISTS,
    PERCENTILES,
    SUMS,
    TIMED,
    AggregateCall,
)
from penstock.element import Elements, running_sum
from penstock.physical import exact
from penstock.physical.kernel import Timeline
from penstock.physical.kernels.aggregate_sums import Source
from penstock.physical.kernels.extremes import Extremes, value_codes
from penstock.physical.order_statistics import extremes, kth
from penstock.record import Ints, Mask, starts_of


@dataclass(frozen=True, slots=True)
class ValueSource:
    """What the values are: arguments under a filter. The second argument, if any, orders them.

    Each value counts once where that was asked for and makes a difference.
    """

    args: tuple[str, ...]
    where: str | None
    distinct: bool

    @staticmethod
    def of(call: AggregateCall) -> ValueSource:
        counts_copies = call.function in (*PERCENTILES, "collect_list")
        return ValueSource(call.args, call.where, call.distinct and counts_copies)

    @property
    def source(self) -> Source:
        return Source(self.args[-1], self.where, self.distinct)

    @property
    def state_table(self) -> str:
        distinct = "distinct " if self.distinct else ""
        where = f" where {self.where}" if self.where else ""
        return f"values {distinct}{','.join(self.args)}{where}"

    def columns(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*keys, *self.args)))

    def sides(self, calls: Iterable[AggregateCall]) -> frozenset[bool] | None:
        """Whether the calls ask for the last of these values, the first, or both; None: for more.

        First and last are those of an order, not of time.
        """
        own = [c for c in calls if c.function not in SUMS and ValueSource.of(c) == self]
        if any(call.function not in (*CHOICES, *TIMED) for call in own):
            return None
        return frozenset(asks_for_last(call) for call in own)

    def rows(self, x: Elements) -> Ints:
        """The rows that take part; of different values all do that come or go."""
        return np.flatnonzero(x.n if self.distinct else self.source.rows(x))


def value_sources(calls: Iterable[AggregateCall]) -> tuple[ValueSource, ...]:
    """What values these calls ask for, each once."""
    wanted = [ValueSource.of(call) for call in calls if call.function not in SUMS]
    return tuple(dict.fromkeys(wanted))


class Stretches(NamedTuple):
    """When a group holds a value, and how often: for the frames from `begin` to before `end`."""

    value: Ints
    begin: Ints
    end: Ints
    copies: Ints


@dataclass(frozen=True)
class Multisets:
    """The values of all groups, ready to be asked about any frame.

    The rows of the source are taken in the order of time, group by group: `frame` is sorted, and
    `low` and `high` bound what each frame's multiset consists of. `order` sorts that by group and
    value, `fresh` marks in it the first of each different value, and `holder` is a row that holds
    it. Each group's values are numbered from `offset` on. The first `new` rows are the step's own.
    """

    x: Elements
    new: int
    args: tuple[str, ...]
    frames: Timeline
    row: Ints
    frame: Ints
    n: Ints
    order: Ints
    fresh: Mask
    holder: Ints
    offset: Ints
    low: Ints
    high: Ints
    total: Ints

    @property
    def values(self) -> pa.Array:
        return self.x.column(self.args[0])

    def net(self) -> Elements:
        """What the step changes in the multisets."""
        net = self._per_value(np.where(self.row < self.new, self.n, 0))
        return replace(self.x.take(self.holder[net != 0]), n=net[net != 0])

    def _per_value(self, weight: Ints) -> Ints:
        """A weight of the rows, added up for each different value."""
        first = np.flatnonzero(self.fresh)
        return np.add.reduceat(weight[self.order], first) if len(first) else weight

    @cached_property
    def stretches(self) -> Stretches:
        """All stretches, those of a group by value."""
        begin = self.frame[self.order]
        copies = running_sum(self.n[self.order], self.fresh)
        ends = np.append(np.flatnonzero(self.frames.first)[1:], len(self.frames))
        end = ends[self.frames.group[begin]]
        end[:-1] = np.where(self.fresh[1:], end[:-1], begin[1:])
        there = np.flatnonzero((copies > 0) & (begin < end))
        value = np.cumsum(self.fresh) - 1
        return Stretches(value[there], begin[there], end[there], copies[there])

    def extreme(self, greatest: bool) -> Ints:
        """The row that holds the first or last value of each frame; arbitrary for empty ones."""
        value, begin, end, _ = self.stretches
        found = extremes(begin, end, value, len(self.frames), greatest)
        return self.holder[found] if len(self.holder) else found

    def at_place(self, k: Ints, asked: Ints) -> Ints:
        """The rows that hold the k-th value of the frames asked about, none of which is empty."""
        rank = np.empty(len(self.order), dtype=np.int64)
        rank[self.order] = np.cumsum(self.fresh) - 1
        rank -= self.offset[self.frames.group[self.frame]]
        found = kth(rank, self.n, self.low[asked], self.high[asked], k)
        return self.holder[self.offset[self.frames.group[asked]] + found.code]


Values: TypeAlias = Multisets | Extremes


def multisets(
    x: Elements, new: int, args: tuple[str, ...], place: Ints, frames: Timeline
) -> Multisets:
    """Arrange rows; `place` says where each is among the changes of the timeline."""
    row, frame = frames.placed(place)
    code = value_codes(x, args)[row]
    group = frames.group[frame]
    order = sorting.sort_by(group, code)
    fresh = starts_of(group[order], code[order])
    holder = row[order[fresh]]
    offset = np.searchsorted(group[order[fresh]], np.arange(len(frames.row)))
    count = np.bincount(frame, minlength=len(frames))
    high = np.cumsum(count)
    low = (high - count)[frames.first][frames.group]
    n = x.n[row]
    weight = np.concatenate([[0], np.cumsum(n)])
    total = weight[high] - weight[low]
    return Multisets(
        x, new, args, frames, row, frame, n, order, fresh, holder, offset, low, high, total
    )


def finish(call: AggregateCall, kind: pa.DataType, m: Values) -> pa.Array:
    """The results of a call, one per frame."""
    if isinstance(m, Extremes):
        return m.extreme(asks_for_last(call))
    if call.function in LISTS:
        return _lists(call.function, kind, m)
    if call.function in ("median", "percentile"):
        return _interpolated(0.5 if call.parameter is None else call.parameter, m)
    if call.function in DISCRETE:
        filled = np.flatnonzero(m.total > 0)
        k = np.ceil((call.parameter or 0.0) * m.total[filled]).astype(np.int64)
        k = np.maximum(k, 1)
        if call.function == "percentile_disc_desc":
            k = m.total[filled] + 1 - k
        row = np.zeros(len(m.total), dtype=np.int64)
        row[filled] = m.at_place(k, filled)
    else:
        row = m.extreme(asks_for_last(call))
    return m.values.take(pa.array(row, mask=m.total == 0))


def asks_for_last(call: AggregateCall) -> bool:
    return call.function in ("max", "last")


def _interpolated(fraction: float, m: Multisets) -> pa.Array:
    filled = np.flatnonzero(m.total > 0)
    place = fraction * (m.total[filled] - 1)
    below = np.floor(place)
    values = exact.doubles(m.values)
    low = values[m.at_place(below.astype(np.int64) + 1, filled)]
    high, between = low.copy(), place > below
    above = np.ceil(place[between]).astype(np.int64) + 1
    high[between] = values[m.at_place(above, filled[between])]
    result = np.zeros(len(m.total))
    with np.errstate(invalid="ignore"):
        result[filled] = np.where(low == high, low, low + (high - low) * (place - below))
    return pa.array(result, mask=m.total == 0)


def _lists(function: str, kind: pa.DataType, m: Multisets) -> pa.Array:
    """Every value of every frame: as much work as there is to write."""
    value, begin, end, held = m.stretches
    length = end - begin
    owner = np.repeat(np.arange(len(length)), length)
    in_frame = begin[owner] + np.arange(len(owner)) - (np.cumsum(length) - length)[owner]
    copies = held[owner] if function == "collect_list" else np.ones(len(owner), dtype=np.int64)
    sequence = sorting.sort_by(in_frame, value[owner])
    row = np.repeat(m.holder[value[owner]][sequence], copies[sequence])
    sizes = np.bincount(in_frame, weights=copies, minlength=len(m.total)).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), m.values.take(pa.array(row)), type=kind)
