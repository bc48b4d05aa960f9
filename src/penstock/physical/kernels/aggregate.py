"""Aggregation by group.

Meaning: per group, the aggregates of the records valid at each time (equation 7 with the grouping
of 6; W-Group-By of the negative-tuples paper).
Law: a group is there while it holds a record; the group of no keys is always there.
State: `current`, per group the sums that add and subtract; for functions that need the values
themselves `values <columns>`, the multiset of them per group, or its first and last value where no
record leaves the input (`append_only`) and no more is asked for; for DISTINCT `distinct <column>`,
which values there are; `schedule`, the ends to come. What is said of a group is let go at
the time `until`, from which on it has no changes. Where groups are wanted only from a `start` of
their own on, `openings` are those that are still to start: what changes before is added up at once.
Cost: sums follow the changes of the step. Functions over the values read the groups that change.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.algebra.aggregates import SUMS, AggregateCall, result_type
from penstock.algebra.expr import Expr
from penstock.algebra.times import shifted
from penstock.element import BEGIN, INF, Elements, concat
from penstock.kinds import operator
from penstock.physical.kernel import (
    Result,
    Timeline,
    Write,
    at,
    before,
    distinct_hashes,
    due_changes,
    ended_first,
    kept,
    net_change,
    passing,
    timeline,
    until,
)
from penstock.physical.kernels import aggregate_sums, aggregate_values
from penstock.physical.kernels.aggregate_sums import Source
from penstock.physical.kernels.aggregate_values import (
    Multisets,
    Values,
    ValueSource,
    multisets,
    value_sources,
)
from penstock.physical.kernels.combining import Combine
from penstock.physical.kernels.distinct_values import DistinctValues
from penstock.physical.kernels.extremes import Extremes
from penstock.physical.kernels.schedule import UNKNOWN, beginning, starts
from penstock.record import Columns, Ints, Mask
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable


@operator("groups")
@dataclass(frozen=True)
class GroupAggregate:
    """The aggregate calls of each group of `keys`; `until` says when a group is closed."""

    input: pa.Schema
    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]
    until: Expr | None = None
    summed: tuple[str, ...] = ()
    """Columns of which the sums come as weights, in place of values."""
    append_only: bool = False
    """Whether no record of the input ends or goes."""
    start: Expr | None = None
    opens: bool = False
    """Whether groups start; `start` is None where it is not known yet of any when they do."""
    together: tuple[str, ...] | None = None
    """The keys that decide in which task a group is, where they are not all of them."""
    combined: bool = False
    """Whether rows of one time come added up, with the sums of all columns as weights."""

    @cached_property
    def schema(self) -> pa.Schema:
        results = [(call.name, result_type(call, self.input)) for call in self.calls]
        return pa.schema([*self._part(self.keys), *results])

    @cached_property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        keys, owner = self._part(self.keys), self.together
        current = StateTableSpec("current", keys, self.keys, owner=owner, until=self.until)
        kept = self._part(self._kept)
        schedule = StateTableSpec("schedule", kept, self.keys, order="time", owner=owner)
        values = [
            StateTableSpec(
                source.state_table,
                self._part(source.columns(self.keys)),
                self.keys,
                owner=owner,
                until=self.until,
                repeats=True,
            )
            for source in self._value_sources
        ]
        distinct = [each.state_table for each in self._distinct]
        return (current, schedule, *values, *distinct, *self._openings)

    @cached_property
    def _openings(self) -> tuple[StateTableSpec, ...]:
        if not self.opens:
            return ()
        gone = None if self.start is None else shifted(self.start, "+", 1)
        keys, owner = self._part(self.keys), self.together
        return (StateTableSpec("openings", keys, self.keys, order="time", owner=owner, until=gone),)

    @cached_property
    def _kept(self) -> tuple[str, ...]:
        """The columns that matter: keys, arguments, filters."""
        if self.combined:
            return Combine(self.keys, self.calls).kept
        used = [name for call in self.calls for name in call.columns]
        return tuple(name for name in dict.fromkeys((*self.keys, *used)) if name not in self.summed)

    @cached_property
    def _sources(self) -> dict[Source, set[str]]:
        """What is summed, and the functions that ask for it."""
        return aggregate_sums.sources(self.calls)

    @cached_property
    def _distinct(self) -> tuple[DistinctValues, ...]:
        """For sources that count a value once, what tells when it comes and goes."""
        wanted = [*self._sources, *(source.source for source in self._value_sources)]
        by_column: dict[str, dict[Source, None]] = {}
        for source in wanted:
            if source.distinct and source.column is not None:
                by_column.setdefault(source.column, {})[source] = None
        return tuple(
            DistinctValues(
                self._part(tuple(dict.fromkeys((*self.keys, column)))),
                column,
                self.keys if self.together is None else self.together,
                tuple(sources),
                self.until,
                self.append_only,
            )
            for column, sources in by_column.items()
        )

    @cached_property
    def _value_sources(self) -> tuple[ValueSource, ...]:
        return value_sources(self.calls)

    def _part(self, names: Sequence[str]) -> pa.Schema:
        return pa.schema([self.input.field(name) for name in names])

    @property
    def partition_by(self) -> tuple[tuple[str, ...], ...]:
        return (self.keys if self.together is None else self.together,)

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        changes, later = due_changes(state_tables["schedule"], deltas[0].select(self._kept), w0, w1)
        if not self.keys:
            changes = concat(changes.schema, [changes, _nothing(changes.schema, w0)])
        opened = self._opened(state_tables, w0, w1)
        if len(changes) + len(opened) == 0:
            writes = {**passing(self.state_tables, self.until), "schedule": later}
            return Result(Elements.empty(self.schema), writes)
        writes = {"schedule": later}
        presence: dict[DistinctValues, Elements] = {}
        for distinct in self._distinct:
            name = distinct.state_table.name
            presence[distinct], writes[name] = distinct.step(state_tables[name], changes, w0, w1)
        summed = [self._presence_summed(values, x) for values, x in presence.items()]
        moved = concat(self._part(self.keys), [self._summed(changes), *summed, opened])
        hashes = record.hash_rows(moved.columns, len(moved))
        asked = [hashes[: len(changes)], hashes[len(moved) - len(opened) :]]
        needles = distinct_hashes(np.concatenate(asked))
        current, current_hashes = state_tables["current"].rows_with(needles)
        held = {
            source: state_tables[source.state_table].rows_with(needles)
            for source in self._value_sources
        }
        known = [current, *(self._weightless(x) for x, _ in held.values())]
        moved = self._deferred(moved, w0, w1)
        rows = concat(moved.schema, [moved, *(at(x, before(w0)) for x in known)])
        hashes = np.concatenate([hashes, current_hashes, *(found for _, found in held.values())])
        frames = timeline(rows.columns, hashes, rows.ts)
        count = frames.running(rows.n)
        sums = {name: frames.running(weight) for name, weight in rows.sums.items()}
        values = self._values(changes, presence, {s: x for s, (x, _) in held.items()}, frames)
        results = tuple(self._result(call, count, sums, values) for call in self.calls)
        exists = count > 0 if self.keys else np.ones(len(frames), dtype=np.bool_)
        if self.opens:
            groups = rows.take(frames.row)
            start = starts(groups, self.start, self.opens)
            exists &= start[frames.group] <= frames.time
            waits = (start >= min(w1, UNKNOWN)) & (frames.old(count, w0) == 0)
            writes["openings"] = Write(_once(groups, start).where(waits))
        out = _emit(self.schema, rows.columns, results, exists, frames, w0)
        moves = net_change(rows, frames, count, sums, w0)
        moves = replace(moves, sums=aggregate_sums.carried(moves.sums))
        writes["current"] = kept(moves, self.until, w1)
        for taken, among in values.items():
            writes[taken.state_table] = kept(at(self._net(taken, among), w0), self.until, w1)
        return Result(out, writes)

    def _opened(self, state_tables: Mapping[str, StateTable], w0: int, w1: int) -> Elements:
        """The groups that start in the step, as changes of nothing."""
        if not self.opens:
            return Elements.empty(self._part(self.keys))
        due = beginning(state_tables["openings"], self.start, self.opens, w0, w1)
        return self._weightless(due)

    def _deferred(self, x: Elements, w0: int, w1: int) -> Elements:
        """What happens before a group starts happens when it does, or at once where it is later."""
        if not self.opens:
            return x
        start = starts(x, self.start, self.opens)
        soon = start < min(w1, UNKNOWN)
        return replace(x, ts=np.where(soon, np.maximum(x.ts, start), w0))

    def _net(self, source: ValueSource, values: Values) -> Elements:
        """What the step changes of the values that can still become an answer."""
        sides = source.sides(self.calls)
        return values.net() if isinstance(values, Multisets) else values.net(sides or ())

    def _summed(self, changes: Elements) -> Elements:
        """The changes as what they add to the sums of their group."""
        sums = dict(changes.sums)
        for source, functions in self._sources.items():
            if not source.distinct and not source.reads(self.summed) and not self.combined:
                sums |= aggregate_sums.contributions(source, functions, changes)
        return replace(changes.select(self.keys), sums=sums)

    def _presence_summed(self, values: DistinctValues, presence: Elements) -> Elements:
        """The coming and going of values as what it adds to the sums of their group."""
        sums: dict[str, Ints] = {}
        for source in filter(self._sources.__contains__, values.sources):
            whole, functions = replace(source, where=None), self._sources[source]
            added = aggregate_sums.contributions(whole, functions, values.of(source, presence))
            sums |= {name.replace(str(whole), str(source), 1): s for name, s in added.items()}
        return self._weightless(presence, sums)

    def _values(
        self,
        changes: Elements,
        presence: Mapping[DistinctValues, Elements],
        held: Mapping[ValueSource, Elements],
        frames: Timeline,
    ) -> dict[ValueSource, Values]:
        """The values of each frame. Among the rows of the timeline the changes come first, then
        the presence of distinct values, and what was held comes last."""
        place = len(changes)
        found: dict[Source, tuple[int, Elements]] = {}
        for distinct, x in presence.items():
            found |= {s: (place, distinct.of(s, x)) for s in distinct.sources}
            place += len(x)
        place = len(frames.order) - sum(map(len, held.values()))
        values: dict[ValueSource, Values] = {}
        for source, old in held.items():
            begins, x = found.get(source.source, (0, changes))
            mine = source.rows(x)
            new = x.select(source.columns(self.keys))
            new = new if len(mine) == len(new) else new.take(mine)
            rows = concat(old.schema, [new, old])
            places = np.concatenate([mine + begins, np.arange(place, place + len(old))])
            values[source] = self._arranged(source, rows, len(new), places, frames)
            place += len(old)
        return values

    def _arranged(
        self, source: ValueSource, rows: Elements, new: int, places: Ints, frames: Timeline
    ) -> Values:
        """Where groups only grow and no more is asked for, their first and last values are all."""
        if self.append_only and source.sides(self.calls) is not None:
            row, frame = frames.placed(places)
            return Extremes(rows, new, source.args, frames, row, frame)
        return multisets(rows, new, source.args, places, frames)

    def _weightless(self, x: Elements, sums: Mapping[str, Ints] | None = None) -> Elements:
        """Rows that say something of their group but are no records of it."""
        return replace(x.select(self.keys), n=np.zeros_like(x.n), sums=sums or {})

    def _result(
        self,
        call: AggregateCall,
        count: Ints,
        sums: Mapping[str, Ints],
        values: Mapping[ValueSource, Values],
    ) -> pa.Array:
        kind = self.schema.field(call.name).type
        if call.function in SUMS:
            argument = self.input.field(call.args[0]).type if call.args else None
            return aggregate_sums.finish(call, kind, argument, sums, count)
        return aggregate_values.finish(call, kind, values[ValueSource.of(call)])


def _once(x: Elements, ts: Ints) -> Elements:
    """Each of the records once, from a time of its own on."""
    return replace(x, ts=ts, te=np.full(len(x), INF), n=np.ones_like(ts), sums={})


def _nothing(schema: pa.Schema, w0: int) -> Elements:
    """A change of nothing, that the group of no keys may be there from the beginning of time."""
    columns = tuple(pa.nulls(1, field.type) for field in schema)
    zero = np.zeros(1, dtype=np.int64)
    return at(Elements(schema, columns, zero, zero, zero), BEGIN if w0 == BEGIN else before(w0))


def _emit(
    schema: pa.Schema, keys: Columns, results: Columns, exists: Mask, frames: Timeline, w0: int
) -> Elements:
    """Elements for the frames of the step whose result is new; the old result ends at the first."""
    same = ~exists[1:] | record.equal_neighbours(results, len(frames))
    same &= exists[1:] == exists[:-1]
    new = exists.copy()
    new[1:] = np.where(frames.first[1:], exists[1:], ~same)
    was = frames.time < w0
    changed = np.flatnonzero(new & ~was)
    first = record.starts_of(frames.group[changed])
    end = until(frames.time[changed], first)
    ended = changed[first]
    old = np.flatnonzero(frames.first)[frames.group[ended]]
    had = was[old] & exists[old]
    ended, old = ended[had], old[had]
    fresh = exists[changed]
    rows = np.concatenate([changed[fresh], old])
    ts = np.concatenate([frames.time[changed[fresh]], frames.time[ended]])
    te = np.concatenate([end[fresh], np.full(len(ended), INF, dtype=np.int64)])
    n = np.where(np.arange(len(rows)) < len(rows) - len(ended), 1, -1)
    order = ended_first(te)
    rows = rows[order]
    columns = (*record.pick(keys, frames.row[frames.group[rows]]), *record.take(results, rows))
    return Elements(schema, columns, ts[order], te[order], n[order])
