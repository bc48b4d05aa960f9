"""Transforms that strategies put between operators."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from penstock.element import INF, Elements, changes
from penstock.kinds import operator


@operator("explicit")
@dataclass(frozen=True)
class Explicit:
    """What an operator says of a step as positive and negative tuples, none of which ends."""

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def apply(self, *inputs: Elements) -> Elements:
        return changes(inputs[0])


@operator("arrivals")
@dataclass(frozen=True)
class Arrivals:
    """The times at which tuples come."""

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return pa.schema([])

    def apply(self, *inputs: Elements) -> Elements:
        return _at(np.unique(inputs[0].ts))


@operator("results")
@dataclass(frozen=True)
class Results:
    """What a join with messages gives, without the messages."""

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return inputs[0]

    def apply(self, *inputs: Elements) -> Elements:
        return inputs[0].where(inputs[0].n != 0)


@operator("messages")
@dataclass(frozen=True)
class Messages:
    """The messages of a join: times at which all results that carry them expire."""

    def schema(self, *inputs: pa.Schema) -> pa.Schema:
        return pa.schema([])

    def apply(self, *inputs: Elements) -> Elements:
        x = inputs[0]
        return _at(x.ts[x.n == 0])


def _at(times: np.ndarray) -> Elements:
    always = np.full(len(times), INF, dtype=np.int64)
    return Elements(pa.schema([]), (), times, always, np.ones_like(times))
