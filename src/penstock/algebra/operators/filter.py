from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import pyarrow as pa

from penstock.algebra.cardinality import Bound, Cardinalities
from penstock.algebra.closing import UNKNOWN, Kind, Known
from penstock.algebra.expr import Call, Column, Expr, Literal, columns, conjuncts
from penstock.algebra.operators.node import Node, Offsets, OneInput, Outputs
from penstock.algebra.reference import Reference, Relation, function_of
from penstock.algebra.times import most_offset, moved
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

    @property
    def progress(self) -> Offsets:
        return self.input.progress

    @cached_property
    def ahead(self) -> Offsets:
        """Comparisons of times say how far ahead others are."""
        below = self.input.ahead
        found = dict(below)
        for test in conjuncts(self.predicate):
            match test:
                case Call("<" | "<=", (low, high)) | Call(">" | ">=", (high, low)):
                    for column, k in below.items():
                        offset, place = most_offset(high, column), moved(low)
                        if offset is not None and place is not None:
                            name, by = place
                            found[name] = min(found.get(name, k + offset - by), k + offset - by)
        return found

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        return self.input.when_closed(self._with_constants(known), kind)

    def _with_constants(self, known: Known) -> Known:
        """With the columns that are equal to a constant."""
        exact = dict(known.exact)
        for test in conjuncts(self.predicate):
            match test:
                case Call("=", (Column(name, kind), Literal(_, other) as value)) if kind == other:
                    if not pa.types.is_nested(kind) and isinstance(exact.get(name), UNKNOWN):
                        exact[name] = value
        return Known(exact, known.upper)

    def cardinality(self, known: Cardinalities) -> Bound | None:
        return known.of(self.input)

    def let_go(self) -> tuple[()]:
        return ()

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return self.some_of(self.input, column)
