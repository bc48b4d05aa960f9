"""How far ahead of its own coming a record's columns can lie, and so for how long it is needed.

Law: if a record that comes at t has `c <= t + k`, it is past any time `c + d` at `t + k + d`. What
is kept until then at most, are the records that came in a span of k + d.
"""

from __future__ import annotations

from collections.abc import Mapping

from penstock.algebra.expr import Call, Expr, conjuncts
from penstock.algebra.plan import (
    Aggregate,
    Changes,
    Filter,
    Join,
    Map,
    Node,
    Scan,
    Session,
    SetOperation,
    Union,
)
from penstock.algebra.times import most_offset, moved
from penstock.sql.windows import Duration

Ahead = Mapping[str, int]


def ahead(plan: Node) -> Ahead:
    """Columns c with k: a record that comes at t has `c <= t + k`."""
    match plan:
        case Scan(_, _, True, str() as time):
            return {time: 0}
        case Filter(source, predicate):
            return _limited(ahead(source), predicate)
        case Map(source, outputs):
            below = ahead(source)
            return {
                name: k + offset
                for name, value in outputs
                for column, k in below.items()
                if (offset := most_offset(value, column)) is not None
            }
        case Union() | SetOperation():
            return _common(plan)
        case Aggregate(source, keys):
            return {column: k for column, k in ahead(source).items() if column in keys}
        case Session(source, _, _, start):
            return {**ahead(source), start: 0}
        case Changes(source, _, str() as time):
            return {**ahead(source), time: 0}
        case Join():
            return {**ahead(plan.left), **ahead(plan.right)}
    return ahead(plan.inputs[0]) if plan.inputs else {}


def span(plan: Node, until: Expr) -> int | None:
    """For how long at most a record of the plan is needed, if it is until then."""
    found = [
        k + offset
        for column, k in ahead(plan).items()
        if (offset := most_offset(until, column)) is not None
    ]
    return max(min(found), 1) if found else None


def shown(length: int, integer_time: bool) -> str:
    """A span as SQL writes it; a tick more than a whole number of seconds is not worth a word."""
    if not integer_time and length > 1_000_000 and length % 1_000_000 <= 2:
        length -= length % 1_000_000
    return str(Duration(length, ticks=integer_time))


def _limited(below: Ahead, predicate: Expr) -> Ahead:
    found = dict(below)
    for test in conjuncts(predicate):
        match test:
            case Call("<" | "<=", (low, high)) | Call(">" | ">=", (high, low)):
                for column, k in below.items():
                    offset, place = most_offset(high, column), moved(low)
                    if offset is not None and place is not None:
                        name, by = place
                        found[name] = min(found.get(name, k + offset - by), k + offset - by)
    return found


def _common(plan: Node) -> Ahead:
    sides = [ahead(node) for node in plan.inputs]
    names = [node.schema.names for node in plan.inputs]
    found: dict[str, int] = {}
    for i, name in enumerate(plan.schema.names):
        known = [side.get(names[j][i]) for j, side in enumerate(sides)]
        if all(k is not None for k in known):
            found[name] = max(k for k in known if k is not None)
    return found
