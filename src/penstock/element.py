"""The one element: a record, a half-open validity `[ts, te)` in event time, a signed weight.

Meaning: the snapshot of a set of elements at time t is, per record, the sum of the weights of the
elements with `ts <= t < te`. Every function here but those that say otherwise keeps all snapshots.

A weight is a vector of integers: `n`, the multiplicity, and by name whatever an operator adds up
per record (`sums`; a name that is missing counts as zero). Weights only ever add.

A *change* is an element that never ends: `(e, [t, inf), n)` says that at time t the multiplicity
of e moves by n. Any set of elements can be written as changes and back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.record import Columns, Ints, Mask

INF = int(np.iinfo(np.int64).max)
BEGIN = int(np.iinfo(np.int64).min)


@dataclass(frozen=True, slots=True)
class Elements:
    """Many elements as columns: the records, `ts`, `te` and the weights of each row."""

    schema: pa.Schema
    columns: Columns
    ts: Ints
    te: Ints
    n: Ints
    sums: Mapping[str, Ints] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ts)

    @staticmethod
    def empty(schema: pa.Schema) -> Elements:
        none = np.empty(0, dtype=np.int64)
        return Elements(schema, tuple(map(_empty, schema.types)), none, none, none)

    @staticmethod
    def of(schema: pa.Schema, rows: Iterable[tuple[tuple[Any, ...], int, int, int]]) -> Elements:
        """From plain tuples `(record, ts, te, n)`."""
        listed = list(rows)
        columns = tuple(
            pa.array([row[0][i] for row in listed], type=f.type) for i, f in enumerate(schema)
        )
        ts, te, n = (np.array([row[i] for row in listed], dtype=np.int64) for i in (1, 2, 3))
        return Elements(schema, columns, ts, te, n)

    def rows(self) -> list[tuple[tuple[Any, ...], int, int, int]]:
        """As plain tuples `(record, ts, te, n)`."""
        values = [column.to_pylist() for column in self.columns]
        records = list(zip(*values, strict=True)) if values else [()] * len(self)
        times = (self.ts.tolist(), self.te.tolist(), self.n.tolist())
        return list(zip(records, *times, strict=True))

    def column(self, name: str) -> pa.Array:
        place = self.schema.get_field_index(name)
        if place < 0:
            raise KeyError(name)
        return self.columns[place]

    def key(self, names: Sequence[str]) -> Columns:
        return tuple(self.column(name) for name in names)

    def take(self, index: Ints) -> Elements:
        return Elements(
            self.schema,
            record.take(self.columns, index),
            self.ts[index],
            self.te[index],
            self.n[index],
            {name: weight[index] for name, weight in self.sums.items()},
        )

    def where(self, mask: Mask) -> Elements:
        """Where the rows lie together, they are not copied."""
        rows = np.flatnonzero(mask)
        first, last = (int(rows[0]), int(rows[-1]) + 1) if len(rows) else (0, 0)
        return self.slice(first, last) if last - first == len(rows) else self.take(rows)

    def slice(self, start: int, stop: int) -> Elements:
        return Elements(
            self.schema,
            tuple(column.slice(start, stop - start) for column in self.columns),
            self.ts[start:stop],
            self.te[start:stop],
            self.n[start:stop],
            {name: weight[start:stop] for name, weight in self.sums.items()},
        )

    def plain(self) -> Elements:
        """With columns that hold their values, not picks of them."""
        if not any(pa.types.is_dictionary(column.type) for column in self.columns):
            return self
        return replace(self, columns=record.plain(self.columns))

    def select(self, names: Sequence[str]) -> Elements:
        """A projection of the records: duplicates stay, as separate elements."""
        schema = pa.schema([self.schema.field(name) for name in names])
        return replace(self, schema=schema, columns=self.key(names))

    def valid_during(self, ts: Ints, te: Ints) -> Elements:
        """The same records with another validity; empty ones vanish. Changes snapshots."""
        return replace(self, ts=ts, te=te).where(ts < te)

    def negated(self) -> Elements:
        return replace(self, n=-self.n, sums={name: -weight for name, weight in self.sums.items()})


@lru_cache
def _empty(kind: pa.DataType) -> pa.Array:
    return pa.array([], type=kind)


def concat(schema: pa.Schema, parts: Sequence[Elements]) -> Elements:
    """The union of several sets of elements."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return Elements.empty(schema)
    if len(parts) == 1:
        return replace(parts[0], schema=schema)
    names = {name: None for part in parts for name in part.sums}
    sums = {
        name: np.concatenate(
            [part.sums.get(name, np.zeros(len(part), dtype=np.int64)) for part in parts]
        )
        for name in names
    }
    return Elements(
        schema,
        record.concat([part.columns for part in parts]),
        np.concatenate([part.ts for part in parts]),
        np.concatenate([part.te for part in parts]),
        np.concatenate([part.n for part in parts]),
        sums,
    )


def consolidate(x: Elements) -> Elements:
    """Equal records with equal validity become one, their weights added up; zeros vanish."""
    return consolidation(x)[0]


