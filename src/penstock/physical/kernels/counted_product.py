"""The join of several streams, each kept as a summary: records that can be told apart, and counts.

Meaning: the combinations of records that satisfy all conditions, weights multiplied, projected.
Law: multilinear. The changes of all inputs are put in one order, by time; each adds itself,
combined with what there was of the other inputs before it.
State: a state table for each input: its records, which are few where the planner chose this kernel,
with their weights. There are no results of some inputs only.
Cost: follows the changes times the combinations of different records that each is part of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.algebra.expr import Expr
from penstock.element import INF, Elements, add_up, concat
from penstock.kinds import operator
from penstock.physical.combinations import combinations, side_by_side
from penstock.physical.kernel import Result, Write, at
from penstock.physical.kernels import aggregate_sums
from penstock.physical.kernels.aggregate_sums import Source
from penstock.record import Ints
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable

_PAIRS = 1 << 21
_PLACES = 32  # bits for the places of the changes of a step
_COUNT = ""

Sums = tuple[tuple[Source, tuple[str, ...]], ...]


@operator("counted product")
@dataclass(frozen=True)
class CountedProduct:
    """`chosen` are the columns of the result; `sums`, per input, what is added up over its rows.

    A column that is only summed is not part of the record. `keys`, per input, are columns that are
    equal in all combinations, so that rows with other values need not meet.
    """

    inputs: tuple[pa.Schema, ...]
    conditions: tuple[Expr, ...]
    chosen: tuple[str, ...]
    sums: tuple[Sums, ...]
    keys: tuple[tuple[str, ...], ...]

    @cached_property
    def schema(self) -> pa.Schema:
        every = {field.name: field for part in self._records for field in part}
        return pa.schema([every[name] for name in self.chosen])

    @cached_property
    def _records(self) -> tuple[pa.Schema, ...]:
        parts = []
        for schema, sums in zip(self.inputs, self.sums, strict=True):
            summed = {name for source, _ in sums for name in (source.column, source.where)}
            parts.append(pa.schema([field for field in schema if field.name not in summed]))
        return tuple(parts)

    @cached_property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        return tuple(
            StateTableSpec(f"input {i}", part, tuple(part.names), owner=self.keys[i])
            for i, part in enumerate(self._records)
        )

    @property
    def partition_by(self) -> tuple[tuple[str, ...], ...]:
        return self.keys

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        if not any(map(len, deltas)):
            return Result(Elements.empty(self.schema))
        moved = [self._summed(i, delta) for i, delta in enumerate(deltas)]
        order = _one_order(moved)
        sides = [
            _Side.of(state_tables[spec.name].needed(), x, place)
            for spec, x, place in zip(self.state_tables, moved, order, strict=True)
        ]
        out = concat(self.schema, list(self._changes(sides)))
        writes = {
            spec.name: Write(at(side.net(), w0))
            for spec, side in zip(self.state_tables, sides, strict=True)
        }
        return Result(out, writes)

    def _summed(self, i: int, delta: Elements) -> Elements:
        sums: dict[str, Ints] = {}
        for source, functions in self.sums[i]:
            sums |= aggregate_sums.contributions(source, set(functions), delta)
        return replace(delta.select(self._records[i].names), sums=sums)

    def _changes(self, sides: Sequence[_Side]) -> Iterator[Elements]:
        """What each change adds, in combination with what was there of the others before it."""
        for i, side in enumerate(sides):
            changed = np.unique(side.code)
            order = [i, *(j for j in range(len(sides)) if j != i)]
            sets = [side.records.take(changed), *(sides[j].records for j in order[1:])]
            found = combinations(sets, self.conditions)
            shown = side_by_side(sets, found).select(self.chosen)
            results = record.group_rows(shown.columns, record.hash_rows(shown.columns, len(shown)))
            records = record.take(shown.columns, results.first)
            rows = dict(zip(order, (changed[found[0]], *found[1:]), strict=True))
            by_record = sorting.sort_by(rows[i], results.code)
            mine = [rows[j][by_record] for j in range(len(sides))]
            for change, place in _expanded(side.code, mine[i]):
                weights = _products(sides, i, change, [own[place] for own in mine])
                kind = results.code[by_record][place]
                first = np.flatnonzero(record.starts_of(change, kind))
                added = {name: np.add.reduceat(w, first) for name, w in weights.items()}
                ts = side.moved.ts[change[first]]
                yield Elements(
                    self.schema,
                    record.take(records, kind[first]),
                    ts,
                    np.full(len(ts), INF, dtype=np.int64),
                    added.pop(_COUNT),
                    aggregate_sums.carried(added),
                )


@dataclass(frozen=True)
class _Side:
    """An input: its different records, the step's changes of them, and what was there before."""

    records: Elements
    moved: Elements
    code: Ints
    place: Ints
    known: Elements
    known_code: Ints

    @staticmethod
    def of(known: Elements, moved: Elements, place: Ints) -> _Side:
        both = concat(known.schema, [moved, known])
        groups = record.group_rows(both.columns, record.hash_rows(both.columns, len(both)))
        code, known_code = groups.code[: len(moved)], groups.code[len(moved) :]
        return _Side(both.take(groups.first), moved, code, place, known, known_code)

    @cached_property
    def _in_order(self) -> tuple[Ints, Ints]:
        """All rows as numbers that order them by record, then by place; and that order."""
        none = np.full(len(self.known), -1, dtype=np.int64)
        number = self._number(
            np.concatenate([self.code, self.known_code]), np.concatenate([self.place, none])
        )
        order = np.argsort(number, kind="stable")
        return number[order], order

    def _number(self, code: Ints, place: Ints) -> Ints:
        return (code << _PLACES) + place + 1

    @cached_property
    def _totals(self) -> dict[str, Ints]:
        both = concat(self.known.schema, [self.moved, self.known])
        weights = {_COUNT: both.n, **both.sums}
        order = self._in_order[1]
        return {name: np.append(0, np.cumsum(w[order])) for name, w in weights.items()}

    def before(self, code: Ints, place: Ints) -> dict[str, Ints]:
        """The weights of records before places in the order of all changes."""
        number = self._in_order[0]
        low = np.searchsorted(number, code << _PLACES)
        high = np.searchsorted(number, self._number(code, place))
        found = {name: total[high] - total[low] for name, total in self._totals.items()}
        return aggregate_sums.carried(found)

    def net(self) -> Elements:
        """What the step adds, all times together."""
        groups = record.Groups(self.code, np.arange(len(self.records)))
        n = add_up(self.moved.n, groups)
        sums = {name: add_up(w, groups) for name, w in self.moved.sums.items()}
        there = np.flatnonzero(np.bincount(self.code, minlength=len(self.records)))
        net = replace(self.records, n=n, sums=aggregate_sums.carried(sums))
        return net.take(there)


