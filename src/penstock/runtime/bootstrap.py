"""A view that begins while others run: what it can be made up from, and how much of the past.

What a running view has given is kept, as its changes. A new view that reads it is made up from
them: from all of them or, where old ones were given up, from what was there when they were. Only
what no running view gives comes from the rows of sources, as far as they are kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.element import BEGIN
from penstock.errors import PlanError, UnsupportedError
from penstock.ingest.sources import SourceDefinition
from penstock.physical.kernel import Kernel
from penstock.physical.lower import Operator
from penstock.physical.program import Compiler, FromInputBuffer, Program, base_state_table
from penstock.physical.source_pipeline import source_pipelines
from penstock.physical.subplan import BEGINS, ENDS, WEIGHT, asks_for_the_past, cut, with_times
from penstock.punctuation.closings import Closings
from penstock.runtime.backfill import Backfill, BackfillInput
from penstock.runtime.pipeline_state import PipelineState
from penstock.runtime.punctuation_store import bind_punctuations, closing
from penstock.state.manifest import Manifest
from penstock.state.run import StateTableSpec


@dataclass(frozen=True)
class Bootstrap:
    """What new views begin with: a program over what is given, by views and by sources.

    `short` are those that know of the past only what was there in the end. `read` are the running
    views that give.
    """

    program: Program
    inputs: tuple[BackfillInput, ...]
    sources: tuple[str, ...]
    short: frozenset[str]
    read: tuple[str, ...]


def bootstrap(
    new: Sequence[str],
    compiled: Compiler,
    running: Program,
    roots: Mapping[str, str],
    manifest: Manifest,
) -> Bootstrap:
    """How views begin where others run, which are known by the identities of their roots."""
    tops = {name: compiled.root(name) for name in new}
    mine = dict.fromkeys(operator.identity for top in tops.values() for operator in top.walk())
    views = {i: roots[i] for i in mine if i in roots and _is_kept(roots[i], manifest)}
    whole = {i: one for i, one in views.items() if _is_whole(one, manifest)}
    names = {i: _name(one) for i, one in views.items()}
    asked = any(asks_for_the_past(top, names) for top in tops.values())
    if len(whole) < len(views) and asked:
        views = whole
        names = {i: _name(one) for i, one in views.items()}
    compiler, made = Compiler(), dict[Operator, Operator]()
    read: dict[str, set[str]] = {}
    for name, top in tops.items():
        start = cut(top, names, made)
        compiler.put(name, start, compiled.state_table(name))
        read[name] = set(_scans(start))
    scans = set().union(*read.values())
    used = tuple(one for one in views.values() if _name(one) in scans)
    inputs = tuple(input_of(one, running, manifest) for one in used)
    parts = {_name(one) for one in used if one not in whole.values()}
    short = frozenset(name for name, scanned in read.items() if scanned & parts)
    sources = tuple(sorted(scans - {one.source.name for one in inputs}))
    return Bootstrap(compiler.program(), inputs, sources, short, used)


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
    return (b.source.name for o in root.walk() if not o.inputs for b in source_pipelines(o))


def _name(view: str) -> str:
    """The view as a source: a name that no source of users can have."""
    return f"\x1fview {view}"


def _is_kept(view: str, manifest: Manifest) -> bool:
    """Whether what a view gave is known up to now."""
    return manifest.frontier == BEGIN or bool(
        manifest.changelogs.get(view)
        or manifest.state_table(base_state_table(view)).frontier > BEGIN
    )


def _is_whole(view: str, manifest: Manifest) -> bool:
    """Whether all that a view gave is kept."""
    if manifest.state_table(base_state_table(view)).frontier > BEGIN:
        return False
    log = manifest.changelogs.get(view, ())
    return log[0].w0 == BEGIN if log else manifest.frontier == BEGIN


def input_of(view: str, program: Program, manifest: Manifest) -> BackfillInput:
    """What a running view gave so far, and what is on its way."""
    state_table, origin = program.view_state_tables[view], program.views[view]
    waiting = (
        program.input_buffers[origin.input_buffer].state_table
        if isinstance(origin, FromInputBuffer)
        else None
    )
    source = SourceDefinition(
        _name(view), with_times(state_table.schema), BEGINS, until=ENDS, weight=WEIGHT
    )
    log = manifest.changelogs.get(view, ())
    refs = tuple(ref for entry in log for ref in entry.refs)
    return BackfillInput(
        source, state_table, refs, manifest.state_table(base_state_table(view)).refs, waiting
    )


class Backfills:
    """What programs that begin now get to know of the past of a pipeline."""

    def __init__(self, state: PipelineState) -> None:
        self._state = state

    def of(
        self,
        program: Program,
        sources: Iterable[str],
        inputs: Iterable[BackfillInput] = (),
        **more: Any,
    ) -> Backfill:
        return self.over(program, [self._state.sources[name] for name in sources], inputs, **more)

    def over(
        self,
        program: Program,
        sources: Iterable[SourceDefinition],
        inputs: Iterable[BackfillInput] = (),
        **more: Any,
    ) -> Backfill:
        state = self._state
        return Backfill(program, sources, state.jobs, state.runs, state.tasks, inputs, **more)

    def punctuations(
        self, names: Iterable[str], sources: Mapping[str, SourceDefinition] | None = None
    ) -> dict[str, Closings]:
        """What punctuations said of sources, from the beginning of time on."""
        state, known = self._state, self._state.sources if sources is None else sources
        of = state.punctuations.since_the_beginning
        return {name: of(known[name], state.manifest) for name in names}

    def bind(
        self,
        names: Iterable[str],
        program: Program,
        frontier: int,
        sources: Mapping[str, SourceDefinition] | None = None,
    ) -> tuple[dict[int, Kernel], dict[str, StateTableSpec]]:
        """The kernels of a program that looks from a time on, with what punctuations said by then,
        and the state tables of which these close a part."""
        known = self.punctuations(names, sources).items()
        kernels = bind_punctuations(program, {name: one.settled(frontier) for name, one in known})
        return kernels, closing(program, kernels)