def consolidation(x: Elements) -> tuple[Elements, Ints]:
    """`consolidate`, and for each row of the result a row of `x` that it stands for."""
    keyed = (*x.columns, pa.array(x.ts), pa.array(x.te))
    groups = record.group_rows(keyed, record.hash_rows(keyed, len(x)))
    n = add_up(x.n, groups)
    sums = {name: add_up(weight, groups) for name, weight in x.sums.items()}
    keep = n != 0
    for weight in sums.values():
        keep |= weight != 0
    keep &= (x.ts < x.te)[groups.first]
    if len(groups) == len(x) and keep.all():
        return x, np.arange(len(x))
    rows = groups.first[keep]
    kept = replace(x.take(rows), n=n[keep], sums={name: s[keep] for name, s in sums.items()})
    return kept, rows


def add_up(weight: Ints, groups: record.Groups) -> Ints:
    """The sum of the weights of each group."""
    total = np.zeros(len(groups), dtype=np.int64)
    np.add.at(total, groups.code, weight)
    return total


def clamp(x: Elements, w: int) -> Elements:
    """Forget what was before `w`: keeps the snapshots from `w` on."""
    return x.valid_during(np.maximum(x.ts, w), x.te)


def in_time_order(x: Elements) -> Elements:
    """By (ts, te), the order of physical streams."""
    return x.take(sorting.sort_by(x.ts, x.te))


def changes(x: Elements) -> Elements:
    """The changes that the elements stand for: one per record and time, none of weight zero."""
    ends = x.where(x.te < INF).negated()
    begun = replace(x, te=np.full(len(x), INF, dtype=np.int64))
    ended = replace(ends, ts=ends.te, te=np.full(len(ends), INF, dtype=np.int64))
    return consolidate(concat(x.schema, [begun, ended]))


def intervals(x: Elements) -> Elements:
    """The fewest disjoint elements per record; the inverse of `changes`."""
    ends = x.where(x.te < INF).negated()
    moves = concat(x.schema, [x, replace(ends, ts=ends.te)])
    hashes = record.hash_rows(moves.columns, len(moves))
    order, fresh = record.arrange(moves.columns, hashes, moves.ts)
    row, ts, te, n = spans(order, fresh, moves.ts, moves.n)
    return Elements(x.schema, record.take(moves.columns, row), ts, te, n)


def spans(order: Ints, fresh: Mask, ts: Ints, n: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Changes `(ts, n)` of groups as the fewest disjoint spans: a row of the group, from, to, held.

    `order` sorts the changes by group and time, and `fresh` marks the first of each group in it.
    """
    ts = ts[order]
    starts = fresh | record.starts_of(ts)
    held = running_sum(n[order], fresh)[np.append(starts[1:], True)[: len(starts)]]
    row, ts, first = order[starts], ts[starts], fresh[starts]
    changed = held != 0
    changed[1:] = np.where(first[1:], held[1:] != 0, held[1:] != held[:-1])
    group = np.cumsum(first)[changed]
    row, ts, held = row[changed], ts[changed], held[changed]
    te = np.full(len(ts), INF, dtype=np.int64)
    te[:-1] = np.where(group[1:] == group[:-1], ts[1:], INF)
    there = held != 0
    return row[there], ts[there], te[there], held[there]


def running_sum(values: Ints, fresh: Mask) -> Ints:
    """Cumulative sums that start again wherever `fresh` says so."""
    total = np.cumsum(values)
    begin = np.flatnonzero(fresh)
    before = (total - values)[begin]
    return total - before[np.cumsum(fresh) - 1]


def snapshot(x: Elements, t: int) -> Counter[tuple[Any, ...]]:
    """The multiset of records valid at time t (the timeslice)."""
    counts: Counter[tuple[Any, ...]] = Counter()
    for e, _, _, n in x.where((x.ts <= t) & (t < x.te)).rows():
        counts[hashable(e)] += n
    return Counter({e: n for e, n in counts.items() if n})


def hashable(value: Any) -> Any:
    """A record's value as something a multiset can hold, equal where SQL's grouping says so."""
    if isinstance(value, float):
        return "NaN" if value != value else value + 0.0
    if isinstance(value, (list, tuple)):
        return tuple([hashable(item) for item in value])
    if isinstance(value, dict):
        return tuple((key, hashable(item)) for key, item in value.items())
    return value


# --- interval functions -------------------------------------------------------------------------


def intersect(ts: Ints, te: Ints, other_ts: Ints, other_te: Ints) -> tuple[Ints, Ints]:
    """The common part, an empty interval (`ts >= te`) where there is none."""
    return np.maximum(ts, other_ts), np.minimum(te, other_te)


def remainder(
    ts: Ints, te: Ints, other_ts: Ints, other_te: Ints
) -> tuple[tuple[Ints, Ints], tuple[Ints, Ints]]:
    """What of the first lies before and after the second; parts may be empty (`ts >= te`).

    This is the paper's inverse of `intersect` for intervals that overlap. Where they do not, the
    paper gives nothing (it never asks); here the whole first interval comes back, as a complement
    should, in one of the two parts.
    """
    return (ts, np.minimum(te, other_ts)), (np.maximum(ts, other_te), te)


def add_time(t: Ints, duration: int) -> Ints:
    """`t + duration`, where what is beyond the end of time is the end of time."""
    late = t > INF - duration if duration >= 0 else t < BEGIN - duration
    return np.where(late, INF if duration >= 0 else BEGIN, t + np.where(late, 0, duration))


def next_of(points: Ints, times: Ints) -> Ints:
    """The first of the ascending points that is not before each time; INF where there is none."""
    return np.append(points, INF)[np.searchsorted(points, times)]
