"""The state tables of views, which the log names: what is named is there, or the state is
damaged.

Law: a state table that a view needs came to be with it, and stays until the view goes. So what has
no rows is a state table without runs, and one that is not there at all is never taken for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from penstock.algebra import layout_2
from penstock.errors import StateError
from penstock.ingest.sources import SourceDefinition, input_state_table
from penstock.kinds import kind_of, known
from penstock.output.definitions import ViewDefinition, compiler_of
from penstock.physical.layout_2 import state_table_names
from penstock.physical.lower import Graph
from penstock.physical.program import Compiler, Program
from penstock.state.manifest import Action, Founded, Manifest, Renamed

_NAMED = ("view ", "base ", "input ", "late ")
"""State tables that are called by what users named."""


def named_state(view: str, program: Program) -> Founded:
    """What a view needs, given its program: each state table, and the kind of operator whose it
    is."""
    operators = {
        name: kind_of(type(place.operator.work)).written
        for place in program.places
        for name in place.state_tables
    }
    return Founded(view, {name: operators.get(name, "") for name in sorted(program.specs())})


def brought_up_to_date(
    directory: Path,
    manifest: Manifest,
    views: Mapping[str, ViewDefinition],
    compiler: Compiler,
    graph: Graph,
) -> Iterator[Action]:
    """What makes the state tables of layout 2 those of the present one; each of them has one."""
    if manifest.layout == layout_2.LAYOUT:
        apart = [name for name, view in views.items() if view.apart]
        names = state_table_names(compiler.program(), compiler, apart)
        unknown = [a for a in manifest.state_tables if a not in names and not a.startswith(_NAMED)]
        if unknown:
            raise StateError(
                directory,
                f"state table {unknown[0]!r} of layout 2 is not one that this Penstock, with "
                "this version of PyArrow, has a name for. Open the directory with the versions "
                "that wrote it, or create the views anew under another path",
            )
        yield Renamed({old: names[old] for old in manifest.state_tables if old in names})
        for name, view in views.items():
            yield named_state(name, compiler_of({name: view}, graph).program())


def check_named(
    directory: Path,
    manifest: Manifest,
    sources: Iterable[SourceDefinition],
    views: Mapping[str, ViewDefinition],
    program: Program,
) -> None:
    """The state that the views need is that which the log names, and it is there.

    So are the rows that are kept of sources.
    """
    for source in sources:
        state, state_table = manifest.sources.get(source.name), input_state_table(source).name
        if (
            state is not None
            and state.accepted
            and state.kept
            and state_table not in manifest.state_tables
        ):
            raise StateError(
                directory, f"state table {state_table!r} of source {source.name!r} is not there"
            )
    for view in views:
        if view not in manifest.needs:
            raise StateError(directory, f"the log does not name the state of view {view!r}")
        for state_table, operator in manifest.needs[view].items():
            if operator:
                _check_operator(directory, view, operator)
            if state_table not in manifest.state_tables:
                raise StateError(
                    directory, f"state table {state_table!r} of view {view!r} is not there"
                )
    named = {state_table for needs in manifest.needs.values() for state_table in needs}
    for state_table in sorted(named.symmetric_difference(program.specs())):
        of = [view for view, needs in manifest.needs.items() if state_table in needs]
        needed = (
            f"has no use for state table {state_table!r} of view {of[0]!r}"
            if of
            else f"needs {state_table!r}"
        )
        raise StateError(
            directory,
            f"this version of Penstock {needed}: it runs the views in another way than the one "
            "that wrote their state. Open the directory with that version, or create the views "
            "anew under another path",
        )


def _check_operator(directory: Path, view: str, operator: str) -> None:
    try:
        known(operator)
    except StateError as error:
        problem = f"view {view!r} needs the operator {operator!r}: {error.getMessage()}"
        raise StateError(directory, problem) from error
