"""Random plans of every kind of node.

`Plans` makes one node of a kind over given inputs, with all else random, so that a test can ask for
a pattern: `plans.filter(plans.join(plans.scan(), plans.scan()))`. `random_plan` nests all kinds.

Windows, upserts and sessions are defined over append-only streams, those whose snapshots only
grow. `plan(..., append_only=True)` draws only from the nodes that keep that property.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Literal, TypeAlias

import pyarrow as pa

from penstock.algebra import expr as ex
from penstock.algebra import plan as p
from penstock.algebra.aggregates import FUNCTIONS, AggregateCall
from penstock.errors import PlanError
from penstock.testing.random_expressions import (
    BOOL,
    FLOAT,
    INT,
    TEXT,
    TYPES,
    random_column,
    random_expression,
    random_predicate,
)

SCANS = (
    p.Scan("log1", pa.schema([("a", INT), ("b", INT)]), append_only=True),
    p.Scan("log2", pa.schema([("a", INT), ("s", TEXT), ("p", BOOL)]), append_only=True),
    p.Scan("changes1", pa.schema([("a", INT), ("b", INT)])),
    p.Scan("changes2", pa.schema([("a", INT), ("x", FLOAT), ("p", BOOL)])),
    p.Scan("changes3", pa.schema([("s", TEXT), ("a", INT)])),
)
WINDOW_KINDS: tuple[Literal["sliding", "fixed"], ...] = ("sliding", "fixed")
MONOTONE_JOINS: tuple[p.JoinKind, ...] = ("inner", "semi")
MONOTONE_SETS: tuple[p.SetKind, ...] = ("intersection", "max union", "intersect")

_Maker: TypeAlias = Callable[["Plans", int], p.Node]


def is_append_only(scan: p.Scan) -> bool:
    return scan.append_only


def scans_of(*plans: p.Node) -> frozenset[p.Scan]:
    return frozenset(node for plan in plans for node in plan.walk() if isinstance(node, p.Scan))


def random_plan(rng: Random, depth: int) -> p.Node:
    """A plan of up to `depth` operators; maps that only rename columns do not count."""
    return Plans(rng).plan(depth)


class Plans:
    """Draws plans; names of columns are never drawn twice."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self._names = 0

    def plan(self, depth: int, append_only: bool = False) -> p.Node:
        """Any plan of up to `depth` operators."""
        if depth == 0:
            return self.scan(append_only)
        return self.rng.choice(_MONOTONE if append_only else _ALL)(self, depth - 1)

    def scan(self, append_only: bool = False) -> p.Scan:
        return self.rng.choice([s for s in SCANS if is_append_only(s) or not append_only])

    def filter(self, source: p.Node) -> p.Filter:
        return p.Filter(source, self.predicate(source))

    def map(self, source: p.Node) -> p.Map:
        """Between one and four outputs, most of them columns, some under names of other columns."""
        outputs: dict[str, ex.Expr] = {}
        for _ in range(self.rng.randint(1, 4)):
            field = self.rng.choice(list(source.schema))
            if self.rng.random() < 0.4:
                outputs[field.name] = ex.Column(field.name, field.type)
            else:
                kind = self.rng.choice((field.type, *TYPES))
                make = self.rng.choice((random_column, random_expression))
                name = self.rng.choice((self.name(), *source.schema.names))
                outputs[name] = make(self.rng, source.schema, kind)
        return p.Map(source, tuple(outputs.items()))

    def union(self, *parts: p.Node) -> p.Union:
        first, *others = parts
        return p.Union((first, *(self._cast(part, first.schema) for part in others)))

    def join(self, left: p.Node, right: p.Node, kind: p.JoinKind | None = None) -> p.Join:
        joined = self.rng.choice(p.JOIN_KINDS if kind is None else (kind,))
        right = self._renamed(right, left.schema.names)
        pairs = [(a, b) for a in left.schema for b in right.schema if a.type == b.type]
        chosen = self.rng.sample(pairs, min(len(pairs), self.rng.choice((0, 1, 1, 2))))
        on = tuple(p.Equality(a.name, b.name, self.rng.random() < 0.3) for a, b in chosen)
        both = pa.schema([*left.schema, *right.schema])
        where = random_predicate(self.rng, both) if self.rng.random() < 0.5 else None
        keep = (self._until(left.schema), self._until(right.schema))
        return p.Join(left, right, joined, on, where, *keep)

    def distinct(self, source: p.Node) -> p.Distinct:
        return p.Distinct(source, self._until(source.schema))

    def set_operation(
        self, left: p.Node, right: p.Node, kind: p.SetKind | None = None
    ) -> p.SetOperation:
        chosen = self.rng.choice(p.SET_KINDS if kind is None else (kind,))
        return p.SetOperation(chosen, left, self._cast(right, left.schema))

    def group(self, source: p.Node) -> p.Group:
        function = random_expression(self.rng, source.schema, INT)
        return p.Group(source, function, self.rng.randint(0, 2))

    def aggregate(self, source: p.Node, keyed: bool | None = None) -> p.Aggregate:
        keyed = self.rng.random() < 0.75 if keyed is None else keyed
        keys = self.columns(source, 1) if keyed else ()
        calls = self.calls(source) if keyed else (self._call(source), *self.calls(source))
        return p.Aggregate(source, keys, calls, self._until_of(source, keys) if keyed else None)

    def calls(self, source: p.Node) -> tuple[AggregateCall, ...]:
        return tuple(self._call(source) for _ in range(self.rng.choice((0, 1, 1, 2, 3))))

    def window(self, source: p.Node) -> p.Window:
        return p.Window(source, self.rng.choice(WINDOW_KINDS), self.rng.randint(1, 6))

    def row_window(self, source: p.Node) -> p.RowWindow:
        partition, order = self.columns(source), self.columns(source)
        return p.RowWindow(source, self.rng.choice((1, 1, 2, 3)), partition, order)

    def upsert(self, source: p.Node) -> p.Upsert:
        deleted = self.predicate(source) if self.rng.random() < 0.4 else None
        return p.Upsert(source, self.columns(source), self.columns(source), deleted)

    def session(self, source: p.Node) -> p.Session:
        return p.Session(source, self.columns(source), self.rng.randint(1, 4), self.name())

    def rank(self, source: p.Node) -> p.Rank:
        order = tuple(
            p.SortKey(column, self.rng.random() < 0.5, self.rng.random() < 0.5)
            for column in self.columns(source)
        )
        number = self.name() if self.rng.random() < 0.5 else None
        kind = self.rng.choice(p.RANK_KINDS)
        limit = self.rng.choice((1, 1, 2, 3) if number is None else (1, 2, 3, None))
        partition = self.columns(source)
        until = self._until_of(source, partition)
        return p.Rank(source, partition, order, limit, kind, number, until)

    def coalesce(self, source: p.Node) -> p.Coalesce:
        return p.Coalesce(source, self.rng.randint(1, 6))

    def split(self, source: p.Node) -> p.Split:
        return p.Split(source, self.rng.randint(1, 6))

    def sync(self, source: p.Node, *streams: p.Node) -> p.Sync:
        """Over the points of the streams if any are given, else, or also, over other points."""
        count = self.rng.choice((0, 0, 1) if streams else (1, 1, 2))
        points = [*streams, *(self._points() for _ in range(count))]
        self.rng.shuffle(points)
        return p.Sync(source, tuple(points))

    def _points(self) -> p.Periodic | p.TimePoints:
        if self.rng.random() < 0.5:
            return p.Periodic(self.rng.randint(1, 5), self.rng.randint(0, 3))
        listed = self.rng.sample(range(14), self.rng.randint(0, 4))
        return p.TimePoints(tuple(sorted(listed)))

    def changes(self, source: p.Node) -> p.Changes:
        time = self.name() if self.rng.random() < 0.5 else None
        return p.Changes(source, self.rng.choice(p.CHANGE_KINDS), time)

    def restrict(self, source: p.Node, ends: bool = True) -> p.Restrict:
        start, end = (
            self._time(source, spread) if self.rng.random() < 0.7 else None for spread in (3, 6)
        )
        return p.Restrict(source, start, end if ends else None)

    def started(self, source: p.Node) -> p.Restrict:
        """Groups that are there from a time on which their keys tell."""
        groups = self.aggregate(source, keyed=True)
        keys = pa.schema([groups.schema.field(name) for name in groups.keys])
        start = ex.arithmetic("*", random_column(self.rng, keys, INT), ex.Literal(3, INT))
        node: p.Node = self.filter(groups) if self.rng.random() < 0.3 else groups
        return p.Restrict(node, start)

    def counted(self, source: p.Node) -> p.Restrict:
        """Numbers of equal records, each from a time on which the record tells."""
        schema = source.schema
        name = self.rng.choice([field.name for field in schema if field.type == INT])
        names = dict.fromkeys((name, *self.columns(source)))
        rows = p.Map(source, tuple((n, ex.Column(n, schema.field(n).type)) for n in names))
        count = AggregateCall("count", (), self.name())
        start = ex.arithmetic("*", ex.Column(name, INT), ex.Literal(3, INT))
        return p.Restrict(p.Aggregate(rows, tuple(names), (count,)), start)

    def predicate(self, source: p.Node) -> ex.Expr:
        return random_predicate(self.rng, source.schema)

    def predicate_on(self, source: p.Node, names: tuple[str, ...]) -> ex.Expr:
        """A predicate that reads some of the named columns and no other."""
        return random_predicate(self.rng, pa.schema([source.schema.field(n) for n in names]))

    def columns(self, source: p.Node, least: int = 0) -> tuple[str, ...]:
        """Up to two columns, in any order."""
        names = source.schema.names
        return tuple(self.rng.sample(names, min(len(names), self.rng.randint(least, 2))))

    def name(self) -> str:
        """A name that no other column of this maker's plans has."""
        self._names += 1
        return f"c{self._names}"

    def _call(self, source: p.Node) -> AggregateCall:
        flags = [field.name for field in source.schema if field.type == BOOL]
        where = self.rng.choice(flags) if flags and self.rng.random() < 0.3 else None
        function = self.rng.choice(FUNCTIONS)
        count = 2 if function in ("first", "last") else 1
        count = self.rng.randint(0, 1) if function == "count" else count
        args = tuple(self.rng.choice(source.schema.names) for _ in range(count))
        fraction = self.rng.choice((0.0, 0.3, 0.5, 1.0)) if "percentile" in function else None
        distinct = count == 1 and self.rng.random() < 0.3
        call = AggregateCall(function, args, self.name(), distinct, where, fraction)
        try:
            p.Aggregate(source, (), (call,))
        except PlanError:
            return AggregateCall("count", args[:1], self.name(), distinct, where)
        return call

    def _renamed(self, node: p.Node, taken: list[str]) -> p.Node:
        """The node itself, or a map that gives new names to all columns, where some are taken."""
        if not set(taken) & set(node.schema.names):
            return node
        outputs = tuple((self.name(), ex.Column(f.name, f.type)) for f in node.schema)
        return p.Map(node, outputs)

    def _cast(self, node: p.Node, schema: pa.Schema) -> p.Node:
        """The node itself, or a map of it, with columns of the schema's types."""
        if list(node.schema.types) == list(schema.types):
            return node
        outputs = tuple(
            (self.name(), random_column(self.rng, node.schema, kind)) for kind in schema.types
        )
        return p.Map(node, outputs)

    def _until_of(self, source: p.Node, names: tuple[str, ...]) -> ex.Expr | None:
        return self._until(pa.schema([source.schema.field(name) for name in names]))

    def _until(self, schema: pa.Schema) -> ex.Expr | None:
        """A bound later than all times of random streams, so that it is true of any plan."""
        if self.rng.random() < 0.7:
            return None
        column = random_column(self.rng, schema, INT)
        known = ex.Call("coalesce", (column, ex.Literal(0, INT)), INT)
        return ex.arithmetic("+", known, ex.Literal(1_000_000, INT))

    def _time(self, source: p.Node, spread: int) -> ex.Expr:
        column = random_column(self.rng, source.schema, INT)
        return ex.arithmetic("*", column, ex.Literal(spread, INT))


