"""Session windows.

Meaning: each record of an append-only stream gets the time at which its session began; a record
more than `gap` after the last one of its partition begins a new session.
Law: time only moves forward, so the beginning of a record's session never changes.
State: `open`, per partition the beginning and the latest time of the session that may still go on.
Cost: follows the delta.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.element import Elements, add_time, concat, consolidate
from penstock.kinds import operator
from penstock.physical.kernel import Result, Write, at, before, distinct_hashes
from penstock.record import Ints, starts_of
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable

_START, _LAST = "__start", "__last"


@operator("sessions")
@dataclass(frozen=True)
class Sessions:
    """Gives each row the start and the end of its session, of rows at most `gap` apart."""

    input: pa.Schema
    partition: tuple[str, ...]
    gap: int
    start: str

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input.append(pa.field(self.start, pa.int64()))

    @cached_property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        fields = [self.input.field(name) for name in self.partition]
        times = [pa.field(_START, pa.int64()), pa.field(_LAST, pa.int64())]
        return (StateTableSpec("open", pa.schema([*fields, *times]), self.partition),)

    @property
    def partition_by(self) -> tuple[tuple[str, ...], ...]:
        return (self.partition,)

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        delta, spec = deltas[0], self.state_tables[0]
        if len(delta) == 0:
            return Result(Elements.empty(self.schema), {"open": Write(Elements.empty(spec.schema))})
        keys = delta.key(self.partition)
        needles = distinct_hashes(record.hash_rows(keys, len(delta)))
        known = consolidate(at(state_tables["open"].rows_with(needles)[0], before(w0)))
        all_keys = record.concat([keys, known.key(self.partition)])
        rows = len(delta) + len(known)
        group = record.group_rows(all_keys, record.hash_rows(all_keys, rows)).code
        time = np.concatenate([delta.ts, _ints(known, _LAST)])
        order = sorting.sort_by(group, time)
        group, time = group[order], time[order]
        first = starts_of(group)
        begins = first.copy()
        begins[1:] |= time[1:] > add_time(time[:-1], self.gap)
        began = np.concatenate([delta.ts, _ints(known, _START)])[order]
        start = began[begins][np.cumsum(begins) - 1]
        start_of = np.empty(rows, dtype=np.int64)
        start_of[order] = start
        columns = (*delta.columns, pa.array(start_of[: len(delta)]))
        out = Elements(self.schema, columns, delta.ts, delta.te, delta.n)
        last = np.append(first[1:], True)
        columns = (*record.take(all_keys, order[last]), pa.array(start[last]), pa.array(time[last]))
        ones = np.ones(np.count_nonzero(last), dtype=np.int64)
        now = Elements(spec.schema, columns, ones, ones, ones)
        moved = consolidate(concat(spec.schema, [at(now, w0), at(known, w0).negated()]))
        keep = add_time(_ints(moved, _LAST), self.gap + 1)
        return Result(out, {"open": Write(moved, keep)})


def _ints(x: Elements, name: str) -> Ints:
    values: Ints = record.numpy(x.column(name))
    return values
