"""What a step changes, from what its tasks report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from penstock.element import BEGIN
from penstock.execution.task import Report
from penstock.physical.program import Program, base_state_table, view_state_table
from penstock.state.manifest import Action, Changed, Published, StateTableRuns
from penstock.state.store import RunReference


@dataclass(frozen=True)
class StepCommit:
    """Of one step `[w0, w1)` of a program."""

    program: Program
    reports: Sequence[Report]
    w0: int
    w1: int

    @cached_property
    def published(self) -> dict[str, tuple[RunReference, ...]]:
        return {
            view: tuple(ref for report in self.reports for ref in report.views.get(view, ()))
            for view in self.program.views
        }

    def publications(self) -> list[Action]:
        return [Published(view, self.w0, self.w1, refs) for view, refs in self.published.items()]

    def as_base(self) -> list[Action]:
        """The views as they are after the step, without a word on how they came to be so."""
        return [
            Changed(base_state_table(view), refs, frontier=self.w1 - 1)
            for view, refs in self.published.items()
        ]

    def changed(
        self, name: str, state_table: StateTableRuns, rewritten: Iterable[str] = ()
    ) -> Iterable[Changed]:
        """The change of a state table that the log has: runs that came, are rewritten, or are
        dead."""
        frontier = self._frontier(name, state_table)
        new = alive(self._written(name), frontier)
        dead = {ref.name for ref in state_table.refs} - {
            ref.name for ref in alive(state_table.refs, frontier)
        }
        removed = tuple(sorted(dead.union(rewritten)))
        if new or removed or frontier > state_table.frontier:
            yield Changed(name, new, removed, frontier)

    def introduced(self, name: str, state_table: StateTableRuns) -> Iterable[Changed]:
        """The change that brings a state table into the log, with what is alive of it."""
        frontier = self._frontier(name, state_table)
        refs = alive((*state_table.refs, *self._written(name)), frontier)
        if refs or frontier > BEGIN:
            yield Changed(name, refs, frontier=frontier)

    def _written(self, name: str) -> tuple[RunReference, ...]:
        refs = tuple(ref for report in self.reports for ref in report.state_tables.get(name, ()))
        return refs + self._shown.get(name, ())

    def _frontier(self, name: str, state_table: StateTableRuns) -> int:
        return max(self._frontiers.get(name, BEGIN), state_table.frontier)

    @cached_property
    def _shown(self) -> dict[str, tuple[RunReference, ...]]:
        return {view_state_table(view): refs for view, refs in self.published.items()}

    @cached_property
    def _frontiers(self) -> dict[str, int]:
        found = dict.fromkeys(self.program.input_buffers, self.w1)
        for report in self.reports:
            for name, frontier in report.frontiers.items():
                found[name] = max(found.get(name, BEGIN), frontier)
        return found | dict.fromkeys(self._shown, self.w1 - 1)


def alive(refs: Iterable[RunReference], frontier: int) -> tuple[RunReference, ...]:
    """Those of which a row is needed still."""
    return tuple(ref for ref in refs if ref.statistics.dead(frontier) < ref.statistics.rows)
