"""When all that sorts before a value is closed: the `init` of the paper's sort.

Punctuations of one attribute close a prefix of its order when together they match all values up to
some value; of a descending order, all values down to it. `[2,4]` closes nothing of the prefix until
`[0,3]` does, and then all up to 4, if the attribute cannot be less than 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.element import BEGIN, INF
from penstock.punctuation.closings import Times
from penstock.punctuation.covering import begin_of
from penstock.punctuation.domain import Domain, Keys, domain_of
from penstock.punctuation.valuesets import ValueSets
from penstock.record import Columns, Direction, Ints


class _Steps(NamedTuple):
    """At each time, in order: the first value that is not closed, or the last but one that is."""

    times: Ints
    bounds: Keys
    everything: int
    """When all values are closed."""
    null: int
    """When NULL is."""


@dataclass(frozen=True, eq=False)
class Prefixes:
    """From the times of one attribute: when a record and all that sorts before it are closed."""

    times: Times
    direction: Direction

    def __bool__(self) -> bool:
        return bool(self.times)

    def find(self, columns: Columns, length: int) -> pa.Array:
        (column,) = columns
        steps, known = self._steps, record.valid(column)
        found = np.where(known, self._reached(steps, column), steps.null)
        if self.direction.nulls_first:
            found = np.where(known, np.maximum(found, steps.null), found)
        else:
            found = np.where(known, found, max(steps.everything, steps.null))
        return pa.array(found, mask=found == INF)

    def _reached(self, steps: _Steps, column: pa.Array) -> Ints:
        """The first time at which the bound is beyond a value."""
        times = np.append(steps.times, steps.everything)
        if self.direction.descending:
            place = len(steps.times) - self._domain.rank(steps.bounds[::-1], column)
        else:
            place = self._domain.rank(steps.bounds, column)
        return np.minimum(times[place], steps.everything)

    @cached_property
    def _domain(self) -> Domain:
        field = self.times.timed.schema.field(0)
        return domain_of(field.type, field.nullable)

    @cached_property
    def _steps(self) -> _Steps:
        values, begin = self._closed
        domain, everything, null = self._domain, INF, INF
        times: list[int] = []
        bounds: list[Any] = []
        for time in np.unique(begin).tolist():
            holding = np.flatnonzero(begin <= time)
            merged = values.take(holding).merged(np.zeros(len(holding), dtype=np.int64), 1)
            if null == INF and (merged.null[0] or not domain.nullable):
                null = time
            bound = self._bound(merged.cut.tolist())
            if bound is _ALL:
                everything = time
                break
            if bound is not None and (not bounds or bound != bounds[-1]):
                times.append(time)
                bounds.append(bound)
        if not domain.nullable:
            null = BEGIN
        return _Steps(np.array(times, dtype=np.int64), domain.key_array(bounds), everything, null)

    def _bound(self, cuts: list[Any]) -> Any:
        """Where the closed values that come first in the order end; None where there are none."""
        first = self._domain.first
        if cuts == [first]:
            return _ALL
        if self.direction.descending:
            return cuts[-1] if len(cuts) % 2 == 1 else None
        return cuts[1] if cuts and cuts[0] == first else None

    @cached_property
    def _closed(self) -> tuple[ValueSets, Ints]:
        """Sets of values, and from when on they are closed."""
        parts = [ValueSets.nothing(self._domain, 0)]
        begins = [np.empty(0, dtype=np.int64)]
        for block in self.times.timed.blocks:
            sides = dict(block.sides())
            count = len(block)
            parts.append(sides[0] if 0 in sides else ValueSets.everything(self._domain, count))
            begins.append(begin_of(sides[1]) if 1 in sides else np.full(count, BEGIN))
        return ValueSets.concat(parts), np.concatenate(begins)


_ALL = object()
