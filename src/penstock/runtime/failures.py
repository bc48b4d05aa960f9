"""Views that fail alone: a step or a batch without them, and what brings them back.

Law: a failed view has its state, and its changes, as of the frontier at which it failed. The rows
that come after are held for it as they came. So when it is resumed it makes one step from there to
the frontier, and its changes are those of a view that never failed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar

from penstock.errors import StateError
from penstock.execution.problems import Problem, problem_of, tried
from penstock.execution.task import Report, StepSpec
from penstock.ingest.sources import Ingest, IngestReport, SourceDefinition, aside_areas, input_area
from penstock.ingest.times import now
from penstock.output.definitions import ViewDefinition, compiler_of
from penstock.physical.kernel import Kernel
from penstock.physical.lower import Graph
from penstock.physical.program import Compiler, Program, base_area, view_area
from penstock.runtime.backfill import Backfill
from penstock.runtime.jobs import Jobs
from penstock.runtime.state_names import named_state
from penstock.runtime.step_commit import StepCommit
from penstock.state.manifest import (
    Action,
    Changed,
    Failed,
    Failure,
    Manifest,
    Resumed,
    held_area,
)
from penstock.state.run import AreaSpec

T = TypeVar("T")
logger = logging.getLogger("penstock")


class LanesFailedError(Exception):
    """Some views cannot take a batch. The caller must bring it again while no step is under way."""


@dataclass(frozen=True)
class Running:
    """The views that are kept up to date, and what runs for them."""

    views: Mapping[str, ViewDefinition]
    graph: Graph
    compiler: Compiler
    program: Program

    @staticmethod
    def of(views: Mapping[str, ViewDefinition]) -> Running:
        graph = Graph()
        compiler = compiler_of(views, graph)
        return Running(views, graph, compiler, compiler.program())

    def without(self, views: Collection[str]) -> Running:
        if not views:
            return self
        return Running.of({name: v for name, v in self.views.items() if name not in views})

    def with_view(
        self, name: str, view: ViewDefinition, compiled: Compiler | None = None
    ) -> Running:
        """With one more view, which may be compiled; it shares the operators of those that run."""
        if compiled is not None and compiled.graph is self.graph:
            self.compiler.take(name, compiled)
        else:
            self.compiler.add(name, view.plan, view.key, view.expiry, view.apart)
        views = {**self.views, name: view}
        return Running(views, self.graph, self.compiler, self.compiler.program())

    def alone(self, view: str) -> Program:
        return compiler_of({view: self.views[view]}, self.graph).program()

    def failed_by(self, failures: Mapping[str, Problem]) -> dict[str, Problem]:
        """The views that need one of these operators or lanes, which have failed."""
        found: dict[str, Problem] = {}
        for view in self.views if failures else ():
            program = self.alone(view)
            needed = [*program.lanes, *(place.identity for place in program.places)]
            causes = [failures[name] for name in needed if name in failures]
            if causes:
                found[view] = causes[0]
        return found

    def failing(
        self, problems: Mapping[str, Problem], frontier: int
    ) -> tuple[Running, list[Failed]]:
        """What runs without some views, and the actions that hold their state."""
        rest, actions = self.without(problems.keys()), []
        needed = rest.program.private
        for view, problem in problems.items():
            private = self.alone(view).private
            areas = (*sorted(private), *map(rows_for, sorted(self.views[view].sources)))
            failure = Failure(
                frontier, problem.reason, problem.condition, problem.row, now(), areas
            )
            actions.append(Failed(view, failure, tuple(sorted(private - needed))))
            logger.error("view %s failed: %s", view, problem.sentence)
        return rest, actions


def rows_for(source: str) -> str:
    """The name of the area in which rows of a source are held for a view, as they came."""
    return f"rows {source}"


def stepped(
    jobs: Jobs, running: Running, spec_of: Callable[[Program], StepSpec]
) -> tuple[StepSpec, list[Report], dict[str, Problem]]:
    """Make a step: which one it was, what its tasks report, and which views fail, and why.

    What an operator fails by in a task is in the task's report, and nothing else of the step is
    touched by it. What Spark fails by ends its job: so the views that need Spark are tried one by
    one, and the step is made again without those that fail.
    """
    problems: dict[str, Problem] = {}
    while True:
        rest = running.without(problems.keys())
        spec = spec_of(rest.program)
        try:
            reports = tried(f"the step to {spec.w1}", partial(jobs.step, spec))
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            suspects = [view for view in rest.views if _needs_spark(rest.alone(view))]
            found = dict.fromkeys(suspects[:1], problem)
            if len(suspects) > 1:
                found = _tried_alone(jobs, rest, suspects, spec_of)
            if not found:
                raise
            problems |= found
            continue
        failures = {name: p for report in reports for name, p in report.failures.items()}
        return spec, reports, problems | rest.failed_by(failures)


def _needs_spark(program: Program) -> bool:
    return any(edge.mode == "spark" for edge in program.edges)


def _tried_alone(
    jobs: Jobs, running: Running, views: Iterable[str], spec_of: Callable[[Program], StepSpec]
) -> dict[str, Problem]:
    """Those of some views that fail by themselves. What their steps write is garbage."""
    found: dict[str, Problem] = {}
    for view in views:
        try:
            jobs.step(spec_of(running.alone(view)))
        except Exception as error:
            problem = problem_of(error)
            if problem is None:
                raise
            found[view] = problem
    return found


def ingested(run: Callable[[Ingest], IngestReport], ingest: Ingest) -> IngestReport:
    """Take a batch; the lanes whose expressions fail in Spark are in the report's failures."""
    try:
        return run(ingest)
    except Exception as error:
        suspects = [lane for lane in ingest.lanes if replace(ingest, lanes=(lane,)).computed]
        if problem_of(error) is None or not suspects:
            raise
        failures: dict[str, Problem] = {}
        for lane in suspects:
            try:
                run(replace(ingest, lanes=(lane,), keep=False))
            except Exception as alone:
                problem = problem_of(alone)
                if problem is None:
                    raise
                failures[lane.name] = problem
        if not failures:
            raise
        report = run(
            replace(ingest, lanes=tuple(x for x in ingest.lanes if x.name not in failures))
        )
        report.failures = {**failures, **report.failures}
        return report


