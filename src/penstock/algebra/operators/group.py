from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from penstock.algebra.cardinality import Bound, Cardinalities
from penstock.algebra.closing import Kind, Known
from penstock.algebra.expr import Expr, columns
from penstock.algebra.operators.node import Node, Offsets, OneInput, Outputs
from penstock.algebra.reference import Reference, Relation, function_of
from penstock.kinds import kind


@kind("group")
@dataclass(frozen=True)
class Group(OneInput):
    """The j-th stream of the paper's grouping: the records that `function` assigns to `index`."""

    function: Expr
    index: int

    def __post_init__(self) -> None:
        self.require_expr(self.function, self.input.schema, pa.int64())

    def describe(self) -> str:
        return f"group {self.function} = {self.index}"

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
        """Equation 6."""
        assign = function_of(self.function, self.input.schema)
        rows = reference.at(self.input, t).items()
        return Counter({e: n for e, n in rows if assign(e) == self.index})

    def passes_filter(self, condition: Expr) -> tuple[Expr]:
        """Both keep or drop each record by itself."""
        return (condition,)

    def passes_map(self, outputs: Outputs) -> None:
        """The function may read what the map leaves out."""
        return None

    def narrow(self, names: set[str]) -> Self:
        return self.with_inputs(self.input.narrowed(names | columns(self.function)))

    @property
    def progress(self) -> Offsets:
        return self.input.progress

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
