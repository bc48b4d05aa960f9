from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from penstock.algebra.cardinality import Bound, Cardinalities, rows_of_each
from penstock.algebra.closing import Kind, Known
from penstock.algebra.expr import Expr, columns
from penstock.algebra.operators.node import Node, Offsets, OneInput, Outputs, listed
from penstock.algebra.reference import Reference, Relation
from penstock.kinds import kind


@kind("row window")
@dataclass(frozen=True)
class RowWindow(OneInput):
    """The latest `rows` records of an append-only stream, or of each partition of it.

    Among records of one time, those later by `order` are newer, then those that arrived later, or
    where that does not count, those later in the order of records.
    """

    rows: int
    partition: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    arrival: bool = False

    def __post_init__(self) -> None:
        self.require(self.rows > 0, f"the number of rows must be positive, not {self.rows}")
        self.require_columns(self.partition, self.input.schema)
        self.require_columns(self.order, self.input.schema)

    def describe(self) -> str:
        words = [
            f"row window {self.rows}",
            *listed("per", self.partition),
            *listed("by", self.order),
        ]
        return " ".join([*words, *(["by arrival"] if self.arrival else [])])

    def unique_key(self) -> None:
        return None

    def is_set(self) -> bool:
        return self.rows == 1 or self.input.is_set()

    def is_append_only(self) -> bool:
        return False

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        of, by = self.partition, self.order
        return reference.newest(self.input, t, self.rows, of, by, self.arrival)

    def passes_filter(self, condition: Expr) -> tuple[Expr] | None:
        """Where only the partition is read: each has its own window, kept or dropped as a whole."""
        return (condition,) if columns(condition) <= set(self.partition) else None

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
        """A record goes when others of its partition come."""
        asked = known if kind == "gain" else known.only(self.partition)
        return self.input.when_closed(asked, "gain")

    def cardinality(self, known: Cardinalities) -> Bound | None:
        return rows_of_each(self.rows, known.partitions(self.input, self.partition), "row window")

    def let_go(self) -> tuple[()]:
        return ()

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return self.some_of(self.input, column)
