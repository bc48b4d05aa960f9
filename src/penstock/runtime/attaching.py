"""A view that begins while others run: what it can be made up from, and how much of the past.

What a running view has given is kept, as its changes. A new view that reads it is made up from
them: from all of them or, where old ones were given up, from what was there when they were. Only
what no running view gives comes from the rows of sources, as far as they are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from penstock.element import BEGIN
from penstock.errors import PlanError, UnsupportedError
from penstock.physical.branches import branches
from penstock.physical.cutting import BEGINS, ENDS, WEIGHT, asks_for_the_past, cut, with_times
from penstock.physical.lower import Operator
from penstock.physical.program import Compiler, FromLane, Program, base_area
from penstock.runtime.backfill import Given
from penstock.runtime.sources import SourceDefinition
from penstock.state.manifest import Manifest


@dataclass(frozen=True)
class Beginning:
    """What a new view begins with: a program over what is given, by views and by sources.

    `short`: of the past it knows only what was there in the end.
    """

    program: Program
    given: tuple[Given, ...]
    sources: tuple[str, ...]
    short: bool


def beginning(
    name: str, view: Compiler, running: Program, roots: Mapping[str, str], manifest: Manifest
) -> Beginning:
    """How a view begins where others run, which are known by the identities of their roots."""
    root = view.root(name)
    mine = [operator.identity for operator in root.walk()]
    views = {i: roots[i] for i in mine if i in roots and _is_kept(roots[i], manifest)}
    whole = {i: one for i, one in views.items() if _is_whole(one, manifest)}
    names = {i: _name(one) for i, one in views.items()}
    if len(whole) < len(views) and asks_for_the_past(root, names):
        views = whole
        names = {i: _name(one) for i, one in views.items()}
    start = cut(root, names)
    compiler = Compiler()
    compiler.put(name, start, view.program().view_areas[name])
    program = compiler.program()
    read = set(_scans(start))
    used = [one for one in views.values() if _name(one) in read]
    given = tuple(_given(one, running, manifest) for one in used)
    short = any(one not in whole.values() for one in used)
    sources = tuple(sorted(read - {one.source.name for one in given}))
    return Beginning(program, given, sources, short)


def check_kept(
    who: str, names: Iterable[str], sources: Mapping[str, SourceDefinition], manifest: Manifest
) -> None:
    """All rows so far of these sources are there to begin with."""
    for name in names:
        if name not in sources:
            known = ", ".join(sources) or "none"
            raise PlanError(f"{who} reads {name!r}; the sources are: {known}")
        state = manifest.sources.get(name)
        if state is not None and state.accepted and not state.kept:
            raise UnsupportedError(
                f"{who} reads {name!r}, whose rows so far it would not see: they were not kept. "
                "Create views before the first rows, or connect with keep_input=True. To see only "
                "what comes from now on, write CREATE VIEW ... START NOW AS SELECT ..."
            )


def _scans(root: Operator) -> Iterable[str]:
    return (b.source.name for o in root.walk() if not o.inputs for b in branches(o))


def _name(view: str) -> str:
    """The view as a source: a name that no source of users can have."""
    return f"\x1fview {view}"


def _is_kept(view: str, manifest: Manifest) -> bool:
    """Whether what a view gave is known up to now."""
    return manifest.frontier == BEGIN or bool(
        manifest.changelogs.get(view) or manifest.area(base_area(view)).frontier > BEGIN
    )


def _is_whole(view: str, manifest: Manifest) -> bool:
    """Whether all that a view gave is kept."""
    if manifest.area(base_area(view)).frontier > BEGIN:
        return False
    log = manifest.changelogs.get(view, ())
    return log[0].w0 == BEGIN if log else manifest.frontier == BEGIN


def _given(view: str, program: Program, manifest: Manifest) -> Given:
    area, origin = program.view_areas[view], program.views[view]
    waiting = program.lanes[origin.lane].area if isinstance(origin, FromLane) else None
    source = SourceDefinition(
        _name(view), with_times(area.schema), BEGINS, until=ENDS, weight=WEIGHT
    )
    log = manifest.changelogs.get(view, ())
    refs = tuple(ref for entry in log for ref in entry.refs)
    return Given(source, area, refs, manifest.area(base_area(view)).refs, waiting)
