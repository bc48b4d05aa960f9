"""Random queries that overlap: each is made from another by small changes.

Of some, one is contained in the other; most of the rest just miss it: a bound that touches, a key
too few, a window too long, a period that does not divide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Literal as Word

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Call, Column, Expr, Literal, arithmetic, compare, conjunction
from penstock.testing.random_expressions import FLOAT, INT, TEXT, random_predicate
from penstock.testing.random_streams import Stream

LOG = p.Scan(
    "log",
    pa.schema([("k", INT), ("v", INT), ("x", FLOAT), ("at", INT)]),
    append_only=True,
    time="at",
)
OTHER = p.Scan(
    "other", pa.schema([("k", INT), ("s", TEXT), ("at", INT)]), append_only=True, time="at"
)
CHANGES = p.Scan("changes", pa.schema([("k", INT), ("v", INT)]))
OVERLAPPING = (LOG, OTHER, CHANGES)

Base = Word["log", "other", "changes", "latest", "outer"]
_BASES: tuple[Base, ...] = ("log", "log", "other", "changes", "latest", "outer")
_WINDOWED = ("log", "other")
_FUNCTIONS = (*("count", "sum", "avg", "min", "max") * 3, "var_pop", "median")
_OPERATORS = ("<", "<=", ">", ">=", "=")


def with_times(streams: Mapping[str, Stream]) -> dict[str, Stream]:
    """Streams in which the time at which a row comes is in its column."""
    timed = {scan.name: scan.schema.names.index("at") for scan in (LOG, OTHER)}
    return {
        name: stream
        if name not in timed
        else [
            ((*e[: timed[name]], ts, *e[timed[name] + 1 :]), ts, te, n) for e, ts, te, n in stream
        ]
        for name, stream in streams.items()
    }


@dataclass(frozen=True)
class Part:
    """A relation in FROM."""

    base: Base
    window: tuple[Word["sliding", "fixed"], int] | None = None

    def plan(self) -> p.Node:
        match self.base:
            case "log" | "other":
                scan = LOG if self.base == "log" else OTHER
                return scan if self.window is None else p.Window(scan, *self.window)
            case "latest":
                return p.Upsert(LOG, ("k",))
            case "outer":
                right = p.Map(OTHER, (("ok", Column("k", INT)), ("s", Column("s", TEXT))))
                return p.Join(CHANGES, right, "left", (p.Equality("k", "ok"),))
        return CHANGES


@dataclass(frozen=True)
class Spec:
    """A query: what it reads, its conditions, columns, groups and points of synchronization."""

    parts: tuple[Part, ...]
    conditions: tuple[Expr, ...]
    columns: tuple[tuple[str, Expr], ...]
    keys: tuple[tuple[str, Expr], ...] | None = None
    calls: tuple[tuple[AggregateCall, Expr | None, Expr | None], ...] = ()
    having: int | None = None
    distinct: bool = False
    points: tuple[p.Periodic | p.TimePoints, ...] | None = None

    def rows(self) -> p.Node:
        node: p.Node | None = None
        for i, part in enumerate(self.parts):
            below = part.plan()
            named = p.Map(
                below, tuple((f"{f.name}{i}", Column(f.name, f.type)) for f in below.schema)
            )
            node = named if node is None else p.Join(node, named)
        assert node is not None
        return node

    def plan(self) -> p.Node:
        node = self.rows()
        if self.conditions:
            node = p.Filter(node, conjunction(self.conditions))
        if self.points is not None:
            node = p.Sync(node, self.points)
        if self.keys is None:
            node = p.Map(node, self.columns)
            return p.Distinct(node) if self.distinct else node
        args: list[tuple[str, Expr]] = []
        calls: list[AggregateCall] = []
        for i, (call, arg, where) in enumerate(self.calls):
            names = [(f"arg{i}", arg)] if arg is not None else []
            filters = [(f"where{i}", where)] if where is not None else []
            args += [*names, *filters]
            calls.append(
                replace(
                    call,
                    args=tuple(name for name, _ in names),
                    where=filters[0][0] if filters else None,
                )
            )
        below = p.Map(node, (*self.keys, *args) or (("one", Literal(1, INT)),))
        node = p.Aggregate(below, tuple(name for name, _ in self.keys), tuple(calls))
        if self.having is not None:
            count = Column("n", INT)
            node = p.Filter(node, compare(">", count, Literal(self.having, INT)))
        return node


class Specs:
    """Draws queries, and queries that differ a little from them."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng

    def view(self) -> Spec:
        rng = self.rng
        parts = tuple(self._part() for _ in range(rng.choice((1, 1, 1, 2, 2, 3))))
        spec = Spec(parts, (), ())
        fields = self._fields(spec)
        conditions = [self._condition(spec) for _ in range(rng.choice((0, 1, 1, 2)))]
        conditions += self._equalities(spec)
        spec = replace(spec, conditions=tuple(conditions))
        most = rng.random() < 0.6
        chosen = fields if most else rng.sample(fields, rng.randint(1, len(fields)))
        columns = [(f"c{i}", e) for i, e in enumerate(chosen)]
        if rng.random() < 0.3:
            columns.append(("computed", self._value(spec)))
        spec = replace(spec, columns=tuple(columns), distinct=rng.random() < 0.1)
        if rng.random() < 0.45:
            spec = self._grouped(spec)
        if rng.random() < 0.35:
            spec = replace(spec, points=self._points())
        return spec

    def changed(self, spec: Spec) -> Spec:
        """Another query, one to four small changes away."""
        for _ in range(self.rng.choice((1, 1, 2, 2, 3, 4))):
            spec = self.rng.choice(
                (
                    self._other_conditions,
                    self._other_conditions,
                    self._other_columns,
                    self._other_groups,
                    self._other_groups,
                    self._other_windows,
                    self._other_points,
                    self._other_parts,
                )
            )(spec)
        return spec

    # --- parts of a query -----------------------------------------------------------------------

    def _part(self) -> Part:
        base = self.rng.choice(_BASES)
        return Part(base, self._window() if base in _WINDOWED else None)

    def _window(self) -> tuple[Word["sliding", "fixed"], int] | None:
        if self.rng.random() < 0.4:
            return None
        return self.rng.choice(("sliding", "sliding", "fixed")), self.rng.choice((2, 3, 4, 6))

    def _points(self) -> tuple[p.Periodic | p.TimePoints, ...]:
        if self.rng.random() < 0.15:
            return (p.TimePoints(tuple(sorted(self.rng.sample(range(12), 3)))),)
        period = p.Periodic(self.rng.choice((1, 2, 3, 4, 6)), self.rng.choice((0, 0, 1)))
        return (period, p.Periodic(3, 1)) if self.rng.random() < 0.1 else (period,)

    def _fields(self, spec: Spec) -> list[Expr]:
        return [Column(f.name, f.type) for f in spec.rows().schema]

    def _condition(self, spec: Spec) -> Expr:
        fields, numbers = self._fields(spec), self._numbers(spec)
        if numbers and self.rng.random() < 0.75:
            bound = Literal(self.rng.choice((0, 1, 1, 2)), INT)
            return compare(self.rng.choice(_OPERATORS), self.rng.choice(numbers), bound)
        if self.rng.random() < 0.3:
            return Call(
                "not", (Call("is null", (self.rng.choice(fields),), pa.bool_()),), pa.bool_()
            )
        return random_predicate(self.rng, spec.rows().schema)

    def _equalities(self, spec: Spec) -> list[Expr]:
        operator = self.rng.choice(("=", "=", "=", "<=>"))
        return [
            compare(operator, Column(f"k{i}", INT), Column(f"k{i + 1}", INT))
            for i in range(len(spec.parts) - 1)
            if self.rng.random() < 0.9
        ]

    def _numbers(self, spec: Spec) -> list[Expr]:
        return [e for e in self._fields(spec) if e.type == INT]

    def _value(self, spec: Spec) -> Expr:
        numbers = self._numbers(spec)
        left, right = self.rng.choice(numbers), self.rng.choice(numbers)
        return arithmetic(self.rng.choice(("+", "-")), left, right)

    def _grouped(self, spec: Spec) -> Spec:
        fields = self._fields(spec)
        count = self.rng.choice((0, 1, 2, 2, 3, 3))
        chosen = self.rng.sample(fields, min(count, len(fields)))
        keys = tuple((f"g{i}", e) for i, e in enumerate(chosen))
        counted = (AggregateCall("count", (), "n"), None, None)
        calls = tuple(self._call(spec, i) for i in range(self.rng.choice((1, 2, 3, 4))))
        having = self.rng.choice((0, 1)) if self.rng.random() < 0.15 else None
        return replace(spec, keys=keys, calls=(counted, *calls), having=having, distinct=False)

    def _call(self, spec: Spec, number: int) -> tuple[AggregateCall, Expr | None, Expr | None]:
        function = self.rng.choice(_FUNCTIONS)
        numeric = function not in ("count", "min", "max")
        kinds = (INT, INT, FLOAT) if numeric else (INT, FLOAT, TEXT)
        wanted = self.rng.choice(kinds)
        fields = [e for e in self._fields(spec) if e.type == wanted] or self._numbers(spec)
        where = self._condition(spec) if self.rng.random() < 0.15 else None
        distinct = self.rng.random() < 0.15
        call = AggregateCall(function, ("x",), f"a{number}", distinct)
        return call, self.rng.choice(fields), where

    # --- changes --------------------------------------------------------------------------------

    def _other_conditions(self, spec: Spec) -> Spec:
        conditions = list(spec.conditions)
        match self.rng.choice(("add", "add", "tighten", "tighten", "drop")):
            case "drop" if conditions:
                conditions.remove(self.rng.choice(conditions))
            case "tighten" if conditions:
                place = self.rng.randrange(len(conditions))
                conditions[place] = self._moved(conditions[place])
            case _:
                conditions.append(self._condition(spec))
        return replace(spec, conditions=tuple(conditions))

    def _moved(self, condition: Expr) -> Expr:
        match condition:
            case Call(operator, (Column() as column, Literal(int() as bound, kind))):
                moved = Literal(bound + self.rng.choice((-1, 0, 1)), kind)
                return compare(self.rng.choice((operator, *_OPERATORS)), column, moved)
            case Call("<=>", sides):
                return Call("=", sides, pa.bool_())
        return condition

    def _other_columns(self, spec: Spec) -> Spec:
        if spec.keys is None:
            fields = self._fields(spec)
            chosen = self.rng.sample(fields, self.rng.randint(1, min(3, len(fields))))
            columns = tuple((f"d{i}", e) for i, e in enumerate(chosen))
            return replace(spec, columns=columns, distinct=self.rng.random() < 0.2)
        kept = [call for call in spec.calls[1:] if self.rng.random() < 0.6]
        if self.rng.random() < 0.3:
            kept.append(self._call(spec, 9))
        named = {call.name: (call, arg, where) for call, arg, where in kept}
        return replace(spec, calls=(spec.calls[0], *named.values()))

    def _other_groups(self, spec: Spec) -> Spec:
        if spec.keys is None:
            return self._grouped(spec) if self.rng.random() < 0.7 else spec
        keys = [key for key in spec.keys if self.rng.random() < 0.6]
        if self.rng.random() < 0.15:
            keys.append(("g9", self.rng.choice(self._fields(spec))))
        named = dict(keys)
        having = self.rng.choice((spec.having, spec.having, None, 1))
        return replace(spec, keys=tuple(named.items()), having=having)

    def _other_windows(self, spec: Spec) -> Spec:
        parts = [
            replace(part, window=self._window()) if part.base in _WINDOWED else part
            for part in spec.parts
        ]
        return replace(spec, parts=tuple(parts))

    def _other_points(self, spec: Spec) -> Spec:
        return replace(spec, points=None if self.rng.random() < 0.2 else self._points())

    def _other_parts(self, spec: Spec) -> Spec:
        if len(spec.parts) >= 3:
            return spec
        longer = replace(spec, parts=(*spec.parts, self._part()))
        new = len(spec.parts)
        equal = compare("=", Column("k0", INT), Column(f"k{new}", INT))
        return replace(longer, conditions=(*spec.conditions, equal))
