from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import pyarrow as pa

from penstock.algebra.calendar import Midnights
from penstock.algebra.cardinality import Bound, Cardinalities
from penstock.algebra.closing import Kind, Known, later
from penstock.algebra.expr import Expr
from penstock.algebra.operators.node import Node, Offsets, Outputs
from penstock.algebra.operators.points import Periodic, TimePoints
from penstock.algebra.reference import Reference, Relation
from penstock.kinds import kind


@kind("sync")
@dataclass(frozen=True)
class Sync(Node):
    """The input as it was at the latest synchronization point.

    The points are periodic, listed, or the times at which records of another stream begin; where
    there are several of these, all of their points are.
    """

    input: Node
    points: tuple[Periodic | TimePoints | Midnights | Node, ...]

    def __post_init__(self) -> None:
        self.require(isinstance(self.points, tuple), "the points must be a tuple of alternatives")
        self.require(len(self.points) > 0, "needs at least one kind of points")
        for points in self.points:
            match points:
                case Periodic(period):
                    self.require(period > 0, "the period must be positive")
                case TimePoints(listed):
                    self.require(list(listed) == sorted(set(listed)), "the points must ascend")

    @property
    def schema(self) -> pa.Schema:
        return self.input.schema

    def describe(self) -> str:
        points = ("stream" if isinstance(each, Node) else each.describe() for each in self.points)
        return f"sync to {' or '.join(points)}"

    def unique_key(self) -> tuple[str, ...] | None:
        return self.input.unique_key()

    def is_set(self) -> bool:
        return self.input.is_set()

    def is_append_only(self) -> bool:
        return self.input.is_append_only()

    def time_column(self) -> None:
        return None

    def sequenced(self) -> None:
        return None

    def snapshot(self, reference: Reference, t: int) -> Relation:
        points = (
            reference.latest_event(each, t) if isinstance(each, Node) else each.latest(t)
            for each in self.points
        )
        point = max((s for s in points if s is not None), default=None)
        return Counter() if point is None else reference.at(self.input, point)

    def passes_filter(self, condition: Expr) -> tuple[Expr | None, ...]:
        """The filter goes to the input alone; the streams of points stay as they are."""
        return condition, *(None for _ in self.inputs[1:])

    def passes_map(self, outputs: Outputs) -> tuple[Outputs | None, ...]:
        """The map goes to the input alone: the points are times at which whole records begin."""
        return outputs, *(None for _ in self.inputs[1:])

    def narrow(self, names: set[str]) -> Self:
        """Whole records of a stream of points are compared."""
        return self.replaced(input=self.input.narrowed(names))

    @cached_property
    def progress(self) -> Offsets:
        match self.points:
            case (Periodic() | Midnights() as points,):
                return {column: k - points.longest for column, k in self.input.progress.items()}
        return {}

    @property
    def ahead(self) -> Offsets:
        return self.input.ahead

    def with_closing(self) -> Self:
        return self

    def closes(self, known: Known, kind: Kind) -> Expr | None:
        match self.points:
            case (Periodic() | Midnights() as points,):
                return later(self.input.when_closed(known, kind), points.longest)
        return None

    def cardinality(self, known: Cardinalities) -> Bound | None:
        return known.of(self.input)

    def let_go(self) -> tuple[()]:
        return ()

    def lineage(self, column: str) -> tuple[Node, str] | None:
        return self.some_of(self.input, column)
