"""Points in time as queries over the clock: which of its ticks, never one of them stored.

A query over the clock that selects its time points is a set of them: those that arithmetic picks
out, unions and intersections of such sets, and the times of events. One that takes the latest time
point is the current time, as of a set of points.
"""

from __future__ import annotations

from math import gcd, lcm

import pyarrow as pa
from sqlglot import exp

from penstock.algebra import times
from penstock.algebra.calendar import Midnights
from penstock.algebra.expr import Call, Column, Expr, Literal, compare
from penstock.algebra.plan import Filter, Node, Periodic
from penstock.sql.binding.analyser import Analyser
from penstock.sql.binding.catalog import CLOCKS, Catalog, Moment, Point, Relation, SyncPoints
from penstock.sql.binding.clauses import check_read
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.joins import conjuncts
from penstock.sql.binding.scalars import Scalars, interval_micros, unwrapped
from penstock.sql.binding.timing import every
from penstock.sql.statements import Query

EVERY = SyncPoints((Periodic(1),))
TIMEPOINT = "timepoint"
MOST_PARTS = 64


def bind_points(query: Query, catalog: Catalog, analyser: Analyser) -> SyncPoints | Moment | None:
    """What a query over the clock stands for; None for a query over anything else."""
    diagnostics = Diagnostics(query)
    found = _Points(catalog, Scalars(analyser, diagnostics), diagnostics).bind(query.tree)
    if found is not None:
        check_read(query.tree, diagnostics)
        _check_points(query.tree, diagnostics)
    return found


UNREAD = ("with_", "having", "qualify", "windows", "limit", "offset", "laterals", "by_name")


def _check_points(tree: exp.Expr, diagnostics: Diagnostics) -> None:
    """Points in time are a set: no clause of a query over them may say more than which they are."""
    for node in tree.walk():
        key = next((key for key in UNREAD if node.args.get(key)), None)
        if key is not None and isinstance(node, exp.Query):
            diagnostics.unsupported(
                f"{key.strip('_').upper()} cannot pick points in time.",
                "Write a condition in WHERE: timepoint % 2 = 0.",
                node,
            )


