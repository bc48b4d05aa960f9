from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from penstock.algebra.cardinality import Bound, Cardinalities
from penstock.algebra.closing import Kind, Known
from penstock.algebra.expr import Expr
from penstock.algebra.operators.node import Node, Offsets, OneInput, Outputs
from penstock.algebra.reference import Reference, Relation
from penstock.kinds import kind


@kind("coalesce")
@dataclass(frozen=True)
class Coalesce(OneInput):
    """The same snapshots in fewer elements: adjoining validities are joined, up to `limit` long."""

    limit: int

    def __post_init__(self) -> None:
        self.require(self.limit > 0, f"the limit must be positive, not {self.limit}")

    def describe(self) -> str:
        return f"coalesce {self.limit}"

    def unique_key(self) -> tuple[str, ...] | None:
        return self.input.unique_key()

    def is_set(self) -> bool:
        return self.input.is_set()

    def is_append_only(self) -> bool:
        return self.input.is_append_only()

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        return reference.at(self.input, t)

    def passes_filter(self, condition: Expr) -> tuple[Expr]:
        """Coalescing changes no snapshot."""
        return (condition,)

    def passes_map(self, outputs: Outputs) -> tuple[Outputs]:
        """Coalescing changes no snapshot."""
        return (outputs,)

    def narrow(self, names: set[str]) -> Self:
        return self.with_inputs(self.input.narrowed(names))

    @property
    def progress(self) -> Offsets:
        return {}

    @property
    def ahead(self) -> Offsets:
        return self.input.ahead

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        return self.input.when_closed(known, kind)

    def cardinality(self, known: Cardinalities) -> Bound | None:
        return known.of(self.input)

    def let_go(self) -> tuple[()]:
        return ()

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return self.some_of(self.input, column)
