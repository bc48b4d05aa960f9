from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import pyarrow as pa

from penstock.algebra.cardinality import Bound, Cardinalities
from penstock.algebra.closing import ALWAYS, Kind, Known
from penstock.algebra.expr import Expr, columns
from penstock.algebra.operators.map import only
from penstock.algebra.operators.node import Node, Offsets, Outputs, listed
from penstock.algebra.reference import Record, Reference, Relation, picker
from penstock.kinds import kind


@kind("session")
@dataclass(frozen=True)
class Session(Node):
    """Adds to each record of an append-only stream the time at which its session began.

    A record more than `gap` after the last one of its partition begins a new session.
    """

    input: Node
    partition: tuple[str, ...]
    gap: int
    start: str = "session_start"

    def __post_init__(self) -> None:
        self.require(self.gap > 0, f"the gap must be positive, not {self.gap}")
        self.require_columns(self.partition, self.input.schema)
        self.require(self.start not in self.input.schema.names, f"{self.start!r} exists already")

    @cached_property
    def schema(self) -> pa.Schema:
        return self.input.schema.append(pa.field(self.start, pa.int64()))

    def describe(self) -> str:
        return " ".join([f"session {self.gap}", *listed("per", self.partition), f"as {self.start}"])

    def unique_key(self) -> None:
        return None

    def is_set(self) -> bool:
        return self.input.is_set()

    def is_append_only(self) -> bool:
        return self.input.is_append_only()

    def time_column(self) -> str | None:
        return self.input.time_column()

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        key = picker(self.partition, self.input.schema)
        last: dict[Record, tuple[int, int]] = {}
        rows: Relation = Counter()
        for s, e in reference.arrivals(self.input, t):
            start, before = last.get(key(e), (s, s))
            start = s if s - before > self.gap else start
            last[key(e)] = (start, s)
            rows[*e, start] += 1
        return rows

    def passes_filter(self, condition: Expr) -> tuple[Expr] | None:
        """Where only the partition is read: each has its own sessions, kept or dropped whole."""
        return (condition,) if columns(condition) <= set(self.partition) else None

    def passes_map(self, outputs: Outputs) -> None:
        return None

    def narrow(self, names: set[str]) -> Node:
        if self.start not in names:
            return self.input.narrowed(names)
        return self.replaced(input=only(self.input, {*names, *self.partition} - {self.start}))

    @property
    def progress(self) -> Offsets:
        return self.input.progress

    @cached_property
    def ahead(self) -> Offsets:
        return {**self.input.ahead, self.start: 0}

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        if kind == "loss":
            return ALWAYS
        return self.input.when_closed(known.only(self.input.schema.names), kind)

    def cardinality(self, known: Cardinalities) -> Bound | None:
        return known.of(self.input)

    def let_go(self) -> tuple[()]:
        return ()

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return self.some_of(self.input, column)
