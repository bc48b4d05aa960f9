"""Changes: the records that come, go, or do either, as an append-only stream.

Meaning: at each time, the records whose multiplicity is not what it was just before, by how much it
rose, fell, or either, valid from then on (ISTREAM and DSTREAM of CQL). What was there from the
beginning of time on never came.
Law: a function of the snapshots, however elements were cut in time. What comes to a relation that
only grows has the snapshots of the relation.
State: `schedule`, the ends to come.
Cost: follows the changes of the step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pyarrow as pa

from penstock.algebra.plan import ChangeKind
from penstock.element import BEGIN, Elements, consolidate
from penstock.kinds import operator
from penstock.physical.kernel import Result, due_changes
from penstock.physical.transforms import Stamp
from penstock.record import Ints
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable

_WEIGHTS: dict[ChangeKind, Callable[[Ints], Ints]] = {
    "inserted": lambda n: np.maximum(n, 0),
    "deleted": lambda n: np.maximum(-n, 0),
    "changed": np.abs,
}


@operator("change stream")
@dataclass(frozen=True)
class ChangeStream:
    """The changes of one kind, each valid from its time on; `time` names a column that holds it."""

    input: pa.Schema
    key: tuple[str, ...]
    kind: ChangeKind = "inserted"
    time: str | None = None

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input if self.time is None else Stamp(self.time).schema(self.input)

    @property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        return (StateTableSpec("schedule", self.input, self.key, order="time"),)

    @property
    def partition_by(self) -> tuple[tuple[str, ...], ...]:
        return (self.key,)

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        changes, later = due_changes(state_tables["schedule"], deltas[0], w0, w1)
        net = consolidate(changes)
        n = np.where(net.ts == BEGIN, 0, _WEIGHTS[self.kind](net.n))
        out = replace(net, n=n).where(n > 0)
        stamped = out if self.time is None else Stamp(self.time).apply(out)
        return Result(stamped, {"schedule": later})