def _one_order(moved: Sequence[Elements]) -> list[Ints]:
    """The places of all changes in one order, by time."""
    ts = np.concatenate([x.ts for x in moved])
    place = np.empty(len(ts), dtype=np.int64)
    place[np.argsort(ts, kind="stable")] = np.arange(len(ts))
    return np.split(place, np.cumsum([len(x) for x in moved])[:-1])


def _expanded(code: Ints, combined: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Changes with the places of the combinations that their record is in, some at a time."""
    start = np.searchsorted(combined, code)
    count = np.searchsorted(combined, code, side="right") - start
    total = np.append(0, np.cumsum(count))
    first = 0
    while total[first] < total[-1]:
        last = max(int(np.searchsorted(total, total[first] + _PAIRS, side="right")) - 1, first + 1)
        change = np.repeat(np.arange(first, last), count[first:last])
        yield change, np.arange(len(change)) + total[first] - total[change] + start[change]
        first = last


def _products(
    sides: Sequence[_Side], i: int, change: Ints, rows: Sequence[Ints]
) -> dict[str, Ints]:
    """The weights that changes of input i add in their combinations."""
    own, place = sides[i].moved, sides[i].place[change]
    weights = {_COUNT: own.n[change], **{name: w[change] for name, w in own.sums.items()}}
    for j, side in enumerate(sides):
        if j != i:
            there = side.before(rows[j], place)
            count = there.pop(_COUNT)
            more = {name: weights[_COUNT] * w for name, w in there.items()}
            weights = {name: w * count for name, w in weights.items()} | more
            weights = aggregate_sums.carried(weights)
    return weights
