"""What operators say that only cut or join the validities of records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from penstock.algebra.cardinality import Bound, Cardinalities
from penstock.algebra.closing import Kind, Known
from penstock.algebra.expr import Expr
from penstock.algebra.operators.node import Node, Offsets, OneInput, Outputs
from penstock.algebra.reference import Reference, Relation


@dataclass(frozen=True)
class SameSnapshots(OneInput, base=True):
    """The snapshots of its input in other elements."""

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
        """No snapshot is changed."""
        return (condition,)

    def passes_map(self, outputs: Outputs) -> tuple[Outputs]:
        """No snapshot is changed."""
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
