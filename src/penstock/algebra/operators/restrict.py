from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import pyarrow as pa

from penstock.algebra.cardinality import Bound, Cardinalities, least
from penstock.algebra.closing import ALWAYS, Kind, Known, final_from, latest, span
from penstock.algebra.expr import Expr, columns, read, substitute
from penstock.algebra.operators.node import Node, Offsets, OneInput, Outputs
from penstock.algebra.reference import Record, Reference, Relation, function_of
from penstock.algebra.times import most_offset, shifted
from penstock.kinds import kind


@kind("restrict")
@dataclass(frozen=True)
class Restrict(OneInput):
    """Records only while `start <= now < end`, both computed from the record; NULL is never."""

    start: Expr | None = None
    end: Expr | None = None

    def __post_init__(self) -> None:
        for bound in (b for b in (self.start, self.end) if b is not None):
            self.require_expr(bound, self.input.schema, pa.int64())

    def describe(self) -> str:
        words = ["restrict", *([f"from {self.start}"] if self.start is not None else [])]
        return " ".join([*words, *([f"until {self.end}"] if self.end is not None else [])])

    def unique_key(self) -> tuple[str, ...] | None:
        return self.input.unique_key()

    def is_set(self) -> bool:
        return self.input.is_set()

    def is_append_only(self) -> bool:
        return False

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        lower, upper = (_bound(b, self.input.schema) for b in (self.start, self.end))
        rows = reference.at(self.input, t).items()
        return Counter({e: n for e, n in rows if lower(e, -1) <= t < upper(e, t + 1)})

    def passes_filter(self, condition: Expr) -> tuple[Expr]:
        """Both conditions are on one record and the time, and hold together in either order."""
        return (condition,)

    def passes_map(self, outputs: Outputs) -> None:
        """The times may be in columns that the map leaves out."""
        return None

    def narrow(self, names: set[str]) -> Self:
        return self.with_inputs(self.input.narrowed(names | read(self.start, self.end)))

    @cached_property
    def progress(self) -> Offsets:
        """Changes wait for times of the records, which must not be far ahead of the column."""
        times = [time for time in (self.start, self.end) if time is not None]
        found: dict[str, int] = {}
        for column, k in self.input.progress.items():
            offsets = [most_offset(time, column) for time in times]
            if None not in offsets:
                found[column] = min([k, *(-c for c in offsets if c is not None)])
        return found

    @property
    def ahead(self) -> Offsets:
        return self.input.ahead

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        """What begins or ends at a time of the record changes then."""
        exact = known.values
        if kind == "loss" and self.end is None and self.start == final_from(self.input):
            return ALWAYS
        times = [self.input.when_closed(known, kind)]
        for bound, mine in ((self.start, "gain"), (self.end, "loss")):
            if bound is not None and kind in (mine, "any"):
                there = columns(bound) <= exact.keys()
                times.append(shifted(substitute(bound, exact), "+", 1) if there else None)
        return latest(*times)

    def cardinality(self, known: Cardinalities) -> Bound | None:
        length = None if self.end is None else span(self.input, self.end)
        by_time = None if length is None else known.arriving(self.input, length, "time")
        return least([known.of(self.input), by_time])

    def let_go(self) -> tuple[()]:
        return ()

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return self.some_of(self.input, column)


def _bound(bound: Expr | None, schema: pa.Schema) -> Callable[[Record, int], float]:
    """A bound on time computed from a record: `absent` where none was asked for, NULL is never."""
    if bound is None:
        return lambda e, absent: absent
    function = function_of(bound, schema)
    return lambda e, absent: math.nan if (v := function(e)) is None else v