class _Points:
    def __init__(self, catalog: Catalog, scalars: Scalars, diagnostics: Diagnostics) -> None:
        self._catalog = catalog
        self._scalars = scalars
        self._diagnostics = diagnostics

    def bind(self, tree: exp.Expr) -> SyncPoints | Moment | None:
        match tree:
            case exp.Subquery() if not tree.args.get("window"):
                return self.bind(tree.this)
            case exp.Union() | exp.Intersect():
                return self._combined(tree)
            case exp.Select():
                return self._select(tree)
        return None

    def _source(self, tree: exp.Expr) -> SyncPoints | None:
        if isinstance(tree, exp.Subquery):
            found = self.bind(tree)
            return found if isinstance(found, SyncPoints) else None
        if not isinstance(tree, exp.Table):
            return None
        entry = self._catalog.find(tree.name)
        if entry is not None and isinstance(entry[1], SyncPoints):
            return entry[1]
        return EVERY if entry is None and tree.name.lower() in CLOCKS else None

    def _select(self, tree: exp.Select) -> SyncPoints | Moment | None:
        source = self._source(tree.args["from_"].this) if tree.args.get("from_") else None
        if source is None or tree.args.get("joins") or tree.args.get("group"):
            return None
        where = tree.args.get("where")
        points = self._where(source, where.this) if where else source
        items = [item.this if isinstance(item, exp.Alias) else item for item in tree.expressions]
        if len(items) == 1 and self._is_timepoint(unwrapped(items[0])):
            return points
        return self._moment(tree, points)

    def _is_timepoint(self, tree: exp.Expr) -> bool:
        if isinstance(tree, exp.Star):
            return True
        return isinstance(tree, exp.Column) and tree.name.lower() in (TIMEPOINT, "ts", "*")

    def _moment(self, tree: exp.Select, points: SyncPoints) -> Moment:
        columns: list[tuple[str, Literal | None]] = []
        for item in tree.expressions:
            inner = unwrapped(item.this if isinstance(item, exp.Alias) else item)
            if isinstance(inner, exp.Max) and self._is_timepoint(unwrapped(inner.this)):
                columns.append((item.alias or "max(timepoint)", None))
                continue
            value = self._scalars.expr(inner, pa.schema([])) if not _columns(inner) else None
            if not isinstance(value, Literal):
                self._diagnostics.unsupported(
                    "Of the clock, a query selects its time points or the latest of them.",
                    "Write SELECT timepoint FROM clock WHERE timepoint % 2 = 0, or "
                    "SELECT MAX(timepoint) AS now FROM clock.",
                    item,
                )
            columns.append((item.alias or inner.sql(), value))
        return Moment(tuple(columns), () if points == EVERY else points.parts)

    # --- which points ---------------------------------------------------------------------------

    def _where(self, points: SyncPoints, tree: exp.Expr) -> SyncPoints:
        for condition in conjuncts(tree):
            points = self._intersection(points, self._condition(condition), condition)
        return points

    def _condition(self, tree: exp.Expr) -> SyncPoints:
        tree = unwrapped(tree)
        match tree:
            case exp.Or(this=a, expression=b):
                both = (self._where(EVERY, a).parts, self._where(EVERY, b).parts)
                return SyncPoints(tuple(dict.fromkeys((*both[0], *both[1]))))
            case exp.EQ(this=a, expression=b):
                for left, right in ((a, b), (b, a)):
                    if (period := self._period(unwrapped(left))) is not None:
                        return SyncPoints((self._every(period, self._length(right), tree),))
            case exp.In(this=this, expressions=[_, *_] as offsets):
                if (period := self._period(unwrapped(this))) is not None:
                    lengths = [self._length(offset) % period for offset in offsets]
                    parts = [self._every(period, n, tree) for n in dict.fromkeys(lengths)]
                    return SyncPoints(tuple(parts))
        unit = "2" if self._catalog.integer_time else "INTERVAL 2 MINUTES"
        self._diagnostics.unsupported(
            "Time points are picked out by remainders.",
            f"Write timepoint % {unit} = 0, with AND, OR and IN.",
            tree,
        )

    def _every(self, period: int, offset: int, at: exp.Expr) -> Point:
        found = every(self._scalars, period, self._catalog)
        if isinstance(found, Periodic):
            return Periodic(period, offset % period)
        if offset:
            self._diagnostics.unsupported(
                f"Days begin at midnight in {found.zone}, and the clocks there may skip a time of "
                "the day.",
                "Write timepoint % INTERVAL 1 DAY = 0, or bind the view with "
                "spark.sql.session.timeZone set to UTC.",
                at,
            )
        return found

    def _period(self, tree: exp.Expr) -> int | None:
        if not isinstance(tree, exp.Mod) or not self._is_timepoint(unwrapped(tree.this)):
            return None
        period = self._length(tree.expression)
        if period <= 0:
            self._diagnostics.wrong("A period is longer than 0.", tree)
        return period

    def _length(self, tree: exp.Expr) -> int:
        tree = unwrapped(tree)
        found = interval_micros(tree)
        if found is not None and not self._catalog.integer_time:
            return found
        match self._scalars.expr(tree, pa.schema([])) if not _columns(tree) else None:
            case Literal(int() as number, _) if self._catalog.integer_time or number == 0:
                return number
        if self._catalog.integer_time:
            self._diagnostics.wrong("Time is plain integers here: write timepoint % 2 = 0.", tree)
        self._diagnostics.wrong(
            "Time is in timestamps here: write timepoint % INTERVAL 2 MINUTES = 0.", tree
        )

    # --- sets of points -------------------------------------------------------------------------

    def _combined(self, tree: exp.SetOperation) -> SyncPoints | None:
        left, right = self._side(tree.this), self._side(tree.expression)
        if left is None or right is None:
            return None
        if not any(isinstance(p, Periodic | Midnights) for p in (*left.parts, *right.parts)):
            return None
        if isinstance(tree, exp.Union):
            return SyncPoints(tuple(dict.fromkeys((*left.parts, *right.parts))))
        return self._intersection(left, right, tree)

    def _side(self, tree: exp.Expr) -> SyncPoints | None:
        found = self.bind(tree)
        if isinstance(found, SyncPoints):
            return found
        source = tree.args["from_"].this if tree.args.get("from_") else None
        entry = self._catalog.find(source.name) if isinstance(source, exp.Table) else None
        if entry is None or not isinstance(entry[1], Relation) or tree.args.get("where"):
            return None
        return SyncPoints((entry[1].plan,))

    def _intersection(self, left: SyncPoints, right: SyncPoints, at: exp.Expr) -> SyncPoints:
        parts: list[Point] = []
        for a in left.parts:
            for b in right.parts:
                parts += self._common(a, b, at)
        if not parts:
            self._diagnostics.wrong("These conditions pick out no point in time.", at)
        if len(parts) > MOST_PARTS:
            self._diagnostics.unsupported(
                "These points in time take too many parts to write down.",
                "Synchronize by fewer periods.",
                at,
            )
        return SyncPoints(tuple(dict.fromkeys(parts)))

    def _common(self, a: Point, b: Point, at: exp.Expr) -> list[Point]:
        match a, b:
            case Periodic(), Periodic():
                met = meet(a, b)
                return [met] if met is not None else []
            case (Periodic(1), Midnights() as days) | (Midnights() as days, Periodic(1)):
                return [days]
            case Midnights(), Midnights() if a.zone == b.zone:
                return [Midnights(lcm(a.days, b.days), a.zone)]
            case (Midnights(), _) | (_, Midnights()):
                self._diagnostics.unsupported(
                    "Midnights of a zone coincide with midnights of the same zone only.",
                    "Write them as two views, or filter the events in a view: "
                    "WHERE ts = date_trunc('DAY', ts).",
                    at,
                )
            case Periodic(), Node():
                return [_at_points(b, a)]
            case Node(), Periodic():
                return [_at_points(a, b)]
        self._diagnostics.unsupported(
            "Events that coincide with events are not a synchronization stream.",
            "Join the two streams on their time in a view, and synchronize by it.",
            at,
        )


def meet(a: Periodic, b: Periodic) -> Periodic | None:
    """The points that two periods share: none, or again a period."""
    common = gcd(a.period, b.period)
    if (b.offset - a.offset) % common:
        return None
    period = a.period // common * b.period
    step = b.period // common
    inverse = pow(a.period // common, -1, step) if step > 1 else 0
    offset = a.offset + a.period * ((b.offset - a.offset) // common * inverse % step)
    return Periodic(period, offset % period)


def _at_points(events: Node, points: Periodic) -> Node:
    """The events whose time, which is their only column, is one of the points."""
    field = events.schema.field(0)
    time: Expr = times.shifted(times.micros(Column(field.name, field.type)), "-", points.offset)
    rest = Call("%", (time, Literal(points.period, pa.int64())), pa.int64())
    return Filter(events, compare("=", rest, Literal(0, pa.int64())))


def _columns(tree: exp.Expr) -> bool:
    return tree.find(exp.Column) is not None
