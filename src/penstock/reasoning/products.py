"""Queries in a normal form, in which two of them can be compared.

A query is a selection of a product of relations, or groups of one. Its expressions are over the
columns of those relations: `0:room` is the column `room` of the first. Windows belong to relations,
conditions on the current time are conditions, and synchronization is taken off, as a skin: the
query is what the rest gives at the latest of some points in time. What cannot be taken apart any
further, an upsert, a ranking, an outer join, is a relation by itself.
Law: the form has the same snapshots as the plan at all times.

Synchronization commutes with all that is defined by snapshots (corollaries 2 and 3 of SyncSQL), as
long as all that a query reads is synchronized by the same points; where it is not, each part that
is synchronized is a relation by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, TypeAlias
from typing import Literal as Word

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall, result_type
from penstock.algebra.codec import fingerprint
from penstock.algebra.expr import (
    Call,
    Column,
    Expr,
    Literal,
    columns,
    compare,
    conjunction,
    conjuncts,
    substitute,
    with_columns,
)
from penstock.algebra.streams import time_column
from penstock.reasoning.identity import Identities
from penstock.reasoning.implication import FROM, UNTIL, canonical
from penstock.reasoning.points import Points, are_periodic, contains, same

Window: TypeAlias = tuple[Word["sliding", "fixed"], int, str]
AGGREGATE = "aggregate "
"""What the names of aggregates begin with where they stand among expressions."""
NO_FILTER = Literal(True, pa.bool_())


@dataclass(frozen=True)
class Relation:
    """A relation: its plan without a window, the window, and its columns by their names in forms.

    `constant`: it never changes.
    """

    plan: p.Node
    identity: str
    names: Mapping[str, str]
    window: Window | None = None
    constant: bool = False

    @property
    def rows(self) -> p.Node:
        return self.plan if self.window is None else p.Window(self.plan, *self.window)

    @property
    def time(self) -> tuple[str, pa.DataType] | None:
        """The column with the time at which rows come."""
        name = time_column(self.plan) if p.append_only(self.plan) else None
        return None if name is None else (name, self.plan.schema.field(name).type)


@dataclass(frozen=True)
class Rows:
    """A product of relations, the conditions on it, and what is computed from it."""

    relations: tuple[Relation, ...]
    conditions: tuple[Expr, ...]
    outputs: Mapping[str, Expr]
    points: Points | None = None

    @property
    def is_temporal(self) -> bool:
        return any(map(is_temporal, self.conditions))

    @property
    def is_constant(self) -> bool:
        return all(relation.constant for relation in self.relations)


@dataclass(frozen=True)
class Groups:
    """Groups of rows, one record each: keys, and aggregates as expressions over the rows.

    `conditions` are on groups. Without keys there is always one group.
    """

    rows: Rows
    keys: tuple[Expr, ...]
    outputs: Mapping[str, Expr]
    conditions: tuple[Expr, ...] = ()

    @cached_property
    def aggregates(self) -> tuple[Call, ...]:
        """All that are used, each once."""
        found: dict[Call, None] = {}
        for expr in (*self.outputs.values(), *self.conditions):
            _collect(expr, found)
        return tuple(found)


Form: TypeAlias = Rows | Groups


@dataclass(frozen=True)
class Aggregation:
    """An aggregate as an expression is taken apart again."""

    function: str
    args: tuple[Expr, ...]
    where: Expr | None
    distinct: bool
    parameter: float | None

    @staticmethod
    def of(expr: Call) -> Aggregation:
        function, distinct, parameter = expr.function.removeprefix(AGGREGATE).split("|")
        where = None if expr.args[-1] == NO_FILTER else expr.args[-1]
        fraction = float(parameter) if parameter else None
        return Aggregation(function, expr.args[:-1], where, bool(distinct), fraction)

    def expr(self, kind: pa.DataType) -> Call:
        parameter = "" if self.parameter is None else repr(self.parameter)
        name = f"{AGGREGATE}{self.function}|{'distinct' if self.distinct else ''}|{parameter}"
        return Call(name, (*self.args, NO_FILTER if self.where is None else self.where), kind)


@dataclass
class Forms:
    """Makes forms of plans, each once; `tables` are the names of what never changes."""

    tables: frozenset[str] = frozenset()
    identities: Identities = field(default_factory=Identities)
    _known: dict[int, tuple[p.Node, Form]] = field(default_factory=dict)

    def of(self, node: p.Node) -> Form:
        if id(node) not in self._known:
            self._known[id(node)] = node, _CASES[type(node)](self, node)
        return self._known[id(node)][1]

    def _filter(self, node: p.Filter) -> Form:
        return self._filtered(self.of(node.input), node.predicate)

    def _group(self, node: p.Group) -> Form:
        chosen = compare("=", node.function, Literal(node.index, pa.int64()))
        return self._filtered(self.of(node.input), chosen)

    def _map(self, node: p.Map) -> Form:
        below = self.of(node.input)
        made = {name: substitute(value, below.outputs) for name, value in node.outputs}
        return replace(below, outputs=made)

    def _join(self, node: p.Join) -> Form:
        if node.kind == "inner":
            return self._joined(node)
        outer = self._outer(node) if node.kind in ("left", "right", "full") else None
        return outer or self._alone(node)

    def _window(self, node: p.Window) -> Form:
        window = (node.kind, node.size, node.zone)
        return self._windowed(self.of(node.input), window) or self._alone(node)

    def _restrict(self, node: p.Restrict) -> Form:
        below = self.of(node.input)
        return self._restricted(below, node.start, node.end) or self._alone(node)

    def _sync(self, node: p.Sync) -> Form:
        return self._synchronized(self.of(node.input), node.points) or self._alone(node)

    def _aggregate(self, node: p.Aggregate) -> Form:
        return self._grouped(self._rows(node.input), node.keys, node.calls)

    def _distinct(self, node: p.Distinct) -> Form:
        rows = self._rows(node.input)
        return Groups(rows, tuple(rows.outputs.values()), rows.outputs)

    def _rows(self, node: p.Node) -> Rows:
        """The form of a node as rows: groups are a relation."""
        found = self.of(node)
        return found if isinstance(found, Rows) else self._alone(node)

    def _alone(self, node: p.Node) -> Rows:
        """A node that is not taken apart."""
        names = {name: name for name in node.schema.names}
        constant = isinstance(node, p.Scan) and node.name in self.tables
        relation = Relation(node, self.identities.of(node), names, constant=constant)
        outputs = {f.name: Column(placed(0, f.name), f.type) for f in node.schema}
        return Rows((relation,), (), outputs)

    def _filtered(self, below: Form, predicate: Expr) -> Form:
        """Conditions on the keys of groups are conditions on their rows, but on the one group."""
        new = conjuncts(substitute(predicate, below.outputs))
        if isinstance(below, Rows):
            return replace(below, conditions=(*below.conditions, *new))
        inner = [part for part in new if below.keys and not has_aggregate(part)]
        outer = [part for part in new if part not in inner]
        rows = replace(below.rows, conditions=(*below.rows.conditions, *inner))
        return replace(below, rows=rows, conditions=(*below.conditions, *outer))

    # --- joins ----------------------------------------------------------------------------------

    def _joined(self, node: p.Join) -> Rows:
        left, right = self._rows(node.left), self._rows(node.right)
        points = self._common(left, right)
        if points == "none":
            left = self._alone(node.left) if left.points is not None else left
            right = self._alone(node.right) if right.points is not None else right
            points = None
        before = len(left.relations)
        right = _renumbered(right, {i: i + before for i in range(len(right.relations))})
        outputs = {**left.outputs, **right.outputs}
        on = [
            compare("<=>" if e.null_safe else "=", outputs[e.left], outputs[e.right])
            for e in node.on
        ]
        where = conjuncts(substitute(node.where, outputs)) if node.where is not None else ()
        conditions = (*left.conditions, *right.conditions, *on, *where)
        return Rows((*left.relations, *right.relations), conditions, outputs, points)

    def _common(self, left: Rows, right: Rows) -> Points | Word["none"] | None:
        """The points by which both are synchronized; what never changes may be said to be, too."""
        if same(left.points, right.points, self.identities):
            return left.points
        for one, other in ((left, right), (right, left)):
            if one.is_constant and other.points is not None and are_periodic(other.points):
                return other.points
        return "none"

    def _outer(self, node: p.Join) -> Rows | None:
        """An outer join, known by what is joined and how, whichever columns are carried along."""
        sides = [self._rows(side) for side in (node.left, node.right)]
        for side in sides:
            plain = all(isinstance(e, Column) for e in side.outputs.values())
            if side.points is not None or side.is_temporal or not plain:
                return None
        letters = {"left": 0, "right": 1}
        names: dict[str, str] = {}
        inner: dict[str, Expr] = {}
        told: list[object] = [node.kind]
        for letter, number in letters.items():
            side = sides[number]
            for name, e in side.outputs.items():
                inner[name] = _of_side(letter, e)
                names[f"{letter} {e.name}"] = name  # type: ignore[union-attr]
            parts = sorted(fingerprint(canonical(_of_side(letter, c))) for c in side.conditions)
            told += [[(a.identity, a.window) for a in side.relations], parts]
        on = [
            compare("<=>" if e.null_safe else "=", inner[e.left], inner[e.right]) for e in node.on
        ]
        where = conjuncts(substitute(node.where, inner)) if node.where is not None else ()
        told.append(sorted({fingerprint(canonical(c)) for c in (*on, *where)}))
        outputs = {f.name: Column(placed(0, inner[f.name].name), f.type) for f in node.schema}  # type: ignore[union-attr]
        return Rows((Relation(node, fingerprint(told), names),), (), outputs)

    # --- time -----------------------------------------------------------------------------------

    def _windowed(self, below: Form, window: Window) -> Rows | None:
        if not isinstance(below, Rows) or len(below.relations) != 1 or below.points is not None:
            return None
        (relation,) = below.relations
        if relation.window is not None or below.is_temporal or not p.append_only(relation.plan):
            return None
        return replace(below, relations=(replace(relation, window=window),))

    def _restricted(self, below: Form, start: Expr | None, end: Expr | None) -> Rows | None:
        if not isinstance(below, Rows) or below.points is not None:
            return None
        bounds = [(FROM, start), (UNTIL, end)]
        new = [
            Call(word, (substitute(e, below.outputs),), pa.bool_())
            for word, e in bounds
            if e is not None
        ]
        return replace(below, conditions=(*below.conditions, *new))

    def _synchronized(self, below: Form, points: Points) -> Form | None:
        """The points go below an aggregate without keys only if they were always there."""
        rows = below if isinstance(below, Rows) else below.rows
        if rows.points is not None and not contains(rows.points, points, self.identities):
            return None
        always = are_periodic(points)
        if rows.is_constant or (any(each.constant for each in rows.relations) and not always):
            return None
        if isinstance(below, Rows):
            return replace(below, points=points)
        if not below.keys and not always:
            return None
        return replace(below, rows=replace(rows, points=points))

    # --- groups ---------------------------------------------------------------------------------

    def _grouped(
        self, rows: Rows, keys: tuple[str, ...], calls: tuple[AggregateCall, ...]
    ) -> Groups:
        outputs: dict[str, Expr] = {key: rows.outputs[key] for key in keys}
        schema = pa.schema([(name, e.type) for name, e in rows.outputs.items()])
        for call in calls:
            kind = result_type(call, schema)
            where = None if call.where is None else canonical(rows.outputs[call.where])
            args = tuple(canonical(rows.outputs[arg]) for arg in call.args)
            found = Aggregation(call.function, args, where, call.distinct, call.parameter)
            outputs[call.name] = found.expr(kind)
        return Groups(rows, tuple(rows.outputs[key] for key in keys), outputs)


_CASES: Mapping[type[p.Node], Callable[[Forms, Any], Form]] = p.for_each_operator(
    (Forms._filter, (p.Filter,)),
    (Forms._group, (p.Group,)),
    (Forms._map, (p.Map,)),
    (Forms._join, (p.Join,)),
    (Forms._window, (p.Window,)),
    (Forms._restrict, (p.Restrict,)),
    (Forms._sync, (p.Sync,)),
    (Forms._aggregate, (p.Aggregate,)),
    (Forms._distinct, (p.Distinct,)),
    (
        Forms._alone,
        (
            *(p.Changes, p.Coalesce, p.Rank, p.RowWindow, p.Scan, p.Session, p.SetOperation),
            *(p.Split, p.Union, p.Upsert),
        ),
    ),
)


def _of_side(letter: str, expr: Expr) -> Expr:
    return with_columns(expr, lambda column: Column(f"{letter} {column.name}", column.type))


def _collect(expr: Expr, found: dict[Call, None]) -> None:
    match expr:
        case Call(function) if function.startswith(AGGREGATE):
            found[expr] = None
        case Call(_, args):
            for arg in args:
                _collect(arg, found)


def placed(number: int, column: str) -> str:
    """The name of a column of a relation in a product."""
    return f"{number}:{column}"


def renumbered(expr: Expr, numbers: Mapping[int, int]) -> Expr:
    """The expression with its relations under other numbers."""

    def moved(column: Column) -> Column:
        number, _, rest = column.name.partition(":")
        return Column(placed(numbers[int(number)], rest), column.type)

    return with_columns(expr, moved)


def rows_of(number: int, relation: Relation) -> p.Map:
    """The rows of a relation, with the names that its columns have in a product."""
    schema = relation.plan.schema
    return p.Map(
        relation.rows,
        tuple(
            (placed(number, name), Column(own, schema.field(own).type))
            for name, own in relation.names.items()
        ),
    )


def selected(node: p.Node, conditions: Sequence[Expr], points: Points | None) -> p.Node:
    """The rows that meet conditions, those on the current time among them, seen at the points."""
    moments = [c for c in conditions if is_temporal(c)]
    plain = tuple(c for c in conditions if not is_temporal(c))
    node = p.Filter(node, conjunction(plain)) if plain else node
    for moment in moments:
        assert isinstance(moment, Call)
        (time,) = moment.args
        bounds = (time, None) if moment.function == FROM else (None, time)
        node = p.Restrict(node, *bounds)
    return node if points is None else p.Sync(node, points)


def _renumbered(rows: Rows, numbers: Mapping[int, int]) -> Rows:
    return replace(
        rows,
        conditions=tuple(renumbered(c, numbers) for c in rows.conditions),
        outputs={name: renumbered(e, numbers) for name, e in rows.outputs.items()},
    )


def is_aggregate(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.function.startswith(AGGREGATE)


def has_aggregate(expr: Expr) -> bool:
    match expr:
        case Call(_, args):
            return is_aggregate(expr) or any(map(has_aggregate, args))
    return False


def is_temporal(expr: Expr) -> bool:
    return isinstance(expr, Call) and expr.function in (FROM, UNTIL)


def relations_of(exprs: Iterable[Expr]) -> frozenset[int]:
    """The numbers of the relations whose columns are read."""
    names = frozenset[str]().union(*map(columns, exprs))
    return frozenset(int(name.partition(":")[0]) for name in names)


def named(name: str) -> str:
    """A column of a plan, or of a product, as the query called it."""
    return name.rpartition(":")[2].split("#")[0].replace('"', "")
