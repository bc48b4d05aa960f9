from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import pyarrow as pa

from penstock.algebra.cardinality import Bound, Cardinalities, all_of
from penstock.algebra.closing import Kind, Known, in_common, latest
from penstock.algebra.expr import Expr, renamed
from penstock.algebra.operators.map import only
from penstock.algebra.operators.node import Node, Offsets, Outputs, require_same_types
from penstock.algebra.reference import Reference, Relation, summed
from penstock.kinds import kind


@kind("union")
@dataclass(frozen=True)
class Union(Node):
    """All elements of all inputs; weights add."""

    parts: tuple[Node, ...]

    def __post_init__(self) -> None:
        self.require(len(self.parts) > 0, "needs at least one input")
        for part in self.parts:
            require_same_types(self, self.parts[0].schema, part.schema)

    @property
    def schema(self) -> pa.Schema:
        return self.parts[0].schema

    def describe(self) -> str:
        return "union"

    def unique_key(self) -> None:
        return None

    def is_set(self) -> bool:
        return len(self.parts) == 1 and self.parts[0].is_set()

    def is_append_only(self) -> bool:
        return all(part.is_append_only() for part in self.parts)

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        """Equation 8."""
        return summed(item for part in self.parts for item in reference.at(part, t).items())

    def passes_filter(self, condition: Expr) -> tuple[Expr, ...]:
        return tuple(renamed(condition, self.schema, part.schema) for part in self.parts)

    def passes_map(self, outputs: Outputs) -> tuple[Outputs, ...]:
        return tuple(
            tuple((name, renamed(value, self.schema, part.schema)) for name, value in outputs)
            for part in self.parts
        )

    def narrow(self, names: set[str]) -> Self:
        at = [i for i, name in enumerate(self.schema.names) if name in names]
        parts = (only(part, [part.schema.names[i] for i in at]) for part in self.parts)
        return self.with_inputs(*parts)

    @cached_property
    def progress(self) -> Offsets:
        return in_common(self, [part.progress for part in self.parts], min)

    @cached_property
    def ahead(self) -> Offsets:
        return in_common(self, [part.ahead for part in self.parts], max)

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        names = self.schema.names
        return latest(
            *(
                part.when_closed(known.renamed(names, part.schema.names), kind)
                for part in self.parts
            )
        )

    def cardinality(self, known: Cardinalities) -> Bound | None:
        return all_of(known.of(part) for part in self.parts)

    def let_go(self) -> tuple[()]:
        return ()

    def lineage(self, column: str) -> None:
        return None
