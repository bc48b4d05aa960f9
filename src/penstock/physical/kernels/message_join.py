"""The join that a negative tuple passes without a probe (algorithm 5 of the negative-tuples paper).

Meaning: the inner join. Beside its results it sends messages: tuples without weight and without a
record, at times at which results expire. A message retires all results that carry its time.
Law: there is a message for every end of a result when it comes, and none for other times.
State: that of the join; `references`, how many results carry each expiry (JTT where one side is a
table: its tuples never expire and are never referred to).
Cost: that of the join for positive tuples; a negative tuple costs a look at what is due.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from penstock.element import INF, Elements, concat
from penstock.kinds import operator
from penstock.physical.kernel import Result, Write
from penstock.physical.kernels.join import InnerJoin
from penstock.record import Ints
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable


@operator("message join")
@dataclass(frozen=True)
class MessageJoin(InnerJoin):
    """`told`: how each stream of negative tuples or messages is spread; None: to every task."""

    told: tuple[tuple[str, ...] | None, ...] = ()

    @property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        return (*super().state_tables, self._references)

    @property
    def _references(self) -> StateTableSpec:
        record = pa.schema([self.left.field(name) for name in dict.fromkeys(self.left_key)])
        return StateTableSpec("references", record, self.left_key, order="time")

    @property
    def partition_by(self) -> tuple[tuple[str, ...] | None, ...]:
        return (*super().partition_by, *self.told)

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        expired = np.concatenate([x.ts for x in deltas[2:]])
        due = state_tables["references"].begun_between(w0, w1).ts
        if not any(map(len, deltas[:2])):  # a negative tuple goes past
            nothing = {spec.name: Write(Elements.empty(spec.schema)) for spec in self.state_tables}
            return Result(_messages(self.schema, np.intersect1d(due, expired)), nothing)
        joined = super().step(state_tables, deltas[:2], w0, w1)
        if not len(joined.out) and not len(due):
            return joined
        referred = self._by_expiry(joined.out)
        soon = referred.ts < w1
        times = np.intersect1d(np.concatenate([due, referred.ts[soon]]), expired)
        out = concat(self.schema, [joined.out, _messages(self.schema, times)])
        return Result(out, {**joined.writes, "references": Write(referred.where(~soon))})

    def _by_expiry(self, results: Elements) -> Elements:
        """How many results carry each expiry, at the time of it, with the key of one of them: all
        of a time are retired by one message, so it may be sent from the task of any."""
        ending = results.where(results.te < INF).select(self._references.schema.names)
        times, first, count = np.unique(ending.te, return_index=True, return_counts=True)
        always = np.full(len(times), INF, dtype=np.int64)
        return replace(ending.take(first), ts=times, te=always, n=count)


def _messages(schema: pa.Schema, times: Ints) -> Elements:
    columns = tuple(pa.nulls(len(times), field.type) for field in schema)
    always = np.full(len(times), INF, dtype=np.int64)
    return Elements(schema, columns, times, always, np.zeros_like(times))
