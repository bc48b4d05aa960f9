"""What the parts of an engine share: the log, what is defined and what runs, and the locks.

Law: every change of the directory is one commit of the log. Rows that were received and steps that
were made are there after a crash, whole; whatever had not been committed never happened.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import PlanError
from penstock.ingest.sources import SourceDefinition
from penstock.ingest.times import time_of
from penstock.output.definitions import ViewDefinition, decoded, of_kind
from penstock.output.readers import CommittedView, no_view
from penstock.runtime.failures import Running, healthy
from penstock.runtime.files import RUNS, Garbage, check_written
from penstock.runtime.jobs import Jobs
from penstock.runtime.metrics import Metrics
from penstock.runtime.options import Options
from penstock.runtime.punctuation_store import PunctuationStore
from penstock.runtime.state_names import brought_up_to_date, check_named
from penstock.state.log import Log
from penstock.state.manifest import Action, Declared, Manifest, Once, SourceState, is_noted
from penstock.state.storage import storage_errors


@dataclass
class Progress:
    """How far the building of views is, for people."""

    view: str
    names: tuple[str, ...]
    round: int = 0
    doing: str = "it is about to begin"

    def __str__(self) -> str:
        others = [name for name in self.names if name != self.view]
        also = f" with {', '.join(others)}" if others else ""
        return f"another is built beside it{also}: {self.doing}"


class PipelineState:
    """Of one state directory, open for writing."""

    def __init__(self, directory: Path, jobs: Jobs, options: Options) -> None:
        self.directory = directory
        self.jobs = jobs
        self.options = options
        with storage_errors(directory):
            self.log = Log(directory / "log")
        self.mutex = threading.RLock()
        """Held to decide and to commit."""
        self.step_lock = threading.Lock()
        """Serialises steps with what must not interleave with one: define, drop, collect
        garbage."""
        self.garbage = Garbage(directory, options.grace)
        self.target = self.manifest.frontier
        """The watermark of the step under way, or of the last one: rows before it are late."""
        self.definitions: Mapping[str, Any] = {}
        self.punctuations = PunctuationStore()
        self.metrics = Metrics()
        self.replacing: Progress | None = None
        """What is built beside the views that it will replace."""
        self._note: Declared | Once | None = None
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        """Take up what the log defines, and see that the state of it is there."""
        self.definitions = decoded(self.manifest)
        self.running = running = Running.of(healthy(self.views, self.manifest))
        log = self.directory / "log"
        newer = [
            *brought_up_to_date(log, self.manifest, self.views, running.compiler, running.graph)
        ]
        if newer:
            self.commit(*newer)
        check_named(log, self.manifest, self.sources.values(), running.views, running.program)

    def close(self) -> None:
        self.log.close()

    @property
    def manifest(self) -> Manifest:
        return self.log.manifest

    @property
    def runs(self) -> Path:
        return self.directory / RUNS

    @property
    def tasks(self) -> int:
        """How many tasks what begins now has. A cluster grows and shrinks."""
        return self.options.tasks or self.jobs.parallelism

    # --- commits --------------------------------------------------------------------------------

    def commit(self, *actions: Action, note: dict[str, Any] | None = None) -> Manifest:
        with self.mutex, storage_errors(self.directory):
            check_written(self.directory, actions)
            if self._note is not None and is_noted(self._note, actions):
                actions, self._note = (*actions, self._note), None
            return self.log.commit(actions, note)

    @contextmanager
    def noting(self, note: Declared | Once) -> Iterator[None]:
        """What is done in the block is noted as that of a pipeline file, by one commit for both."""
        self._note = note
        try:
            yield
            if self._note is not None:  # nothing was to be done
                self._note = None
                self.commit(note)
        finally:
            self._note = None

    # --- definitions ----------------------------------------------------------------------------

    @property
    def sources(self) -> Mapping[str, SourceDefinition]:
        return of_kind(SourceDefinition, self.definitions)

    @property
    def views(self) -> Mapping[str, ViewDefinition]:
        return of_kind(ViewDefinition, self.definitions)

    def source(self, name: str) -> SourceDefinition:
        if name not in self.sources:
            known = ", ".join(self.sources) or "none yet"
            raise PlanError(f"no source {name!r}; there are: {known}")
        return self.sources[name]

    def source_state(self, name: str) -> SourceState:
        return self.manifest.sources.get(name, SourceState())

    def committed(self, name: str) -> CommittedView:
        """A view as of the version that is committed now, by its definition of that version."""
        definitions, manifest = self.definitions, self.manifest
        if self.replacing is not None or definitions is not self.definitions:
            with self.mutex:
                definitions, manifest = self.definitions, self.manifest
        views = of_kind(ViewDefinition, definitions)
        if name not in views:
            raise no_view(name, views)
        time = time_of(of_kind(SourceDefinition, definitions).values())
        return CommittedView(name, views[name].state_table(name), time, manifest, self.runs)
