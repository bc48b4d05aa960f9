"""The first `limit` rows of each partition in an order, and the latest rows of a stream.

Meaning: at each time, the rows of a partition whose row number is at most `limit`; equal rows count
each. Ties are broken by the order of records, so that the answer is a function of the input alone.
Law: a row comes or goes at the border for each row that goes or comes within it.
State: `rows`, per partition all rows, or only those inside where no row ever leaves its input
(`append_only`), until the time `until`, from which on the partition has no changes; `schedule`, the
ends to come. A *ghost* is a row that takes a place among the first without being shown or kept: the
mark of a deletion.
Cost: reads the partitions that change; one order statistic per change, `limit` of them where the
row number itself is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.algebra.evaluate import evaluate_mask
from penstock.algebra.expr import Expr
from penstock.element import Elements, concat, intervals
from penstock.physical.kernel import Result, at, before, distinct_hashes, due_changes, kept, passing
from penstock.physical.order_statistics import kth
from penstock.record import Direction, Ints, starts_of
from penstock.state.area import Area
from penstock.state.run import AreaSpec


@dataclass(frozen=True)
class TopRows:
    input: pa.Schema
    partition: tuple[str, ...]
    order: tuple[tuple[str, Direction], ...]
    limit: int
    number: str | None = None
    append_only: bool = False
    ghost: Expr | None = None
    until: Expr | None = None

    @cached_property
    def schema(self) -> pa.Schema:
        if self.number is None:
            return self.input
        return self.input.append(pa.field(self.number, pa.int64()))

    @property
    def areas(self) -> tuple[AreaSpec, ...]:
        return (
            AreaSpec("rows", self.input, self.partition, until=self.until),
            AreaSpec("schedule", self.input, self.partition, order="time"),
        )

    @property
    def spread_by(self) -> tuple[tuple[str, ...], ...]:
        return (self.partition,)

    def step(
        self, areas: Mapping[str, Area], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        changes, later = due_changes(areas["schedule"], deltas[0], w0, w1)
        if len(changes) == 0:
            writes = {**passing(self.areas, self.until), "schedule": later}
            return Result(Elements.empty(self.schema), writes)
        needles = distinct_hashes(record.hash_rows(changes.key(self.partition), len(changes)))
        known, _ = areas["rows"].rows_with(needles)
        units = self._units(concat(self.input, [changes, at(known, before(w0))]))
        moves = self._moves(units, w0)
        out = self._numbered(units, w0) if self.number else moves.of(units.x)
        now = np.flatnonzero(units.x.ts >= w0)
        moved = moves if self.append_only else _Moves(now, units.x.ts[now], units.sign[now])
        rows = kept(units.net(moved, w0), self.until, w1)
        return Result(intervals(out), {"schedule": later, "rows": rows})

    def _units(self, x: Elements) -> _Units:
        """The changes one row at a time, in order, with each row's rank in its partition."""
        keys = x.key(self.partition)
        partition = record.group_rows(keys, record.hash_rows(keys, len(x))).code
        code = self._codes(x)
        order = record.sort_by(partition, x.ts, code)
        start = np.flatnonzero(starts_of(partition[order], x.ts[order], code[order]))
        n = np.add.reduceat(x.n[order], start)
        row, sign = (np.repeat(values, np.abs(n)) for values in (order[start], np.sign(n)))
        partition, code = partition[row], code[row]
        first = starts_of(partition)
        number = np.cumsum(first) - 1
        by_code = record.sort_by(number, code)
        fresh = starts_of(number[by_code], code[by_code])
        offset = np.searchsorted(number[by_code[fresh]], np.arange(np.count_nonzero(first)))
        rank = np.empty(len(row), dtype=np.int64)
        rank[by_code] = np.cumsum(fresh) - 1
        rank -= offset[number]
        low = np.flatnonzero(first)[number]
        return _Units(x.take(row), sign, rank, low, offset[number], by_code[fresh])

    def _codes(self, x: Elements) -> Ints:
        """Ranks of the rows of each partition; the order of records breaks ties."""
        settled = {*self.partition, *(name for name, _ in self.order)}
        rest = [(name, Direction()) for name in x.schema.names if name not in settled]
        names = [name for name, _ in (*self.order, *rest)]
        directions = [direction for _, direction in (*self.order, *rest)]
        return record.order_codes(x.key(names), directions, len(x))

    def _moves(self, units: _Units, w0: int) -> _Moves:
        """The rows that enter and leave the first `limit`, as changes."""
        place = np.flatnonzero(units.x.ts >= w0)
        sign, low = units.sign[place], units.low[place]
        size = units.size(low, place)
        crowded = size >= self.limit
        border = np.zeros(len(place), dtype=np.int64)
        border[crowded] = units.row(low[crowded], place[crowded], self.limit)
        inside = ~crowded | (units.rank[place] <= units.rank[border])
        pushes = inside & (sign > 0) & crowded
        pulls = inside & (sign < 0) & (size > self.limit)
        pulled = units.row(low[pulls], place[pulls] + 1, self.limit)
        rows = np.concatenate([place[inside], border[pushes], pulled])
        ts = units.x.ts[np.concatenate([place[inside], place[pushes], place[pulls]])]
        n = np.concatenate([sign[inside], -sign[pushes], -sign[pulls]])
        if self.ghost is not None:
            shown = ~evaluate_mask(self.ghost, units.x)[rows]
            rows, ts, n = rows[shown], ts[shown], n[shown]
        return _Moves(rows, ts, n)

    def _numbered(self, units: _Units, w0: int) -> Elements:
        """The first `limit` rows after each change, with their numbers, less those before it."""
        starts = np.flatnonzero(starts_of(units.low, units.x.ts))
        ends = np.append(starts[1:], len(units.x))
        now = units.x.ts[starts] >= w0
        low, ts = units.low[starts[now]], units.x.ts[starts[now]]
        old = self._first_rows(units, low, starts[now], ts)
        return concat(self.schema, [self._first_rows(units, low, ends[now], ts), old.negated()])

    def _first_rows(self, units: _Units, low: Ints, high: Ints, ts: Ints) -> Elements:
        """The numbered rows of each multiset `[low, high)`, as changes at a time."""
        count = np.minimum(units.size(low, high), self.limit)
        owner = np.repeat(np.arange(len(count)), count)
        number = np.arange(len(owner)) - (np.cumsum(count) - count)[owner] + 1
        found = units.x.take(units.row(low[owner], high[owner], number))
        columns = (*found.columns, pa.array(number))
        return Elements(self.schema, columns, ts[owner], found.te, np.ones_like(number))


