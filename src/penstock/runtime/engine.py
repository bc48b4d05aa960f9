"""The engine: a state directory, its log, and the Spark jobs that move it on.

Law: every change of the directory is one commit of the log. Rows that were received and steps that
were made are there after a crash, whole; whatever had not been committed never happened.
"""

from __future__ import annotations

import logging
import shutil
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.algebra import codec
from penstock.algebra.plan import Node
from penstock.element import BEGIN, INF
from penstock.errors import PlanError
from penstock.physical.expiry.choosing import Chooser
from penstock.physical.lower import Graph
from penstock.physical.program import Program, base_area, view_area
from penstock.punctuation import Punctuation
from penstock.punctuation.closings import Closings
from penstock.punctuation.schemes import Punctuated
from penstock.runtime import upkeep
from penstock.runtime.attaching import beginning, check_kept
from penstock.runtime.backfill import Backfill, Given
from penstock.runtime.definitions import (
    ViewDefinition,
    compiler_of,
    decoded,
    of_kind,
)
from penstock.runtime.effects import Effects
from penstock.runtime.jobs import Jobs, store_of
from penstock.runtime.measuring import Measures, seconds_of
from penstock.runtime.options import Options
from penstock.runtime.punctuating import (
    Punctuations,
    answers,
    as_frontier,
    closing,
    column_of_marks,
    entry,
    schemes_of,
    standing,
)
from penstock.runtime.reading import CommittedView, time_of
from penstock.runtime.receiving import after_batch, check_batch, moment, timed_marks
from penstock.runtime.rows import parquet_of
from penstock.runtime.sources import (
    Ingest,
    IngestReport,
    SourceDefinition,
    input_area,
    late_area,
)
from penstock.runtime.task import StepSpec
from penstock.runtime.times import now
from penstock.state.compaction import Use
from penstock.state.log import Log, fold
from penstock.state.manifest import (
    Action,
    Advanced,
    AreaState,
    Changed,
    Defined,
    Dropped,
    Manifest,
    Received,
    Retired,
    SourceState,
)
from penstock.state.manifest import Punctuated as Said

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

logger = logging.getLogger("penstock")


