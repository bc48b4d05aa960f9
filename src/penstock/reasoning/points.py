"""Sets of points in time, and when one is a part of another.

A set is a union of parts: periods with an offset, listed points, and the times of events. Of the
first two it can be decided whether one set is in another; of events it is known only where they are
the same ones, or some of the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd, lcm
from typing import TypeAlias

from penstock.algebra.calendar import Midnights
from penstock.algebra.plan import Filter, Node, Periodic, TimePoints
from penstock.reasoning.identity import Identities

Point: TypeAlias = Periodic | TimePoints | Midnights | Node
Points: TypeAlias = tuple[Point, ...]

_MOST_RESIDUES = 10_000


def are_periodic(points: Points) -> bool:
    """Whether the points go back to the beginning of time."""
    return any(isinstance(part, Periodic | Midnights) for part in points)


def contains(whole: Points, part: Points, known: Identities) -> bool:
    """Whether every point of one set is a point of another."""
    return all(_has(whole, one, known) for one in part)


def same(a: Points | None, b: Points | None, known: Identities) -> bool:
    if a is None or b is None:
        return a is b
    return contains(a, b, known) and contains(b, a, known)


def common_period(periods: Sequence[Periodic]) -> Periodic:
    """The longest period whose points are all the points of these."""
    first, *rest = periods
    period = first.period
    for other in rest:
        period = gcd(period, other.period, other.offset - first.offset)
    return Periodic(period, first.offset % period)


def _has(whole: Points, one: Point, known: Identities) -> bool:
    periods = [part for part in whole if isinstance(part, Periodic)]
    match one:
        case Periodic():
            return _covers(periods, one)
        case Midnights(days, zone):
            same = (p for p in whole if isinstance(p, Midnights) and p.zone == zone)
            return Periodic(1) in whole or any(days % other.days == 0 for other in same)
        case TimePoints(listed):
            other = {t for part in whole if isinstance(part, TimePoints) for t in part.points}
            return all(t in other or any(_is_at(period, t) for period in periods) for t in listed)
    events = {known.of(part) for part in whole if isinstance(part, Node)}
    return any(known.of(node) in events for node in _narrowed(one))


def _narrowed(events: Node) -> list[Node]:
    """These events, and those of which they are some."""
    found = [events]
    while isinstance(events, Filter):
        events = events.input
        found.append(events)
    return found


def _is_at(period: Periodic, t: int) -> bool:
    return (t - period.offset) % period.period == 0


def _covers(periods: Sequence[Periodic], one: Periodic) -> bool:
    """Whether all points of a period are among those of others: in one of them, or in all."""
    if any(one.period % p.period == 0 and _is_at(p, one.offset) for p in periods):
        return True
    cycle = lcm(one.period, *(p.period for p in periods))
    if cycle // one.period > _MOST_RESIDUES:
        return False
    return bool(periods) and all(
        any(_is_at(p, t) for p in periods)
        for t in range(one.offset, one.offset + cycle, one.period)
    )
