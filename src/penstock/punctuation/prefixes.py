"""When all that sorts before a value is closed: the `init` of the paper's sort.

Punctuations of one attribute close a prefix of its order when together they match all values up to
some value; of a descending order, all values down to it. `[2,4]` closes nothing of the prefix until
`[0,3]` does, and then all up to 4, if the attribute cannot be less than 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.element import BEGIN, INF
from penstock.punctuation.closings import Times
from penstock.punctuation.domain import domain_of
from penstock.punctuation.steps import Steps
from penstock.record import Columns, Direction


@dataclass(frozen=True, eq=False)
class Prefixes:
    """From the times of one attribute: when a record and all that sorts before it are closed."""

    times: Times
    direction: Direction

    def __bool__(self) -> bool:
        return bool(self.times)

    def __reduce__(self) -> tuple[object, ...]:
        return Prefixes, (self.times, self.direction)

    def find(self, columns: Columns, length: int) -> pa.Array:
        (column,) = columns
        known, null = record.valid(column), self._null
        found = self._prefixes.at(None, column)
        if self.direction.nulls_first:
            found = np.where(known, np.maximum(found, null), null)
        else:
            found = np.where(known, found, max(int(self._steps.whole[0]), null))
        return pa.array(found, mask=found == INF)

    @property
    def _null(self) -> int:
        """When NULL is closed, which a column that has none of it need not wait for."""
        return int(self._steps.null[0]) if self._steps.domain.nullable else BEGIN

    @cached_property
    def _prefixes(self) -> Steps:
        return self._steps.up_to(self.direction.descending)

    @cached_property
    def _steps(self) -> Steps:
        """When each value is."""
        field, schedule = self.times.schema.field(0), self.times.schedule
        domain = domain_of(field.type, field.nullable)
        anyway = Steps.constant(domain, np.array([schedule.always]))
        said = schedule.plain(0)
        parts = [anyway] if said is None else [anyway, said]
        return Steps.concat(parts).least(np.zeros(len(parts), dtype=np.int64), 1)
