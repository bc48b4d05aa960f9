from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Self

import pyarrow as pa

from penstock.algebra.cardinality import Bound, Cardinalities, least
from penstock.algebra.closing import Kind, Known, closes
from penstock.algebra.expr import Expr, columns
from penstock.algebra.operators.node import Node, Offsets, OneInput, Outputs, listed
from penstock.algebra.reference import Reference, Relation, function_of
from penstock.kinds import kind


@kind("upsert")
@dataclass(frozen=True)
class Upsert(OneInput):
    """The latest record of each key of an append-only stream, none where `deleted` is true of it.

    Among records of one time, the newest is that of a row window.
    """

    key: tuple[str, ...]
    order: tuple[str, ...] = ()
    deleted: Expr | None = None
    arrival: bool = False

    def __post_init__(self) -> None:
        self.require_columns(self.key, self.input.schema)
        self.require_columns(self.order, self.input.schema)
        if self.deleted is not None:
            self.require_expr(self.deleted, self.input.schema, pa.bool_())

    def describe(self) -> str:
        words = ["upsert", *listed("per", self.key), *listed("by", self.order)]
        words += ["by arrival"] if self.arrival else []
        words += [f"deleted {self.deleted}"] if self.deleted is not None else []
        return " ".join(words)

    def unique_key(self) -> tuple[str, ...]:
        return self.key

    def is_set(self) -> bool:
        return True

    def is_append_only(self) -> bool:
        return False

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        newest = reference.newest(self.input, t, 1, self.key, self.order, self.arrival)
        if self.deleted is None:
            return newest
        gone = function_of(self.deleted, self.input.schema)
        return Counter({e: n for e, n in newest.items() if not gone(e)})

    def passes_filter(self, condition: Expr) -> tuple[Expr] | None:
        """Where only the key is read. A condition on anything else must not go below: it could drop
        the latest record of a key, and let an older one come back."""
        return (condition,) if columns(condition) <= set(self.key) else None

    def passes_map(self, outputs: Outputs) -> None:
        """Ties are broken by the order of whole records."""
        return None

    def narrow(self, names: set[str]) -> Self:
        """Ties are broken by the order of whole records."""
        return self

    @property
    def progress(self) -> Offsets:
        """A record goes when another comes, however late that is."""
        return {}

    @property
    def ahead(self) -> Offsets:
        return self.input.ahead

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        """A record goes when another of its key comes."""
        asked = known if kind == "gain" else known.only(self.key)
        return self.input.when_closed(asked, "gain")

    def cardinality(self, known: Cardinalities) -> Bound | None:
        return least([known.values(self.input, self.key), known.keys(self.input, self.key)])

    def let_go(self) -> tuple[Expr | None]:
        return (closes(self.input, self.key, "gain"),)

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return self.some_of(self.input, column)
