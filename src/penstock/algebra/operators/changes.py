from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self, TypeAlias

import pyarrow as pa

from penstock.algebra.cardinality import Cardinalities
from penstock.algebra.closing import ALWAYS, Kind, Known, earliest
from penstock.algebra.expr import Expr, columns
from penstock.algebra.operators.node import Node, Offsets, Outputs
from penstock.algebra.reference import FIRST, Reference, Relation, minus, summed
from penstock.kinds import kind

ChangeKind: TypeAlias = Literal["inserted", "deleted", "changed"]


CHANGE_KINDS: tuple[ChangeKind, ...] = ("inserted", "deleted", "changed")


_COUNTS: dict[ChangeKind, Callable[[int], int]] = {
    "inserted": lambda d: max(d, 0),
    "deleted": lambda d: max(-d, 0),
    "changed": abs,
}


_GAINED_BY: dict[ChangeKind, Kind] = {"inserted": "gain", "deleted": "loss", "changed": "any"}


@kind("changes")
@dataclass(frozen=True)
class Changes(Node):
    """The records that come, go, or do either, at each time, as an append-only stream.

    Where `time` is given, the time of the change is a column of that name. What was there from the
    beginning of time on, as an aggregate without keys is, never came.
    """

    input: Node
    kind: ChangeKind
    time: str | None = None

    def __post_init__(self) -> None:
        self.require(self.kind in CHANGE_KINDS, f"no change {self.kind!r}; {CHANGE_KINDS}")
        self.require(self.time not in self.input.schema.names, f"{self.time!r} exists already")

    @cached_property
    def schema(self) -> pa.Schema:
        if self.time is None:
            return self.input.schema
        return self.input.schema.append(pa.field(self.time, pa.int64()))

    def describe(self) -> str:
        return f"changes {self.kind}" + ("" if self.time is None else f" at {self.time}")

    def unique_key(self) -> None:
        return None

    def is_set(self) -> bool:
        return self.time is not None and self.input.is_set()

    def is_append_only(self) -> bool:
        return True

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        if t < FIRST:
            return Counter()
        count = _COUNTS[self.kind]
        moved = minus(reference.at(self.input, t), reference.at(self.input, t - 1)).items()
        now = (((*e, t) if self.time else e, count(d)) for e, d in moved)
        return summed((*reference.at(self, t - 1).items(), *now))

    def passes_filter(self, condition: Expr) -> tuple[Expr] | None:
        """A record comes and goes by itself, whatever others do; the time is only known here."""
        return (condition,) if columns(condition) <= set(self.input.schema.names) else None

    def passes_map(self, outputs: Outputs) -> None:
        """What a map makes of a record may stay the same where the record changes."""
        return None

    def narrow(self, names: set[str]) -> Self:
        """Whole records are compared; the time may go."""
        return self if self.time in names else self.replaced(time=None)

    @cached_property
    def progress(self) -> Offsets:
        return {**self.input.progress, **({self.time: 0} if self.time is not None else {})}

    @cached_property
    def ahead(self) -> Offsets:
        return {**self.input.ahead, **({self.time: 0} if self.time is not None else {})}

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        if kind == "loss":
            return ALWAYS
        source = self.input
        below = source.when_closed(known.only(source.schema.names), _GAINED_BY[self.kind])
        return earliest(known.after(self.time), below)

    def cardinality(self, known: Cardinalities) -> None:
        return None

    def let_go(self) -> tuple[()]:
        return ()

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return self.some_of(self.input, column)
