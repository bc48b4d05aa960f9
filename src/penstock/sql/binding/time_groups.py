"""Groups by windows in time: Spark's `window(ts, size, slide)` and `session_window(ts, gap)`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NoReturn

import pyarrow as pa
from sqlglot import exp

from penstock.algebra import times
from penstock.algebra.expr import Column, Expr, Literal, compare
from penstock.algebra.plan import Filter, Map, Node, Session, Union, append_only
from penstock.algebra.streams import time_column
from penstock.sql.binding import types
from penstock.sql.binding.context import Binding, Frame, kept
from penstock.sql.binding.scalars import TIME_GROUPS, bound_column, interval_micros, is_bound
from penstock.sql.binding.scopes import Item, Scope
from penstock.sql.windows import UNITS, UNITS_WITHOUT_LENGTH


def is_time_group(tree: exp.Expr) -> bool:
    return isinstance(tree, exp.Anonymous) and str(tree.this).lower() in TIME_GROUPS


def ends(tree: exp.Expr, scope: Scope) -> list[exp.Expr]:
    """The keys of the window that a frame has got columns for; a session's end is none."""
    name = str(tree.this).lower()
    fields = ("start", "end") if name == "window" else ("start",)
    return [bound_column(item.column, tree) for field in fields for item in scope.find(field, name)]


def replaced(tree: exp.Expr, scope: Scope) -> exp.Expr:
    """The tree with the start and end of the window where the function stands."""

    def bound(name: str, function: str, at: exp.Expr) -> exp.Expr | None:
        found = scope.find(name, function)
        return bound_column(found[0].column, at) if found else None

    def over(node: exp.Expr) -> exp.Expr:
        match node:
            case exp.Dot(this=exp.Anonymous(this=function)) if is_time_group(node.this):
                return bound(node.expression.name, str(function).lower(), node) or node
            case exp.Anonymous(this=function) if is_time_group(node):
                start, end = (bound(n, str(function).lower(), node) for n in ("start", "end"))
                if start is None or end is None:
                    return node
                return _struct(start, end)
        return node

    last = {item.column for item in scope.find("end", "session_window")}

    def ended(node: exp.Expr) -> exp.Expr:
        """A session ends so long after its last row."""
        return exp.Max(this=node) if is_bound(node) and node.name in last else node

    return tree.copy().transform(over).transform(ended)


