"""What a state directory defines, and what each of its areas holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import penstock.sql.definitions  # noqa: F401 - the kinds of what statements define
from penstock.algebra import codec
from penstock.errors import PlanError
from penstock.ingest.sources import SourceDefinition, input_area, kept_areas
from penstock.output.definitions import ViewDefinition, compiler_of, decoded, of_kind
from penstock.physical.layout_2 import area_names
from penstock.physical.lower import Graph
from penstock.physical.program import Compiler, Program, view_area
from penstock.runtime.failures import healthy, rows_for
from penstock.runtime.files import RUNS
from penstock.runtime.places import local_path
from penstock.runtime.state_names import check_named
from penstock.state import layout_2
from penstock.state.manifest import Manifest, held_area
from penstock.state.run import AreaSpec
from penstock.state.storage import storage_errors
from penstock.state.store import RunRef

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

    def specs(self, manifest: Manifest) -> dict[str, AreaSpec]:
        """What the areas hold, by the names that they have in the manifest."""
        found = self.program.specs()
        if manifest.layout == layout_2.LAYOUT:
            apart = [name for name, view in self.views.items() if view.apart]
            names = area_names(self.program, self.compiler, apart)
            found |= {old: found[new] for old, new in names.items() if new in found}
        for each in self.sources.values():
            found |= {area.name: area for area in kept_areas(each)}
        for name in manifest.failures:
            alone = compiler_of({name: self.views[name]}, Graph()).program().specs()
            found |= {area: spec for area, spec in alone.items() if area not in found}
            found |= {held_area(name, area): spec for area, spec in alone.items()}
            for source in self.views[name].sources & self.sources.keys():
                rows = held_area(name, rows_for(source))
                found[rows] = input_area(self.sources[source])
        for sink, state in manifest.sinks.items():
            for place, due in enumerate(state.pending):
                view: ViewDefinition = codec.decode(due.definition)
                found[due_area(sink, place)] = view.area(state.view)
        return found


def is_of_source(spec: AreaSpec) -> bool:
    """Whether an area holds what came of a source, rather than what something is looked up in."""
    return spec.name.startswith(("input ", "late ", "rejected "))


def references(manifest: Manifest) -> Iterator[tuple[str, RunRef, bool]]:
    """Every run that is named: the area that it is of, and whether it must be in that area's order.

    What views hold and published may be in none, and so may what sinks are due of replaced views.
    """
    for name, area in manifest.areas.items():
        for ref in area.refs:
            yield name, ref, not name.startswith(("view ", "base "))
    for view, log in manifest.changelogs.items():
        for entry in log:
            for ref in entry.refs:
                yield view_area(view), ref, False
    for sink, state in manifest.sinks.items():
        for place, due in enumerate(state.pending):
            for ref in due.refs:
                yield due_area(sink, place), ref, False


def due_area(sink: str, place: int) -> str:
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
