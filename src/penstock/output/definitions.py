"""What a state directory defines: sources, views, and whatever else users have named.

The log keeps definitions in their order. The engine runs sources and views. Definitions of any
other kind, frozen dataclasses of this package, it only keeps, for whoever made them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.algebra import codec
from penstock.algebra.plan import Node, Scan
from penstock.errors import PlanError, StateError
from penstock.ingest.sources import SourceDefinition
from penstock.kinds import kind, kind_of
from penstock.physical.expiry import Strategy
from penstock.physical.lower import Graph
from penstock.physical.program import Compiler, view_spec
from penstock.sql.binding.catalog import is_constant
from penstock.state.manifest import Manifest
from penstock.state.names import check_name
from penstock.state.run import StateTableSpec

T = TypeVar("T")


@kind("view")
@dataclass(frozen=True)
class ViewDefinition:
    """A view: its plan, its key where one is known, the text it was written as, and how what has
    left its windows is noticed.

    No two records that are there at one time share the values of the key's columns; with the empty
    key there is at most one record at a time. `said` is what the view says, where its plan reads
    other views instead. A view that runs `apart` has nothing in common with others. `reads` are
    the columns that what it reads had when it was bound: more of them are not among those of `*`.
    """

    plan: Node
    key: tuple[str, ...] | None = None
    text: str = ""
    expiry: Strategy = "piggyback"
    said: Node | None = None
    apart: bool = False
    reads: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __post_init__(self) -> None:
        for column in self.key or ():
            if column not in self.plan.schema.names:
                known = ", ".join(self.plan.schema.names)
                raise PlanError(f"no column {column!r} to be a key; there are {known}")

    @property
    def meaning(self) -> Node:
        return self.plan if self.said is None else self.said

    @property
    def sources(self) -> frozenset[str]:
        return sources_of(self.plan)

    def state_table(self, name: str) -> StateTableSpec:
        """Where the records of the view are, by its name."""
        return view_spec(name, self.plan.schema, self.key)


def check_free(name: str, definitions: Mapping[str, Any]) -> None:
    """An error where nothing new can have this name. Names that differ only by case are one."""
    same = name
    if not is_constant(name):  # whose name is a text of a query, where case matters
        same = {known.lower(): known for known in definitions}.get(check_name(name).lower(), name)
    if same in definitions:
        raise PlanError(f"{same!r} exists already; choose another name or drop it first")


def sources_of(plan: Node) -> frozenset[str]:
    """The names of the sources and tables that a plan reads."""
    return frozenset(node.name for node in plan.walk() if isinstance(node, Scan))


def decoded(manifest: Manifest, *only: type[Any]) -> dict[str, Any]:
    """All definitions, or those of some classes only, in the order in which they were made."""
    wanted = {kind_of(made).written for made in only}
    return {
        name: _decoded(name, data)
        for name, data in manifest.definitions.items()
        if not only or (data["value"] if "nodes" in data else data)["is"] in wanted
    }


def _decoded(name: str, data: Any) -> Any:
    try:
        return codec.decode(data)
    except StateError as error:
        raise StateError("log", f"the definition of {name!r} cannot be read: {error}") from error


def of_kind(kind: type[T], definitions: Mapping[str, Any]) -> dict[str, T]:
    return {name: found for name, found in definitions.items() if isinstance(found, kind)}


def sources_and_views(
    manifest: Manifest,
) -> tuple[dict[str, SourceDefinition], dict[str, ViewDefinition]]:
    known = decoded(manifest, SourceDefinition, ViewDefinition)
    return of_kind(SourceDefinition, known), of_kind(ViewDefinition, known)


def compiler_of(views: Mapping[str, ViewDefinition], graph: Graph) -> Compiler:
    """What has compiled these views; a graph remembers the operators of those it has seen."""
    compiler = Compiler(graph)
    for name, view in views.items():
        compiler.add(name, view.plan, view.key, view.expiry, view.apart)
    return compiler
