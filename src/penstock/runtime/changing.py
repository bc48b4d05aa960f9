"""Definitions that change: an engine replaces and renames views, and alters sources.

Law: a change is one commit. Before it everything is as it was, after it everything is as if it had
always been so; what readers have open reads on.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from penstock.algebra import codec
from penstock.element import BEGIN, INF
from penstock.errors import PlanError
from penstock.execution.problems import problem_of
from penstock.execution.settings import check_settings
from penstock.ingest.sources import SourceDefinition, kept_areas
from penstock.ingest.times import time_of
from penstock.output.definitions import ViewDefinition, check_free, compiler_of, of_kind
from penstock.output.readers import CommittedView, no_view
from penstock.physical.kernel import Kernel
from penstock.physical.lower import Graph
from penstock.physical.program import Program, view_area
from penstock.punctuation.closings import Entry
from penstock.runtime.backfill import Backfill
from penstock.runtime.bootstrap import check_kept
from penstock.runtime.failures import Running, held
from penstock.runtime.reception import Reception
from penstock.runtime.replacement import (
    MOST_ROUNDS,
    Building,
    Differences,
    Progress,
    Replacement,
    Told,
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
    held_area,
)
from penstock.state.run import AreaSpec


class Changing(Reception):
    """The part of an engine that changes what is defined."""

    replacing: Progress | None = None
    """What is built beside the views that it will replace."""

    @property
    @abstractmethod
    def sources(self) -> Mapping[str, SourceDefinition]: ...
    @property
    @abstractmethod
    def views(self) -> Mapping[str, ViewDefinition]: ...
    @abstractmethod
    def _backfill(
        self, program: Program, sources: Iterable[SourceDefinition], given: Any = (), **more: Any
    ) -> Backfill: ...
    @abstractmethod
    def _spoken(
        self,
        names: Iterable[str],
        program: Program,
        frontier: int,
        sources: Mapping[str, SourceDefinition] | None = None,
    ) -> tuple[dict[int, Kernel], dict[str, AreaSpec]]: ...

    def _defined_now(self, definitions: Mapping[str, Any], running: Running) -> None:
        self.definitions, self._running = definitions, running

    def committed(self, name: str) -> CommittedView:
        """A view as of the version that is committed now, by its definition of that version."""
        definitions, manifest = self.definitions, self.manifest
        if self.replacing is not None or definitions is not self.definitions:
            with self._mutex:
                definitions, manifest = self.definitions, self.manifest
        views = of_kind(ViewDefinition, definitions)
        if name not in views:
            raise no_view(name, views)
        time = time_of(of_kind(SourceDefinition, definitions).values())
        return CommittedView(name, views[name].area(name), time, manifest, self.runs)

    # --- replacing ------------------------------------------------------------------------------

    def replace(self, view: str, change: Replacement) -> None:
        """Let definitions take the places of others; `view` is what all of it is about.

        Steps go on while views are built, and other definitions may not change.
        """
        with self._moving, self._mutex:  # no step merges what is read, or gives up old changes
            if self.replacing is not None:
                raise PlanError(
                    f"view {self.replacing.view!r} is being replaced; wait until it is, as SHOW "
                    "VIEWS tells, and write the statement again"
                )
            self.replacing = progress = Progress(view, tuple(change.views))
        try:
            with self._garbage.writing():
                self._replace(change, progress)
        finally:
            self.replacing = None

    def _replace(self, change: Replacement, progress: Progress) -> None:
        with self._mutex:
            known, running, manifest = self.definitions, self._running, self.manifest
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
                partial(self._spoken, sources=sources),
                progress,
            )
            read = one.begin(manifest, roots)
            if not from_now:
                check_kept(f"view {', '.join(map(repr, views))}", read, sources, manifest)
            buildings.append(one)
        for _ in range(MOST_ROUNDS):
            manifest = self.manifest
            for one in buildings:
                _advanced(one, manifest)
            if self.manifest.frontier == manifest.frontier:
                break
        progress.doing = "it takes over"
        with self._moving:
            manifest = self.manifest
            for one in buildings:
                if one.frontier < manifest.frontier:
                    _advanced(one, manifest)
            told = dict(self._told(change, buildings, manifest))
            with self._mutex:
                followed = {state.view for state in self.manifest.sinks.values()}
                new = (followed & change.views.keys() & self.views.keys()) - told.keys()
                self._check_unchanged(known, running, bool(new) and manifest.frontier > BEGIN)
                self._take_over(change, definitions, buildings, told)

    def _rebuilt_from(
        self,
        sources: Mapping[str, SourceDefinition],
        program: Program,
        names: Iterable[str],
        given: Any = (),
    ) -> Backfill:
        return self._backfill(program, [sources[name] for name in names], given)

    def _check_unchanged(self, known: Mapping[str, Any], running: Running, more: bool) -> None:
        """What was built fits what is there: nothing was defined or dropped, and no view failed."""
        now = self.definitions
        same = all(now.get(name) is one for name, one in known.items())
        more |= any(n not in known and isinstance(d, ViewDefinition) for n, d in now.items())
        if not same or more or self._running.views.keys() != running.views.keys():
            raise PlanError(
                "other definitions or sinks changed, or a view failed, while this was built; "
                "everything is as it was before. Write the statement again"
            )

    def _told(
        self, change: Replacement, buildings: Iterable[Building], manifest: Manifest
    ) -> Iterable[tuple[str, Differences]]:
        """What makes the answers that sinks have the new ones, by view."""
        followed = {state.view for state in manifest.sinks.values()}
        for one in buildings:
            for name, view in one.views.items():
                old = self.views.get(name)
                if name not in followed or old is None or manifest.frontier == BEGIN:
                    continue
                failure = manifest.failures.get(name)
                frontier = manifest.frontier if failure is None else failure.frontier
                before = Told(name, old, manifest.area(view_area(name)).refs, frontier)
                after = Told(name, view, one.held(name), manifest.frontier)
                at, backfill = _last_moment(manifest), partial(self._rebuilt_from, {})
                yield name, differences(before, after, at, backfill, self.runs)

    def _take_over(
        self,
        change: Replacement,
        definitions: Mapping[str, Any],
        buildings: Iterable[Building],
        told: Mapping[str, Differences],
    ) -> None:
        views = of_kind(ViewDefinition, definitions)
        known = self._running.views
        running = Running.of({n: v for n, v in views.items() if n in change.built or n in known})
        if any(len(changes) > 1 for changes in told.values()):
            self.commit(note={"replacing": list(change.views)})
        manifest, at = self.manifest, _last_moment(self.manifest)
        actions: list[Action] = []
        built = [action for one in buildings for action in one.finished(manifest)]
        fresh = {area for one in buildings for area in one.fresh}
        needed = {*running.program.specs(), *held(manifest, besides=change.built)}
        for source in of_kind(SourceDefinition, definitions).values():
            needed |= {area.name for area in kept_areas(source)}
        gone = tuple(a for a in manifest.areas if a not in needed or a in fresh)
        moved = tuple(n for n, d in change.definitions.items() if n not in change.sources)
        anew = tuple(n for n in change.built if n in self.views)
        for name, changes in told.items():
            actions += handovers(name, manifest, self.views[name], changes, at)
        actions.append(Replaced(moved, anew, gone))
        actions += (Defined(n, codec.encode(d)) for n, d in change.definitions.items())
        self.commit(*actions, *built)
        self._defined_now(definitions, running)
        for name in change.sources:
            self._punctuations.forget(name)

    # --- names and columns ----------------------------------------------------------------------

    def rename(self, old: str, new: str, readers: Mapping[str, Any]) -> None:
        """Let a view have another name; `readers` are it and those that read it, by old names."""
        with self._moving, self._mutex:
            if self.replacing is not None:
                raise PlanError(
                    f"view {self.replacing.view!r} is being replaced; rename {old!r} afterwards"
                )
            if new.lower() != old.lower():
                check_free(new, self.definitions)
            now = {new if n == old else n: readers.get(n, d) for n, d in self.definitions.items()}
            running = Running.of({n: now[n] for n in now if n in self._renamed_running(old, new)})
            areas = self._renamed_areas(old, new)
            renamed = [Defined(new if n == old else n, codec.encode(d)) for n, d in readers.items()]
            self.commit(ViewRenamed(old, new, areas), *renamed)
            self._defined_now(now, running)

    def _renamed_running(self, old: str, new: str) -> set[str]:
        return {new if name == old else name for name in self._running.views}

    def _renamed_areas(self, old: str, new: str) -> dict[str, str]:
        """What the areas of a view are called under another name.

        Those of a view that runs apart are called after it, and in the same order.
        """
        view = self.views.get(old)
        if view is None:
            return {}
        before, after = (
            list(compiler_of({name: view}, Graph()).program().specs()) for name in (old, new)
        )
        names = {a: b for a, b in zip(before, after, strict=True) if a != b}
        failure = self.manifest.failures.get(old)
        for area in failure.areas if failure is not None else ():
            names[held_area(old, area)] = held_area(new, names.get(area, area))
        return names

    def alter(
        self, source: SourceDefinition, others: Mapping[str, Any], entries: tuple[Entry, ...]
    ) -> None:
        """Let a source have more columns; `entries` are what was said of it, in these columns.

        Views go on as they are; the others are definitions of views that merely know what they
        read, and of streams that say of the source what they said.
        """
        with self._moving, self._mutex:
            if self.replacing is not None:
                raise PlanError(
                    f"view {self.replacing.view!r} is being replaced; alter {source.name!r} "
                    "afterwards"
                )
            changed = {source.name: source, **others}
            actions: list[Action] = [Defined(n, codec.encode(d)) for n, d in changed.items()]
            if entries:
                actions.append(Punctuated(source.name, entries, anew=True))
            self.commit(*actions)
            known = {n: changed.get(n, view) for n, view in self._running.views.items()}
            self._defined_now({**self.definitions, **changed}, replace(self._running, views=known))
            self._punctuations.forget(source.name)


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