def _over(make: Callable[[Plans, p.Node], p.Node], append_only: bool = False) -> _Maker:
    return lambda plans, depth: make(plans, plans.plan(depth, append_only))


def _over_two(make: Callable[[Plans, p.Node, p.Node], p.Node], append_only: bool = False) -> _Maker:
    def made(plans: Plans, depth: int) -> p.Node:
        left = plans.rng.randint(0, depth)
        return make(plans, plans.plan(left, append_only), plans.plan(depth - left, append_only))

    return made


def _keeping_append_only(append_only: bool) -> Iterator[_Maker]:
    """Nodes whose results are append-only where their inputs are, whatever their parameters."""
    for make in (Plans.filter, Plans.map, Plans.distinct, Plans.group, Plans.coalesce, Plans.split):
        yield _over(make, append_only)
    yield _over(Plans.sync, append_only)
    yield _over(Plans.changes)
    yield _over(Plans.session, append_only=True)
    yield _over(Plans.union, append_only)
    yield _over_two(Plans.union, append_only)
    yield lambda plans, depth: plans.sync(
        plans.plan(depth, append_only), *(plans.scan() for _ in range(plans.rng.randint(1, 2)))
    )


_MONOTONE: tuple[_Maker, ...] = (
    *_keeping_append_only(append_only=True),
    _over(lambda plans, source: plans.restrict(source, ends=False), append_only=True),
    _over_two(
        lambda plans, left, right: plans.join(left, right, plans.rng.choice(MONOTONE_JOINS)),
        append_only=True,
    ),
    _over_two(
        lambda plans, left, right: plans.set_operation(
            left, right, plans.rng.choice(MONOTONE_SETS)
        ),
        append_only=True,
    ),
)
_ALL: tuple[_Maker, ...] = (
    *_keeping_append_only(append_only=False),
    _over(Plans.restrict),
    _over(Plans.started),
    *(_over_two(Plans.join),) * 3,
    *(_over_two(Plans.set_operation),) * 2,
    *(_over(Plans.aggregate),) * 2,
    *(_over(Plans.rank),) * 2,
    _over(Plans.window, append_only=True),
    _over(Plans.row_window, append_only=True),
    _over(Plans.upsert, append_only=True),
    _over_two(Plans.sync),
)
