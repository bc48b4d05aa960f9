"""The engine: a state directory that is open, and the parts that move it on.

    catalog       what is defined               redefinition  views replaced, sources altered
    receiver      rows and punctuations come    step_loop     the watermark moves, views follow
    maintenance   what is needed no more goes

All of them share one `PipelineState`: the log, its locks, and the views that run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from penstock.ingest.sources import SourceDefinition
from penstock.output.definitions import ViewDefinition
from penstock.output.readers import Reading
from penstock.physical.expiry.choosing import Chooser
from penstock.physical.program import Program
from penstock.runtime.bootstrap import Backfills
from penstock.runtime.catalog import Catalog
from penstock.runtime.jobs import Jobs
from penstock.runtime.maintenance import Maintenance
from penstock.runtime.options import Options
from penstock.runtime.pipeline_state import PipelineState, Progress
from penstock.runtime.receiver import Receiver
from penstock.runtime.redefinition import Redefinition
from penstock.runtime.step_loop import StepLoop
from penstock.state.manifest import Delivered, Manifest


class Engine:
    """What sessions ask for, each by the part that does it."""

    def __init__(self, directory: Path, jobs: Jobs, options: Options) -> None:
        self.directory = directory
        self.options = options
        self.state = state = PipelineState(directory, jobs, options)
        self.commit, self.noting, self.close = state.commit, state.noting, state.close
        self.source, self.source_state = state.source, state.source_state
        self.committed, self.metrics = state.committed, state.metrics

        self.receiver = receiver = Receiver(state)
        self.receive_table, self.receive_rows = receiver.receive_table, receiver.receive_rows
        self.receive_file, self.receive_files = receiver.receive_file, receiver.receive_files
        self.advance_watermark, self.set_idle = receiver.advance_watermark, receiver.set_idle
        self.punctuate = receiver.punctuate

        backfills = Backfills(state)
        self.catalog = catalog = Catalog(state, receiver, backfills)
        self.define, self.define_table, self.drop = (
            catalog.define,
            catalog.define_table,
            catalog.drop,
        )
        self.resume, self.answer = catalog.resume, catalog.answer
        self.redefinition = redefinition = Redefinition(state, backfills)
        self.replace, self.rename = redefinition.replace, redefinition.rename
        self.alter = redefinition.alter

        self.maintenance = maintenance = Maintenance(state)
        self.collect_garbage = maintenance.collect_garbage
        self.step_loop = StepLoop(state, receiver, maintenance)
        self.step = self.step_loop.step

    @property
    def manifest(self) -> Manifest:
        return self.state.manifest

    @property
    def runs(self) -> Path:
        return self.state.runs

    @property
    def tasks(self) -> int:
        return self.state.tasks

    @property
    def definitions(self) -> Mapping[str, Any]:
        return self.state.definitions

    @property
    def sources(self) -> Mapping[str, SourceDefinition]:
        return self.state.sources

    @property
    def views(self) -> Mapping[str, ViewDefinition]:
        return self.state.views

    @property
    def running(self) -> Mapping[str, ViewDefinition]:
        """The views that have not failed."""
        return self.state.running.views

    @property
    def program(self) -> Program:
        return self.state.running.program

    @property
    def replacing(self) -> Progress | None:
        """What is built beside the views that it will replace."""
        return self.state.replacing

    @property
    def expiry(self) -> Chooser:
        return self.step_loop.expiry

    def delivered(self, action: Delivered) -> None:
        """A sink has what was due to it, unless it was dropped meanwhile."""
        with self.state.mutex:
            if action.sink in self.manifest.sinks:
                self.commit(action)

    def reading(self, choose: Callable[[], Reading]) -> AbstractContextManager[Reading]:
        """What is chosen to be read, whose files stay until the block ends."""
        return self.state.garbage.reading(choose)
