"""The join of tuples that end with others that do not, which can take either word for an end.

Meaning: the inner join.
Law: a tuple that comes with its end, and one that is followed by a negative tuple at it, have the
same results; so the choice may change between any two steps.
State: that of the join; `schedule`, the negative tuples to come.
Cost: that of the join. A tuple whose end is not passed on is probed for twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock.element import Elements, concat
from penstock.kinds import operator
from penstock.physical.kernel import Result, Write, due_changes
from penstock.physical.kernels.join import InnerJoin
from penstock.state.run import StateTableSpec
from penstock.state.state_table import StateTable


@operator("adaptive join")
@dataclass(frozen=True)
class AdaptiveJoin(InnerJoin):
    """`ending`: the input whose tuples end; `expires`: whether negative tuples say when."""

    ending: int = 0
    expires: bool = False

    @property
    def state_tables(self) -> tuple[StateTableSpec, ...]:
        schema = (self.left, self.right)[self.ending]
        key = (self.left_key, self.right_key)[self.ending]
        return (*super().state_tables, StateTableSpec("schedule", schema, key, order="time"))

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        schedule = state_tables["schedule"]
        if not self.expires and not len(schedule):
            return super().step(state_tables, deltas, w0, w1)
        tuples, later = self._tuples(schedule, deltas[self.ending], w0, w1)
        given = [tuples if i == self.ending else x for i, x in enumerate(deltas)]
        joined = super().step(state_tables, given, w0, w1)
        return Result(joined.out, {**joined.writes, "schedule": later})

    def _tuples(
        self, schedule: StateTable, x: Elements, w0: int, w1: int
    ) -> tuple[Elements, Write]:
        if self.expires:
            return due_changes(schedule, x, w0, w1)
        due = schedule.begun_between(w0, w1)
        return concat(x.schema, [x, due]), Write(Elements.empty(x.schema))
