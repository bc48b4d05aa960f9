"""Steps: the watermark moves, tasks run the operators, and one commit has what came of it.

Law: a step from w0 to w1 gives every operator its complete input for [w0, w1), and commits its
complete output for it. No two steps, and nothing that must not interleave with one, run at a time.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.element import BEGIN
from penstock.execution.task import StepSpec
from penstock.ingest.sources import input_state_table, kept_state_tables
from penstock.physical.closing import Said
from penstock.physical.expiry.choosing import Chooser
from penstock.physical.program import Program
from penstock.runtime import maintenance
from penstock.runtime.failures import Running, rows_held, stepped
from penstock.runtime.maintenance import Maintenance
from penstock.runtime.metrics import seconds_of
from penstock.runtime.pipeline_state import PipelineState
from penstock.runtime.punctuation_store import bind_punctuations, closing
from penstock.runtime.receiver import Receiver
from penstock.runtime.step_commit import StepCommit
from penstock.state import changelog
from penstock.state.compaction import Use
from penstock.state.manifest import Action, Advanced, Manifest
from penstock.state.run import StateTableSpec

logger = logging.getLogger("penstock")


@dataclass(frozen=True)
class StepSpecs:
    """Of the step from a manifest's frontier to `w1`.

    `punctuations` are those of sources, `kept` are the state tables that are only compacted, `uses`
    tells how state tables were used before, `review` whether what punctuations close is looked for,
    `retention` for how long changes are kept, and `merging` whether published changes are merged.
    """

    manifest: Manifest
    w1: int
    directory: Path
    tasks: int
    punctuations: Said
    kept: Mapping[str, StateTableSpec]
    expiry: Chooser
    uses: Mapping[str, Use]
    review: bool
    retention: int | None = None
    merging: bool = True

    def of(self, program: Program) -> StepSpec:
        state_tables = {
            name: self.manifest.state_table(name) for name in (*program.specs(), *self.kept)
        }
        kernels = bind_punctuations(program, self.punctuations)
        closed = closing(program, kernels)
        frontiers = {name: state_table.frontier for name, state_table in state_tables.items()}
        frontiers |= dict.fromkeys(program.input_buffers, self.w1)
        reviewed = closed if self.review else {}
        uses = {**dict.fromkeys(self.kept, Use()), **self.uses}
        return StepSpec(
            program,
            self.directory,
            self.manifest.frontier,
            self.w1,
            self.tasks,
            state_tables,
            maintenance.compactions(state_tables, frontiers, self.tasks, reviewed, uses),
            self.kept,
            self.expiry.told(program, kernels),
            closed,
            merging=maintenance.bytes_to_merge(self.uses, self.tasks),
            blocks=self._blocks(program),
        )

    def _blocks(self, program: Program) -> tuple[changelog.Block, ...]:
        if not self.merging:
            return ()
        return changelog.chosen(self.manifest, list(program.views), self.tasks, self.retention)


class StepLoop:
    """Makes one step after the other; remembers between them how operators and state tables were
    used."""

    def __init__(self, state: PipelineState, receiver: Receiver, maintenance: Maintenance) -> None:
        self._state = state
        self._receiver = receiver
        self._maintenance = maintenance
        self.expiry = Chooser()
        self._reviewed = BEGIN
        self._uses: Mapping[str, Use] = {}

    def step(self) -> dict[str, Any] | None:
        """Advance as far as the sources allow; what happened, or None where nothing could."""
        with self._state.step_lock:
            return self._step()

    def _step(self) -> dict[str, Any] | None:
        started, state = time.perf_counter(), self._state
        tasks = state.tasks
        with state.mutex:
            manifest, w1 = state.manifest, self._receiver.watermark()
            if w1 <= manifest.frontier or not state.views:
                return None
            state.target = w1
            running, w0 = state.running, manifest.frontier
        merging = state.replacing is None
        specs = self._specs(manifest, running, w1, tasks, merging)
        spec, reports, problems = stepped(state.jobs, running, specs.of)
        self._reviewed, self._uses = w0, maintenance.used(self._uses, reports)
        ran = time.perf_counter()
        with state.mutex:
            rest, failed = running.failing(problems, w0)
            program = rest.program
            commit = StepCommit(program, reports, w0, w1)
            actions: list[Action] = [*failed, Advanced(w1), *commit.publications()]
            for name in (*program.specs(), *specs.kept):
                chosen = spec.compactions.get(name, ())
                actions += commit.changed(name, spec.state_tables[name], chosen)
            actions += maintenance.merged_changes(
                spec.blocks, reports, program.views, state.manifest
            )
            state.commit(*actions)
            state.running = rest
        maintenance.delete_left(state.runs, spec.program.private, spec.state_tables, state.manifest)
        if merging:
            self._maintenance.condense()
            self._maintenance.give_up_old_changes()
        operators = state.metrics.stepped(program, reports, w1)
        self.expiry.observe(program, operators)
        inputs = [input_state_table(source).name for source in state.sources.values()]
        progress = {
            "version": state.manifest.version,
            "frontier": w1,
            "operators": operators,
            "state": maintenance.sizes(state.manifest, program.specs()),
            "kept": maintenance.sizes(state.manifest, inputs),
            "tasks": seconds_of(reports),
            "seconds": {"run": ran - started, "commit": time.perf_counter() - ran},
            "failed": {name: problem.sentence for name, problem in problems.items()},
        }
        logger.info("step to %s: %s", w1, progress["seconds"])
        return progress

    def _specs(
        self, manifest: Manifest, running: Running, w1: int, tasks: int, merging: bool
    ) -> StepSpecs:
        """What is built beside others reads kept rows and changes from where they were, so that
        nothing of them is merged meanwhile."""
        state, kept = self._state, dict[str, StateTableSpec]()
        if merging:
            kept = {
                state_table.name: state_table
                for s in state.sources.values()
                for state_table in kept_state_tables(s)
            }
            kept |= rows_held(manifest, state.sources)
        read = frozenset().union(*(view.sources for view in running.views.values()))
        return StepSpecs(
            manifest,
            w1,
            state.runs,
            tasks,
            {name: state.punctuations.of(state.sources[name], manifest) for name in read},
            kept,
            self.expiry,
            self._uses,
            self._reviewed < manifest.frontier,
            state.options.retention,
            merging,
        )
