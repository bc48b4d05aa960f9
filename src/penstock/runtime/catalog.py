"""What is defined: sources, tables, views, and whatever else users have named.

Law: a definition and the state that it begins with are one commit. A view that is created late is
as if it had always been there, as far as the past is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.algebra import codec
from penstock.algebra.plan import Node
from penstock.element import BEGIN, INF
from penstock.errors import PlanError
from penstock.execution.settings import check_settings
from penstock.ingest.checkpoints import new_place
from penstock.ingest.file_sources.batch import FileBatch
from penstock.ingest.sources import SourceDefinition, kept_state_tables
from penstock.ingest.times import shown, time_of
from penstock.ingest.watermarks import end_of
from penstock.kinds import is_kept
from penstock.output.definitions import ViewDefinition, check_free, compiler_of, of_kind
from penstock.output.readers import CommittedView
from penstock.physical.lower import Graph
from penstock.physical.program import view_state_table
from penstock.runtime.bootstrap import Backfills, bootstrap, check_kept
from penstock.runtime.domains import check_obeyed, lifted, standing
from penstock.runtime.failures import filled, held, resumed
from penstock.runtime.pipeline_state import PipelineState
from penstock.runtime.punctuation_store import bind_punctuations
from penstock.runtime.receiver import Receiver
from penstock.runtime.state_names import named_state
from penstock.runtime.step_commit import StepCommit
from penstock.state.log import fold
from penstock.state.manifest import (
    Action,
    Advanced,
    Defined,
    Dropped,
    Manifest,
    Punctuated,
    Received,
    SourceState,
    StateTableRuns,
)

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Catalog:
    """Adds definitions, with what they begin with, and removes them."""

    def __init__(self, state: PipelineState, receiver: Receiver, backfills: Backfills) -> None:
        self._state = state
        self._receiver = receiver
        self._backfills = backfills

    def define(self, name: str, definition: Any, from_now: bool = False) -> None:
        """Add a source, a view, or what is merely to be kept; a plan is a view without a key.

        A view that starts from now sees nothing of streams that came before; it runs apart.
        """
        state = self._state
        if isinstance(definition, Node):
            definition = ViewDefinition(definition, expiry=state.options.expiry)
        self._check_new(name, definition)
        if isinstance(definition, ViewDefinition):
            check_settings(name, definition.plan, (view.plan for view in state.views.values()))
            definition = replace(definition, apart=True) if from_now else definition
            with state.step_lock:
                self._define_view(name, definition, from_now)
        else:
            with state.garbage.writing(), state.mutex:
                self._define(
                    name,
                    definition,
                    *_state_at_first(name, definition),
                    *self._standing(name, definition),
                )

    def define_table(
        self, name: str, schema: pa.Schema, rows: pa.Table | DataFrame | FileBatch
    ) -> None:
        """Add a finite relation, valid for all time, with its rows, all of which must fit."""
        table = SourceDefinition(name, schema, None)
        self._check_new(name, table)
        with self._state.garbage.writing():
            report = self._receiver.receive_table_rows(table, rows)
            state = SourceState(frontier=INF, accepted=report.accepted)
            kept = filled(report, table, self._state.running.program, True, ())
            self._define(name, table, Received(name, state), *kept)

    def _standing(self, name: str, definition: Any) -> Iterable[Action]:
        """What the schemes of a stream say from the beginning on, and the rows so far obey."""
        entries, state = standing(definition), self._state
        if entries:
            source = state.source(definition.source)
            check_obeyed(name, entries, source, state.manifest, state.jobs, state.runs, state.tasks)
            yield Punctuated(source.name, entries)

    def _define(self, name: str, definition: Any, *actions: Action) -> None:
        state = self._state
        with state.mutex:
            self._check_new(name, definition)
            state.commit(Defined(name, codec.encode(definition)), *actions)
            state.definitions = {**state.definitions, name: definition}

    def _check_new(self, name: str, definition: Any) -> None:
        check_free(name, self._state.definitions)
        if not is_kept(type(definition)):
            raise PlanError(f"{name!r}: {type(definition).__name__} is not a kind of definition")
        is_stream = isinstance(definition, SourceDefinition) and not definition.is_table
        if is_stream and self._state.target == INF:
            raise PlanError(
                f"source {name!r}: the pipeline has come to the end of time, so every row would "
                "be late; create sources before the others end, or use a new directory"
            )

    def _define_view(self, name: str, view: ViewDefinition, from_now: bool) -> None:
        """Start a view as if it had always been there; rows may come in the meantime.

        It is made up from what running views gave and from the rows of sources that are kept. Where
        not all of the past is known, its changes are told from now on.
        """
        state, running = self._state, self._state.running
        compiled = compiler_of({name: view}, running.graph)
        alone, frontier = compiled.program(), state.manifest.frontier
        start = bootstrap([name], compiled, running.program, running.compiler.roots, state.manifest)
        sources, program = start.sources, start.program
        if from_now:
            sources = tuple(s for s in sources if s in state.sources and state.sources[s].is_table)
        else:
            check_kept(f"view {name!r}", sources, state.sources, state.manifest)
        backfill = self._backfills.of(program, sources, start.inputs)
        new = alone.specs().keys() - running.program.specs().keys()
        missing = [
            input_buffer
            for input_buffer in program.input_buffers.values()
            if input_buffer.name in new
        ]
        commit = StepCommit(program, (), BEGIN, BEGIN)
        backfill.fill(
            state.manifest, program.input_buffers.values() if frontier > BEGIN else missing
        )
        if frontier > BEGIN:
            punctuations = self._backfills.punctuations(view.sources)
            commit = backfill.run(frontier, bind_punctuations(program, punctuations))
        with state.mutex:
            backfill.fill(state.manifest, missing)  # what came since is not before the frontier
            actions: list[Action] = [named_state(name, alone)]
            if frontier > BEGIN:
                short = bool(start.short) or from_now
                actions += commit.as_base() if short else commit.publications()
            for state_table in sorted(new):
                actions += commit.introduced(state_table, backfill.input_buffer(state_table))
            self._define(name, view, *actions)
            state.running = state.running.with_view(name, view, compiled)

    def drop(self, name: str) -> None:
        """Remove a definition, and with it all that no other needs."""
        state = self._state
        with state.step_lock, state.mutex:
            if name not in state.definitions:
                known = ", ".join(state.definitions) or "nothing yet"
                raise PlanError(f"there is no {name!r} to drop; there are: {known}")
            readers = [v for v, view in state.views.items() if name in view.sources]
            if readers:
                raise PlanError(f"{name!r} is read by {', '.join(readers)}; drop those first")
            lifting = lifted(name, state.definitions, state.manifest)
            rest = {other: d for other, d in state.definitions.items() if other != name}
            running = state.running.without([name] if name in state.running.views else [])
            needed = {*running.program.specs(), *held(state.manifest, besides=[name])}
            for source in of_kind(SourceDefinition, rest).values():
                needed |= {state_table.name for state_table in kept_state_tables(source)}
            gone = tuple(
                state_table
                for state_table in state.manifest.state_tables
                if state_table not in needed
            )
            state.commit(Dropped(name, gone), *lifting)
            state.definitions, state.running = rest, running

    def resume(self, name: str) -> None:
        """Bring a failed view up to date, and keep it so; an error where it fails again."""
        state = self._state
        with state.step_lock:
            if name not in state.manifest.failures:
                raise PlanError(f"view {name!r} has not failed, so there is nothing to resume")
            view = state.views[name]
            bind = partial(self._backfills.bind, view.sources)
            actions = resumed(name, state.running, view, state.manifest, self._backfills.of, bind)
            with state.mutex:
                state.commit(*actions(state.manifest, state.running))
                state.running = state.running.with_view(name, view)

    def answer(
        self, plan: Node, key: Sequence[str] | None = None, at: int | None = None
    ) -> CommittedView:
        """What the plan gives of the rows so far as of a time; nothing is committed.

        Without a time, that is the last one before the frontier, as of a view; before the first
        step it is the end of time. As of INF, and before the first step, no more rows are to come.
        Its files are garbage from the start: readers have the time of the grace.
        """
        state = self._state
        with state.garbage.writing():
            manifest, name = state.manifest, "answer"
            frontier = manifest.frontier if manifest.frontier > BEGIN else INF
            time, until = time_of(state.sources.values()), _after(at, frontier)
            if until > frontier and at != INF:
                raise PlanError(
                    f"time {shown(until - 1, time)} is not complete yet; everything before "
                    f"{shown(frontier, time)} is. AS OF END answers as if no more rows came"
                )
            view = ViewDefinition(plan, None if key is None else tuple(key))
            program = compiler_of({name: view}, Graph()).program()
            check_kept("the query", sorted(view.sources), state.sources, manifest)
            backfill = self._backfills.of(program, sorted(view.sources))
            closings = self._backfills.punctuations(view.sources)
            if at == INF or frontier == INF:
                ends = {s: end_of(state.source(s), state.source_state(s)) for s in closings}
                closings = {s: replace(c, ended=ends[s]) for s, c in closings.items()}
            backfill.fill(manifest, program.input_buffers.values())
            commit = backfill.run(until, bind_punctuations(program, closings))
        actions: list[Action] = [Advanced(until), *commit.publications()]
        actions += commit.introduced(view_state_table(name), StateTableRuns())
        found = fold(Manifest(), manifest.version, actions)
        return CommittedView(name, view.state_table(name), time, found, state.runs)


def _after(at: int | None, frontier: int) -> int:
    """The end of the step that makes an answer as of a time; of the frontier without one."""
    if at is None:
        return frontier
    return INF if at == INF else at + 1


def _state_at_first(name: str, definition: Any) -> Iterable[Action]:
    """A table has nothing more to come; a stream that is attached has a checkpoint of its own."""
    if isinstance(definition, SourceDefinition):
        state = SourceState(checkpoint=new_place(name))
        yield Received(name, SourceState(frontier=INF) if definition.is_table else state)
