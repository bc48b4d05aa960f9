"""The engine: a state directory, its log, and the Spark jobs that move it on.

Law: every change of the directory is one commit of the log. Rows that were received and steps that
were made are there after a crash, whole; whatever had not been committed never happened.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.algebra import codec
from penstock.algebra.plan import Node
from penstock.element import BEGIN, INF
from penstock.errors import PlanError
from penstock.kinds import is_kept
from penstock.physical.expiry.choosing import Chooser
from penstock.physical.kernel import Kernel
from penstock.physical.lower import Graph
from penstock.physical.program import Program, view_area
from penstock.punctuation import Punctuation
from penstock.punctuation.closings import Closings
from penstock.runtime import upkeep
from penstock.runtime.attaching import beginning, check_kept
from penstock.runtime.backfill import Backfill, Given
from penstock.runtime.changing import Changing
from penstock.runtime.checkpoints import new_place
from penstock.runtime.definitions import (
    ViewDefinition,
    check_free,
    compiler_of,
    decoded,
    of_kind,
)
from penstock.runtime.domains import check_obeyed, lifted, standing
from penstock.runtime.effects import Effects
from penstock.runtime.failures import (
    Running,
    filled,
    healthy,
    held,
    holders,
    resumed,
    rows_held,
    stepped,
)
from penstock.runtime.file_sources.batch import FileBatch
from penstock.runtime.files import RUNS, Garbage, check_written
from penstock.runtime.jobs import Jobs
from penstock.runtime.measuring import Measures, seconds_of
from penstock.runtime.options import Options
from penstock.runtime.punctuating import (
    Punctuations,
    answers,
    as_frontier,
    closing,
    entry,
)
from penstock.runtime.reading import CommittedView, Reading, time_of
from penstock.runtime.settings import check_settings
from penstock.runtime.sources import (
    SourceDefinition,
    input_area,
    kept_areas,
)
from penstock.runtime.state_names import brought_up_to_date, check_named, founded
from penstock.runtime.step_specs import StepSpecs
from penstock.runtime.times import now, shown
from penstock.state.compaction import Use
from penstock.state.log import Log, fold
from penstock.state.manifest import (
    Action,
    Advanced,
    AreaState,
    Changed,
    Declared,
    Defined,
    Delivered,
    Dropped,
    Manifest,
    Once,
    Received,
    SourceState,
    is_noted,
)
from penstock.state.manifest import Punctuated as Said
from penstock.state.run import AreaSpec
from penstock.state.storage import storage_errors

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

logger = logging.getLogger("penstock")


class Engine(Changing):
    """One state directory: its definitions, what it receives, and its steps."""

    def __init__(self, directory: Path, jobs: Jobs, options: Options) -> None:
        super().__init__()
        self.directory = directory
        self.options = options
        self._jobs = jobs
        with storage_errors(directory):
            self._log = Log(directory / "log")
        self._mutex = threading.RLock()  # held to decide and to commit
        self._moving = threading.Lock()  # held by a step, or by whoever no step may overtake
        self._garbage = Garbage(directory, options.grace)
        self._target = self.manifest.frontier
        self.definitions: Mapping[str, Any] = {}
        self._punctuations = Punctuations()
        self._reviewed = BEGIN
        self._uses: Mapping[str, Use] = {}
        self._note: Declared | Once | None = None
        self.expiry, self.measures = Chooser(), Measures()
        try:
            self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> None:
        """Take up what the log defines, and see that the state of it is there."""
        self.definitions = decoded(self.manifest)
        self._running = running = Running.of(healthy(self.views, self.manifest))
        newer = [
            *brought_up_to_date(
                self.directory / "log",
                self.manifest,
                self.views,
                running.compiler,
                running.graph,
            )
        ]
        if newer:
            self.commit(*newer)
        check_named(
            self.directory / "log",
            self.manifest,
            self.sources.values(),
            self.running,
            self.program,
        )

    @property
    def manifest(self) -> Manifest:
        return self._log.manifest

    @property
    def runs(self) -> Path:
        return self.directory / RUNS

    def commit(self, *actions: Action, note: dict[str, Any] | None = None) -> Manifest:
        with self._mutex, storage_errors(self.directory):
            check_written(self.directory, actions)
            if self._note is not None and is_noted(self._note, actions):
                actions, self._note = (*actions, self._note), None
            return self._log.commit(actions, note)

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

    def delivered(self, action: Delivered) -> None:
        """A sink has what was due to it, unless it was dropped meanwhile."""
        with self._mutex:
            if action.sink in self.manifest.sinks:
                self.commit(action)

    def close(self) -> None:
        self._log.close()

    # --- definitions ----------------------------------------------------------------------------

    @property
    def sources(self) -> Mapping[str, SourceDefinition]:
        return of_kind(SourceDefinition, self.definitions)

    @property
    def views(self) -> Mapping[str, ViewDefinition]:
        return of_kind(ViewDefinition, self.definitions)

    @property
    def running(self) -> Mapping[str, ViewDefinition]:
        """The views that have not failed."""
        return self._running.views

    @property
    def program(self) -> Program:
        return self._running.program

    def define(self, name: str, definition: Any, from_now: bool = False) -> None:
        """Add a source, a view, or what is merely to be kept; a plan is a view without a key.

        A view that starts from now sees nothing of streams that came before; it runs apart.
        """
        if isinstance(definition, Node):
            definition = ViewDefinition(definition, expiry=self.options.expiry)
        self._check_new(name, definition)
        if isinstance(definition, ViewDefinition):
            check_settings(name, definition.plan, (view.plan for view in self.views.values()))
            definition = replace(definition, apart=True) if from_now else definition
            with self._moving:
                self._define_view(name, definition, from_now)
        else:
            with self._garbage.writing(), self._mutex:
                self._define(
                    name,
                    definition,
                    *_beginning(name, definition),
                    *self._standing(name, definition),
                )

    def _standing(self, name: str, definition: Any) -> Iterable[Action]:
        """What the schemes of a stream say from the beginning on, and the rows so far obey."""
        entries = standing(definition)
        if entries:
            source, jobs = self.source(definition.source), self._jobs
            check_obeyed(name, entries, source, self.manifest, jobs, self.runs, self.tasks)
            yield Said(source.name, entries)

    def define_table(
        self, name: str, schema: pa.Schema, rows: pa.Table | DataFrame | FileBatch
    ) -> None:
        """Add a finite relation, valid for all time, with its rows, all of which must fit."""
        table = SourceDefinition(name, schema, None)
        self._check_new(name, table)
        with self._garbage.writing():
            report = self.receive_table_rows(table, rows)
            state = SourceState(frontier=INF, accepted=report.accepted)
            kept = filled(report, table, self.program, True, ())
            self._define(name, table, Received(name, state), *kept)

    def _define(self, name: str, definition: Any, *actions: Action) -> None:
        with self._mutex:
            self._check_new(name, definition)
            self.commit(Defined(name, codec.encode(definition)), *actions)
            self.definitions = {**self.definitions, name: definition}
            if isinstance(definition, ViewDefinition):
                self._running = self._running.with_view(name, definition)

    def _check_new(self, name: str, definition: Any) -> None:
        check_free(name, self.definitions)
        if not is_kept(type(definition)):
            raise PlanError(f"{name!r}: {type(definition).__name__} is not a kind of definition")
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
        compiler = compiler_of({name: view}, self._running.graph)
        alone, frontier = compiler.program(), self.manifest.frontier
        start = beginning(
            [name], compiler, self.program, self._running.compiler.roots, self.manifest
        )
        sources = start.sources
        if from_now:
            sources = tuple(s for s in sources if s in self.sources and self.sources[s].is_table)
        else:
            check_kept(f"view {name!r}", sources, self.sources, self.manifest)
        backfill = self._backfill_of(start.program, sources, start.given)
        new = alone.specs().keys() - self.program.specs().keys()
        program = start.program
        missing = [lane for lane in program.lanes.values() if lane.name in new]
        effects = Effects(program, (), BEGIN, BEGIN)
        backfill.fill(self.manifest, program.lanes.values() if frontier > BEGIN else missing)
        if frontier > BEGIN:
            effects = backfill.run(frontier, answers(program, self._said(view.sources)))
        with self._mutex:
            backfill.fill(self.manifest, missing)  # what came since is not before the frontier
            actions: list[Action] = [founded(name, alone)]
            if frontier > BEGIN:
                short = bool(start.short) or from_now
                actions += effects.as_base() if short else effects.publications()
            for area in sorted(new):
                actions += effects.founded(area, backfill.lane(area))
            self._define(name, view, *actions)

    def answer(
        self, plan: Node, key: Sequence[str] | None = None, at: int | None = None
    ) -> CommittedView:
        """What the plan gives of the rows so far as of a time; nothing is committed.

        Without a time, that is the last one before the frontier, as of a view; before the first
        step it is the end of time. As of INF, and before the first step, no more rows are to come.
        Its files are garbage from the start: readers have the time of the grace.
        """
        with self._garbage.writing():
            manifest, name = self.manifest, "answer"
            frontier = manifest.frontier if manifest.frontier > BEGIN else INF
            time, until = time_of(self.sources.values()), _after(at, frontier)
            if until > frontier and at != INF:
                raise PlanError(
                    f"time {shown(until - 1, time)} is not complete yet; everything before "
                    f"{shown(frontier, time)} is. AS OF END answers as if no more rows came"
                )
            view = ViewDefinition(plan, None if key is None else tuple(key))
            program = compiler_of({name: view}, Graph()).program()
            check_kept("the query", sorted(view.sources), self.sources, manifest)
            backfill = self._backfill_of(program, sorted(view.sources))
            closings = self._said(view.sources)
            if at == INF or frontier == INF:
                closings = {s: replace(c, ended=self._end(s)) for s, c in closings.items()}
            backfill.fill(manifest, program.lanes.values())
            effects = backfill.run(until, answers(program, closings))
        actions: list[Action] = [Advanced(until), *effects.publications()]
        actions += effects.founded(view_area(name), AreaState())
        found = fold(Manifest(), manifest.version, actions)
        return CommittedView(name, view.area(name), time, found, self.runs)

    def drop(self, name: str) -> None:
        """Remove a definition, and with it all that no other needs."""
        with self._moving, self._mutex:
            if name not in self.definitions:
                known = ", ".join(self.definitions) or "nothing yet"
                raise PlanError(f"there is no {name!r} to drop; there are: {known}")
            readers = [v for v, view in self.views.items() if name in view.sources]
            if readers:
                raise PlanError(f"{name!r} is read by {', '.join(readers)}; drop those first")
            lifting = lifted(name, self.definitions, self.manifest)
            rest = {other: d for other, d in self.definitions.items() if other != name}
            running = self._running.without([name] if name in self._running.views else [])
            needed = {*running.program.specs(), *held(self.manifest, besides=[name])}
            for source in of_kind(SourceDefinition, rest).values():
                needed |= {area.name for area in kept_areas(source)}
            gone = tuple(area for area in self.manifest.areas if area not in needed)
            self.commit(Dropped(name, gone), *lifting)
            self.definitions, self._running = rest, running

    def resume(self, name: str) -> None:
        """Bring a failed view up to date, and keep it so; an error where it fails again."""
        with self._moving:
            if name not in self.manifest.failures:
                raise PlanError(f"view {name!r} has not failed, so there is nothing to resume")
            view = self.views[name]
            actions = resumed(
                name,
                self._running,
                view,
                self.manifest,
                self._backfill_of,
                partial(self._spoken, view.sources),
            )
            with self._mutex:
                self.commit(*actions(self.manifest, self._running))
                self._running = self._running.with_view(name, view)

    def _spoken(
        self,
        names: Iterable[str],
        program: Program,
        frontier: int,
        sources: Mapping[str, SourceDefinition] | None = None,
    ) -> tuple[dict[int, Kernel], dict[str, AreaSpec]]:
        """What punctuations say to the kernels of a program that looks from a time on."""
        said = {s: c.settled(frontier) for s, c in self._said(names, sources).items()}
        kernels = answers(program, said)
        return kernels, closing(program, kernels)

    def _backfill_of(
        self, program: Program, sources: Iterable[str], given: Iterable[Given] = (), **more: Any
    ) -> Backfill:
        return self._backfill(program, [self.sources[name] for name in sources], given, **more)

    def _backfill(
        self,
        program: Program,
        sources: Iterable[SourceDefinition],
        given: Iterable[Given] = (),
        **more: Any,
    ) -> Backfill:
        return Backfill(program, sources, self._jobs, self.runs, self.tasks, given, **more)

    # --- what is said of sources ------------------------------------------------------------------

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

    def _said(
        self, names: Iterable[str], sources: Mapping[str, SourceDefinition] | None = None
    ) -> dict[str, Closings]:
        """What punctuations said, from the beginning of time on."""
        found, sources = self._punctuations.since_the_beginning, sources or self.sources
        return {name: found(sources[name], self.manifest) for name in names}

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
                self.commit(Received(source, self._with_promise(state, frontier)))
                self.measures.heard(frontier - 1)

    def _with_promise(self, state: SourceState, frontier: int) -> SourceState:
        if frontier <= state.frontier:
            return state
        ended = self._open_from(state) if frontier == INF else None
        return replace(state, frontier=frontier, ended=ended)

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
        free = min(busy) if busy else max(known.values(), default=BEGIN)
        return min([free, *self._waiting.values()])

    def _frontier_of(self, source: SourceDefinition) -> int:
        """Rows that are stamped on arrival come no earlier than now."""
        frontier = self.source_state(source.name).frontier
        return max(frontier, now()) if source.arrival else frontier

    def step(self) -> dict[str, Any] | None:
        """Advance as far as the sources allow; what happened, or None where nothing could."""
        with self._moving:
            return self._step()

    def _step(self) -> dict[str, Any] | None:
        started, tasks = time.perf_counter(), self.tasks
        with self._mutex:
            manifest, w1 = self.manifest, self.frontier()
            if w1 <= manifest.frontier or not self.views:
                return None
            self._target = w1
            running, w0 = self._running, manifest.frontier
        sources = self.sources.values()
        kept = {area.name: area for source in sources for area in kept_areas(source)}
        kept |= rows_held(manifest, self.sources)
        merging = self.replacing is None
        if not merging:  # what is built beside reads kept rows and changes from where they were
            kept = {}
        read = frozenset().union(*(view.sources for view in running.views.values()))
        said = {name: self._punctuations.of(self.sources[name], manifest) for name in read}
        review = self._reviewed < w0
        specs = StepSpecs(
            manifest,
            w1,
            self.runs,
            tasks,
            said,
            kept,
            self.expiry,
            self._uses,
            review,
            self.options.retention,
            merging,
        )
        spec, reports, problems = stepped(self._jobs, running, specs.of)
        self._reviewed, self._uses = w0, upkeep.used(self._uses, reports)
        ran = time.perf_counter()
        with self._mutex:
            rest, failed = running.failing(problems, w0)
            program = rest.program
            effects = Effects(program, reports, w0, w1)
            actions: list[Action] = [*failed, Advanced(w1), *effects.publications()]
            for name in (*program.specs(), *kept):
                chosen = spec.compactions.get(name, ())
                actions += effects.changed(name, spec.areas[name], chosen)
            actions += upkeep.merged_changes(spec.blocks, reports, program.views, self.manifest)
            self.commit(*actions)
            self._running = rest
        upkeep.delete_left(self.runs, spec.program.private, spec.areas, self.manifest)
        self._condense()
        if merging:
            self._give_up_old_changes()
        operators = self.measures.stepped(program, reports, w1)
        self.expiry.observe(program, operators)
        progress = {
            "version": self.manifest.version,
            "frontier": w1,
            "operators": operators,
            "state": upkeep.sizes(self.manifest, program.specs()),
            "kept": upkeep.sizes(self.manifest, [input_area(s).name for s in sources]),
            "tasks": seconds_of(reports),
            "seconds": {"run": ran - started, "commit": time.perf_counter() - ran},
            "failed": {name: problem.sentence for name, problem in problems.items()},
        }
        logger.info("step to %s: %s", w1, progress["seconds"])
        return progress

    def _give_up_old_changes(self) -> None:
        if old := upkeep.old_changes(self.manifest, self.options.retention):
            self.commit(*old)

    def _condense(self) -> None:
        """Write what punctuations have said in fewer words, where time has passed them.

        Those who look at what was said from before the frontier must have it as it was.
        """
        for name, source in self.sources.items():
            if self.replacing is not None or holders(self.manifest, name):
                continue
            with self._mutex:
                entries = self._punctuations.condensed(source, self.manifest)
                if entries is not None:
                    closings = self._punctuations.of(source, self.manifest)
                    self.commit(Said(name, entries, anew=True))
                    self._punctuations.know(name, self.manifest, closings)

    def reading(self, choose: Callable[[], Reading]) -> AbstractContextManager[Reading]:
        """What is chosen to be read, whose files stay until the block ends."""
        return self._garbage.reading(choose)

    def collect_garbage(self) -> int:
        """Delete files that no commit names and no reader can be reading; how many."""
        with self._moving:
            return self._garbage.collect(lambda: self.manifest)


def _after(at: int | None, frontier: int) -> int:
    """The end of the step that makes an answer as of a time; of the frontier without one."""
    if at is None:
        return frontier
    return INF if at == INF else at + 1


def _beginning(name: str, definition: Any) -> Iterable[Action]:
    """A table has nothing more to come; a stream that is attached has a checkpoint of its own."""
    if isinstance(definition, SourceDefinition):
        state = SourceState(checkpoint=new_place(name))
        yield Received(name, SourceState(frontier=INF) if definition.is_table else state)
