"""What a state directory defines, and what each of its state tables holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import penstock.sql.definitions  # noqa: F401 - the kinds of what statements define
from penstock.algebra import codec
from penstock.errors import PlanError
from penstock.ingest.sources import SourceDefinition, input_state_table, kept_state_tables
from penstock.output.definitions import ViewDefinition, compiler_of, decoded, of_kind
from penstock.physical.layout_2 import state_table_names
from penstock.physical.lower import Graph
from penstock.physical.program import Compiler, Program, view_state_table
from penstock.runtime.failures import healthy, rows_for
from penstock.runtime.files import RUNS
from penstock.runtime.places import local_path
from penstock.runtime.state_names import check_named
from penstock.state import layout_2
from penstock.state.manifest import Manifest, held_state_table
from penstock.state.run import StateTableSpec
from penstock.state.storage import storage_errors
from penstock.state.store import RunReference

LOG = "log"


@dataclass(frozen=True)
class Defined:
    """The definitions of a directory, and what runs for its views."""

    definitions: Mapping[str, Any]
    running: Mapping[str, ViewDefinition]
    graph: Graph
    compiler: Compiler
    program: Program

    @staticmethod
    def by(manifest: Manifest) -> Defined:
        definitions = decoded(manifest)
        running = healthy(of_kind(ViewDefinition, definitions), manifest)
        graph = Graph()
        compiler = compiler_of(running, graph)
        return Defined(definitions, running, graph, compiler, compiler.program())

    @property
    def views(self) -> Mapping[str, ViewDefinition]:
        return of_kind(ViewDefinition, self.definitions)

    @property
    def sources(self) -> Mapping[str, SourceDefinition]:
        return of_kind(SourceDefinition, self.definitions)

    def check(self, log: Path, manifest: Manifest) -> None:
        """An error where the state that the log names is not what this version makes of the views,
        or is not there."""
        check_named(log, manifest, self.sources.values(), self.running, self.program)

    def specs(self, manifest: Manifest) -> dict[str, StateTableSpec]:
        """What the state tables hold, by the names that they have in the manifest."""
        found = self.program.specs()
        if manifest.layout == layout_2.LAYOUT:
            apart = [name for name, view in self.views.items() if view.apart]
            names = state_table_names(self.program, self.compiler, apart)
            found |= {old: found[new] for old, new in names.items() if new in found}
        for each in self.sources.values():
            found |= {state_table.name: state_table for state_table in kept_state_tables(each)}
        for name in manifest.failures:
            alone = compiler_of({name: self.views[name]}, Graph()).program().specs()
            found |= {
                state_table: spec for state_table, spec in alone.items() if state_table not in found
            }
            found |= {
                held_state_table(name, state_table): spec for state_table, spec in alone.items()
            }
            for source in self.views[name].sources & self.sources.keys():
                rows = held_state_table(name, rows_for(source))
                found[rows] = input_state_table(self.sources[source])
        for sink, state in manifest.sinks.items():
            for place, due in enumerate(state.pending):
                view: ViewDefinition = codec.decode(due.definition)
                found[due_state_table(sink, place)] = view.state_table(state.view)
        return found


def is_of_source(spec: StateTableSpec) -> bool:
    """Whether a state table holds what came of a source, rather than what something is looked up
    in."""
    return spec.name.startswith(("input ", "late ", "rejected "))


def references(manifest: Manifest) -> Iterator[tuple[str, RunReference, bool]]:
    """Every run that is named: the state table that it is of, and whether it must be in that state
    table's order.

    What views hold and published may be in none, and so may what sinks are due of replaced views.
    """
    for name, state_table in manifest.state_tables.items():
        for ref in state_table.refs:
            yield name, ref, not name.startswith(("view ", "base "))
    for view, log in manifest.changelogs.items():
        for entry in log:
            for ref in entry.refs:
                yield view_state_table(view), ref, False
    for sink, state in manifest.sinks.items():
        for place, due in enumerate(state.pending):
            for ref in due.refs:
                yield due_state_table(sink, place), ref, False


def due_state_table(sink: str, place: int) -> str:
    """What the runs are called that a sink is due of a view that was replaced."""
    return f"due {sink!r} {place}"


def existing_directory(path: str | Path) -> Path:
    """A state directory that a user names; an error where there is none."""
    directory = local_path(path, "name a directory of this machine, or a mounted one")
    with storage_errors(directory):
        is_state = any((directory / part).is_dir() for part in (LOG, RUNS))
    if not is_state:
        raise PlanError(
            f"{directory} is not a state directory. Those that `penstock run --path DIR` and "
            "penstock.connect(DIR) write hold a folder log"
        )
    return directory
