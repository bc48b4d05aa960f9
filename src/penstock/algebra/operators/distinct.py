from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Self

from penstock.algebra.cardinality import Bound, Cardinalities, least
from penstock.algebra.closing import Kind, Known, closed_by_time, closes
from penstock.algebra.expr import Expr
from penstock.algebra.operators.node import Node, Offsets, OneInput, Outputs
from penstock.algebra.reference import Reference, Relation
from penstock.kinds import kind


@kind("distinct")
@dataclass(frozen=True)
class Distinct(OneInput):
    """Every record once.

    `until`, computed from the record, says from when on the input has no more changes of it. It
    frees state and never changes a result, provided it is true; NULL is never.
    """

    until: Expr | None = None

    def __post_init__(self) -> None:
        self.require_until(self.until, self.input.schema, self.input.schema.names)

    def describe(self) -> str:
        return "distinct" if self.until is None else f"distinct until {self.until}"

    def unique_key(self) -> tuple[str, ...]:
        key = self.input.unique_key()
        return tuple(self.schema.names) if key is None else key

    def is_set(self) -> bool:
        return True

    def is_append_only(self) -> bool:
        return False

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        """Equation 4."""
        return Counter(dict.fromkeys(reference.at(self.input, t), 1))

    def passes_filter(self, condition: Expr) -> tuple[Expr]:
        return (condition,)

    def passes_map(self, outputs: Outputs) -> None:
        """Records that a map makes equal are several below it."""
        return None

    def narrow(self, names: set[str]) -> Self:
        """Whole records are compared."""
        return self

    @property
    def progress(self) -> Offsets:
        return self.input.progress

    @property
    def ahead(self) -> Offsets:
        return self.input.ahead

    def with_closing(self) -> Self:
        return replace(self, until=closed_by_time(self.input))

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        return self.input.when_closed(known, kind)

    def cardinality(self, known: Cardinalities) -> Bound | None:
        names = tuple(self.schema.names)
        return least([known.of(self.input), known.values(self.input, names)])

    def let_go(self) -> tuple[Expr | None]:
        return (closes(self.input),)

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return self.some_of(self.input, column)
