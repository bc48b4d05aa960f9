from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import pyarrow as pa

from penstock.algebra import sizes
from penstock.algebra.arrival import FIELD
from penstock.algebra.cardinality import Bound, Cardinalities
from penstock.algebra.closing import ALWAYS, Kind, Known, earliest, is_up_to
from penstock.algebra.expr import CLOSED, Call, Expr, Literal
from penstock.algebra.operators.node import Node, Offsets, Outputs
from penstock.algebra.reference import Reference, Relation, summed
from penstock.kinds import kind


@kind("scan")
@dataclass(frozen=True)
class Scan(Node):
    """An input stream, by name; `append_only` promises that its records never end or go.

    `time` is the column that says when a record begins, if there is one. `promised` is a condition
    that is true of every record, or NULL.
    """

    name: str
    columns: pa.Schema
    append_only: bool = False
    time: str | None = None
    promised: Expr | None = None

    def __post_init__(self) -> None:
        names = self.columns.names
        self.require(len(set(names)) == len(names), f"columns are named twice in {names}")
        self.require(self.time is None or self.time in names, f"no column {self.time!r}")
        if self.promised is not None:
            self.require_expr(self.promised, self.columns, pa.bool_())

    @property
    def schema(self) -> pa.Schema:
        return self.columns

    def describe(self) -> str:
        return self.name

    def unique_key(self) -> None:
        return None

    def is_set(self) -> bool:
        return False

    def is_append_only(self) -> bool:
        return self.append_only

    def time_column(self) -> str | None:
        return self.time if self.append_only else None

    def sequenced(self) -> Node | None:
        if not self.append_only or self.time is None:
            return None
        return replace(self, columns=self.columns.append(FIELD))

    def snapshot(self, reference: Reference, t: int) -> Relation:
        return summed((e, n) for e, ts, te, n in reference.stream(self.name) if ts <= t < te)

    @cached_property
    def source_names(self) -> frozenset[str]:
        return frozenset({self.name})

    def passes_filter(self, condition: Expr) -> None:
        return None

    def passes_map(self, outputs: Outputs) -> None:
        return None

    def narrow(self, names: set[str]) -> Self:
        """All columns of a stream come in."""
        return self

    @property
    def progress(self) -> Offsets:
        return {self.time: 0} if self.append_only and self.time is not None else {}

    @property
    def ahead(self) -> Offsets:
        return {self.time: 0} if self.append_only and self.time is not None else {}

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        if kind == "loss" and self.append_only:
            return ALWAYS
        name = Literal(self.name, pa.string())
        exact = {c: v for c, v in known.exact.items() if is_up_to(v)} or known.exact
        values = [arg for c in sorted(exact) for arg in (Literal(c, pa.string()), exact[c])]
        marks = Call(CLOSED, (name, *values), pa.int64())
        return earliest(known.after(self.time if self.append_only else None), marks)

    def cardinality(self, known: Cardinalities) -> Bound | None:
        """Rows of a stream go on coming; those of a table are there for all time."""
        if self.is_stream:
            return None
        return Bound(sizes.of(f"rows of {self.name}"), ("table",))

    @property
    def is_stream(self) -> bool:
        """Whether rows go on coming; the rows of a table are there for all time."""
        return self.append_only and self.time is not None

    def let_go(self) -> tuple[()]:
        return ()

    def lineage(self, column: str) -> None:
        return None
