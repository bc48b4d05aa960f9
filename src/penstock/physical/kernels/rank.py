"""The first `limit` rows of each partition in an order, and the latest rows of a stream.

Meaning: at each time, the rows of a partition whose row number is at most `limit`; equal rows count
each. Ties are broken by the order of records, so that the answer is a function of the input alone.
Law: a row comes or goes at the border for each row that goes or comes within it.
State: `rows`, per partition all rows, or only those inside where no row ever leaves its input
(`append_only`), until the time `until`, from which on the partition has no changes; `schedule`, the
ends to come. A *ghost* is a row that takes a place among the first without being shown or kept: the
mark of a deletion.
Cost: reads the partitions that change; one order statistic per change, and `limit` of them for each
that moves the first rows where the row number itself is asked for.
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
from penstock.element import BEGIN, INF, Elements, concat, spans
from penstock.physical.kernel import Result, at, before, distinct_hashes, due_changes, kept, passing
from penstock.physical.order_statistics import kth
from penstock.record import Direction, Ints, Mask, starts_of
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
        out = self._numbered(units, moves) if self.number else units.lasting(moves)
        now = np.flatnonzero(units.x.ts >= w0)
        moved = moves if self.append_only else _Moves(now, units.x.ts[now], units.sign[now], now)
        rows = kept(units.net(moved, w0), self.until, w1)
        return Result(out, {"schedule": later, "rows": rows})

    def _units(self, x: Elements) -> _Units:
        """The changes one row at a time, in order, with each row's rank in its partition."""
        keys = x.key(self.partition)
        partition = record.group_rows(keys, record.hash_rows(keys, len(x))).code
        code = self._codes(x, partition)
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

    def _codes(self, x: Elements, partition: Ints) -> Ints:
        """Ranks of the rows by partition and order; the order of records breaks ties."""
        settled = {*self.partition, *(name for name, _ in self.order)}
        rest = [(name, Direction()) for name in x.schema.names if name not in settled]
        names = [name for name, _ in (*self.order, *rest)]
        directions = [direction for _, direction in (*self.order, *rest)]
        columns = (pa.array(partition), *x.key(names))
        return record.order_codes(columns, [Direction(), *directions], len(x))

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
        cause = np.concatenate([place[inside], place[pushes], place[pulls]])
        n = np.concatenate([sign[inside], -sign[pushes], -sign[pulls]])
        if self.ghost is not None:
            shown = ~evaluate_mask(self.ghost, units.x)[rows]
            rows, cause, n = rows[shown], cause[shown], n[shown]
        return _Moves(rows, units.x.ts[cause], n, cause)

    def _numbered(self, units: _Units, moves: _Moves) -> Elements:
        """The first `limit` rows with their numbers, each for as long as it has that number."""
        states = _states(units, moves)
        count = np.minimum(units.size(states.low, states.high), self.limit)
        begin = np.cumsum(count) - count
        state = np.repeat(np.arange(len(count)), count)
        place = np.arange(len(state)) - begin[state]
        row = units.nth(states.low[state], states.high[state], place + 1)

        def differs(other: Ints) -> Mask:
            """Whether another state has another row in that place, or none."""
            there = place < count[other]
            there[there] = (row[(begin[other] + place)[there]]) == row[there]
            return ~there

        new = np.flatnonzero(~states.old[state] & differs(state - 1))
        follows = np.append(~states.old[1:], False)[state]
        gone = np.flatnonzero(follows & differs(np.minimum(state + 1, len(count) - 1)))
        entry = np.concatenate([new, gone])
        at_state = np.concatenate([state[new], state[gone] + 1])
        comes = np.arange(len(entry)) < len(new)
        partition = np.cumsum(states.old)[state[entry]]
        order = record.sort_by(partition, place[entry], at_state, comes.astype(np.int64))
        entry, at_state, comes = entry[order], at_state[order], comes[order]
        chain = starts_of(partition[order], place[entry])
        time = states.ts[at_state]
        end = np.full(len(entry), INF, dtype=np.int64)
        end[:-1] = np.where(chain[1:], INF, time[1:])
        told = comes | chain  # an end whose beginning is not of this step is a change by itself
        entry, time, comes = entry[told], time[told], comes[told]
        columns = record.take(units.x.columns, units.holder[row[entry]])
        number = pa.array(place[entry] + 1)
        ends = np.where(comes, end[told], INF)
        return Elements(self.schema, (*columns, number), time, ends, np.where(comes, 1, -1))


class _States(NamedTuple):
    """What partitions hold after changes, as ranges of units; `old` is what they held before."""

    low: Ints
    high: Ints
    ts: Ints
    old: Mask


def _states(units: _Units, moves: _Moves) -> _States:
    """The states of each partition: before its first move, and after the moves of each time."""
    starts = np.flatnonzero(starts_of(units.low, units.x.ts))
    changed = np.zeros(len(starts), dtype=np.bool_)
    changed[np.searchsorted(starts, moves.cause, side="right") - 1] = True
    start, end = starts[changed], np.append(starts[1:], len(units.x))[changed]
    first = starts_of(units.low[start])
    place = np.arange(len(start)) + np.cumsum(first)
    old = np.ones(len(start) + np.count_nonzero(first), dtype=np.bool_)
    old[place] = False
    low, high, ts = (np.empty(len(old), dtype=np.int64) for _ in range(3))
    low[place], high[place], ts[place] = units.low[start], end, units.x.ts[start]
    before = place[first] - 1
    low[before], high[before], ts[before] = units.low[start[first]], start[first], BEGIN
    return _States(low, high, ts, old)


class _Moves(NamedTuple):
    """Rows of units that come and go at a time, and the change that causes it."""

    row: Ints
    ts: Ints
    n: Ints
    cause: Ints


class _Units(NamedTuple):
    """Changes of one row each. Those of a partition lie together, in the order of time, so that
    what the partition holds after some of them is a range that begins at `low`. Equal rows of a
    partition are one row, whose number is `offset + rank`, and of which `holder` is one."""

    x: Elements
    sign: Ints
    rank: Ints
    low: Ints
    offset: Ints
    holder: Ints

    def net(self, moves: _Moves, w0: int) -> Elements:
        """Moves added up, each different row once, all times together."""
        n = np.zeros(len(self.holder), dtype=np.int64)
        np.add.at(n, self.number(moves.row), moves.n)
        moved = n != 0
        return at(replace(self.x.take(self.holder[moved]), n=n[moved]), w0)

    def number(self, unit: Ints) -> Ints:
        return self.offset[unit] + self.rank[unit]

    def lasting(self, moves: _Moves) -> Elements:
        """Moves as elements, each different row for as long as it is there."""
        number = self.number(moves.row)
        order = record.sort_by(number, moves.ts)
        row, ts, te, n = spans(order, starts_of(number[order]), moves.ts, moves.n)
        columns = record.take(self.x.columns, self.holder[number[row]])
        return Elements(self.x.schema, columns, ts, te, n)

    def size(self, low: Ints, high: Ints) -> Ints:
        total = np.concatenate([[0], np.cumsum(self.sign)])
        return total[high] - total[low]

    def row(self, low: Ints, high: Ints, k: Ints | int) -> Ints:
        """A unit with the k-th row of each multiset `[low, high)`, which holds at least k."""
        return self.holder[self.nth(low, high, np.broadcast_to(k, low.shape))]

    def nth(self, low: Ints, high: Ints, k: Ints) -> Ints:
        """The number of the k-th row of each multiset."""
        if len(low) == 0:
            return np.empty(0, dtype=np.int64)
        return self.offset[low] + kth(self.rank, self.sign, low, high, k).code
