"""The first `limit` rows of each partition in an order, and the latest rows of a stream.

Meaning: at each time, the rows of a partition whose row number is at most `limit`; equal rows count
each. Ties are broken by the order of records, so that the answer is a function of the input alone.
Law: a row comes or goes at the border for each row that goes or comes within it.
State: `rows`, per partition all rows, or only those inside where no row ever leaves its input
(`append_only`), until the time `until`, from which on the partition has no changes; `schedule`, the
ends to come. A *ghost* is a row that takes a place among the first without being shown or kept: the
mark of a deletion.
Cost: reads the partitions that change; one order statistic per change, and `limit` of them for each
that moves the first rows where the row number itself is asked for. Partitions that only grow mostly
do without them (`topk_buffers`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.algebra.evaluate import evaluate_mask
from penstock.algebra.expr import Expr
from penstock.element import BEGIN, INF, Elements, concat, spans
from penstock.kinds import operator
from penstock.physical.kernel import (
    Result,
    at,
    before,
    distinct_hashes,
    due_changes,
    ended_first,
    kept,
    passing,
)
from penstock.physical.kernels.topk_buffers import topk_buffers
from penstock.physical.order_statistics import kth
from penstock.record import Direction, Hashes, Ints, Mask, starts_of
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable


@operator("top rows")
@dataclass(frozen=True)
class TopRows:
    """The first `limit` rows of each partition, with their `number` where it is asked for."""

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
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        return (
            StateTableSpec("rows", self.input, self.partition, until=self.until),
            StateTableSpec("schedule", self.input, self.partition, order="time"),
        )

    @property
    def partition_by(self) -> tuple[tuple[str, ...], ...]:
        return (self.partition,)

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        changes, later = due_changes(state_tables["schedule"], deltas[0], w0, w1)
        if len(changes) == 0:
            writes = {**passing(self.state_tables, self.until), "schedule": later}
            return Result(Elements.empty(self.schema), writes)
        hashes = record.hash_rows(changes.key(self.partition), len(changes))
        known, old = state_tables["rows"].rows_with(distinct_hashes(hashes))
        rows = concat(self.input, [at(known, before(w0)), changes])
        units = self._units(rows, np.concatenate([old, hashes]))
        out, moves = self._grown(units, w0) if self.append_only else self._changed(units, w0)
        return Result(out, {"schedule": later, "rows": kept(units.net(moves, w0), self.until, w1)})

    def _units(self, x: Elements, hashes: Hashes) -> _Units:
        """The changes one row at a time, in order, with each row's number."""
        order, fresh = record.arrange(x.key(self.partition), hashes, x.ts)
        partition = np.empty(len(x), dtype=np.int64)
        partition[order] = np.cumsum(fresh) - 1
        code = self._codes(x, partition)
        order = _settled(order, fresh | starts_of(x.ts[order]), code)
        start = np.flatnonzero(starts_of(x.ts[order], code[order]))
        n = np.add.reduceat(x.n[order], start)
        row, sign = (np.repeat(values, np.abs(n)) for values in (order[start], np.sign(n)))
        number = code[row]
        holder = np.zeros(int(code.max()) + 1, dtype=np.int64)
        holder[number] = row
        first = np.flatnonzero(starts_of(partition[row]))
        size = np.diff(first, append=len(row))
        least = np.minimum.reduceat(number, first) if len(row) else number
        return _Units(
            x, x.ts[row], sign, number, np.repeat(first, size), np.repeat(least, size), holder
        )

    def _codes(self, x: Elements, partition: Ints) -> Ints:
        """Ranks of the rows by partition and order; the order of records breaks ties."""
        settled = {*self.partition, *(name for name, _ in self.order)}
        rest = [(name, Direction()) for name in x.schema.names if name not in settled]
        names = [name for name, _ in (*self.order, *rest)]
        directions = [direction for _, direction in (*self.order, *rest)]
        return record.order_codes(x.key(names), directions, len(x), partition)

    def _changed(self, units: _Units, w0: int) -> tuple[Elements, _Moves]:
        """The answer, and what comes to the state and goes: any row."""
        now = np.flatnonzero(units.ts >= w0)
        return self._answer(units, self._moves(units, w0)), _Moves(
            units.number[now], units.sign[now], now
        )

    def _grown(self, units: _Units, w0: int) -> tuple[Elements, _Moves]:
        """The same of partitions that only grow: of the state, the first rows are all."""
        found = topk_buffers(units.number, units.low, units.ts, self.limit)
        if found is None:
            moves = self._moves(units, w0)
            return self._answer(units, moves), moves
        if self.number is None:
            moves = self._shown(units, _Moves(*found.passages()))
            moves = moves.where(units.ts[moves.cause] >= w0)
            return self._answer(units, moves), moves
        number, place, since, until = found.versions()
        was, stays = since < w0, until == INF
        ts, te, n = np.where(was, until, since), np.where(was, INF, until), np.where(was, -1, 1)
        told = ended_first(te)
        told = told[~(was & stays)[told]]
        out = self._placed(units, *(each[told] for each in (number, place, ts, te, n)))
        before = np.flatnonzero(units.ts < w0)
        moved = np.concatenate([number[stays], units.number[before]])
        signs = np.where(np.arange(len(moved)) < len(moved) - len(before), 1, -1)
        return out, _Moves(moved, signs, np.zeros_like(moved))

    def _answer(self, units: _Units, moves: _Moves) -> Elements:
        return self._numbered(units, moves) if self.number else units.lasting(moves)

    def _shown(self, units: _Units, moves: _Moves) -> _Moves:
        if self.ghost is None:
            return moves
        return moves.where(~evaluate_mask(self.ghost, units.x)[units.holder[moves.number]])

    def _moves(self, units: _Units, w0: int) -> _Moves:
        """The rows that enter and leave the first `limit`, as changes."""
        place = np.flatnonzero(units.ts >= w0)
        number, sign, low = units.number[place], units.sign[place], units.low[place]
        size = units.size(low, place)
        crowded = size >= self.limit
        border = np.zeros(len(place), dtype=np.int64)
        border[crowded] = units.nth(low[crowded], place[crowded], self.limit)
        inside = ~crowded | (number <= border)
        pushes = inside & (sign > 0) & crowded
        pulls = inside & (sign < 0) & (size > self.limit)
        pulled = units.nth(low[pulls], place[pulls] + 1, self.limit)
        numbers = np.concatenate([number[inside], border[pushes], pulled])
        cause = np.concatenate([place[inside], place[pushes], place[pulls]])
        n = np.concatenate([sign[inside], -sign[pushes], -sign[pulls]])
        return self._shown(units, _Moves(numbers, n, cause))

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
        order = sorting.sort_by(partition, place[entry], at_state, comes.astype(np.int64))
        entry, at_state, comes = entry[order], at_state[order], comes[order]
        chain = starts_of(partition[order], place[entry])
        time = states.ts[at_state]
        end = np.full(len(entry), INF, dtype=np.int64)
        end[:-1] = np.where(chain[1:], INF, time[1:])
        told = comes | chain  # an end whose beginning is not of this step is a change by itself
        entry, time, comes = entry[told], time[told], comes[told]
        ends, n = np.where(comes, end[told], INF), np.where(comes, 1, -1)
        return self._placed(units, row[entry], place[entry], time, ends, n)

    def _placed(
        self, units: _Units, number: Ints, place: Ints, ts: Ints, te: Ints, n: Ints
    ) -> Elements:
        """Rows with their places, which count from zero."""
        columns = record.pick(units.x.columns, units.holder[number])
        return Elements(self.schema, (*columns, pa.array(place + 1)), ts, te, n)


