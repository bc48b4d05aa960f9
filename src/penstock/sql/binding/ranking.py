"""Functions OVER windows of rows: ranks, and aggregates over partitions and frames.

A rank is a column. An aggregate over a partition is a group joined to its rows. An aggregate over a
frame is one too: rows are numbered, each row is joined with those whose numbers are in its frame,
and what they add up to is joined to the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Call, Column, Expr, Literal, cast, compare, conjunction
from penstock.algebra.plan import (
    Aggregate,
    Equality,
    Join,
    Map,
    Node,
    Rank,
    RankKind,
    SortKey,
    project,
)
from penstock.sql.binding.aggregates import call_of, of_nothing, parts_of
from penstock.sql.binding.context import Binding, Frame, deciding, kept
from penstock.sql.binding.scalars import bound_column
from penstock.sql.dialect import Penstock

RANKS: dict[type[exp.Expr], RankKind] = {
    exp.RowNumber: "row_number",
    exp.Rank: "rank",
    exp.DenseRank: "dense_rank",
}


@dataclass(frozen=True)
class _Over:
    """What stands after OVER, in columns."""

    partition: tuple[str, ...]
    order: tuple[SortKey, ...]


class Ranking:
    """Binds the functions OVER windows of a SELECT."""

    def __init__(self, binding: Binding) -> None:
        self._b = binding

    def ranked(
        self, select: exp.Select, frame: Frame, trees: Sequence[exp.Expr], carried: tuple[str, ...]
    ) -> tuple[Frame, list[exp.Expr]]:
        """The frame with a column for each function over a window, and the trees that read them."""
        named: dict[str, exp.Expr] = {}
        for window in select.args.get("windows") or ():
            if window.name.lower() in named:
                self._b.diagnostics.wrong(f"Two windows are called {window.name}.", window)
            named[window.name.lower()] = window
        for window in named.values():
            spec = self._spec(window, named)
            for column in spec.find_all(exp.Column):
                self._resolved(column, frame)
        columns: dict[str, str] = {}
        for tree in trees:
            for node in _windows(tree):
                if node.sql() not in columns:
                    frame, columns[node.sql()] = self._column(node, frame, named, carried)

        def over(node: exp.Expr) -> exp.Expr:
            found = columns.get(node.sql()) if isinstance(node, exp.Window) else None
            return bound_column(found, node) if found else node

        return frame, [tree.copy().transform(over) for tree in trees] if columns else list(trees)

    def _column(
        self,
        node: exp.Window,
        frame: Frame,
        named: Mapping[str, exp.Expr],
        carried: tuple[str, ...],
    ) -> tuple[Frame, str]:
        spec = self._spec(node, named)
        frame, over = self._over(spec, frame, carried)
        call = node.this
        if type(call) in RANKS:
            self._need_order(over, node)
            number = self._b.fresh("number")
            kind = RANKS[type(call)]
            ranked = Rank(frame.plan, over.partition, over.order, None, kind, number)
            value = cast(Column(number, pa.int64()), pa.int32())  # as Spark has it
            shown = self._b.fresh(call.sql(Penstock).lower())
            return frame.over(Map(ranked, (*kept(frame.plan), (shown, value)))), shown
        if isinstance(call, exp.Lag | exp.Lead):
            self._need_order(over, node)
            return self._neighbour(call, frame, over)
        if isinstance(call, exp.IgnoreNulls | exp.RespectNulls) or not isinstance(
            call, exp.AggFunc | exp.Filter | exp.WithinGroup
        ):
            self._b.diagnostics.unsupported(
                f"{call.sql(Penstock)} OVER is not maintained.",
                "Ranks, lag, lead and aggregates are.",
                node,
            )
        if not over.order:
            return self._over_partition(call, frame, over)
        return self._over_frame(call, spec, frame, over)

    def _spec(
        self, node: exp.Expr, named: Mapping[str, exp.Expr], seen: tuple[str, ...] = ()
    ) -> exp.Expr:
        """A window with what it takes from the one it names: the partition, and the order.

        `OVER w` and `w2 AS w` are that window; `(w ORDER BY x)` adds to it what it leaves open.
        """
        alias = node.args.get("alias")
        if alias is None:
            return node
        name = alias.name.lower()
        if name in seen:
            self._b.diagnostics.wrong(f"Window {alias.name} is defined by itself.", alias)
        if name not in named:
            self._b.diagnostics.unknown("window", alias.name, named, alias)
        base = self._spec(named[name], named, (*seen, name))
        adds = [key for key in ("partition_by", "order", "spec") if node.args.get(key)]
        for key, clause in (("partition_by", "PARTITION BY"), ("order", "ORDER BY")):
            if key in adds and (key == "partition_by" or base.args.get(key)):
                self._b.diagnostics.wrong(
                    f"{clause} is for the window {alias.name} to say. Write the whole window out: "
                    "OVER (PARTITION BY a ORDER BY b).",
                    node,
                )
        if adds and base.args.get("spec"):
            self._b.diagnostics.wrong(
                f"Window {alias.name} has a frame, so nothing can be added to it.", node
            )
        whole = base.copy()
        for key in adds:
            whole.set(key, node.args[key].copy())
        return whole

    def _over(self, spec: exp.Expr, frame: Frame, carried: tuple[str, ...]) -> tuple[Frame, _Over]:
        partition, order = list(carried), []
        for tree in spec.args.get("partition_by") or ():
            column, frame = self._b.column(self._resolved(tree, frame), frame, "partition")
            self._b.check_compared(frame.schema.field(column).type, tree)
            partition.append(column)
        clause = spec.args.get("order")
        for ordered in clause.expressions if clause else ():
            column, frame = self._b.column(self._resolved(ordered.this, frame), frame, "order")
            self._b.check_compared(frame.schema.field(column).type, ordered)
            descending = bool(ordered.args.get("desc"))
            order.append(SortKey(column, descending, bool(ordered.args.get("nulls_first"))))
        return frame, _Over(tuple(dict.fromkeys(partition)), deciding(order))

    def _resolved(self, tree: exp.Expr, frame: Frame) -> exp.Expr:
        return self._b.names.resolve(tree, frame.scope)

    def _need_order(self, over: _Over, at: exp.Expr) -> None:
        if not over.order:
            self._b.diagnostics.wrong("This needs an order: OVER (PARTITION BY a ORDER BY b).", at)

    # --- aggregates -----------------------------------------------------------------------------

    def _over_partition(self, call: exp.Expr, frame: Frame, over: _Over) -> tuple[Frame, str]:
        added: dict[str, tuple[str, Expr]] = {}
        name = self._b.fresh(call.sql(Penstock).lower())
        aggregate = call_of(self._b, parts_of(self._b, call), frame, added, name)
        source = Map(frame.plan, (*kept(frame.plan, over.partition), *added.values()))
        groups = Aggregate(source, over.partition, (aggregate,))
        plan = self._attached(frame.plan, groups, over.partition, "inner")
        return frame.over(project(plan, [*frame.schema.names, name])), name

    def _over_frame(
        self, call: exp.Expr, spec: exp.Expr, frame: Frame, over: _Over
    ) -> tuple[Frame, str]:
        bounds = self._bounds(spec.args.get("spec"))
        parts = parts_of(self._b, call)
        added: dict[str, tuple[str, Expr]] = {}
        name = self._b.fresh(call.sql(Penstock).lower())
        aggregate = call_of(self._b, parts, frame, added, name)
        number, place = self._b.fresh("number"), self._b.fresh("place")
        numbered: Node = Rank(frame.plan, over.partition, over.order, None, "row_number", number)
        if bounds.by_value:
            numbered = Rank(numbered, over.partition, over.order, None, "rank", place)
        keys = (*over.partition, number)
        at = place if bounds.by_value else number
        mine = project(numbered, tuple(dict.fromkeys((*keys, at))))
        others: Node = Map(numbered, (*kept(numbered, (*over.partition, at)), *added.values()))
        others, renamed = self._apart(others)
        on = tuple(Equality(c, renamed[c], True) for c in over.partition)
        where = bounds.condition(Column(at, pa.int64()), Column(renamed[at], pa.int64()))
        pairs = Join(mine, others, "inner", on, where)
        calls = (_renamed_call(aggregate, renamed),)
        sums = Aggregate(pairs, keys, calls)
        plan = self._attached(numbered, sums, keys, "left")
        value: Expr = Column(name, plan.schema.field(name).type)
        empty = of_nothing(parts.function, value.type)
        if empty != Literal(None, value.type):
            value = Call("coalesce", (value, empty), value.type)
        shown = self._b.fresh(name)
        return frame.over(Map(plan, (*kept(plan, frame.schema.names), (shown, value)))), shown

    def _neighbour(self, call: exp.Expr, frame: Frame, over: _Over) -> tuple[Frame, str]:
        """The value of the row so many rows before or after."""
        offset = self._offset(call)
        value = self._b.expr(self._resolved(call.this, frame), frame)
        number, there = self._b.fresh("number"), self._b.fresh("number")
        name = self._b.fresh(call.sql(Penstock).lower())
        numbered = Rank(frame.plan, over.partition, over.order, None, "row_number", number)
        step = offset if isinstance(call, exp.Lag) else -offset
        reached = Call("+", (Column(number, pa.int64()), Literal(step, pa.int64())), pa.int64())
        outputs = (*kept(numbered, over.partition), (there, reached), (name, value))
        others, renamed = self._apart(Map(numbered, outputs))
        on = [Equality(c, renamed[c], True) for c in over.partition]
        on.append(Equality(number, renamed[there]))
        plan: Node = Join(numbered, others, "left", tuple(on))
        found: Expr = Column(renamed[name], value.type)
        default = call.args.get("default")
        if default is not None:
            fallback = self._b.scalars.cast(self._b.expr(default, frame), value.type, default)
            missing = Call("is null", (Column(renamed[there], pa.int64()),), pa.bool_())
            found = Call("if", (missing, fallback, found), value.type)
        shown = self._b.fresh(name)
        return frame.over(Map(plan, (*kept(plan, frame.schema.names), (shown, found)))), shown

    def _offset(self, call: exp.Expr) -> int:
        tree = call.args.get("offset")
        if tree is None:
            return 1
        match self._b.scalars.expr(tree, pa.schema([])):
            case Literal(int() as number, _):
                return number
        self._b.diagnostics.wrong("The offset is a whole number.", tree)

    def _attached(self, plan: Node, groups: Node, keys: tuple[str, ...], kind: str) -> Node:
        """Rows with the results of their group."""
        names = {key: self._b.fresh(key) for key in keys}
        outputs = [(names.get(f.name, f.name), Column(f.name, f.type)) for f in groups.schema]
        on = tuple(Equality(key, names[key], True) for key in keys)
        return Join(plan, Map(groups, tuple(outputs)), "left" if kind == "left" else "inner", on)

    def _apart(self, plan: Node) -> tuple[Node, dict[str, str]]:
        """The same rows under names of their own."""
        names = {name: self._b.fresh(name) for name in plan.schema.names}
        outputs = tuple((names[f.name], Column(f.name, f.type)) for f in plan.schema)
        return Map(plan, outputs), names

    def _bounds(self, spec: exp.Expr | None) -> _Bounds:
        if spec is None:
            return _Bounds(None, 0, True)
        kind = str(spec.args.get("kind") or "ROWS").upper()
        low = self._bound(spec, "start")
        high = self._bound(spec, "end") if spec.args.get("end") else 0
        by_value = kind == "RANGE"
        if spec.args.get("exclude") or kind == "GROUPS" or (by_value and (low, high) != (None, 0)):
            self._b.diagnostics.unsupported(
                "Frames are ROWS BETWEEN ... AND ..., or RANGE up to the current row.",
                "For a range of time, put a window on the stream: FROM s [RANGE 5 MINUTES].",
                spec,
            )
        return _Bounds(low, high, by_value)

    def _bound(self, spec: exp.Expr, end: str) -> int | None:
        """How many rows after the current one; None is without bound."""
        value, side = spec.args.get(end), str(spec.args.get(f"{end}_side") or "").upper()
        text = value if isinstance(value, str) else value.sql(Penstock) if value else ""
        if text.upper() == "CURRENT ROW":
            return 0
        if text.upper() == "UNBOUNDED":
            return None
        match self._b.scalars.expr(value, pa.schema([])):  # type: ignore[arg-type]
            case Literal(int() as number, _):
                return -number if side == "PRECEDING" else number
        self._b.diagnostics.wrong("The bound of a frame is a whole number of rows.", spec)


@dataclass(frozen=True)
class _Bounds:
    """Which rows are in the frame of a row: numbers from `low` to `high` after its own."""

    low: int | None
    high: int | None
    by_value: bool

    def condition(self, mine: Expr, other: Expr) -> Expr:
        tests: list[Expr] = []
        if self.low is not None:
            tests.append(compare(">=", other, _plus(mine, self.low)))
        if self.high is not None:
            tests.append(compare("<=", other, _plus(mine, self.high)))
        return conjunction(tuple(tests))


def _plus(value: Expr, number: int) -> Expr:
    return Call("+", (value, Literal(number, pa.int64())), pa.int64()) if number else value


def _renamed_call(call: AggregateCall, names: Mapping[str, str]) -> AggregateCall:
    where = None if call.where is None else names[call.where]
    return replace(call, args=tuple(names[a] for a in call.args), where=where)


def _windows(tree: exp.Expr) -> Iterator[exp.Window]:
    if isinstance(tree, exp.Query):
        return
    if isinstance(tree, exp.Window):
        yield tree
        return
    for child in tree.iter_expressions():
        yield from _windows(child)
