"""Rankings: which rows of a stream a join can do without, where duplicates do not count.

A row t of a stream meets those combinations r of rows of the others that satisfy the selection P.
As P is closed under implication, they are those whose attributes x lie within
`low(x|t) = max of t.a - bound(a, x)` and `high(x|t) = min of t.a + bound(x, a)`, over the joined
attributes a of t (see closure.py). So of a row nothing matters but its projected attributes and
these *limits*: it is not needed if another with the same projected and equated attributes has
limits that are nowhere narrower.

Of limits that rise together, the highest of the lowest attribute is left: the max-of-min
representative of section 7.2, or the min-of-max. Where both high and low limits can widen for ever,
a combination that is beyond all constants is so at one end only, and rows are compared twice, with
the limits of one end cut off at a time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.kinds import kind
from penstock.memory.check import compared
from penstock.memory.joined import BestValue, Joined
from penstock.memory.query import Query, Stream
from penstock.reasoning.closure import Atom, Attribute, Closure, Comparison, Element


@kind("ranking limit")
@dataclass(frozen=True)
class Limit:
    """The least of `column + offset`, `end` at most; or the greatest of them, `end` at least."""

    terms: tuple[tuple[str, int], ...]
    end: int | None
    high: bool


@kind("ranking")
@dataclass(frozen=True)
class Ranking:
    """Which rows of a stream are enough: of those alike in `key`, those of the widest limits.

    `ends` are where low and high limits are cut off, in turn; None: never.
    """

    key: tuple[str, ...]
    limits: tuple[Limit, ...]
    ends: tuple[int, int] | None = None


def rankings_of(
    found: Joined, query: Query, extremes: Sequence[BestValue]
) -> tuple[tuple[Ranking, ...], ...] | None:
    """The rankings of each stream, of which what any leaves is needed.

    There is one for each extreme of the stream, or one at all; None where no ranking would do.
    """
    by_stream: list[tuple[Ranking, ...]] = []
    for stream in query.streams:
        own: list[Ranking] = []
        for extreme in extremes:
            if extreme.attribute.stream == stream.name:
                closure = _with_threshold(query, found.closure, extreme)
                if closure is None:
                    return None
                own.append(_ranking(found, query, closure, stream.name, extreme.attribute))
        whole = own or [_ranking(found, query, found.closure, stream.name)]
        by_stream.append(tuple(dict.fromkeys(whole)))
    return tuple(by_stream)


def best_of(query: Query, extreme: BestValue) -> Ranking:
    """The results of the largest or the smallest value, for each of what else they show."""
    key = tuple(sorted(map(str, query.select)))
    return Ranking(key, (Limit(((str(extreme.attribute), 0),), None, extreme.high),))


def _with_threshold(query: Query, closure: Closure, extreme: BestValue) -> Closure | None:
    """The closure with a threshold to surpass, unless that conflicts with another join."""
    threshold = Stream("threshold", ("threshold",))
    beyond = threshold["threshold"]
    ends = (beyond, extreme.attribute) if extreme.high else (extreme.attribute, beyond)
    more = Closure(
        [*closure.atoms(), Atom(ends[0], Comparison.LESS, ends[1])], [*closure.elements, beyond]
    )
    tested = Query((*query.streams, threshold), frozenset(), (), distinct=True)
    conflicts = (failure.references for failure in compared(tested, more))
    if any(beyond in r.join.attributes for references in conflicts for r in references):
        return None
    return more


def _ranking(
    found: Joined, query: Query, closure: Closure, stream: str, more: Attribute | None = None
) -> Ranking:
    kept = found.kept(stream)
    key = [a for a in kept if a in query.select or a in found.told_apart]
    own = [a for a in kept if a not in found.told_apart and (a in found.compared or a == more)]
    limits: dict[Limit, None] = {}
    for x in closure.attributes:
        if x.stream != stream:
            for limit in (_limit(closure, x, own, high) for high in (True, False)):
                if limit is not None:
                    limits[limit] = None
    widening = {limit.high for limit in limits if limit.end is None}
    margin = len(closure.attributes) + 2
    windows = [found.windows[a] for a in own]
    ends = None
    if widening == {True, False}:
        ends = min(w[0] for w in windows) - margin, max(w[1] for w in windows) + margin
    return Ranking(tuple(map(str, key)), tuple(limits), ends)


def _limit(closure: Closure, x: Attribute, own: list[Attribute], high: bool) -> Limit | None:
    """How far x can go beside a row, where the row's attributes say more than constants do."""

    def most(a: Element, b: Element) -> float:
        return closure.bound(a, b) if high else closure.bound(b, a)

    terms = {str(a): most(x, a) for a in own if most(x, a) < most(x, 0) + most(0, a)}
    if not terms:
        return None
    sign = 1 if high else -1
    least = min(sign * int(offset) for offset in terms.values())
    end = None if most(x, 0) == math.inf else sign * int(most(x, 0)) - least
    offsets = ((a, sign * int(offset) - least) for a, offset in terms.items())
    return Limit(tuple(offsets), end, high)
