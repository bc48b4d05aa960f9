"""Definitions that change: views are replaced and renamed, sources altered.

Law: a change is one commit. Before it everything is as it was, after it everything is as if it had
always been so; what readers have open reads on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from penstock.algebra import codec
from penstock.element import BEGIN, INF
from penstock.errors import PlanError
from penstock.execution.problems import problem_of
from penstock.execution.settings import check_settings
from penstock.ingest.sources import SourceDefinition, kept_state_tables
from penstock.output.definitions import ViewDefinition, check_free, compiler_of, of_kind
from penstock.physical.lower import Graph
from penstock.physical.program import Program, view_state_table
from penstock.punctuation.closings import Entry
from penstock.runtime.backfill import Backfill
from penstock.runtime.bootstrap import Backfills, check_kept
from penstock.runtime.failures import Running, held
from penstock.runtime.pipeline_state import PipelineState, Progress
from penstock.runtime.replacement import (
    MOST_PASSES,
    Building,
    Differences,
    Replacement,
    ViewState,
    differences,
    handovers,
    redefined,
)
from penstock.state.manifest import (
    Action,
    Defined,
    Manifest,
    Punctuated,
    Replaced,
    ViewRenamed,
    held_state_table,
)


class Redefinition:
    """Replaces and renames views, and alters sources."""

    def __init__(self, state: PipelineState, backfills: Backfills) -> None:
        self._state = state
        self._backfills = backfills

    # --- replacing ------------------------------------------------------------------------------

    def replace(self, view: str, change: Replacement) -> None:
        """Let definitions take the places of others; `view` is what all of it is about.

        Steps go on while views are built, and other definitions may not change.
        """
        # no step merges what is read, or gives up old changes, while this is decided
        with self._state.step_lock, self._state.mutex:
            self._check_replaces_nothing(
                "wait until it is, as SHOW VIEWS tells, and write the statement again"
            )
            self._state.replacing = progress = Progress(view, tuple(change.views))
        try:
            with self._state.garbage.writing():
                self._replace(change, progress)
        finally:
            self._state.replacing = None

    def _check_replaces_nothing(self, instead: str) -> None:
        replacing = self._state.replacing
        if replacing is not None:
            raise PlanError(f"view {replacing.view!r} is being replaced; {instead}")

    def _replace(self, change: Replacement, progress: Progress) -> None:
        with self._state.mutex:
            known, running, manifest = (
                self._state.definitions,
                self._state.running,
                self._state.manifest,
            )
        definitions = redefined(known, change.definitions)
        sources = of_kind(SourceDefinition, definitions)
        there = [v.plan for n, v in of_kind(ViewDefinition, definitions).items()]
        for name, view in change.views.items():
            check_settings(name, view.plan, there)
        staying = running.without([n for n in change.definitions if n in running.views])
        roots = {
            identity: name
            for identity, name in running.compiler.roots.items()
            if not (name in change.views and running.views[name].apart)
        }
        buildings = []
        for views, from_now in change.groups():
            one = Building(
                views,
                running,
                staying.program,
                from_now,
                sources,
                partial(self._rebuilt_from, sources),
                partial(self._backfills.bind, sources=sources),
                progress,
            )
            read = one.begin(manifest, roots)
            if not from_now:
                check_kept(f"view {', '.join(map(repr, views))}", read, sources, manifest)
            buildings.append(one)
        for _ in range(MOST_PASSES):
            manifest = self._state.manifest
            for one in buildings:
                _advanced(one, manifest)
            if self._state.manifest.frontier == manifest.frontier:
                break
        progress.doing = "it takes over"
        with self._state.step_lock:
            manifest = self._state.manifest
            for one in buildings:
                if one.frontier < manifest.frontier:
                    _advanced(one, manifest)
            due = dict(self._differences(change, buildings, manifest))
            with self._state.mutex:
                followed = {state.view for state in self._state.manifest.sinks.values()}
                new = (followed & change.views.keys() & self._state.views.keys()) - due.keys()
                self._check_unchanged(known, running, bool(new) and manifest.frontier > BEGIN)
                self._take_over(change, definitions, buildings, due)

    def _rebuilt_from(
        self,
        sources: Mapping[str, SourceDefinition],
        program: Program,
        names: Iterable[str],
        inputs: Any = (),
    ) -> Backfill:
        return self._backfills.over(program, [sources[name] for name in names], inputs)

    def _check_unchanged(self, known: Mapping[str, Any], running: Running, more: bool) -> None:
        """What was built fits what is there: nothing was defined or dropped, and no view failed."""
        now = self._state.definitions
        same = all(now.get(name) is one for name, one in known.items())
        more |= any(n not in known and isinstance(d, ViewDefinition) for n, d in now.items())
        if not same or more or self._state.running.views.keys() != running.views.keys():
            raise PlanError(
                "other definitions or sinks changed, or a view failed, while this was built; "
                "everything is as it was before. Write the statement again"
            )

    def _differences(
        self, change: Replacement, buildings: Iterable[Building], manifest: Manifest
    ) -> Iterable[tuple[str, Differences]]:
        """What makes the answers that sinks have the new ones, by view."""
        followed = {state.view for state in manifest.sinks.values()}
        for one in buildings:
            for name, view in one.views.items():
                old = self._state.views.get(name)
                if name not in followed or old is None or manifest.frontier == BEGIN:
                    continue
                failure = manifest.failures.get(name)
                frontier = manifest.frontier if failure is None else failure.frontier
                before = ViewState(
                    name, old, manifest.state_table(view_state_table(name)).refs, frontier
                )
                after = ViewState(name, view, one.held(name), manifest.frontier)
                at, backfill = _last_moment(manifest), partial(self._rebuilt_from, {})
                yield name, differences(before, after, at, backfill, self._state.runs)

    def _take_over(
        self,
        change: Replacement,
        definitions: Mapping[str, Any],
        buildings: Iterable[Building],
        due: Mapping[str, Differences],
    ) -> None:
        views = of_kind(ViewDefinition, definitions)
        known = self._state.running.views
        running = Running.of({n: v for n, v in views.items() if n in change.built or n in known})
        if any(len(changes) > 1 for changes in due.values()):
            self._state.commit(note={"replacing": list(change.views)})
        manifest, at = self._state.manifest, _last_moment(self._state.manifest)
        actions: list[Action] = []
        built = [action for one in buildings for action in one.finished(manifest)]
        fresh = {state_table for one in buildings for state_table in one.fresh}
        needed = {*running.program.specs(), *held(manifest, besides=change.built)}
        for source in of_kind(SourceDefinition, definitions).values():
            needed |= {state_table.name for state_table in kept_state_tables(source)}
        gone = tuple(a for a in manifest.state_tables if a not in needed or a in fresh)
        moved = tuple(n for n, d in change.definitions.items() if n not in change.sources)
        anew = tuple(n for n in change.built if n in self._state.views)
        for name, changes in due.items():
            actions += handovers(name, manifest, self._state.views[name], changes, at)
        actions.append(Replaced(moved, anew, gone))
        actions += (Defined(n, codec.encode(d)) for n, d in change.definitions.items())
        self._state.commit(*actions, *built)
        self._state.definitions, self._state.running = definitions, running
        for name in change.sources:
            self._state.punctuations.forget(name)

    # --- names and columns ----------------------------------------------------------------------

    def rename(self, old: str, new: str, readers: Mapping[str, Any]) -> None:
        """Let a view have another name; `readers` are it and those that read it, by old names."""
        with self._state.step_lock, self._state.mutex:
            self._check_replaces_nothing(f"rename {old!r} afterwards")
            if new.lower() != old.lower():
                check_free(new, self._state.definitions)
            now = {
                new if n == old else n: readers.get(n, d)
                for n, d in self._state.definitions.items()
            }
            running = Running.of({n: now[n] for n in now if n in self._renamed_running(old, new)})
            state_tables = self._renamed_state_tables(old, new)
            renamed = [Defined(new if n == old else n, codec.encode(d)) for n, d in readers.items()]
            self._state.commit(ViewRenamed(old, new, state_tables), *renamed)
            self._state.definitions, self._state.running = now, running

    def _renamed_running(self, old: str, new: str) -> set[str]:
        return {new if name == old else name for name in self._state.running.views}

    def _renamed_state_tables(self, old: str, new: str) -> dict[str, str]:
        """What the state tables of a view are called under another name.

        Those of a view that runs apart are called after it, and in the same order.
        """
        view = self._state.views.get(old)
        if view is None:
            return {}
        before, after = (
            list(compiler_of({name: view}, Graph()).program().specs()) for name in (old, new)
        )
        names = {a: b for a, b in zip(before, after, strict=True) if a != b}
        failure = self._state.manifest.failures.get(old)
        for state_table in failure.state_tables if failure is not None else ():
            names[held_state_table(old, state_table)] = held_state_table(
                new, names.get(state_table, state_table)
            )
        return names

    def alter(
        self, source: SourceDefinition, others: Mapping[str, Any], entries: tuple[Entry, ...]
    ) -> None:
        """Let a source have more columns; `entries` are what was said of it, in these columns.

        Views go on as they are; the others are definitions of views that merely know what they
        read, and of streams that say of the source what they said.
        """
        with self._state.step_lock, self._state.mutex:
            self._check_replaces_nothing(f"alter {source.name!r} afterwards")
            changed = {source.name: source, **others}
            actions: list[Action] = [Defined(n, codec.encode(d)) for n, d in changed.items()]
            if entries:
                actions.append(Punctuated(source.name, entries, anew=True))
            self._state.commit(*actions)
            known = {n: changed.get(n, view) for n, view in self._state.running.views.items()}
            self._state.definitions = {**self._state.definitions, **changed}
            self._state.running = replace(self._state.running, views=known)
            self._state.punctuations.forget(source.name)


def _advanced(building: Building, manifest: Manifest) -> None:
    """Let views that are built make the steps that they missed; an error names them."""
    try:
        building.advance(manifest)
    except Exception as error:
        problem = problem_of(error)
        if problem is None:
            raise
        names = ", ".join(map(repr, building.views))
        who = f"view {names} fails on the rows that are kept"
        if len(building.views) > 1:
            who = f"of {names}, which are built together, one fails; replace or drop that one first"
        raise problem.error(f"{who}. Everything stays as it was") from error


def _last_moment(manifest: Manifest) -> int:
    """The last time before the frontier; where all is over, the last that anybody spoke of."""
    if manifest.frontier < INF:
        return manifest.frontier - 1
    return max((state.largest for state in manifest.sources.values()), default=BEGIN)
