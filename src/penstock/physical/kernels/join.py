"""The inner join: equality keys by hash, validity by intersection.

Meaning: pairs of records valid at the same time, weights multiplied (equation 3 with 11).
Law: bilinear. New pairs are new left with all right, and old left with new right; the outer, semi
and anti kinds are linear in this one and in distinct, and are put together by the planner.
State: `left` and `right`, the rows that may still meet a partner, each until its `keep`.
Cost: follows the delta, the pairs it makes, and the logarithm of the other side's state table. Of
two deltas only rows that are valid at the same time are paired where one key has many: versions of
an aggregate, say, on both sides.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.algebra.evaluate import evaluate_ints
from penstock.algebra.expr import Expr
from penstock.element import Elements, concat, consolidate, intersect
from penstock.kinds import operator
from penstock.physical.kernel import Result, Write
from penstock.record import Hashes, Ints
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable, ranges

_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_FEW = 4
"""So many pairs for each row are looked at without asking first which of them meet."""


@operator("inner join")
@dataclass(frozen=True)
class InnerJoin:
    """Pairs of records with equal keys, valid where both are; `keep_*`: until when one is kept."""

    left: pa.Schema
    right: pa.Schema
    left_key: tuple[str, ...]
    right_key: tuple[str, ...]
    null_safe: tuple[bool, ...]
    keep_left: Expr | None = None
    keep_right: Expr | None = None
    few: tuple[bool, bool] = (False, False)
    """Which sides have so few different records that the same come again and again."""

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([*self.left, *self.right])

    @property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        return (
            StateTableSpec(
                "left", self.left, self.left_key, until=self.keep_left, repeats=self.few[0]
            ),
            StateTableSpec(
                "right", self.right, self.right_key, until=self.keep_right, repeats=self.few[1]
            ),
        )

    @property
    def partition_by(self) -> tuple[tuple[str, ...] | None, ...]:
        return self.left_key, self.right_key

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        left = _sorted_side(deltas[0], self.left_key, self.null_safe)
        right = _sorted_side(deltas[1], self.right_key, self.null_safe)
        parts = [self._pair(left, right, i, j) for i, j in _meeting(left, right)]
        for run, i, j in state_tables["right"].matches(left.hashes):
            parts.append(self._pair(left, _side(run.elements, self.right_key, run.hashes), i, j))
        for run, j, i in state_tables["left"].matches(right.hashes):
            parts.append(self._pair(_side(run.elements, self.left_key, run.hashes), right, i, j))
        writes = {
            "left": _write(left.x, self.keep_left, w1),
            "right": _write(right.x, self.keep_right, w1),
        }
        return Result(concat(self.schema, parts), writes)

    def _pair(self, left: _Side, right: _Side, i: Ints, j: Ints) -> Elements:
        """The elements for pairs of rows with equal hashes, once their keys prove to be equal."""
        a, b = left.x, right.x
        ts, te = intersect(a.ts[i], a.te[i], b.ts[j], b.te[j])
        meet = ts < te
        meet[meet] = record.equal_rows(left.key, i[meet], right.key, j[meet])
        i, j = i[meet], j[meet]
        columns = (*record.take(a.columns, i), *record.take(b.columns, j))
        return Elements(self.schema, columns, ts[meet], te[meet], a.n[i] * b.n[j])


@dataclass(frozen=True, slots=True)
class _Side:
    x: Elements
    key: record.Columns
    hashes: Hashes


def _side(x: Elements, key: tuple[str, ...], hashes: Hashes) -> _Side:
    return _Side(x, x.key(key), hashes)


def _sorted_side(x: Elements, key: tuple[str, ...], null_safe: tuple[bool, ...]) -> _Side:
    """A delta sorted by the hash of its key, without the rows that can never match."""
    strict = tuple(x.column(k) for k, safe in zip(key, null_safe, strict=True) if not safe)
    x = x.where(~record.any_null(strict, len(x)))
    hashes = record.hash_rows(x.key(key), len(x))
    order = sorting.sort_hashes(hashes)
    return _side(x.take(order), key, hashes[order])


def _meeting(left: _Side, right: _Side) -> Iterator[tuple[Ints, Ints]]:
    """Pairs of rows of two deltas, with equal hashes, that may be valid at the same time."""
    low, high = (np.searchsorted(right.hashes, left.hashes, side=side) for side in _SIDES)
    if int(np.sum(high - low)) <= _FEW * (len(left.x) + len(right.x)):
        yield from ranges(low, high - low)
        return
    a, b = left.x, right.x
    times = np.sort(np.concatenate([a.ts, a.te, b.ts, b.te]))

    def words(side: _Side, time: Ints) -> record.Words:
        return side.hashes.astype(np.uint64) << np.uint64(32) | np.searchsorted(times, time).view(
            np.uint64
        )

    begin_a, begin_b = words(left, a.ts), words(right, b.ts)
    order_a, order_b = np.argsort(begin_a), np.argsort(begin_b)
    sorted_a, sorted_b = begin_a[order_a], begin_b[order_b]
    low = np.searchsorted(sorted_b, begin_a)
    count = np.searchsorted(sorted_b, words(left, a.te)) - low
    for i, place in ranges(low, np.maximum(count, 0)):  # the right one begins while the left is
        yield i, order_b[place]
    low = np.searchsorted(sorted_a, begin_b, side="right")
    count = np.searchsorted(sorted_a, words(right, b.te)) - low
    for j, place in ranges(low, np.maximum(count, 0)):  # the left one begins later than the right
        yield order_a[place], j


def _write(x: Elements, keep: Expr | None, w1: int) -> Write:
    x = consolidate(x) if np.any(x.n < 0) else x
    until = x.te if keep is None else np.minimum(x.te, evaluate_ints(keep, x))
    needed = until > w1
    return Write(x.where(needed), until[needed])