def filled(
    report: IngestReport,
    source: SourceDefinition,
    program: Program,
    keep: bool,
    holders: Collection[str],
) -> list[Action]:
    """What a batch adds to lanes, to the rows that are kept, and to those held for failed views."""
    rows, aside = input_area(source).name, {area.name for area in aside_areas(source)}
    actions: list[Action] = []
    for area, refs in report.areas.items():
        if area == rows:
            names = [rows] if keep else []
            names += [held_area(view, rows_for(source.name)) for view in holders]
        else:
            names = [area] if area in program.lanes or area in aside else []
        actions += [Changed(name, tuple(refs)) for name in names if refs]
    return actions


def healthy(views: Mapping[str, ViewDefinition], manifest: Manifest) -> dict[str, ViewDefinition]:
    """The views that have not failed."""
    return {name: view for name, view in views.items() if name not in manifest.failures}


def held(manifest: Manifest, besides: Collection[str]) -> Iterator[str]:
    """All areas of failed views besides some."""
    for view, failure in manifest.failures.items():
        if view not in besides:
            yield from (held_area(view, area) for area in failure.areas)
            yield from (view_area(view), base_area(view))


def holders(manifest: Manifest, source: str) -> list[str]:
    """The failed views that read a source."""
    mine = rows_for(source)
    return [view for view, failure in manifest.failures.items() if mine in failure.areas]


def rows_held(manifest: Manifest, sources: Mapping[str, SourceDefinition]) -> dict[str, AreaSpec]:
    """The areas of the rows that are held for failed views."""
    return {
        held_area(view, rows_for(name)): input_area(source)
        for name, source in sources.items()
        for view in holders(manifest, name)
    }


def _check_held(view: str, failure: Failure, manifest: Manifest, program: Program) -> None:
    """What the view's operators need is what is held for it, no more and no less."""
    held = {area for area in failure.areas if held_area(view, area) in manifest.areas}
    rows = {rows_for(source) for source in manifest.sources}
    strange = (held - rows) ^ program.private
    if strange:
        raise StateError(
            f"view {view}",
            f"area {min(strange)!r} of its state is not both held for it and of use to this "
            "version of Penstock. Resume it with the version that wrote it, or drop it and create "
            "it anew",
        )


def resumed(
    name: str,
    running: Running,
    view: ViewDefinition,
    manifest: Manifest,
    backfill_of: Callable[..., Backfill],
    bind: Callable[[Program, int], tuple[Mapping[int, Kernel], Mapping[str, AreaSpec]]],
) -> Callable[[Manifest, Running], list[Action]]:
    """Make the step that a failed view has missed; what gives the actions that bring it back.

    `bind` gives the kernels of a program that know what punctuations said by a time.
    """
    failure = manifest.failures[name]
    program = compiler_of({name: view}, running.graph).program()
    _check_held(name, failure, manifest, program)
    begin = {area: manifest.areas[held_area(name, area)] for area in program.private}
    backfill = backfill_of(
        program,
        sorted(view.sources),
        begin=begin,
        rows=lambda source: held_area(name, rows_for(source)),
    )
    commit = StepCommit(program, (), failure.frontier, failure.frontier)
    try:
        backfill.fill(manifest, program.lanes.values())
        if manifest.frontier > failure.frontier:
            kernels, closed = bind(program, failure.frontier)
            commit = backfill.run(manifest.frontier, kernels, failure.frontier, closed)
    except Exception as error:
        problem = problem_of(error)
        if problem is None:
            raise
        raise problem.error(
            f"view {name!r} fails again at what it failed at; it stays as it was"
        ) from error

    def actions(latest: Manifest, others: Running) -> list[Action]:
        backfill.fill(latest, program.lanes.values())  # what came since is not before the frontier
        found: list[Action] = [Resumed(name), named_state(name, program)]
        if commit.w1 > commit.w0:
            found += commit.publications()
            shown = view_area(name)
            found += commit.changed(shown, latest.area(shown))
        for area in sorted(program.private - others.program.private):
            found += commit.introduced(area, backfill.lane(area))
        return found

    return actions
