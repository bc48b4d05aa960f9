from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from penstock.algebra.expr import Expr, columns
from penstock.algebra.operators.node import Node, OneInput, Outputs
from penstock.algebra.reference import Reference, Relation, function_of
from penstock.kinds import kind


@kind("filter")
@dataclass(frozen=True)
class Filter(OneInput):
    """The records for which the predicate is true."""

    predicate: Expr

    def __post_init__(self) -> None:
        self.require_expr(self.predicate, self.input.schema, pa.bool_())

    def describe(self) -> str:
        return f"filter {self.predicate}"

    def unique_key(self) -> tuple[str, ...] | None:
        return self.input.unique_key()

    def is_set(self) -> bool:
        return self.input.is_set()

    def is_append_only(self) -> bool:
        return self.input.is_append_only()

    def time_column(self) -> str | None:
        return self.input.time_column()

    def sequenced(self) -> Node | None:
        below = self.input.sequenced()
        return None if below is None else self.with_inputs(below)

    def snapshot(self, reference: Reference, t: int) -> Relation:
        """Equation 1."""
        truth = function_of(self.predicate, self.input.schema)
        return Counter({e: n for e, n in reference.at(self.input, t).items() if truth(e)})

    def passes_filter(self, condition: Expr) -> None:
        """Neither needs to go below the other: `merge_filters` makes one of them."""
        return None

    def passes_map(self, outputs: Outputs) -> None:
        """The condition may read what the map leaves out; filters go below maps instead."""
        return None

    def narrow(self, names: set[str]) -> Self:
        return self.with_inputs(self.input.narrowed(names | columns(self.predicate)))