class _Moves(NamedTuple):
    """Rows of units that come and go at a time."""

    row: Ints
    ts: Ints
    n: Ints

    def of(self, x: Elements) -> Elements:
        return replace(x.take(self.row), ts=self.ts, n=self.n)


class _Units(NamedTuple):
    """Changes of one row each. Those of a partition lie together, in the order of time, so that
    what the partition holds after some of them is a range that begins at `low`."""

    x: Elements
    sign: Ints
    rank: Ints
    low: Ints
    offset: Ints
    holder: Ints

    def net(self, moves: _Moves, w0: int) -> Elements:
        """Moves added up, each different row once, all times together."""
        n = np.zeros(len(self.holder), dtype=np.int64)
        np.add.at(n, (self.offset + self.rank)[moves.row], moves.n)
        moved = n != 0
        return at(replace(self.x.take(self.holder[moved]), n=n[moved]), w0)

    def size(self, low: Ints, high: Ints) -> Ints:
        total = np.concatenate([[0], np.cumsum(self.sign)])
        return total[high] - total[low]

    def row(self, low: Ints, high: Ints, k: Ints | int) -> Ints:
        """A row equal to the k-th of each multiset `[low, high)`, which holds at least k."""
        if len(low) == 0:
            return np.empty(0, dtype=np.int64)
        found = kth(self.rank, self.sign, low, high, np.broadcast_to(k, low.shape))
        return self.holder[self.offset[low] + found.code]
