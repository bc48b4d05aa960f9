"""What there is to say about an object or a plan."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from textwrap import fill, indent

import pyarrow as pa

from penstock.algebra.calendar import Midnights
from penstock.algebra.outline import outline
from penstock.algebra.plan import Node, Periodic, Scan, Sync, TimePoints
from penstock.memory.summaries import described_summary
from penstock.physical.expiry import Strategy
from penstock.physical.expiry.choosing import Chooser
from penstock.physical.expiry.explaining import outline as expiry_outline
from penstock.physical.outline import outline as physical_outline
from penstock.physical.program import program_of
from penstock.rewrite import trace
from penstock.sql.binding import Entry, Moment, Relation, SyncPoints
from penstock.sql.binding.catalog import Point
from penstock.sql.binding.synchronization import meet
from penstock.sql.binding.types import shown
from penstock.sql.windows import Duration

# alternatives, each a set of points that coincide; None: every point in time
Points = frozenset[frozenset[Point]] | None


def described(entry: Entry, key: Iterable[str], ticks: bool) -> pa.Table:
    """The columns of an object and their types, then what else is known of it."""
    rows: list[tuple[str, str]] = []
    match entry:
        case Relation(kind, plan, time, hidden):
            rows += [(f.name, shown(f.type)) for f in plan.schema if f.name not in hidden]
            rows.append(("# kind", kind))
            if tuple(key):
                rows.append(("# key", ", ".join(key)))
            if time is not None:
                rows.append(("# event time", "arrival" if time in hidden else time))
            full, partial = synchronization(plan)
            if full is not None or partial is not None:
                rows.append(("# full synchronization points", points_text(full, ticks)))
                rest = "; but for the full ones" if partial is None or partial else ""
                rows.append(
                    ("# partial synchronization points", points_text(partial, ticks) + rest)
                )
        case SyncPoints(parts):
            rows.append(("timepoint", "points in time"))
            rows.append(("# synchronization points", points_text(_alternatives(parts), ticks)))
        case Moment(columns, points):
            rows += [
                (name, "the current time" if v is None else shown(v.type)) for name, v in columns
            ]
            if points:
                rows.append(("# as of", points_text(_alternatives(points), ticks)))
    names = pa.array([name for name, _ in rows], pa.string())
    return pa.table({"column": names, "type": pa.array([kind for _, kind in rows], pa.string())})


def synchronization(plan: Node) -> tuple[Points, Points]:
    """When a plan reflects all its inputs, and when only some of them."""
    inputs = list(_inputs(plan, None))
    if not inputs or all(points is None for points in inputs):
        return None, None
    full: Points = None
    for points in inputs:
        full = _common(full, points)
    if any(points is None for points in inputs):
        return full, None
    every = frozenset(point for points in inputs for point in points or ())
    assert full is not None
    return full, every - full


def _inputs(plan: Node, points: Points) -> Iterable[Points]:
    """The synchronization points of every way from a source to the plan."""
    if isinstance(plan, Scan):
        if plan.time is not None or not plan.append_only:
            yield points
        return
    if isinstance(plan, Sync):
        yield from _inputs(plan.input, _common(points, _alternatives(plan.points)))
        return
    for node in plan.inputs:
        yield from _inputs(node, points)


def _alternatives(points: Iterable[Point]) -> Points:
    return frozenset(frozenset({point}) for point in points)


def _common(a: Points, b: Points) -> Points:
    """The points that are in both: periods have periods in common, events coincide or not."""
    if a is None or b is None:
        return b if a is None else a
    pairs = [_coinciding(x | y) for x in a for y in b]
    return frozenset(pair for pair in pairs if pair is not None)


def _coinciding(points: frozenset[Point]) -> frozenset[Point] | None:
    periods = [point for point in points if isinstance(point, Periodic)]
    rest = points - set(periods)
    while len(periods) > 1:
        met = meet(periods.pop(), periods.pop())
        if met is None:
            return None
        periods.append(met)
    return rest | set(periods)


def points_text(points: Points, ticks: bool) -> str:
    if points is None:
        return "every point in time"
    texts = [" at ".join(sorted(_point_text(p, ticks) for p in each)) for each in points]
    return "; ".join(sorted(texts)) or "none"


def _point_text(point: Point, ticks: bool) -> str:
    match point:
        case Periodic(period, 0):
            return f"multiples of {Duration(period, ticks)}"
        case Periodic(period, offset):
            return f"multiples of {Duration(period, ticks)} plus {Duration(offset, ticks)}"
        case Midnights(1, zone):
            return f"midnights of {zone}"
        case Midnights(days, zone):
            return f"every {days} midnights of {zone}"
        case TimePoints(points):
            return ", ".join(map(str, points))
    return "events of " + ", ".join(
        dict.fromkeys(node.name for node in point.walk() if isinstance(node, Scan))
    )


def explained(plan: Node, expiry: Strategy = "piggyback", chooser: Chooser | None = None) -> str:
    """What a plan says, and what would run: one tree each; then how each operator notices what has
    left its window, where anything does."""
    program = program_of(plan, expiry=expiry)
    said, run = outline(plan, described_summary), physical_outline(program, "")
    trees = {"logical plan": said, "physical plan": run}
    expiring = expiry_outline(program, chooser or Chooser())
    return _trees(trees | ({"expiry": expiring} if expiring else {}))


def explained_rules(
    said: Node, rules_off: Collection[str], expiry: Strategy, chooser: Chooser
) -> str:
    """A plan as it was written, as it was rewritten and by which rules, and what would run."""
    plan, fired, _ = trace(said, rules_off)
    found = explained(plan, expiry, chooser)
    if not fired:
        return found
    rules = fill(f"rewritten by {', '.join(fired)}", 100, subsequent_indent="  ")
    return "\n\n".join([_trees({"as written": outline(said)}), rules, found])


def _trees(trees: Mapping[str, str]) -> str:
    return "\n\n".join(f"{title}\n{indent(tree, '  ')}" for title, tree in trees.items())
