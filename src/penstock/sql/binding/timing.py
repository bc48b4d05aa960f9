"""Time in queries: windows after a name, conditions on NOW(), synchronization."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import pyarrow as pa
from sqlglot import exp

from penstock.algebra import times
from penstock.algebra.arrival import in_arrival_order
from penstock.algebra.calendar import DAY, UTC, Midnights, zone_named
from penstock.algebra.expr import Call, Expr, Literal, compare
from penstock.algebra.plan import (
    Node,
    Periodic,
    Restrict,
    RowWindow,
    Scan,
    Sync,
    Window,
    append_only,
)
from penstock.algebra.settings import is_utc, zone_of
from penstock.algebra.streams import time_column
from penstock.sql import windows
from penstock.sql.binding import types
from penstock.sql.binding.catalog import Catalog, Relation, SyncPoints
from penstock.sql.binding.context import Binding, Frame
from penstock.sql.binding.scalars import Scalars, interval_micros, names_in, unwrapped
from penstock.sql.text import Name

UNNAMED = "this query"

FLIPPED: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.EQ: exp.EQ,
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
}


# --- windows --------------------------------------------------------------------------------------


def windowed(b: Binding, plan: Node, window: windows.Window, of: str, at: exp.Expr) -> Node:
    """A stream with a window on it. Only what is never taken back can have one."""
    if isinstance(window, windows.UnboundedWindow):
        return plan
    place = Name(of, window.span)
    if not any(isinstance(node, Scan) and node.time is not None for node in plan.walk()):
        b.diagnostics.wrong(
            f"Rows of {of} have no time, so a window holds all of them or none. Leave it out.",
            place,
        )
    if not append_only(plan):
        changes = "SELECT ISTREAM ..." if of == UNNAMED else f"SELECT ISTREAM * FROM {of}"
        b.diagnostics.unsupported(
            f"A window is of rows that stay, and those of {of} are updated or deleted.",
            "Put the window on the stream that is read, or on the stream of changes: "
            f"FROM ({changes}) [...].",
            place,
        )
    match window:
        case windows.RangeWindow(size, None):
            return Window(plan, "sliding", length(b, size, place))
        case windows.RangeWindow(size, windows.Duration() as slide):
            inner = Window(plan, "sliding", length(b, size, place))
            return Sync(inner, (every(b.scalars, length(b, slide, place), b.catalog),))
        case windows.FixedWindow(size):
            long = length(b, size, place)
            days = every(b.scalars, long, b.catalog)
            zone = days.zone if isinstance(days, Midnights) else UTC
            return Window(plan, "fixed", long, zone)
        case windows.RowsWindow(rows, partition):
            columns = [_column(b, name, plan, of) for name in partition]
            return RowWindow(plan, rows, tuple(columns), arrival=in_arrival_order(plan))
    return Window(plan, "sliding", 1)


def every(scalars: Scalars, length: int, catalog: Catalog) -> Periodic | Midnights:
    """The multiples of a length of time; days begin at the midnights of the session's zone."""
    zone = zone_of(scalars.settings)
    if catalog.integer_time or length % DAY or is_utc(zone):
        return Periodic(length)
    zone_named(zone)
    return Midnights(length // DAY, zone)


def length(b: Binding, duration: windows.Duration, at: Name) -> int:
    """A duration in the units of the pipeline's time."""
    if duration.ticks and not b.catalog.integer_time:
        b.diagnostics.wrong(
            f"Time is in timestamps here, so {duration.length} needs a unit: "
            f"write {duration.length} SECONDS.",
            at,
        )
    if not duration.ticks and b.catalog.integer_time:
        b.diagnostics.wrong(
            f"Time is plain integers here, so {duration} has no meaning: write a number.", at
        )
    return duration.length


def _column(b: Binding, name: Name, plan: Node, of: str) -> str:
    for known in plan.schema.names:
        if known.lower() == name.text.lower():
            return known
    b.diagnostics.unknown(f"column of {of} named", name.text, plan.schema.names, name)


# --- synchronization ------------------------------------------------------------------------------


def synchronized(b: Binding, plan: Node, sync: exp.Expr) -> Node:
    """The plan as it is at the points of a synchronization stream."""
    entry = b.catalog.find(sync.name)
    match entry:
        case _, SyncPoints(parts):
            return Sync(plan, parts)
        case _, Relation("table"):
            b.diagnostics.wrong(
                f"{sync.name} is a table, and its rows come at no time. Synchronize by a stream, "
                "or by a view over the clock.",
                sync,
            )
        case _, Relation() as relation:
            return Sync(plan, (relation.plan,))
    b.diagnostics.unknown("synchronization stream", sync.name, _synchronizing(b.catalog), sync)


def _synchronizing(catalog: Catalog) -> list[str]:
    return list(catalog.entries)


# --- conditions on NOW() --------------------------------------------------------------------------


def mentions_now(tree: exp.Expr) -> bool:
    return any(_is_now(node) for node in tree.walk() if not isinstance(node, exp.Query))


def _is_now(node: exp.Expr) -> bool:
    return isinstance(node, exp.Anonymous) and str(node.this) == "NOW"


def restricted(b: Binding, frame: Frame, conditions: Sequence[exp.Expr]) -> Frame:
    """The frame's records while all conditions on NOW() hold."""
    for tree in sorted(conditions, key=_ends):
        frame = frame.over(_restricted(b, frame, tree))
    return frame


def _ends(tree: exp.Expr) -> bool:
    """Whether a condition ends validity; those that begin it come first, and often say nothing."""
    if not isinstance(tree, exp.Binary):
        return False
    ending = (exp.LT, exp.LTE) if mentions_now(tree.this) else (exp.GT, exp.GTE)
    return isinstance(tree, ending)


def _restricted(b: Binding, frame: Frame, tree: exp.Expr) -> Node:
    if type(tree) not in FLIPPED or (mentions_now(tree.this) and mentions_now(tree.expression)):
        b.diagnostics.unsupported(
            "Only comparisons of NOW() with a value of the row can be maintained.",
            "Write NOW() - INTERVAL 5 MINUTES < ts, expires > NOW() and the like, joined by AND.",
            tree,
        )
    kind, moving, value = type(tree), tree.this, tree.expression
    if mentions_now(value):
        kind, moving, value = FLIPPED[kind], value, moving
    bound = times.shifted(_ticks(b, value, frame), "-", _shift(b, moving))
    start = times.shifted(bound, "+", int(kind is exp.GT))
    end = times.shifted(bound, "+", int(kind is not exp.LT))
    points = _points(b, moving)
    if points:
        start, end = _first_of(points, start), _first_of(points, end)
    plan = frame.plan
    if kind in (exp.GT, exp.GTE, exp.EQ):
        plan = Restrict(plan, start, None) if points else _from(plan, start)
    if kind in (exp.LT, exp.LTE, exp.EQ):
        plan = Restrict(plan, None, end) if points else _until(plan, end)
    return plan


def _points(b: Binding, moving: exp.Expr) -> tuple[Periodic, ...]:
    """Where a view over the clock says what time it is: the points at which that changes."""
    found = [point for node in moving.walk() for point in node.meta.get("points", ())]
    periods = tuple(point for point in found if isinstance(point, Periodic))
    if any(isinstance(point, Midnights) for point in found):
        b.diagnostics.unsupported(
            "A time that moves with the midnights of a zone cannot be compared with.",
            "Compare with NOW(), and synchronize the stream: FROM s SYNC BY midnights.",
            moving,
        )
    if len(periods) < len(found):
        b.diagnostics.unsupported(
            "A time that moves with events cannot be compared with.",
            "Compare with NOW(), and synchronize the stream by the events: FROM s SYNC BY events.",
            moving,
        )
    return periods


def _first_of(points: tuple[Periodic, ...], time: Expr) -> Expr:
    """The first of the points that is not before a time: when the time on the clock reaches it."""
    found = [times.next_multiple(time, each.period, each.offset) for each in points]
    return reduce(lambda a, c: Call("if", (compare("<", a, c), a, c), a.type), found)


def _from(plan: Node, start: Expr) -> Node:
    """Records only from a time on, which may be that of their coming anyhow."""
    offset = _own_time(plan, start)
    return plan if offset is not None and offset <= 0 else Restrict(plan, start, None)


def _until(plan: Node, end: Expr) -> Node:
    """Records only until a time; so long after their coming, that is a window."""
    offset = _own_time(plan, end)
    if offset is not None and offset > 0:
        return Window(plan, "sliding", offset)
    return Restrict(plan, None, end)


def _own_time(plan: Node, value: Expr) -> int | None:
    """c, where the value is the time at which the record itself comes, plus c."""
    column = time_column(plan)
    if column is None or not append_only(plan):
        return None
    return times.offset_from(value, column)


def _shift(b: Binding, moving: exp.Expr) -> int:
    """c, where the tree is NOW() + c."""
    moving = unwrapped(moving)
    if _is_now(moving):
        return 0
    match moving:
        case exp.Add(this=a, expression=c) if mentions_now(a):
            return _shift(b, a) + _constant_length(b, c)
        case exp.Add(this=a, expression=c):
            return _shift(b, c) + _constant_length(b, a)
        case exp.Sub(this=a, expression=c) if mentions_now(a):
            return _shift(b, a) - _constant_length(b, c)
    b.diagnostics.unsupported(
        "NOW() may be moved by a constant only.", "Write NOW() + c or NOW() - c.", moving
    )


def _constant_length(b: Binding, tree: exp.Expr) -> int:
    tree = unwrapped(tree)
    found = interval_micros(tree)
    if found is not None and not b.catalog.integer_time:
        return found
    if names_in(tree):
        b.diagnostics.unsupported(
            "NOW() may be moved by a constant only.",
            "Move the other side of the comparison: NOW() < ts + x.",
            tree,
        )
    match b.scalars.expr(tree, pa.schema([])):
        case Literal(int() as number, _) if b.catalog.integer_time:
            return number
    if b.catalog.integer_time:
        b.diagnostics.wrong("Time is plain integers here: write NOW() - 5.", tree)
    b.diagnostics.wrong("Time is in timestamps here: write NOW() - INTERVAL 5 MINUTES.", tree)


def _ticks(b: Binding, tree: exp.Expr, frame: Frame) -> Expr:
    """A value that is compared with NOW(), as an integer."""
    value = b.expr(tree, frame)
    is_time = value.type in types.INTEGERS if b.catalog.integer_time else types.is_time(value.type)
    if not is_time:
        now = "an integer" if b.catalog.integer_time else "a timestamp"
        kind = types.shown(value.type)
        b.diagnostics.wrong(
            f"NOW() is {now} here, and this is {kind}. Compare it with a time.", tree
        )
    return b.scalars.ticks(value)
