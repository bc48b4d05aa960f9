"""What all parts of a binder share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import pyarrow as pa
from sqlglot import exp

from penstock.algebra.expr import Column, Expr
from penstock.algebra.plan import Map, Node, Scan, SortKey
from penstock.sql.binding import types
from penstock.sql.binding.catalog import ONE_ROW, Catalog, Moment
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.scalars import Scalars
from penstock.sql.binding.scopes import Names, Scope


class CorrelatedError(Exception):
    """A query uses a column of the query around it where only its own can be."""


@dataclass(frozen=True)
class Frame:
    """A plan, and what its columns are called. One that only tells the time joins nothing."""

    plan: Node
    scope: Scope
    moment: Moment | None = None

    @property
    def schema(self) -> pa.Schema:
        return self.plan.schema

    def over(self, plan: Node) -> Frame:
        return replace(self, plan=plan)


@dataclass(frozen=True)
class Answer:
    """A bound query: its plan, and its columns as (name, column of the plan), in order.

    The plan also has the columns of the domain, where the query has one. `relations` are those of
    the query that the columns are of, by column: the steps of a pipe go on calling them so.
    """

    plan: Node
    columns: tuple[tuple[str, str], ...]
    relations: Mapping[str, str] = field(default_factory=dict)

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([(name, self.plan.schema.field(c).type) for name, c in self.columns])


@dataclass(frozen=True)
class Surroundings:
    """Where a query stands: the names around it, the common table expressions it can read.

    `domain` is the relation of all values that the columns of the query around can take, where the
    query depends on them; it is carried through the query, so that the answer is one for each.
    `null_if_none` says that no row at all is read as a row of NULL.
    """

    outer: Scope | None = None
    ctes: Mapping[str, Answer] = field(default_factory=dict)
    domain: Node | None = None
    null_if_none: bool = False

    @property
    def carried(self) -> tuple[str, ...]:
        return tuple(self.domain.schema.names) if self.domain is not None else ()


@dataclass
class Binding:
    """One statement on its way from tree to plan."""

    catalog: Catalog
    scalars: Scalars
    diagnostics: Diagnostics
    names: Names
    effort: int
    """How many SELECTs may still be bound: one in a condition may be bound several times."""
    constants: dict[str, pa.Table] = field(default_factory=dict)
    _taken: set[str] = field(default_factory=set)

    def fresh(self, name: str) -> str:
        """A name for a column of a plan that no other column of the statement has."""
        chosen, count = name, 1
        while chosen.lower() in self._taken:
            count += 1
            chosen = f"{name}#{count}"
        self._taken.add(chosen.lower())
        return chosen

    def spend(self, at: exp.Expr) -> None:
        self.effort -= 1
        if self.effort < 0:
            self.diagnostics.unsupported(
                "Queries in conditions and values are nested too deeply here.",
                "Make inner ones views, and read these.",
                at,
            )

    def expr(self, tree: exp.Expr, frame: Frame) -> Expr:
        """The expression of a resolved tree over a frame."""
        for node in tree.walk():
            if "outer" in node.meta and node.name not in frame.schema.names:
                raise CorrelatedError(node.name)
        return self.scalars.expr(tree, frame.schema)

    def predicate(self, tree: exp.Expr, frame: Frame) -> Expr:
        for node in tree.walk():
            if "outer" in node.meta and node.name not in frame.schema.names:
                raise CorrelatedError(node.name)
        return self.scalars.predicate(tree, frame.schema)

    def column(self, tree: exp.Expr, frame: Frame, name: str) -> tuple[str, Frame]:
        """A column of the frame with the value of a tree; the frame may have to get it first."""
        value = self.expr(tree, frame)
        if isinstance(value, Column):
            return value.name, frame
        return self.with_column(value, frame, name)

    def check_compared(self, kind: pa.DataType, at: exp.Expr) -> None:
        """Refuse to compare maps: their entries have no order, and Spark refuses it, too."""
        if types.has_map(kind):
            self.diagnostics.unsupported(
                f"Values of type {types.shown(kind)} are not compared.",
                "Group by the map, or compare array_sort(map_entries(m)).",
                at,
            )

    def one_row(self) -> Node:
        """A relation of one row that is there for all time."""
        self.constants[ONE_ROW] = pa.table({"one": pa.array([1], pa.int32())})
        scan = Scan(ONE_ROW, self.constants[ONE_ROW].schema)
        return Map(scan, ((self.fresh("one"), Column("one", pa.int32())),))

    def with_column(self, value: Expr, frame: Frame, name: str) -> tuple[str, Frame]:
        chosen = self.fresh(name)
        return chosen, frame.over(Map(frame.plan, (*kept(frame.plan), (chosen, value))))


def kept(plan: Node, names: Iterable[str] | None = None) -> tuple[tuple[str, Expr], ...]:
    """The outputs of a Map that leave columns as they are."""
    chosen = plan.schema.names if names is None else names
    return tuple((name, Column(name, plan.schema.field(name).type)) for name in chosen)


def deciding(keys: Iterable[SortKey]) -> tuple[SortKey, ...]:
    """The keys of an order but for those on a column that an earlier one is on."""
    found: dict[str, SortKey] = {}
    for key in keys:
        found.setdefault(key.column, key)
    return tuple(found.values())
