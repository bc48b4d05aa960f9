"""The join of tuples that negative ones take back.

Meaning: the inner join.
Law: a tuple that was taken back meets nobody, whether or not compaction has removed it yet.
State: that of the join.
Cost: that of the join, and to add up the rows that a probe finds where some of them take back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from penstock import record
from penstock.element import Elements, clamp, consolidate
from penstock.kinds import operator
from penstock.physical.kernel import Result, distinct_hashes
from penstock.physical.kernels.join import InnerJoin
from penstock.state.run import sorted_run
from penstock.state.state_table import StateTable


@operator("netting join")
@dataclass(frozen=True)
class NettingJoin(InnerJoin):
    """A join whose inputs take back tuples by negative ones, which meet the tuples they net."""

    def step(
        self, state_tables: Mapping[str, StateTable], deltas: Sequence[Elements], w0: int, w1: int
    ) -> Result:
        left, right = deltas
        found = {
            "left": _netted(state_tables["left"], right, self.right_key, w0),
            "right": _netted(state_tables["right"], left, self.left_key, w0),
        }
        return super().step(found, deltas, w0, w1)


def _netted(
    state_table: StateTable, probing: Elements, key: tuple[str, ...], w0: int
) -> StateTable:
    """The rows of a state table that may meet, added up where some of them take others back."""
    if not any(run.statistics.retractions for run in state_table.runs):
        return state_table
    needles = distinct_hashes(record.hash_rows(probing.key(key), len(probing)))
    if not len(needles):
        return StateTable(state_table.spec, (), state_table.frontier)
    rows, _ = state_table.rows_with(needles)
    return StateTable(
        state_table.spec,
        (sorted_run(state_table.spec, consolidate(clamp(rows, w0))),),
        state_table.frontier,
    )
