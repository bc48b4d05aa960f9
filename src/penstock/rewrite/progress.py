"""What time itself closes: columns that the rows still to come can only have larger values in.

Rows of a stream come in the order of their event time, as far as its delay allows for. So from some
time on no change can concern a record with a given event time, or a value computed from it such as
the end of a window. Grouping, joins and DISTINCT on such columns need not remember what is closed,
and a record that is closed is final.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.algebra.calendar import Midnights
from penstock.algebra.closing import distances, longest
from penstock.algebra.expr import Column, Expr
from penstock.algebra.plan import (
    Aggregate,
    Changes,
    Distinct,
    Filter,
    Group,
    Join,
    Map,
    Node,
    Periodic,
    Rank,
    Restrict,
    Scan,
    Session,
    SetOperation,
    Sync,
    Union,
    Window,
)
from penstock.algebra.times import least_offset, micros, most_offset, shifted

Progress = Mapping[str, int]
_KNOWN = "_progress"
"""Where a node remembers its progress: of one that many read, it is asked many times."""


def progress(plan: Node) -> Progress:
    """Columns c with k: what changes at a time t are records in which c is at least t + k."""
    if _KNOWN not in plan.__dict__:
        plan.__dict__[_KNOWN] = _progress(plan)
    found: Progress = plan.__dict__[_KNOWN]
    return found


def _progress(plan: Node) -> Progress:
    match plan:
        case Scan(_, _, True, str() as time):
            return {time: 0}
        case Filter() | Group() | Distinct() | Session():
            return progress(plan.input)
        case Map(source, outputs):
            return _mapped(progress(source), outputs)
        case Window(source):
            return {column: k - longest(plan) for column, k in progress(source).items()}
        case Sync(source, (Periodic() | Midnights() as points,)):
            return {column: k - longest(points) for column, k in progress(source).items()}
        case Union() | SetOperation():
            return _common(plan)
        case Restrict(source, start, end):
            return _at_own_times(progress(source), [t for t in (start, end) if t is not None])
        case Aggregate(source, keys):
            return {column: k for column, k in progress(source).items() if column in keys}
        case Rank(source, partition):
            return {column: k for column, k in progress(source).items() if column in partition}
        case Changes(source, _, time):
            return {**progress(source), **({time: 0} if time is not None else {})}
        case Join():
            return _joined(plan)
    return {}


def closes(plan: Node, columns: tuple[str, ...] | None = None) -> Expr | None:
    """From when on no record with the values of a record in these columns can change."""
    for column, k in progress(plan).items():
        if columns is None or column in columns:
            return shifted(micros(Column(column, plan.schema.field(column).type)), "+", 1 - k)
    return None


def with_closing(plan: Node, done: dict[int, Node] | None = None) -> Node:
    """The plan in which operators know when what they remember is closed.

    What several of its nodes read stays one node.
    """
    done = {} if done is None else done
    if id(plan) not in done:
        inputs = plan.with_inputs(*(with_closing(source, done) for source in plan.inputs))
        done[id(plan)] = _closing(inputs)
    return done[id(plan)]


def _closing(plan: Node) -> Node:
    match plan:
        case Aggregate(source, keys):
            return replace(plan, until=closes(source, keys))
        case Distinct(source):
            return replace(plan, until=closes(source))
        case Rank(source, partition):
            return replace(plan, until=closes(source, partition))
        case Join():
            left, right = progress(plan.left), progress(plan.right)
            keep_left = _needed(plan.left, right, _distances(plan, turned=False))
            keep_right = _needed(plan.right, left, _distances(plan, turned=True))
            return replace(plan, keep_left=keep_left, keep_right=keep_right)
    return plan


def _mapped(below: Progress, outputs: tuple[tuple[str, Expr], ...]) -> Progress:
    found: dict[str, int] = {}
    for name, value in outputs:
        for column, k in below.items():
            offset = least_offset(value, column)
            if offset is not None:
                found[name] = k + offset
    return found


def _at_own_times(below: Progress, times: list[Expr]) -> Progress:
    """Changes wait for times of the records, which must not be far ahead of the column."""
    found: dict[str, int] = {}
    for column, k in below.items():
        offsets = [most_offset(time, column) for time in times]
        if None not in offsets:
            found[column] = min([k, *(-c for c in offsets if c is not None)])
    return found


def _common(plan: Node) -> Progress:
    """Columns that close on all sides, by their place."""
    sides = [progress(node) for node in plan.inputs]
    names = [node.schema.names for node in plan.inputs]
    found: dict[str, int] = {}
    for i, name in enumerate(plan.schema.names):
        known = [side.get(names[j][i]) for j, side in enumerate(sides)]
        if all(k is not None for k in known):
            found[name] = min(k for k in known if k is not None)
    return found


def _joined(plan: Join) -> Progress:
    """A pair changes with either side; how far apart the sides are bounds the one by the other."""
    left, right = progress(plan.left), progress(plan.right)
    found: dict[str, int] = {}
    for mine, other, most in _distances(plan, turned=False):
        if mine in left and other in right:
            found[mine] = max(found.get(mine, -(2**62)), min(left[mine], right[other] - most))
    if plan.kind in ("inner", "right", "full"):
        for mine, other, most in _distances(plan, turned=True):
            if mine in right and other in left:
                found[mine] = max(found.get(mine, -(2**62)), min(right[mine], left[other] - most))
    if plan.kind in ("right", "full"):
        found = {c: k for c, k in found.items() if plan.kind == "right" and c in right}
    return {column: k for column, k in found.items() if column in plan.schema.names}


def _distances(plan: Join, turned: bool) -> list[tuple[str, str, int]]:
    """(a, b, c) where a pair has b <= a + c, for columns a of one side and b of the other."""
    own = (plan.right if turned else plan.left).schema.names
    other = (plan.left if turned else plan.right).schema.names
    return [(a, b, c) for a, b, c in distances(plan) if a in own and b in other]


def _needed(own: Node, other: Progress, distances: list[tuple[str, str, int]]) -> Expr | None:
    """Until when a record may meet a new one of the other side."""
    for mine, theirs, most in distances:
        if theirs in other:
            column = Column(mine, own.schema.field(mine).type)
            return shifted(micros(column), "+", most - other[theirs] + 1)
    return None
