from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, Self, TypeAlias

import pyarrow as pa

from penstock.algebra.cardinality import Bound, Cardinalities, all_of, least
from penstock.algebra.closing import OPPOSITE, Kind, Known, closes, in_common, latest
from penstock.algebra.expr import Expr, renamed
from penstock.algebra.operators.node import Node, Offsets, Outputs, require_same_types
from penstock.algebra.reference import Reference, Relation
from penstock.kinds import kind

SetKind: TypeAlias = Literal[
    "difference", "intersection", "max union", "strict difference", "except", "intersect"
]


SET_KINDS: tuple[SetKind, ...] = (
    "difference",
    "intersection",
    "max union",
    "strict difference",
    "except",
    "intersect",
)


_COUNTS: dict[SetKind, Callable[[int, int], int]] = {
    "difference": lambda m1, m2: max(m1 - m2, 0),
    "intersection": min,
    "max union": max,
    "strict difference": lambda m1, m2: m1 if m2 == 0 else 0,
    "except": lambda m1, m2: int(m1 > 0 and m2 == 0),
    "intersect": lambda m1, m2: int(m1 > 0 and m2 > 0),
}


_DIFFERENCES: tuple[SetKind, ...] = ("difference", "strict difference", "except")


@kind("set operation")
@dataclass(frozen=True)
class SetOperation(Node):
    """Two multisets combined record by record; EXCEPT ALL is `difference`, EXCEPT is `except`."""

    kind: SetKind
    left: Node
    right: Node

    def __post_init__(self) -> None:
        self.require(self.kind in SET_KINDS, f"no set operation {self.kind!r}; {SET_KINDS}")
        require_same_types(self, self.left.schema, self.right.schema)

    @property
    def schema(self) -> pa.Schema:
        return self.left.schema

    def describe(self) -> str:
        return self.kind

    def unique_key(self) -> tuple[str, ...] | None:
        key = None if self.kind == "max union" else self.left.unique_key()
        if key is None and self.kind in ("except", "intersect"):
            return tuple(self.schema.names)
        return key

    def is_set(self) -> bool:
        match self.kind:
            case "except" | "intersect":
                return True
            case "intersection":
                return self.left.is_set() or self.right.is_set()
            case "max union":
                return self.left.is_set() and self.right.is_set()
            case "difference" | "strict difference":
                return self.left.is_set()

    def is_append_only(self) -> bool:
        return False

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        """Equations 5, 13, 14 and 15."""
        m1, m2 = reference.at(self.left, t), reference.at(self.right, t)
        count = _COUNTS[self.kind]
        return Counter({e: count(m1[e], m2[e]) for e in {*m1, *m2}})

    def passes_filter(self, condition: Expr) -> tuple[Expr, Expr]:
        """filter_p(S1 op S2) = filter_p(S1) op filter_p(S2), for every kind of set operation.

        Each kind maps the multiplicities (m1, m2) of one record to another multiplicity, and (0, 0)
        to 0; filter_p leaves both multiplicities of a record as they are or makes both 0. Filtering
        the left alone would do for all kinds but the max union, and would keep more of the right.
        """
        return condition, renamed(condition, self.left.schema, self.right.schema)

    def passes_map(self, outputs: Outputs) -> None:
        """Records that a map makes equal would be counted together."""
        return None

    def narrow(self, names: set[str]) -> Self:
        """Whole records are compared."""
        return self

    @cached_property
    def progress(self) -> Offsets:
        return in_common(self, [self.left.progress, self.right.progress], min)

    @cached_property
    def ahead(self) -> Offsets:
        return in_common(self, [self.left.ahead, self.right.ahead], max)

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        """What a difference loses, its right side gains."""
        turned = OPPOSITE[kind] if self.kind in _DIFFERENCES else kind
        theirs = known.renamed(self.schema.names, self.right.schema.names)
        ours = known.renamed(self.schema.names, self.left.schema.names)
        there = self.right.when_closed(theirs, turned)
        return latest(self.left.when_closed(ours, kind), there)

    def cardinality(self, known: Cardinalities) -> Bound | None:
        left, right = known.of(self.left), known.of(self.right)
        match self.kind:
            case "max union":
                return all_of([left, right])
            case "intersection" | "intersect":
                return least([left, right])
            case "difference" | "strict difference" | "except":
                return left

    def let_go(self) -> tuple[Expr | None]:
        return (closes(self),)

    def lineage(self, column: str) -> None:
        return None