@dataclass(frozen=True)
class TimeGroup:
    """One `window(...)` or `session_window(...)` of a GROUP BY."""

    b: Binding
    tree: exp.Expr

    def applied(self, frame: Frame, partition: tuple[str, ...]) -> Frame:
        """The frame with columns for the start and the end; rows once for each of their windows."""
        name = str(self.tree.this).lower()
        start, end = self.b.fresh(f"{name}.start"), self.b.fresh(f"{name}.end")
        if name == "window":
            plan = self._windows(frame, start, end)
        else:
            plan = self._sessions(frame, partition, start, end)
        items = (
            Item("start", start, name, only_qualified=True, hidden=True),
            Item("end", end, name, only_qualified=True, hidden=True),
            Item(name, "", hidden=True, tree=_struct(bound_column(start), bound_column(end))),
        )
        return Frame(plan, frame.scope.plus(items))

    def _windows(self, frame: Frame, start: str, end: str) -> Node:
        args = self.tree.expressions
        if not 2 <= len(args) <= 4:
            self._wrong(
                "A window needs a time and a length. Write window(ts, '10 minutes'), or "
                "window(ts, '10 minutes', '2 minutes') for one that slides."
            )
        size = self._length(args[1])
        slide = self._length(args[2]) if len(args) > 2 else size
        offset = self._length(args[3]) if len(args) > 3 else 0
        if not 0 < slide <= size:
            self._wrong("A window is at least as long as its slide, and both are longer than 0.")
        time = self.b.expr(args[0], frame)
        now = self._ticks(time)
        last = times.last_multiple(now, slide, offset)
        parts: list[Node] = []
        for i in range(-(-size // slide)):
            begins = times.shifted(last, "-", i * slide)
            outputs = (
                (start, self._shown(begins, time)),
                (end, self._shown(times.shifted(begins, "+", size), time)),
            )
            plan: Node = frame.plan
            if i * slide + slide > size:
                plan = Filter(plan, compare("<", now, times.shifted(begins, "+", size)))
            parts.append(Map(plan, (*kept(frame.plan), *outputs)))
        return parts[0] if len(parts) == 1 else Union(tuple(parts))

    def _sessions(self, frame: Frame, partition: tuple[str, ...], start: str, end: str) -> Node:
        args = self.tree.expressions
        if len(args) != 2:
            self._wrong("A session needs a time and a gap. Write session_window(ts, '10 minutes').")
        time = self.b.expr(args[0], frame)
        own = isinstance(time, Column) and time.name == time_column(frame.plan)
        if not own or not append_only(frame.plan):
            self.b.diagnostics.unsupported(
                "Sessions are made of the event times of rows that stay.",
                "Write session_window(ts, '10 minutes') over a source or a stream with KEY NULL.",
                self.tree,
            )
        begun, gap = self.b.fresh("session_start"), self._length(args[1])
        # in Spark a session ends `gap` after its last row; a row at that very time is not in it
        plan = Session(frame.plan, partition, gap - 1, begun)
        begins, ends = Column(begun, pa.int64()), times.shifted(self._ticks(time), "+", gap)
        bounds = ((start, self._shown(begins, time)), (end, self._shown(ends, time)))
        return Map(plan, (*kept(frame.plan), *bounds))

    def _ticks(self, time: Expr) -> Expr:
        right = time.type in types.INTEGERS if self.b.catalog.integer_time else True
        if not (right and (types.is_time(time.type) or time.type in types.INTEGERS)):
            self._wrong(f"The first argument is a time; this is {types.shown(time.type)}.")
        return self.b.scalars.ticks(time)

    def _shown(self, ticks: Expr, time: Expr) -> Expr:
        if time.type in types.INTEGERS:
            return ticks
        return times.timestamp_of(ticks)

    def _length(self, tree: exp.Expr) -> int:
        integers = self.b.catalog.integer_time
        found = interval_micros(tree)
        if found is not None and not integers:
            return found
        match self.b.scalars.expr(tree, pa.schema([])):
            case Literal(int() as number, _) if integers:
                return number
            case Literal(str() as text, _) if not integers:
                return self._parsed(text, tree)
        unit = (
            "Time is plain integers here, so the length is a number: 10."
            if integers
            else ("The length is an interval: '10 seconds'.")
        )
        self.b.diagnostics.wrong(unit, tree)

    def _parsed(self, text: str, tree: exp.Expr) -> int:
        parts = re.findall(r"(-?\d+)\s*([a-zA-Z]+)", text.lower().removeprefix("interval"))
        endless = [unit for _, unit in parts if unit.upper() in UNITS_WITHOUT_LENGTH]
        if endless:
            self.b.diagnostics.wrong(
                f"A {endless[0].removesuffix('s')} has no fixed length. Write it in smaller units, "
                "such as '30 days'.",
                tree,
            )
        if not parts or any(unit.upper() not in UNITS for _, unit in parts):
            self.b.diagnostics.wrong(
                f"{text!r} is not a length of time; write one such as '10 seconds'.", tree
            )
        return sum(int(count) * UNITS[unit.upper()] for count, unit in parts)

    def _wrong(self, message: str) -> NoReturn:
        self.b.diagnostics.wrong(message, self.tree)


def _struct(start: exp.Expr, end: exp.Expr) -> exp.Expr:
    fields = [exp.Literal.string("start"), start, exp.Literal.string("end"), end]
    return exp.Anonymous(this="named_struct", expressions=fields)
