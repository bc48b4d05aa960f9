"""Trigger: an end is noticed when a tuple or a message comes.

Meaning: the validity of a tuple ends at the next time, at or after its end, at which something
comes on one of the other inputs. Where these are the tuples themselves, this is the clock of an
input-triggered operator; where they are the messages of joins, each end has one of its own time.
Law: linear. Tuples begin when they begin.
State: `schedule`, the ends to come; `held`, the ends that have passed and are not noticed yet.
Cost: follows the tuples that come, the ends that fall due and what is noticed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from penstock.element import BEGIN, INF, Elements, concat, next_of
from penstock.kinds import operator
from penstock.physical.kernel import Result, Write, due_changes
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable


@operator("trigger")
@dataclass(frozen=True)
class Trigger:
    """There are as many further inputs as `clocks`."""

    schema: pa.Schema
    key: tuple[str, ...]
    clocks: int

    @property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        return (
            StateTableSpec("schedule", self.schema, self.key, order="time"),
            StateTableSpec("held", self.schema, self.key),
        )

    @property
    def partition_by(self) -> tuple[tuple[str, ...] | None, ...]:
        return self.key, *(None,) * self.clocks

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        tuples, later = due_changes(state_tables["schedule"], deltas[0], w0, w1)
        if len(tuples) == len(deltas[0]) and not len(state_tables["held"]):
            return Result(tuples, {"schedule": later})
        began, due = tuples.slice(0, len(deltas[0])), tuples.slice(len(deltas[0]), len(tuples))
        waiting = concat(self.schema, [due, state_tables["held"].needed()])
        clocks = np.unique(np.concatenate([x.ts for x in deltas[1:]]))
        noticed = next_of(clocks, waiting.ts)
        now = noticed < INF
        ended = replace(waiting.where(now), ts=noticed[now])
        # whatever comes frees all that was held before the step, so what stays is new
        stays = due.where(~now[: len(due)])
        freed = w0 if now.any() else BEGIN
        held = Write(stays, np.full(len(stays), w1, dtype=np.int64), frontier=freed)
        out = concat(self.schema, [began, ended])
        late = noticed[now] - waiting.ts[now]
        return Result(out, {"schedule": later, "held": held}, late)
