"""The engine: a state directory, its log, and the Spark jobs that move it on.

Law: every change of the directory is one commit of the log. Rows that were received and steps that
were made are there after a crash, whole; whatever had not been committed never happened.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.algebra import codec
from penstock.algebra.plan import Node, Scan
from penstock.element import BEGIN
from penstock.errors import LateRowError, PlanError, UnsupportedError
from penstock.physical.program import Program, base_area, view_area
from penstock.runtime.definitions import ViewDefinition, compiled, decoded, of_kind
from penstock.runtime.jobs import Jobs, store_of
from penstock.runtime.sources import Ingest, IngestReport, SourceDefinition
from penstock.runtime.task import Report, StepSpec, hash_range
from penstock.state.compaction import choose
from penstock.state.log import Log
from penstock.state.manifest import (
    Action,
    Advanced,
    AreaState,
    Changed,
    Defined,
    Manifest,
    Published,
    Received,
    Retired,
    SourceState,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

logger = logging.getLogger("penstock")


@dataclass(frozen=True)
class Options:
    """`retention`: for how long, in event time, a view's changes are kept (None: always).
    `grace`: for how many seconds files stay that no commit names, for readers under way."""

    tasks: int | None = None
    retention: int | None = None
    grace: float = 900.0


class Engine:
    def __init__(self, directory: Path, jobs: Jobs, options: Options) -> None:
        self.directory = directory
        self.options = options
        self.tasks = options.tasks or jobs.parallelism
        self._jobs = jobs
        self._log = Log(directory / "log")
        self._mutex = threading.RLock()
        self._opened = time.time()
        self._target = self.manifest.frontier
        self.definitions: Mapping[str, Any] = decoded(self.manifest)
        self.program = compiled(self.views)

    @property
    def manifest(self) -> Manifest:
        return self._log.manifest

    @property
    def runs(self) -> Path:
        return self.directory / "runs"

    def commit(self, *actions: Action, note: dict[str, Any] | None = None) -> Manifest:
        with self._mutex:
            return self._log.commit(actions, note)

    def close(self) -> None:
        self._log.close()

    # --- definitions ----------------------------------------------------------------------------

    @property
    def sources(self) -> Mapping[str, SourceDefinition]:
        return of_kind(SourceDefinition, self.definitions)

    @property
    def views(self) -> Mapping[str, ViewDefinition]:
        return of_kind(ViewDefinition, self.definitions)

    def define(self, name: str, definition: Any) -> None:
        """Add a source, a view, or what is merely to be kept; a plan is a view without a key."""
        if isinstance(definition, Node):
            definition = ViewDefinition(definition)
        with self._mutex:
            self._check_new(name, definition)
            if isinstance(definition, ViewDefinition):
                self._check_new_view(name, definition.plan)
            self.commit(Defined(name, codec.encode(definition)))
            self.definitions = {**self.definitions, name: definition}
            self.program = compiled(self.views)

    def _check_new(self, name: str, definition: Any) -> None:
        if name in self.definitions:
            raise PlanError(f"{name!r} exists already; choose another name or drop it first")
        kind = type(definition)
        if not (is_dataclass(kind) and kind.__module__.startswith("penstock.")):
            raise PlanError(f"{name!r}: {kind.__name__} is not a kind of definition")

    def _check_new_view(self, view: str, plan: Node) -> None:
        for node in plan.walk():
            if isinstance(node, Scan) and node.name not in self.sources:
                known = ", ".join(self.sources) or "none"
                raise PlanError(f"view {view!r} reads {node.name!r}; the sources are: {known}")
        if any(state.accepted for state in self.manifest.sources.values()):
            raise UnsupportedError(
                f"view {view!r}: rows have been received already, which it would not see; "
                "create views before the first rows"
            )

    # --- receiving ------------------------------------------------------------------------------

    def receive_table(self, source: str, rows: pa.Table) -> IngestReport:
        """A batch that is in this process: it needs no job unless Spark has to compute on it."""

        def run(ingest: Ingest) -> IngestReport:
            if ingest.computed:
                return self._jobs.ingest(rows, ingest, self.runs)
            return ingest.run(rows.to_batches(), store_of(self.runs))

        return self._receive(source, run)

    def receive_rows(self, source: str, rows: DataFrame, batch: int | None = None) -> IngestReport:
        """A batch as a DataFrame; one with a number that was received before is not again."""
        if batch is not None and batch <= self.source_state(source).batch:
            return IngestReport()
        return self._receive(source, lambda i: self._jobs.ingest(rows, i, self.runs), batch)

    def _receive(
        self, name: str, run: Callable[[Ingest], IngestReport], batch: int | None = None
    ) -> IngestReport:
        """Where a step has overtaken the rows on their way, they come again while none begins."""
        report = self._received(name, run, batch)
        if report is None:
            with self._mutex:
                report = self._received(name, run, batch)
        assert report is not None
        return report

    def _received(
        self, name: str, run: Callable[[Ingest], IngestReport], batch: int | None
    ) -> IngestReport | None:
        """None where what was decided on the way, which rows are late, is no longer true."""
        source = self.source(name)
        with self._mutex:
            program = self.program
            lanes = tuple(lane for lane in self.program.lanes.values() if name in lane.sources)
            late_before = max(self.source_state(name).frontier, self._target)
        report = run(Ingest(source, lanes, late_before, self.tasks))
        if report.late and source.late == "fail":
            raise LateRowError(
                f"source {name}: {report.late} rows are earlier than {late_before} or have no "
                "time; give the source a longer DELAY, or LATE KEEP or LATE DROP"
            )
        with self._mutex:
            if self._target > late_before or self.program is not program:
                return None
            state = self.source_state(name)
            largest = max(state.largest, report.largest)
            known = largest - source.delay if largest > BEGIN + source.delay else BEGIN
            state = SourceState(
                frontier=max(state.frontier, known),
                largest=largest,
                batch=state.batch if batch is None else batch,
                accepted=state.accepted + report.accepted,
                late=state.late + report.late,
            )
            lanes_filled = [Changed(a, tuple(refs)) for a, refs in report.areas.items() if refs]
            self.commit(Received(name, state), *lanes_filled)
        return report

    def promise(self, source: str, frontier: int) -> None:
        """No more rows of the source before this time."""
        with self._mutex:
            state = self.source_state(self.source(source).name)
            if frontier > state.frontier:
                self.commit(Received(source, replace(state, frontier=frontier)))

    def set_idle(self, source: str) -> None:
        """The source holds nobody back until its next batch, whose rows may then be late."""
        with self._mutex:
            state = self.source_state(self.source(source).name)
            self.commit(Received(source, replace(state, idle=True)))

    def source(self, name: str) -> SourceDefinition:
        if name not in self.sources:
            known = ", ".join(self.sources) or "none yet"
            raise PlanError(f"no source {name!r}; there are: {known}")
        return self.sources[name]

    def source_state(self, name: str) -> SourceState:
        return self.manifest.sources.get(name, SourceState())

    # --- stepping -------------------------------------------------------------------------------

    def frontier(self) -> int:
        """How far all sources together have come, but for the idle ones."""
        states = [self.source_state(name) for name in self.sources]
        busy = [state.frontier for state in states if not state.idle]
        return min(busy) if busy else max((state.frontier for state in states), default=BEGIN)

    def step(self) -> dict[str, Any] | None:
        """Advance as far as the sources allow; what happened, or None where nothing could."""
        started = time.perf_counter()
        with self._mutex:
            manifest, w1 = self.manifest, self.frontier()
            if w1 <= manifest.frontier or not self.views:
                return None
            self._target = w1
            program, w0 = self.program, manifest.frontier
        areas = {name: manifest.area(name) for name in program.specs()}
        compactions = self._compactions(areas)
        spec = StepSpec(program, self.runs, w0, w1, self.tasks, areas, compactions)
        reports = self._jobs.step(spec)
        ran = time.perf_counter()
        self.commit(*_actions(program, reports, areas, compactions, w0, w1))
        self._give_up_old_changes()
        progress = {
            "version": self.manifest.version,
            "frontier": w1,
            "operators": _totals(reports),
            "state": self._sizes(),
            "seconds": {"run": ran - started, "commit": time.perf_counter() - ran},
        }
        logger.info("step to %s: %s", w1, progress["seconds"])
        return progress

    def _compactions(self, areas: Mapping[str, AreaState]) -> dict[str, frozenset[str]]:
        """Which runs of which areas the tasks are to rewrite in this step."""
        found: dict[str, frozenset[str]] = {}
        for name, area in areas.items():
            chosen: set[str] = set()
            for task in range(self.tasks):
                low, high = hash_range(task, self.tasks)
                mine = [ref for ref in area.refs if ref.owners[0] < high and low < ref.owners[1]]
                for group in choose([ref.statistics for ref in mine], area.frontier):
                    chosen |= {mine[i].name for i in group}
            if chosen:
                found[name] = frozenset(chosen)
        return found

    def _give_up_old_changes(self) -> None:
        """Move publications that are older than the retention into the base of their view.

        What a sink has not had yet is kept for it.
        """
        if self.options.retention is None:
            return
        horizon = self.manifest.frontier - self.options.retention
        served = min(self.manifest.sinks.values(), default=self.manifest.version)
        actions: list[Action] = []
        for view, log in self.manifest.changelogs.items():
            old = [entry for entry in log if entry.w1 <= horizon and entry.version <= served]
            if old:
                refs = tuple(ref for entry in old for ref in entry.refs)
                actions += [Changed(base_area(view), refs, frontier=old[-1].w1 - 1)]
                actions += [Retired(view, old[-1].version)]
        if actions:
            self.commit(*actions)

    def _sizes(self) -> dict[str, dict[str, int]]:
        return {
            name: {
                "rows": sum(ref.statistics.rows for ref in area.refs),
                "bytes": sum(ref.statistics.bytes for ref in area.refs),
                "runs": len(area.refs),
            }
            for name, area in self.manifest.areas.items()
        }

    def collect_garbage(self) -> int:
        """Delete files that no commit names and no reader can be reading; how many."""
        live, deleted = self.manifest.segments(), 0
        for path in self.runs.glob("*.arrow"):
            changed = max(path.stat().st_mtime, self._opened)
            if path.stem not in live and time.time() - changed > self.options.grace:
                path.unlink(missing_ok=True)
                deleted += 1
        return deleted


def _actions(
    program: Program,
    reports: Iterable[Report],
    areas: Mapping[str, AreaState],
    compactions: Mapping[str, frozenset[str]],
    w0: int,
    w1: int,
) -> list[Action]:
    """What a step changes, from what its tasks report."""
    actions: list[Action] = [Advanced(w1)]
    reports = list(reports)
    frontiers = dict.fromkeys(program.lanes, w1)
    for report in reports:
        for name, frontier in report.frontiers.items():
            frontiers[name] = max(frontiers.get(name, BEGIN), frontier)
    published = {
        view: tuple(report.views[view] for report in reports if view in report.views)
        for view in program.views
    }
    frontiers |= {view_area(view): w1 - 1 for view in published}
    actions += [Published(view, w0, w1, refs) for view, refs in published.items()]
    added = {view_area(view): refs for view, refs in published.items()}
    for name, area in areas.items():
        new = tuple(ref for report in reports for ref in report.areas.get(name, ()))
        new += added.get(name, ())
        frontier = max(frontiers.get(name, BEGIN), area.frontier)
        dead = {
            ref.name for ref in area.refs if ref.statistics.dead(frontier) == ref.statistics.rows
        }
        removed = tuple(sorted(compactions.get(name, frozenset()) | dead))
        if new or removed or frontier > area.frontier:
            actions.append(Changed(name, new, removed, frontier))
    return actions


def _totals(reports: Iterable[Report]) -> dict[str, dict[str, float]]:
    """What all tasks together report of each operator."""
    totals: dict[str, dict[str, float]] = {}
    for report in reports:
        for metric in report.metrics:
            total = totals.setdefault(metric["operator"], {})
            for name, value in metric.items():
                if name != "operator":
                    total[name] = total.get(name, 0) + value
    return totals
