"""Arrivals: the records of a relation that only grows, as the append-only stream they came in.

Meaning: at each time, what is there and was not there before, valid from then on.
Law: keeps all snapshots of a relation that only grows, however its elements were cut in time.
State: `schedule`, the ends to come: where nothing is ever lost, each meets a beginning.
Cost: follows the changes of the step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from penstock.element import Elements, consolidate
from penstock.physical.kernel import Result, due_changes
from penstock.state.area import Area
from penstock.state.run import AreaSpec


@dataclass(frozen=True)
class Arrivals:
    schema: pa.Schema
    key: tuple[str, ...]

    @property
    def areas(self) -> tuple[AreaSpec, ...]:
        return (AreaSpec("schedule", self.schema, self.key, order="time"),)

    @property
    def spread_by(self) -> tuple[tuple[str, ...], ...]:
        return (self.key,)

    def step(
        self, areas: Mapping[str, Area], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        changes, later = due_changes(areas["schedule"], deltas[0], w0, w1)
        net = consolidate(changes)
        return Result(net.where(net.n > 0), {"schedule": later})
