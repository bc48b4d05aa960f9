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
from penstock.ingest.sources import (
    Ingest,
    IngestReport,
    SourceDefinition,
    aside_state_tables,
    input_state_table,
)
from penstock.ingest.times import now
from penstock.output.definitions import ViewDefinition, compiler_of
from penstock.physical.kernel import Kernel
from penstock.physical.lower import Graph
from penstock.physical.program import Compiler, Program, base_state_table, view_state_table
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
    held_state_table,
)
from penstock.state.run import StateTableSpec

T = TypeVar("T")
logger = logging.getLogger("penstock")


class InputBuffersFailedError(Exception):
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
        """The views that need one of these operators or input buffers, which have failed."""
        found: dict[str, Problem] = {}
        for view in self.views if failures else ():
            program = self.alone(view)
            needed = [*program.input_buffers, *(place.identity for place in program.places)]
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
            state_tables = (*sorted(private), *map(rows_for, sorted(self.views[view].sources)))
            failure = Failure(
                frontier, problem.reason, problem.condition, problem.row, now(), state_tables
            )
            actions.append(Failed(view, failure, tuple(sorted(private - needed))))
            logger.error("view %s failed: %s", view, problem.sentence)
        return rest, actions


def rows_for(source: str) -> str:
    """The name of the state table in which rows of a source are held for a view, as they came."""
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
    """Take a batch; the input buffers whose expressions fail in Spark are in the report's
    failures."""
    try:
        return run(ingest)
    except Exception as error:
        suspects = [
            input_buffer
            for input_buffer in ingest.input_buffers
            if replace(ingest, input_buffers=(input_buffer,)).computed
        ]
        if problem_of(error) is None or not suspects:
            raise
        failures: dict[str, Problem] = {}
        for input_buffer in suspects:
            try:
                run(replace(ingest, input_buffers=(input_buffer,), keep=False))
            except Exception as alone:
                problem = problem_of(alone)
                if problem is None:
                    raise
                failures[input_buffer.name] = problem
        if not failures:
            raise
        report = run(
            replace(
                ingest,
                input_buffers=tuple(x for x in ingest.input_buffers if x.name not in failures),
            )
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
    """What a batch adds to input buffers, to the rows that are kept, and to those held for failed
    views."""
    rows, aside = (
        input_state_table(source).name,
        {state_table.name for state_table in aside_state_tables(source)},
    )
    actions: list[Action] = []
    for state_table, refs in report.state_tables.items():
        if state_table == rows:
            names = [rows] if keep else []
            names += [held_state_table(view, rows_for(source.name)) for view in holders]
        else:
            names = (
                [state_table]
                if state_table in program.input_buffers or state_table in aside
                else []
            )
        actions += [Changed(name, tuple(refs)) for name in names if refs]
    return actions


def healthy(views: Mapping[str, ViewDefinition], manifest: Manifest) -> dict[str, ViewDefinition]:
    """The views that have not failed."""
    return {name: view for name, view in views.items() if name not in manifest.failures}


def held(manifest: Manifest, besides: Collection[str]) -> Iterator[str]:
    """All state tables of failed views besides some."""
    for view, failure in manifest.failures.items():
        if view not in besides:
            yield from (held_state_table(view, state_table) for state_table in failure.state_tables)
            yield from (view_state_table(view), base_state_table(view))


def holders(manifest: Manifest, source: str) -> list[str]:
    """The failed views that read a source."""
    mine = rows_for(source)
    return [view for view, failure in manifest.failures.items() if mine in failure.state_tables]


def rows_held(
    manifest: Manifest, sources: Mapping[str, SourceDefinition]
) -> dict[str, StateTableSpec]:
    """The state tables of the rows that are held for failed views."""
    return {
        held_state_table(view, rows_for(name)): input_state_table(source)
        for name, source in sources.items()
        for view in holders(manifest, name)
    }


def _check_held(view: str, failure: Failure, manifest: Manifest, program: Program) -> None:
    """What the view's operators need is what is held for it, no more and no less."""
    held = {
        state_table
        for state_table in failure.state_tables
        if held_state_table(view, state_table) in manifest.state_tables
    }
    rows = {rows_for(source) for source in manifest.sources}
    strange = (held - rows) ^ program.private
    if strange:
        raise StateError(
            f"view {view}",
            f"state table {min(strange)!r} of its state is not both held for it and of use to this "
            "version of Penstock. Resume it with the version that wrote it, or drop it and create "
            "it anew",
        )


def resumed(
    name: str,
    running: Running,
    view: ViewDefinition,
    manifest: Manifest,
    backfill_of: Callable[..., Backfill],
    bind: Callable[[Program, int], tuple[Mapping[int, Kernel], Mapping[str, StateTableSpec]]],
) -> Callable[[Manifest, Running], list[Action]]:
    """Make the step that a failed view has missed; what gives the actions that bring it back.

    `bind` gives the kernels of a program that know what punctuations said by a time.
    """
    failure = manifest.failures[name]
    program = compiler_of({name: view}, running.graph).program()
    _check_held(name, failure, manifest, program)
    begin = {
        state_table: manifest.state_tables[held_state_table(name, state_table)]
        for state_table in program.private
    }
    backfill = backfill_of(
        program,
        sorted(view.sources),
        begin=begin,
        rows=lambda source: held_state_table(name, rows_for(source)),
    )
    commit = StepCommit(program, (), failure.frontier, failure.frontier)
    try:
        backfill.fill(manifest, program.input_buffers.values())
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
        backfill.fill(
            latest, program.input_buffers.values()
        )  # what came since is not before the frontier
        found: list[Action] = [Resumed(name), named_state(name, program)]
        if commit.w1 > commit.w0:
            found += commit.publications()
            shown = view_state_table(name)
            found += commit.changed(shown, latest.state_table(shown))
        for state_table in sorted(program.private - others.program.private):
            found += commit.introduced(state_table, backfill.input_buffer(state_table))
        return found

    return actions
