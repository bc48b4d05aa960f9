from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self

from penstock.algebra.calendar import DAY, UTC, Midnights
from penstock.algebra.cardinality import Bound, Cardinalities
from penstock.algebra.closing import Kind, Known, later
from penstock.algebra.expr import Expr
from penstock.algebra.operators.node import Node, Offsets, OneInput, Outputs
from penstock.algebra.reference import Reference, Relation, minus
from penstock.kinds import kind


@kind("window")
@dataclass(frozen=True)
class Window(OneInput):
    """Ends the validity of each record of an append-only stream.

    sliding: `size` after it began; fixed: at the next multiple of `size`, of the zone's days.
    """

    kind: Literal["sliding", "fixed"]
    size: int
    zone: str = UTC

    def __post_init__(self) -> None:
        self.require(self.kind in ("sliding", "fixed"), f"no window kind {self.kind!r}")
        self.require(self.size > 0, f"the size must be positive, not {self.size}")

    def describe(self) -> str:
        return f"window {self.kind} {self.size}" + ("" if self.zone == UTC else f" {self.zone}")

    def unique_key(self) -> None:
        return None

    def is_set(self) -> bool:
        return self.input.is_set()

    def is_append_only(self) -> bool:
        return False

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        """Equations 9 and 10."""
        return minus(reference.at(self.input, t), reference.at(self.input, self._ended_by(t)))

    def _ended_by(self, t: int) -> int:
        """What was there then is there no more."""
        if self.kind == "sliding":
            return t - self.size
        if self.zone != UTC:
            return Midnights(self.size // DAY, self.zone).latest(t) - 1
        return t // self.size * self.size - 1

    def passes_filter(self, condition: Expr) -> tuple[Expr]:
        """The window looks at times only, and what is append-only stays so under a filter."""
        return (condition,)

    def passes_map(self, outputs: Outputs) -> tuple[Outputs]:
        """The window looks at times only, and what is append-only stays so under a map."""
        return (outputs,)

    def narrow(self, names: set[str]) -> Self:
        return self.with_inputs(self.input.narrowed(names))

    @cached_property
    def progress(self) -> Offsets:
        return {column: k - self.longest for column, k in self.input.progress.items()}

    @property
    def longest(self) -> int:
        """How long a record is there at most."""
        return self.size if self.zone == UTC else Midnights(self.size // DAY, self.zone).longest

    @property
    def ahead(self) -> Offsets:
        return self.input.ahead

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        begins = self.input.when_closed(known, "gain")
        return begins if kind == "gain" else later(begins, self.longest)

    def cardinality(self, known: Cardinalities) -> Bound | None:
        return known.arriving(self.input, self.longest, "window")

    def let_go(self) -> tuple[()]:
        return ()

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return self.some_of(self.input, column)
