"""What punctuations of a column say of a monotone function of it.

A value of the function is closed when all values of the column that become it are. Of ranges these
are ranges again; of constants too, where no two of them become the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from penstock.algebra.expr import Expr
from penstock.algebra.monotone import Monotone, monotone, values
from penstock.errors import PenstockError
from penstock.punctuation.blocks import Box
from penstock.punctuation.closings import Times
from penstock.punctuation.covering import turned, with_plain
from penstock.punctuation.domain import Domain, Keys, Whole, Wide, domain_of
from penstock.punctuation.keys import Key, different
from penstock.punctuation.schedule import Loose, Schedule, arranged
from penstock.punctuation.steps import Steps
from penstock.punctuation.timetable import Timetable, concat

_FAILURES = (PenstockError, pa.ArrowException, ValueError, OverflowError)
"""What a function may do with values that rows do not have, such as the largest of a type."""


def through(times: Times, place: int, function: Expr) -> Times:
    """The times of records that have the value of a function in place of that of one attribute."""
    field, how = times.schema.field(place), monotone(function)
    mine, made = (domain_of(kind, field.nullable) for kind in (field.type, function.type))
    schema = times.schema.set(place, pa.field(field.name, function.type, field.nullable))
    if how is None or not all(type(d) is not Wide and isinstance(d, Whole) for d in (mine, made)):
        schedule = Schedule(times.schedule.always)
    else:
        schedule = _Image(place, function, how, mine, made).of(times.schedule)
    return Times(schema, schedule)


@dataclass(frozen=True)
class _Image:
    place: int
    function: Expr
    how: Monotone
    domain: Domain
    made: Domain

    def of(self, schedule: Schedule) -> Schedule:
        kept = [table for table in schedule.tables if self.place not in table.attributes]
        alone = [loose for loose in schedule.loose if self.place not in loose.box.attributes]
        try:
            kept += self._tables(schedule)
            alone += [new for loose in schedule.loose for new in self._boxes(loose)]
        except _FAILURES:
            pass
        return arranged(Schedule(schedule.always, tuple(kept), tuple(alone)))

    def _tables(self, schedule: Schedule) -> Iterator[Timetable]:
        plain = schedule.plain(self.place)
        along: dict[tuple[int, ...], list[Timetable]] = {}
        for table in schedule.tables:
            if self.place in table.shape[0]:
                if self.how.strict:
                    yield self._keyed(table)
                for one in turned([table], self.place):
                    along.setdefault(one.shape[0], []).append(one)
            elif table.spread == self.place:
                along.setdefault(table.shape[0], []).append(table)
        for same in along.values():
            table = concat(same)
            yield replace(table, steps=self._steps(with_plain(table.steps, plain)))

    def _keyed(self, table: Timetable) -> Timetable:
        """Constants that become others, no two the same."""
        keys = tuple(self._key(k) if k.attribute == self.place else k for k in table.keys)
        first, _ = different(keys, len(table))
        return Timetable(tuple(k.take(first) for k in keys), table.spread, table.steps.take(first))

    def _key(self, key: Key) -> Key:
        made, place = np.unique(self._made(key.keys), return_inverse=True)
        return Key(key.attribute, self.made, made, np.append(place, len(made))[key.code])

    def _steps(self, steps: Steps) -> Steps:
        inner = steps.cut != steps.domain.first
        at = np.repeat(self.made.key_array([self.made.first]), len(steps.cut))
        before = at.copy()
        at[inner], before[inner] = self._made(steps.cut[inner]), self._made(steps.cut[inner] - 1)
        return steps.through(self.made, at, before, self.how.rising)

    def _boxes(self, loose: Loose) -> Iterator[Loose]:
        sides = dict(loose.box.parts)
        if self.place in sides:
            zero, time = np.zeros(1, dtype=np.int64), np.array([loose.time])
            steps = self._steps(Steps.of(sides[self.place], time, zero, 1))
            _, _, sets = steps.pieces()
            for row in np.arange(len(sets))[:, None]:
                sides[self.place] = sets.take(row)
                yield Loose(Box(tuple(sides.items())), loose.time)

    def _made(self, keys: Keys) -> Keys:
        column = self.domain.column_of(keys)  # type: ignore[attr-defined]
        return self.made.keys_of(values(self.function, column))
