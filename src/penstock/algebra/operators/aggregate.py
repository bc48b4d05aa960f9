from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import pyarrow as pa

from penstock.algebra import aggregates
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.cardinality import ONE, Bound, Cardinalities, least
from penstock.algebra.closing import Kind, Known, closed_by_time, closes
from penstock.algebra.expr import Expr, columns
from penstock.algebra.operators.map import only
from penstock.algebra.operators.node import Node, Offsets, Outputs
from penstock.algebra.reference import Record, Reference, Relation, aggregated, picker
from penstock.kinds import kind


@kind("aggregate")
@dataclass(frozen=True)
class Aggregate(Node):
    """One record per group that is not empty; without keys, one record at all times.

    `until`, computed from the keys, says from when on the input has no more changes of a group, as
    where rows arrive in the order of the time they are grouped by. It frees state and never changes
    a result, provided it is true; NULL is never.
    """

    input: Node
    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]
    until: Expr | None = None

    def __post_init__(self) -> None:
        self.require_columns(self.keys, self.input.schema)
        for call in self.calls:
            self.require_columns(call.columns, self.input.schema)
        names = [*self.keys, *(call.name for call in self.calls)]
        self.require(len(set(names)) == len(names), f"columns are named twice in {names}")
        self.require(self.until is None or len(self.keys) > 0, "until is for groups by keys")
        self.require_until(self.until, self.input.schema, self.keys)
        _ = self.schema

    @cached_property
    def schema(self) -> pa.Schema:
        source = self.input.schema
        calls = [(c.name, aggregates.result_type(c, source)) for c in self.calls]
        return pa.schema([*(source.field(key) for key in self.keys), *calls])

    def describe(self) -> str:
        text = ", ".join([*self.keys, *(call.describe() for call in self.calls)])
        return f"aggregate {text}" + ("" if self.until is None else f" until {self.until}")

    def unique_key(self) -> tuple[str, ...]:
        return self.keys

    def is_set(self) -> bool:
        return True

    def is_append_only(self) -> bool:
        return False

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        """Equation 7."""
        schema = self.input.schema
        key = picker(self.keys, schema)
        groups: dict[Record, list[Record]] = {} if self.keys else {(): []}
        for e in reference.at(self.input, t).elements():
            groups.setdefault(key(e), []).append(e)
        return Counter(
            (*k, *(aggregated(call, schema, group) for call in self.calls))
            for k, group in groups.items()
        )

    def passes_filter(self, condition: Expr) -> tuple[Expr] | None:
        """filter_p(aggregate_K(S)) = aggregate_K(filter_p(S)), where p reads only K, not empty.

        All records of a group agree on its keys, so a group is kept or dropped as a whole. Without
        keys there is a record even for no input, which a filter below could not drop.
        """
        return (condition,) if self.keys and columns(condition) <= set(self.keys) else None

    def passes_map(self, outputs: Outputs) -> None:
        return None

    def narrow(self, names: set[str]) -> Self:
        used = tuple(call for call in self.calls if call.name in names)
        needed = {*self.keys, *(name for call in used for name in call.columns)}
        return self.replaced(input=only(self.input, needed), calls=used)

    @cached_property
    def progress(self) -> Offsets:
        return {column: k for column, k in self.input.progress.items() if column in self.keys}

    @cached_property
    def ahead(self) -> Offsets:
        return {column: k for column, k in self.input.ahead.items() if column in self.keys}

    def with_closing(self) -> Self:
        return replace(self, until=closed_by_time(self.input, self.keys))

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        return self.input.when_closed(known.only(self.keys), "any")

    def cardinality(self, known: Cardinalities) -> Bound | None:
        if not self.keys:
            return ONE
        return least([known.of(self.input), known.values(self.input, self.keys)])

    def let_go(self) -> tuple[Expr | None]:
        return (closes(self.input, self.keys) if self.keys else None,)

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return (self.input, column) if column in self.keys else None
