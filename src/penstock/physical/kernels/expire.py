"""Expire: the operator at the bottom that tells when tuples leave their window.

Meaning: none of its own; every form keeps all snapshots. A tuple that is valid during `[ts, te)`
becomes a positive tuple at `ts` and a negative one at `te`, so that no operator above has to know
how long tuples are valid.
Law: what comes out is what came in, in other words: `changes` of both are the same.
State: `schedule`, the negative tuples to come.
Cost: follows the tuples that come and those that expire.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.element import INF, Elements, consolidate
from penstock.kinds import operator
from penstock.physical.kernel import Result, due_changes
from penstock.physical.kernels.schedule import Scheduled
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable


@operator("expire")
@dataclass(frozen=True)
class Expire(Scheduled):
    """Passes tuples on without an end, and a negative one when their end has come."""

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        tuples, later = due_changes(state_tables["schedule"], deltas[0], w0, w1)
        return Result(tuples, {"schedule": later})


@operator("negative tuples")
@dataclass(frozen=True)
class NegativeTuples(Scheduled):
    """The negative tuples alone, as the columns that tell where they belong."""

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        ending = deltas[0].where(deltas[0].te < INF).select(self.schema.names)
        tuples, later = due_changes(state_tables["schedule"], ending, w0, w1)
        return Result(tuples.slice(len(ending), len(tuples)), {"schedule": later})


@operator("netted")
@dataclass(frozen=True)
class Netted:
    """Tuples where equal ones meet, without those that cancel."""

    schema: pa.Schema
    key: tuple[str, ...]

    @property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        return ()

    @property
    def partition_by(self) -> tuple[tuple[str, ...], ...]:
        return (self.key,)

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        x = deltas[0]
        return Result(consolidate(x) if np.any(x.n < 0) else x)
