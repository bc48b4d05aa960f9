"""Aggregates that need the values themselves: min, max, percentiles, first, last, lists.

Law: the values of a group are a multiset in a fixed order; a result is the value at some place of
it, or all of it. Frames are the stretches of time during which a group does not change; rows belong
to the frame they enter in, so what a group holds during a frame is what entered in its frames so
far, and that is a range of the rows in frame order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.algebra.aggregates import LISTS, PERCENTILES, TIMED, AggregateCall
from penstock.element import Elements
from penstock.physical import exact
from penstock.physical.kernel import Timeline
from penstock.physical.kernels.aggregate_sums import Source
from penstock.physical.order_statistics import kth
from penstock.record import Columns, Direction, Ints, starts_of


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
        return Source(self.args[0], self.where, self.distinct)

    @property
    def area(self) -> str:
        distinct = "distinct " if self.distinct else ""
        where = f" where {self.where}" if self.where else ""
        return f"values {distinct}{','.join(self.args)}{where}"

    def columns(self, keys: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*keys, *self.args)))

    def rows(self, x: Elements) -> Ints:
        """The rows that take part; of a multiset of different values all do."""
        return np.arange(len(x)) if self.distinct else np.flatnonzero(self.source.rows(x))


class Multisets(NamedTuple):
    """The values of all groups, ready to be asked about any frame.

    `frame` is sorted; `rank` orders the values within a group and `row[offset[group] + rank]` is a
    row that holds the value. `low` and `high` bound the rows of each frame's multiset.
    """

    columns: Columns
    group: Ints
    frame: Ints
    n: Ints
    rank: Ints
    row: Ints
    offset: Ints
    low: Ints
    high: Ints
    total: Ints


def multisets(columns: Columns, n: Ints, frame: Ints, frames: Timeline) -> Multisets:
    """Arrange rows, given by their arguments, weight and frame."""
    by_frame = record.sort_by(frame)
    columns, n, frame = record.take(columns, by_frame), n[by_frame], frame[by_frame]
    group = frames.group[frame]
    code = record.order_codes(columns[::-1], [Direction()] * len(columns), len(n))
    order = record.sort_by(group, code)
    fresh = starts_of(group[order], code[order])
    place = np.cumsum(fresh) - 1
    groups = int(frames.group.max(initial=-1)) + 1
    offset = np.searchsorted(group[order][fresh], np.arange(groups))
    rank = np.empty(len(n), dtype=np.int64)
    rank[order] = place - offset[group[order]]
    high = np.searchsorted(frame, np.arange(len(frames)), side="right")
    before = np.searchsorted(frame, np.arange(len(frames)), side="left")
    low = before[frames.first][np.cumsum(frames.first) - 1]
    weight = np.concatenate([[0], np.cumsum(n)])
    return Multisets(
        columns, group, frame, n, rank, order[fresh], offset, low, high, weight[high] - weight[low]
    )


def finish(call: AggregateCall, kind: pa.DataType, m: Multisets, frames: Timeline) -> pa.Array:
    """The results of a call, one per frame."""
    if call.function in LISTS:
        return _lists(call.function, kind, m, frames)
    if call.function in ("median", "percentile"):
        return _interpolated(call.parameter if call.parameter is not None else 0.5, m, frames)
    filled = m.total > 0
    last = call.function in ("max", "last")
    k = np.where(last, m.total, 1)
    if call.function == "percentile_disc":
        k = np.maximum(np.ceil((call.parameter or 0.0) * m.total).astype(np.int64), 1)
    rows = pa.array(_at_place(k, m, frames), mask=~filled)
    return m.columns[0].take(rows)


def _at_place(k: Ints, m: Multisets, frames: Timeline) -> Ints:
    """The row that holds the k-th value of each frame; arbitrary where the frame is empty."""
    if len(m.row) == 0:
        return np.zeros(len(k), dtype=np.int64)
    found = kth(m.rank, m.n, m.low, m.high, k)
    return m.row[np.minimum(m.offset[frames.group] + found.code, len(m.row) - 1)]


def _interpolated(fraction: float, m: Multisets, frames: Timeline) -> pa.Array:
    empty = m.total == 0
    place = fraction * np.maximum(m.total - 1, 0)
    below = np.floor(place)
    values = exact.doubles(m.columns[0])
    if len(values) == 0:
        return pa.nulls(len(empty), pa.float64())
    low = values[_at_place(below.astype(np.int64) + 1, m, frames)]
    high = values[_at_place(np.ceil(place).astype(np.int64) + 1, m, frames)]
    with np.errstate(invalid="ignore"):
        between = np.where(low == high, low, low + (high - low) * (place - below))
    return pa.array(between, mask=empty)


def _lists(function: str, kind: pa.DataType, m: Multisets, frames: Timeline) -> pa.Array:
    """Every value of every frame: as much work as there is to write."""
    order = record.sort_by(m.group, m.rank, m.frame)
    group, rank, frame = m.group[order], m.rank[order], m.frame[order]
    start = np.flatnonzero(starts_of(group, rank, frame))
    weight = np.add.reduceat(m.n[order], start) if len(start) else m.n[:0]
    group, rank, frame = group[start], rank[start], frame[start]
    fresh = starts_of(group, rank)
    total = np.cumsum(weight)
    held = total - (total - weight)[np.flatnonzero(fresh)][np.cumsum(fresh) - 1]
    after = np.searchsorted(frames.group, group, side="right")  # the frame after the group's last
    after[:-1] = np.where(fresh[1:], after[:-1], frame[1:])
    count = np.where(held > 0, after - frame, 0)
    owner = np.repeat(np.arange(len(count)), count)
    begin = np.cumsum(count) - count
    in_frame = frame[owner] + np.arange(len(owner)) - begin[owner]
    copies = held[owner] if function == "collect_list" else np.ones(len(owner), dtype=np.int64)
    sequence = record.sort_by(in_frame, rank[owner])
    row = np.repeat(m.row[(m.offset[group] + rank)[owner]][sequence], copies[sequence])
    length = np.bincount(in_frame, weights=copies, minlength=len(frames)).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(length)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), m.columns[0].take(pa.array(row)), type=kind)


VALUE_FUNCTIONS = ("min", "max", "any_value", *PERCENTILES, *TIMED, *LISTS)