class Engine:
    def __init__(self, directory: Path, jobs: Jobs, options: Options) -> None:
        self.directory = directory
        self.options = options
        self.tasks = options.tasks or jobs.parallelism
        self._jobs = jobs
        self._log = Log(directory / "log")
        self._mutex = threading.RLock()  # held to decide and to commit
        self._moving = threading.Lock()  # held by a step, or by whoever no step may overtake
        self._opened = time.time()
        self._target = self.manifest.frontier
        self.definitions: Mapping[str, Any] = decoded(self.manifest)
        self._graph = Graph()
        self._punctuations = Punctuations()
        self._reviewed = BEGIN
        self._uses: Mapping[str, Use] = {}
        self.expiry, self.measures = Chooser(), Measures()
        self._compiler = compiler_of(self.views, self._graph)
        self.program = self._compiler.program()

    @property
    def manifest(self) -> Manifest:
        return self._log.manifest

    def checkpoint(self, source: str) -> Path:
        """Where Structured Streaming notes how much of an attached stream was received."""
        return self.directory / "checkpoints" / source

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

    def define(self, name: str, definition: Any, from_now: bool = False) -> None:
        """Add a source, a view, or what is merely to be kept; a plan is a view without a key.

        A view that starts from now sees nothing of streams that came before; it runs apart.
        """
        if isinstance(definition, Node):
            definition = ViewDefinition(definition, expiry=self.options.expiry)
        self._check_new(name, definition)
        if isinstance(definition, ViewDefinition):
            definition = replace(definition, apart=True) if from_now else definition
            with self._moving:
                self._define_view(name, definition, from_now)
        else:
            if isinstance(definition, SourceDefinition):  # one of the name may have been dropped
                shutil.rmtree(self.checkpoint(name), ignore_errors=True)
            self._define(
                name, definition, *_beginning(name, definition), *self._standing(definition)
            )

    def _standing(self, definition: Any) -> Iterable[Action]:
        """What the schemes of a stream say from the beginning on."""
        if isinstance(definition, Punctuated):
            entries = tuple(e for scheme in definition.schemes for e in standing(scheme))
            if entries:
                yield Said(definition.source, entries)

    def define_table(self, name: str, schema: pa.Schema, rows: pa.Table | DataFrame) -> None:
        """Add a finite relation, valid for all time, with its rows."""
        table = SourceDefinition(name, schema, None)
        self._check_new(name, table)
        ingest = Ingest(table, (), BEGIN, self.tasks, keep=True)
        if isinstance(rows, pa.Table):
            report = ingest.run(rows.to_batches(), store_of(self.runs))
        else:
            report = self._jobs.ingest(rows, ingest, self.runs)
        state = SourceState(frontier=INF, accepted=report.accepted)
        self._define(name, table, Received(name, state), *_filled(report))

    def _define(self, name: str, definition: Any, *actions: Action) -> None:
        with self._mutex:
            self._check_new(name, definition)
            self.commit(Defined(name, codec.encode(definition)), *actions)
            self.definitions = {**self.definitions, name: definition}
            if isinstance(definition, ViewDefinition):
                self._compiler.add(
                    name, definition.plan, definition.key, definition.expiry, definition.apart
                )
                self.program = self._compiler.program()

    def _check_new(self, name: str, definition: Any) -> None:
        if name in self.definitions:
            raise PlanError(f"{name!r} exists already; choose another name or drop it first")
        kind = type(definition)
        if not (is_dataclass(kind) and kind.__module__.startswith("penstock.")):
            raise PlanError(f"{name!r}: {kind.__name__} is not a kind of definition")
        is_stream = isinstance(definition, SourceDefinition) and not definition.is_table
        if is_stream and self._target == INF:
            raise PlanError(
                f"source {name!r}: the pipeline has come to the end of time, so every row would "
                "be late; create sources before the others end, or use a new directory"
            )

    def _define_view(self, name: str, view: ViewDefinition, from_now: bool) -> None:
        """Start a view as if it had always been there; rows may come in the meantime.

        It is made up from what running views gave and from the rows of sources that are kept. Where
        not all of the past is known, its changes are told from now on.
        """
        compiler = compiler_of({name: view}, self._graph)
        alone, frontier = compiler.program(), self.manifest.frontier
        start = beginning(name, compiler, self.program, self._compiler.roots, self.manifest)
        sources = start.sources
        if from_now:
            sources = tuple(s for s in sources if s in self.sources and self.sources[s].is_table)
        else:
            check_kept(f"view {name!r}", sources, self.sources, self.manifest)
        backfill = self._backfill(start.program, sources, start.given)
        new = alone.specs().keys() - self.program.specs().keys()
        program = start.program
        missing = [lane for lane in program.lanes.values() if lane.name in new]
        effects = Effects(program, (), BEGIN, BEGIN)
        backfill.fill(self.manifest, program.lanes.values() if frontier > BEGIN else missing)
        if frontier > BEGIN:
            effects = backfill.run(frontier, answers(program, self._said(view.sources)))
        with self._mutex:
            backfill.fill(self.manifest, missing)  # what came since is not before the frontier
            actions: list[Action] = []
            if frontier > BEGIN:
                short = start.short or from_now
                actions += effects.as_base() if short else effects.publications()
            for area in sorted(new):
                actions += effects.founded(area, backfill.lane(area))
            self._define(name, view, *actions)

    def answer(self, plan: Node, key: Sequence[str] | None = None) -> CommittedView:
        """What the plan gives over all rows so far, to the end of time; nothing is committed.

        Its files are garbage from the start: readers have the time of the grace.
        """
        manifest, name = self.manifest, "answer"
        view = ViewDefinition(plan, None if key is None else tuple(key))
        program = compiler_of({name: view}, Graph()).program()
        check_kept("the query", sorted(view.sources), self.sources, manifest)
        backfill = self._backfill(program, sorted(view.sources))
        backfill.fill(manifest, program.lanes.values())
        over = {s: replace(c, ended=self._end(s)) for s, c in self._said(view.sources).items()}
        effects = backfill.run(INF, answers(program, over))
        actions: list[Action] = [Advanced(INF), *effects.publications()]
        actions += effects.founded(view_area(name), AreaState())
        found = fold(Manifest(), manifest.version, actions)
        return CommittedView(
            name, view.area(name), time_of(self.sources.values()), found, self.runs
        )

    def drop(self, name: str) -> None:
        """Remove a definition, and with it all that no other needs."""
        with self._moving, self._mutex:
            if name not in self.definitions:
                known = ", ".join(self.definitions) or "nothing yet"
                raise PlanError(f"there is no {name!r} to drop; there are: {known}")
            readers = [v for v, view in self.views.items() if name in view.sources]
            if readers:
                raise PlanError(f"{name!r} is read by {', '.join(readers)}; drop those first")
            rest = {other: d for other, d in self.definitions.items() if other != name}
            graph = Graph()
            compiler = compiler_of(of_kind(ViewDefinition, rest), graph)
            program = compiler.program()
            needed = set(program.specs())
            for source in of_kind(SourceDefinition, rest).values():
                needed |= {input_area(source).name, late_area(source).name}
            gone = tuple(area for area in self.manifest.areas if area not in needed)
            self.commit(Dropped(name, gone))
            self.definitions, self.program = rest, program
            self._graph, self._compiler = graph, compiler

    def _backfill(
        self, program: Program, sources: Iterable[str], given: Iterable[Given] = ()
    ) -> Backfill:
        found = [self.sources[name] for name in sources]
        return Backfill(program, found, self._jobs, self.runs, self.tasks, given)

    # --- receiving ------------------------------------------------------------------------------

    def receive_table(self, source: str, rows: pa.Table) -> IngestReport:
        """A batch that is in this process: it needs no job unless Spark has to compute on it."""
        return self._receive(source, rows, lambda ingest: self._ingest(rows, ingest))

    def receive_file(self, source: str, path: Path) -> IngestReport:
        """A batch in a Parquet file, of which only the columns are read that are needed."""
        given = self.source(source).given
        if schemes_of(source, self.definitions):  # punctuations may be in any column
            return self.receive_table(source, parquet_of(path, given))

        def run(ingest: Ingest) -> IngestReport:
            needed = ingest.needed
            schema = pa.schema([given.field(name) for name in needed])
            report = self._ingest(parquet_of(path, schema), replace(ingest, only=needed))
            if report.late + report.broken == 0 or self.source(source).late != "keep":
                return report
            return self._ingest(parquet_of(path, given), ingest)

        return self._receive(source, None, run)

    def _ingest(self, rows: pa.Table, ingest: Ingest) -> IngestReport:
        if ingest.computed:
            return self._jobs.ingest(rows, ingest, self.runs)
        return ingest.run(rows.to_batches(), store_of(self.runs))

    def receive_rows(self, source: str, rows: DataFrame, batch: int | None = None) -> IngestReport:
        """A batch as a DataFrame; one with a number that was received before is not again."""
        if batch is not None and batch <= self.source_state(source).batch:
            return IngestReport()
        return self._receive(source, rows, lambda i: self._jobs.ingest(rows, i, self.runs), batch)

    def _receive(
        self,
        name: str,
        rows: pa.Table | DataFrame | None,
        run: Callable[[Ingest], IngestReport],
        batch: int | None = None,
    ) -> IngestReport:
        """Where a step has overtaken the rows on their way, they come again while none begins."""
        if self.source(name).is_table:
            raise PlanError(f"{name!r} is a table: it was given its rows when it was created")
        report = self._received(name, rows, run, batch)
        if report is None:
            with self._mutex:
                report = self._received(name, rows, run, batch)
        assert report is not None
        return report

    def _received(
        self,
        name: str,
        rows: pa.Table | DataFrame | None,
        run: Callable[[Ingest], IngestReport],
        batch: int | None,
    ) -> IngestReport | None:
        """None where what was decided on the way, which rows are late, is no longer true."""
        source = self.source(name)
        with self._mutex:
            program = self.program
            lanes = tuple(lane for lane in self.program.lanes.values() if name in lane.sources)
            state = self.source_state(name)
            late_before = max(state.frontier, self._target)
            spoken = self.manifest.punctuations.get(name)
            said = self._punctuations.of(source, self.manifest)
        keep = self.options.keep_input and state.kept
        arrived = moment(late_before) if source.arrival else None
        schemes = () if rows is None else schemes_of(name, self.definitions)
        marks = timed_marks(rows, schemes, source, arrived, state, self._open_from(state))
        said, column = said.read_columns(marks.texts, marks.at), column_of_marks(schemes)
        report = run(
            Ingest(source, lanes, late_before, self.tasks, keep, arrived, said.times, column)
        )
        check_batch(source, report, late_before)
        with self._mutex:
            same = self.program is program and self.manifest.punctuations.get(name) is spoken
            if self._target > late_before or not same:
                return None
            state = after_batch(source, self.source_state(name), report, batch, keep)
            actions: list[Action] = [Received(name, state), *_filled(report)]
            if marks:
                actions.append(Said(name, marks.entries()))
            self.commit(*actions, *self._no_longer_kept(name, state))
            self._punctuations.know(name, self.manifest, said)
        self.measures.heard(state.largest)
        return report

    def _open_from(self, state: SourceState) -> int:
        """From when on a punctuation that comes now can hold: after all that has come."""
        return max(state.largest + 1, state.frontier, self._target)

    def punctuate(self, name: str, punctuations: Sequence[Punctuation]) -> None:
        """No more rows of the source like these. Where that speaks of time alone, time goes on."""
        source = self.source(name)
        if source.is_table:
            raise PlanError(f"{name!r} is a table: it has all its rows already")
        with self._mutex:
            at = self._open_from(self.source_state(name))
            entries = []
            for one in punctuations:
                frontier = as_frontier(one, source)
                if frontier is None:
                    entries.append(entry(one, at))
                else:
                    self.promise(name, frontier)
            if entries:
                self.commit(Said(name, tuple(entries)))

    def _said(self, names: Iterable[str]) -> dict[str, Closings]:
        """What punctuations said, from the beginning of time on."""
        found = self._punctuations.since_the_beginning
        return {name: found(self.sources[name], self.manifest) for name in names}

    def _end(self, name: str) -> int:
        """When a source would be over if nothing more came."""
        if self.source(name).is_table:
            return BEGIN
        state = self.source_state(name)
        return state.ended if state.ended is not None else max(state.largest + 1, state.frontier)

    def _no_longer_kept(self, name: str, state: SourceState) -> Iterable[Action]:
        """Kept rows are of use only with all the others."""
        area = input_area(self.source(name)).name
        kept = self.manifest.area(area).refs
        if kept and not state.kept:
            yield Changed(area, removed=tuple(ref.name for ref in kept))

    def promise(self, source: str, frontier: int) -> None:
        """No more rows of the source before this time."""
        with self._mutex:
            state = self.source_state(self.source(source).name)
            if frontier > state.frontier:
                ended = self._open_from(state) if frontier == INF else None
                self.commit(Received(source, replace(state, frontier=frontier, ended=ended)))
                self.measures.heard(frontier - 1)

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
        """How far all sources together have come, but for the idle ones. Tables are complete."""
        streams = [source for source in self.sources.values() if not source.is_table]
        if self.sources and not streams:
            return INF
        known = {source.name: self._frontier_of(source) for source in streams}
        busy = [known[name] for name in known if not self.source_state(name).idle]
        return min(busy) if busy else max(known.values(), default=BEGIN)

    def _frontier_of(self, source: SourceDefinition) -> int:
        """Rows that are stamped on arrival come no earlier than now."""
        frontier = self.source_state(source.name).frontier
        return max(frontier, now()) if source.arrival else frontier

    def step(self) -> dict[str, Any] | None:
        """Advance as far as the sources allow; what happened, or None where nothing could."""
        with self._moving:
            return self._step()

    def _step(self) -> dict[str, Any] | None:
        started = time.perf_counter()
        with self._mutex:
            manifest, w1 = self.manifest, self.frontier()
            if w1 <= manifest.frontier or not self.views:
                return None
            self._target = w1
            program, w0 = self.program, manifest.frontier
        kept = {area.name: area for area in map(input_area, self.sources.values())}
        areas = {name: manifest.area(name) for name in (*program.specs(), *kept)}
        read = frozenset().union(*(view.sources for view in self.views.values()))
        said = {name: self._punctuations.of(self.sources[name], manifest) for name in read}
        kernels = answers(program, said)
        closed = closing(program, kernels)
        kernels = self.expiry.told(program, kernels)
        frontiers = {name: area.frontier for name, area in areas.items()}
        frontiers |= dict.fromkeys(program.lanes, w1)
        reviewed = closed if self._reviewed < w0 else {}
        compactions = upkeep.compactions(areas, frontiers, self.tasks, reviewed, self._uses)
        spec = StepSpec(
            program,
            self.runs,
            w0,
            w1,
            self.tasks,
            areas,
            compactions,
            kept,
            kernels,
            closed,
            merging=upkeep.bytes_to_merge(self._uses, self.tasks),
        )
        reports = self._jobs.step(spec)
        self._reviewed, self._uses = w0, upkeep.used(self._uses, reports)
        ran = time.perf_counter()
        effects = Effects(program, reports, w0, w1)
        actions: list[Action] = [Advanced(w1), *effects.publications()]
        for name, area in areas.items():
            actions += effects.changed(name, area, compactions.get(name, ()))
        self.commit(*actions)
        upkeep.delete_left(self.runs, program.private, areas, self.manifest)
        self._condense()
        self._give_up_old_changes()
        operators = self.measures.stepped(program, reports, w1)
        self.expiry.observe(program, operators)
        progress = {
            "version": self.manifest.version,
            "frontier": w1,
            "operators": operators,
            "state": self._sizes(program.specs()),
            "kept": self._sizes(kept),
            "tasks": seconds_of(reports),
            "seconds": {"run": ran - started, "commit": time.perf_counter() - ran},
        }
        logger.info("step to %s: %s", w1, progress["seconds"])
        return progress

    def _condense(self) -> None:
        """Write what punctuations have said in fewer words, where time has passed them."""
        for name, source in self.sources.items():
            with self._mutex:
                entries = self._punctuations.condensed(source, self.manifest)
                if entries is not None:
                    closings = self._punctuations.of(source, self.manifest)
                    self.commit(Said(name, entries, anew=True))
                    self._punctuations.know(name, self.manifest, closings)

    def _give_up_old_changes(self) -> None:
        """Move publications that are older than the retention into the base of their view.

        What a sink has not had yet is kept for it.
        """
        if self.options.retention is None:
            return
        horizon = self.manifest.frontier - self.options.retention
        sinks = self.manifest.sinks.values()
        actions: list[Action] = []
        for view, log in self.manifest.changelogs.items():
            mine = [sink.version for sink in sinks if sink.view == view]
            served = min(mine, default=self.manifest.version)
            old = [entry for entry in log if entry.w1 <= horizon and entry.version <= served]
            if old:
                refs = tuple(ref for entry in old for ref in entry.refs)
                actions += [Changed(base_area(view), refs, frontier=old[-1].w1 - 1)]
                actions += [Retired(view, old[-1].version)]
        if actions:
            self.commit(*actions)

    def _sizes(self, names: Iterable[str]) -> dict[str, dict[str, int]]:
        areas = self.manifest.areas
        refs = {name: areas[name].refs for name in names if name in areas}
        return {
            name: {
                "rows": sum(ref.statistics.rows for ref in found),
                "bytes": sum(ref.statistics.bytes for ref in found),
                "runs": len(found),
            }
            for name, found in refs.items()
        }

    def collect_garbage(self) -> int:
        """Delete files that no commit names and no reader can be reading; how many."""
        with self._moving:
            return upkeep.collect_garbage(
                self.runs, self.manifest, self._opened, self.options.grace
            )


def _beginning(name: str, definition: Any) -> Iterable[Action]:
    """A table has nothing more to come."""
    if isinstance(definition, SourceDefinition) and definition.is_table:
        yield Received(name, SourceState(frontier=INF))


def _filled(report: IngestReport) -> list[Action]:
    return [Changed(area, tuple(refs)) for area, refs in report.areas.items() if refs]
