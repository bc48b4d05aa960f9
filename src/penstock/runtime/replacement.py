"""Views that take the place of others: built beside them, and taken over in one commit.

A view is built as a new one is: of what running views gave, and of the rows of sources that are
kept, in a step of its own from the beginning of time. Meanwhile the old one goes on, and then the
new one makes the steps that it missed. Only the last of these and the commit hold up others.

Law: a view that was replaced is what it would be had it been there from the start. What was built
is garbage until the commit names it; so a crash leaves the old views, and nothing of the new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from penstock.algebra import codec
from penstock.algebra.expr import Column
from penstock.algebra.plan import Scan
from penstock.element import BEGIN
from penstock.ingest.sources import SourceDefinition
from penstock.output.definitions import ViewDefinition, compiler_of
from penstock.output.readers import Reading
from penstock.physical.kernel import Kernel
from penstock.physical.kernels.multiplicity import Multiplicity
from penstock.physical.lower import Graph, Operator
from penstock.physical.program import Compiler, Program, base_state_table, view_state_table
from penstock.physical.subplan import BEGINS, ENDS, WEIGHT, with_times
from penstock.physical.transforms import Merge, Negate, Project
from penstock.runtime.backfill import Backfill
from penstock.runtime.bootstrap import bootstrap, input_of
from penstock.runtime.failures import Running
from penstock.runtime.pipeline_state import Progress
from penstock.runtime.state_names import named_state
from penstock.runtime.step_commit import StepCommit
from penstock.state.manifest import (
    Action,
    Changed,
    HandedOver,
    Handover,
    Manifest,
    Publication,
    Published,
    StateTableRuns,
)
from penstock.state.run import StateTableSpec
from penstock.state.store import RunReference

MOST_PASSES = 5
"""How often what is built makes the steps that it missed before it holds up the next one."""
_OLD, _NEW = "\x1fold", "\x1fnew"
Differences: TypeAlias = tuple[tuple[ViewDefinition, tuple[RunReference, ...]], ...]
"""Changes, each with the definition that its columns and key are of."""
BindPunctuations: TypeAlias = Callable[
    [Iterable[str], Program, int], tuple[Mapping[int, Kernel], Mapping[str, StateTableSpec]]
]


@dataclass(frozen=True)
class Replacement:
    """Definitions that take the place of others of their names, in the order in which they come.

    Those views that are not `built` go on as they run; they are merely said in another way.
    The streams of those `from_now` begin with what comes next.
    """

    definitions: Mapping[str, Any]
    built: frozenset[str] = frozenset()
    from_now: frozenset[str] = frozenset()

    @property
    def views(self) -> dict[str, ViewDefinition]:
        """The views that are built, but for those of the clock, which have no state."""
        found = {name: self.definitions[name] for name in self.definitions if name in self.built}
        return {name: one for name, one in found.items() if isinstance(one, ViewDefinition)}

    @property
    def sources(self) -> dict[str, SourceDefinition]:
        found = self.definitions.items()
        return {name: one for name, one in found if isinstance(one, SourceDefinition)}

    def groups(self) -> Iterator[tuple[dict[str, ViewDefinition], bool]]:
        """The views that are built together, and whether they begin from now on."""
        views = self.views
        yield from (({name: views[name]}, True) for name in views if name in self.from_now)
        rest = {name: view for name, view in views.items() if name not in self.from_now}
        if rest:
            yield rest, False


@dataclass
class Building:
    """Views on their way: what they hold by now, and as of which frontier."""

    views: Mapping[str, ViewDefinition]
    running: Running
    staying: Program
    from_now: bool
    sources: Mapping[str, SourceDefinition]
    backfill: Callable[..., Backfill]
    bind: BindPunctuations
    progress: Progress
    frontier: int = BEGIN
    _state: dict[str, StateTableRuns] = field(default_factory=dict)
    _published: dict[str, tuple[RunReference, ...]] = field(default_factory=dict)

    def begin(self, manifest: Manifest, roots: Mapping[str, str]) -> tuple[str, ...]:
        """Decide what they are built from; the streams and tables that rows are read of."""
        compiled = compiler_of(self.views, Graph())
        running = self.running.program
        start = bootstrap(list(self.views), compiled, running, roots, manifest)
        self._program, self._read = start.program, start.read
        self._short = frozenset(self.views) if self.from_now else start.short
        known = start.sources
        if self.from_now:
            known = tuple(s for s in known if s in self.sources and self.sources[s].is_table)
        self._backfill = self.backfill(self._program, known, start.inputs)
        needed = compiled.program().specs().keys() - self.staying.specs().keys()
        self.fresh = frozenset(self._program.specs().keys() & needed)
        return known

    def advance(self, manifest: Manifest) -> None:
        """Make the step from where they are to the frontier, over what has come since."""
        self.progress.round += 1
        again = f", round {self.progress.round}" if self.progress.round > 1 else ""
        self.progress.doing = f"its input is read{again}"
        self._go_on(manifest, self._backfill.input_buffer)
        self._backfill.fill(manifest, self._program.input_buffers.values(), waiting=False)
        if manifest.frontier > self.frontier:
            self.progress.doing = f"its answer is computed{again}"
            names = sorted({s for view in self.views.values() for s in view.sources})
            kernels, closed = self.bind(names, self._program, self.frontier)
            closed = closed if self.frontier > BEGIN else {}
            self._stepped(self._backfill.run(manifest.frontier, kernels, self.frontier, closed))
            self.frontier = manifest.frontier
            self._go_on(manifest, lambda name: self._state.get(name, StateTableRuns()))

    def _go_on(self, manifest: Manifest, held: Callable[[str], StateTableRuns]) -> None:
        """Take what is held for the beginning of what comes next, and what views have given.

        What views held when older changes were given up is read once: steps may merge it.
        """
        inputs = [input_of(view, self.running.program, manifest) for view in self._read]
        if self.frontier > BEGIN:
            inputs = [replace(one, base=()) for one in inputs]
        begin = {name: held(name) for name in self._program.private}
        self._backfill = self._backfill.after(begin, inputs)

    def _stepped(self, commit: StepCommit) -> None:
        for name in self._program.specs():
            state_table = self._state.get(name, StateTableRuns())
            state_table = (
                self._backfill.input_buffer(name) if name in self._program.private else state_table
            )
            for change in commit.introduced(name, state_table):
                self._state[name] = StateTableRuns(change.added, change.frontier)
        for view, refs in commit.published.items():
            self._published[view] = (*self._published.get(view, ()), *refs)

    def held(self, view: str) -> tuple[RunReference, ...]:
        """The runs that hold what a view is as of the frontier."""
        return self._state.get(view_state_table(view), StateTableRuns()).refs

    def finished(self, manifest: Manifest) -> list[Action]:
        """What brings them into the log, as of the frontier and with all rows that came since."""
        missing = [
            input_buffer
            for name, input_buffer in self._program.input_buffers.items()
            if name in self.fresh
        ]
        self._go_on(manifest, self._backfill.input_buffer)
        self._backfill.fill(manifest, missing)
        graph, actions = Graph(), list[Action]()
        for name, view in self.views.items():
            actions.append(named_state(name, compiler_of({name: view}, graph).program()))
            refs = self._published.get(name, ())
            if self.frontier > BEGIN and name in self._short:
                actions.append(Changed(base_state_table(name), refs, frontier=self.frontier - 1))
            elif self.frontier > BEGIN:
                actions.append(Published(name, BEGIN, self.frontier, refs))
        for name in sorted(self.fresh):
            state_table = self._state.get(name, StateTableRuns())
            state_table = (
                self._backfill.input_buffer(name) if name in self._program.private else state_table
            )
            if state_table.refs or state_table.frontier > BEGIN:
                actions.append(Changed(name, state_table.refs, frontier=state_table.frontier))
        return actions


# --- what followers of a view are due -------------------------------------------------------------


@dataclass(frozen=True)
class ViewState:
    """A view as of a frontier: its definition, and the runs that hold what it is."""

    name: str
    view: ViewDefinition
    refs: tuple[RunReference, ...]
    frontier: int

    def standing(self, directory: Path, since: int) -> Reading:
        """What is there, as elements that begin at a time."""
        state_table, time = self.view.state_table(self.name), pa.int64()
        return Reading("standing", state_table, self.refs, directory, time, since, self.frontier)


def differences(
    old: ViewState, new: ViewState, at: int, backfill: Callable[..., Backfill], directory: Path
) -> Differences:
    """What makes the old answer the new one at a time, as changes of the one and of the other.

    Where both have the same columns and key, they are changes of one view.
    """
    same = (old.view.plan.schema, old.view.key) == (new.view.plan.schema, new.view.key)
    parts = [[(old, True), (new, False)]] if same else [[(old, True)], [(new, False)]]
    found = []
    for part in parts:
        state = part[-1][0]
        program = _difference(state, part)
        one = backfill(program, ())
        for each, gone in part:
            source, reading = _source(each, gone), each.standing(directory, at)
            one.bring(source, program.input_buffers.values(), reading)
        commit = one.run(at + 1, {})
        found.append((state.view, commit.published[state.name]))
    return tuple(found)


def _source(state: ViewState, gone: bool) -> SourceDefinition:
    schema = with_times(state.view.plan.schema)
    return SourceDefinition(_OLD if gone else _NEW, schema, BEGINS, until=ENDS, weight=WEIGHT)


def _difference(of: ViewState, part: list[tuple[ViewState, bool]]) -> Program:
    """The program that takes back what was there and is not, and passes on what is there anew."""
    inputs = []
    for state, gone in part:
        schema = state.view.plan.schema
        scan = Operator(Scan(_OLD if gone else _NEW, with_times(schema)), ())
        outputs = tuple((f.name, Column(f.name, f.type)) for f in schema)
        inputs.append(Operator(Project(outputs), (scan,)))
    root = inputs[-1]
    if len(part) == 2:
        less = Multiplicity(of.view.plan.schema, "difference")
        goes = Operator(Negate(), (Operator(less, tuple(inputs)),))
        root = Operator(Merge(), (goes, Operator(less, tuple(reversed(inputs)))))
    elif part[0][1]:
        root = Operator(Negate(), (root,))
    compiler = Compiler()
    compiler.put(of.name, root, of.view.state_table(of.name))
    return compiler.program()


def handovers(
    name: str,
    manifest: Manifest,
    old: ViewDefinition,
    changes: Differences,
    at: int,
) -> Iterator[HandedOver]:
    """What the sinks of a view are due, when the next commit replaces it.

    Changes of different columns are different deliveries: they have the versions of the last two
    commits, the first of which nothing else may have.
    """
    log = manifest.changelogs.get(name, ())
    for sink, state in manifest.sinks.items():
        if state.view != name:
            continue
        due: list[Handover] = []
        if log and log[-1].version > state.version:
            base = manifest.state_table(base_state_table(name))
            due.append(Handover(codec.encode(old), log, base))
        first = manifest.version + 2 - len(changes)
        for version, (view, refs) in enumerate(changes, first):
            entry = Publication(version, at, at + 1, refs)
            due.append(Handover(codec.encode(view), (entry,)))
        yield HandedOver(sink, tuple(due))


def redefined(before: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """Definitions as they are when some take the place of others.

    Sources stay where they are. Views come last, so that each comes after what it reads.
    """
    moved = {name for name, one in new.items() if not isinstance(one, SourceDefinition)}
    stay = {name: new.get(name, one) for name, one in before.items() if name not in moved}
    return stay | {name: one for name, one in new.items() if name in moved}