def _settled(order: Ints, begins: Mask, code: Ints) -> Ints:
    """An order whose stretches, of which these are the beginnings, have the order of codes."""
    tied = np.flatnonzero(~begins | ~np.append(begins[1:], True)[: len(begins)])
    if len(tied) == 0:
        return order
    settled, rows = order.copy(), order[tied]
    settled[tied] = rows[sorting.sort_by(np.cumsum(begins, dtype=np.int64)[tied], code[rows])]
    return settled


class _States(NamedTuple):
    """What partitions hold after changes, as ranges of units; `old` is what they held before."""

    low: Ints
    high: Ints
    ts: Ints
    old: Mask


def _states(units: _Units, moves: _Moves) -> _States:
    """The states of each partition: before its first move, and after the moves of each time."""
    starts = np.flatnonzero(starts_of(units.low, units.ts))
    changed = np.zeros(len(starts), dtype=np.bool_)
    changed[np.searchsorted(starts, moves.cause, side="right") - 1] = True
    start, end = starts[changed], np.append(starts[1:], len(units.ts))[changed]
    first = starts_of(units.low[start])
    place = np.arange(len(start)) + np.cumsum(first)
    old = np.ones(len(start) + np.count_nonzero(first), dtype=np.bool_)
    old[place] = False
    low, high, ts = (np.empty(len(old), dtype=np.int64) for _ in range(3))
    low[place], high[place], ts[place] = units.low[start], end, units.ts[start]
    before = place[first] - 1
    low[before], high[before], ts[before] = units.low[start[first]], start[first], BEGIN
    return _States(low, high, ts, old)


class _Moves(NamedTuple):
    """Rows, by their numbers, that come and go, and the unit that causes it."""

    number: Ints
    n: Ints
    cause: Ints

    def where(self, mask: Mask) -> _Moves:
        return _Moves(self.number[mask], self.n[mask], self.cause[mask])


class _Units(NamedTuple):
    """Changes of one row each. Those of a partition lie together, in the order of time, so that
    what the partition holds after some of them is a range that begins at `low`. Equal rows of a
    partition are one row: they have one number, of which `holder` is a row of `x`. Numbers have the
    order of rows, those of a partition from `least` on."""

    x: Elements
    ts: Ints
    sign: Ints
    number: Ints
    low: Ints
    least: Ints
    holder: Ints

    def net(self, moves: _Moves, w0: int) -> Elements:
        """Moves added up, each different row once, all times together."""
        n = np.zeros(len(self.holder), dtype=np.int64)
        np.add.at(n, moves.number, moves.n)
        moved = n != 0
        return at(replace(self.x.take(self.holder[moved]), n=n[moved]), w0)

    def lasting(self, moves: _Moves) -> Elements:
        """Moves as elements, each different row for as long as it is there."""
        time = self.ts[moves.cause]
        order = sorting.sort_by(moves.number, time)
        row, ts, te, n = spans(order, starts_of(moves.number[order]), time, moves.n)
        order = ended_first(te)
        columns = record.take(self.x.columns, self.holder[moves.number[row[order]]])
        return Elements(self.x.schema, columns, ts[order], te[order], n[order])

    def size(self, low: Ints, high: Ints) -> Ints:
        total = np.concatenate([[0], np.cumsum(self.sign)])
        return total[high] - total[low]

    def nth(self, low: Ints, high: Ints, k: Ints | int) -> Ints:
        """The number of the k-th row of each multiset `[low, high)`, which holds at least k."""
        if len(low) == 0:
            return np.empty(0, dtype=np.int64)
        rank = self.number - self.least
        found = kth(rank, self.sign, low, high, np.broadcast_to(k, low.shape))
        return self.least[low] + found.code
