"""The different results of a join of several append-only streams, each kept as a few of its rows.

Meaning: the combinations of records that satisfy all conditions, projected, each result once.
Law: results come and stay. A record that meets nothing but what another also meets, with the same
result, is not needed: rankings say which are. Whether there is a new result between two times shows
at the later one, so the time of each is found by halving.
State: a state table for each input, with the records that its ranking leaves; few where the planner
chose this kernel. The results so far follow from them, and are not kept.
Cost: follows the changes, and the combinations of the records left; for each new result, once more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import prod

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.algebra.expr import Expr
from penstock.element import INF, Elements, concat, consolidate, in_time_order
from penstock.kinds import operator
from penstock.memory.rankings import Limit, Ranking
from penstock.physical.combinations import combinations, side_by_side
from penstock.physical.kernel import Result, Write, at
from penstock.record import Ints
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable

_DIRECTLY = 1 << 18  # combinations that are tried rather than searched
_NARROW = -(1 << 62)
_FIRST_DAY = 719163  # 1970-01-01 among the days that the theory counts


@operator("distinct product")
@dataclass(frozen=True)
class DistinctProduct:
    """`best` are rankings of the results, where not all of them are asked for.

    `keys`, per input, are columns that are equal in all combinations, and part of all rankings and
    of the results, so that rows with other values have nothing to do with each other.
    """

    inputs: tuple[pa.Schema, ...]
    conditions: tuple[Expr, ...]
    chosen: tuple[str, ...]
    rankings: tuple[tuple[Ranking, ...], ...]
    keys: tuple[tuple[str, ...], ...]
    best: tuple[Ranking, ...] = ()

    @cached_property
    def schema(self) -> pa.Schema:
        every = {field.name: field for part in self.inputs for field in part}
        return pa.schema([every[name] for name in self.chosen])

    @cached_property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        return tuple(
            StateTableSpec(f"input {i}", part, tuple(part.names), owner=self.keys[i])
            for i, part in enumerate(self.inputs)
        )

    @property
    def partition_by(self) -> tuple[tuple[str, ...], ...]:
        return self.keys

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        if not any(map(len, deltas)):
            return Result(Elements.empty(self.schema))
        before = [
            consolidate(at(state_tables[spec.name].needed(), w0)) for spec in self.state_tables
        ]
        moved = [in_time_order(delta) for delta in deltas]
        times = np.unique(np.concatenate([x.ts for x in moved]))
        search = _Search(self, moved, times)
        known = self.results(before)
        after, _ = search.between(before, known, 0, len(times))
        writes = {
            spec.name: Write(_difference(at(_single(new), w0), old))
            for spec, new, old in zip(self.state_tables, after, before, strict=True)
        }
        return Result(concat(self.schema, search.found), writes)

    def results(self, sets: Sequence[Elements]) -> Elements:
        shown = side_by_side(sets, combinations(sets, self.conditions)).select(self.chosen)
        once = _single(_once(shown))
        return _ranked(self.best, once) if self.best else once

    def left(self, i: int, rows: Elements) -> Elements:
        """The rows of an input that are enough."""
        return _ranked(self.rankings[i], rows)


@dataclass
class _Search:
    kernel: DistinctProduct
    moved: Sequence[Elements]
    times: Ints

    def __post_init__(self) -> None:
        self.found: list[Elements] = []

    def between(
        self, before: Sequence[Elements], known: Elements, low: int, high: int
    ) -> tuple[list[Elements], Elements]:
        """What is left, and the results, after the changes from one time up to another.

        New results are noted with the first time at which they are there, and with the last one
        those that nobody asks for any more, as of a maximum the next smaller.
        """
        after = [
            self.kernel.left(i, concat(rows.schema, [rows, self._moves(i, low, high)]))
            for i, rows in enumerate(before)
        ]
        results = self.kernel.results(after)
        if len(_missing(results, known)) == 0:
            return after, results
        if high - low > 1 and self._combinations(before, low, high) > _DIRECTLY:
            middle = (low + high) // 2
            halfway, shown = self.between(before, known, low, middle)
            return self.between(halfway, shown, middle, high)
        new = self._new(before, known, low, high)
        gone = _missing(concat(known.schema, [known, new]), results)
        self.found += [new, at(gone, int(self.times[high - 1])).negated()]
        return after, results

    def _combinations(self, before: Sequence[Elements], low: int, high: int) -> int:
        sizes = (len(x) + len(self._moves(i, low, high)) for i, x in enumerate(before))
        return prod(sizes)

    def _new(self, before: Sequence[Elements], known: Elements, low: int, high: int) -> Elements:
        """The results that come, each at the first time at which all that it takes is there."""
        sets = []
        for i, x in enumerate(before):
            there = at(x, int(self.times[low]))
            sets.append(concat(x.schema, [there, self._moves(i, low, high)]))
        rows = combinations(sets, self.kernel.conditions)
        shown = side_by_side(sets, rows).select(self.kernel.chosen)
        ts = reduce(np.maximum, (x.ts[own] for x, own in zip(sets, rows, strict=True)))
        always = np.full(len(ts), INF, dtype=np.int64)
        shown = replace(shown, ts=ts, te=always, n=np.ones_like(ts))
        return _missing(_once(in_time_order(shown)), known)

    def _moves(self, i: int, low: int, high: int) -> Elements:
        x = self.moved[i]
        start = np.searchsorted(x.ts, self.times[low])
        return x.slice(int(start), int(np.searchsorted(x.ts, self.times[high - 1], side="right")))


def _ranked(rankings: Sequence[Ranking], rows: Elements) -> Elements:
    """The rows that any of the rankings leaves."""
    chosen = [chosen_rows(ranking, rows) for ranking in rankings]
    return rows.take(np.unique(np.concatenate(chosen)))


def chosen_rows(ranking: Ranking, rows: Elements) -> Ints:
    """The rows that a ranking leaves: alike in its key, none has wider limits than another."""
    key = rows.key(ranking.key)
    group = record.group_rows(key, record.hash_rows(key, len(rows))).code
    if ranking.ends is None:
        return _widest(group, [_width(limit, rows) for limit in ranking.limits])
    low, high = ranking.ends
    chosen = []
    for cut_high in (True, False):
        widths = []
        for limit in ranking.limits:
            width = _width(limit, rows)
            if limit.high == cut_high:
                width = np.minimum(width, high if limit.high else -low)
            widths.append(width)
        chosen.append(_widest(group, widths))
    return np.unique(np.concatenate(chosen))


def _width(limit: Limit, rows: Elements) -> Ints:
    """How far a limit reaches beside each row: the more, the more it can meet."""
    least = None
    for name, offset in limit.terms:
        column = rows.column(name)
        value = _ranks(column) + offset
        value = np.where(record.valid(column), value if limit.high else -value, _NARROW)
        least = value if least is None else np.minimum(least, value)
    assert least is not None
    if limit.end is None:
        return least
    return np.minimum(least, limit.end if limit.high else -limit.end)


def _ranks(column: pa.Array) -> Ints:
    values = record.numpy(column)
    ranks: Ints = (values if values.ndim == 1 else values[:, 0]).astype(np.int64)
    return ranks + _FIRST_DAY if pa.types.is_date32(column.type) else ranks


def _widest(group: Ints, widths: Sequence[Ints]) -> Ints:
    """Of each group, the rows that no other row is at least as wide as in everything."""
    found: list[Ints] = [np.empty(0, dtype=np.int64)]
    left = np.lexsort([*(-width for width in widths), group])
    while len(left):
        best = left[record.starts_of(group[left])]
        found.append(best)
        best_of = best[np.cumsum(record.starts_of(group[left])) - 1]
        beyond = np.zeros(len(left), dtype=np.bool_)
        for width in widths:
            beyond |= width[left] > width[best_of]
        left = left[beyond]
    return np.sort(np.concatenate(found))


def _single(x: Elements) -> Elements:
    return replace(x, n=np.ones_like(x.n))


def _once(x: Elements) -> Elements:
    """Each record once, the first of those that are equal."""
    groups = record.group_rows(x.columns, record.hash_rows(x.columns, len(x)))
    first = np.full(len(groups), len(x), dtype=np.int64)
    np.minimum.at(first, groups.code, np.arange(len(x)))
    return x.take(first)


def _missing(x: Elements, known: Elements) -> Elements:
    """The records that are not among those known."""
    both = concat(x.schema, [known, x])
    groups = record.group_rows(both.columns, record.hash_rows(both.columns, len(both)))
    there = np.zeros(len(groups), dtype=np.bool_)
    there[groups.code[: len(known)]] = True
    return x.where(~there[groups.code[len(known) :]])


def _difference(new: Elements, old: Elements) -> Elements:
    return consolidate(concat(new.schema, [new, old.negated()]))
