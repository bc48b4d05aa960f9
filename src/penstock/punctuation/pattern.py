"""Patterns: what a punctuation says of one attribute.

Meaning: the wildcard matches every value and NULL; a constant, that value; a range, the values
between its ends; a list, each of its values; the empty pattern, nothing. NULL is a value of its
own: only the wildcard, the constant `null` and a list with `null` in it match it, and a range
never does, so the range without ends means "not NULL". Equality and order are those of SQL's
grouping and ORDER BY: NaN equals NaN and is the largest, 0.0 equals -0.0, strings go by bytes.

Law: `matches(v, combine(p, q)) = matches(v, p) and matches(v, q)`. `canonical` is the same for
patterns that match the same values, and all functions here return canonical patterns:

- what matches nothing is Empty, what matches everything is the wildcard;
- one value is a Constant, two values next to each other are a list, and more are a Range;
- an end of a range at the end of the type is absent; integers, dates and decimals have closed ends,
  other types the ends that are shorter to write: `[10:00, 11:00)`, not `[10:00, 10:59:59.999999]`;
- lists ascend, `null` first, without repetition.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from penstock.boundary import public
from penstock.errors import PlanError
from penstock.punctuation import literals
from penstock.punctuation.domain import Domain
from penstock.punctuation.valuesets import ValueSets


@dataclass(frozen=True, slots=True)
class Wildcard:
    """Matches every value, and NULL."""


@dataclass(frozen=True, slots=True)
class Empty:
    """Matches nothing."""


@dataclass(frozen=True, slots=True)
class Constant:
    """Matches one value, or with None just NULL."""

    value: Any


@dataclass(frozen=True, slots=True)
class Range:
    """Matches what lies between the ends; None is an absent end."""

    low: Any = None
    high: Any = None
    low_closed: bool = True
    high_closed: bool = True

    def __post_init__(self) -> None:
        for end, closed in ((self.low, "low_closed"), (self.high, "high_closed")):
            if end is None:  # an absent end is neither open nor closed: one way to say it
                object.__setattr__(self, closed, False)


@dataclass(frozen=True, slots=True)
class ValueList:
    """Matches each of its values; None among them is NULL."""

    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", tuple(self.values))
        if not self.values:
            raise PlanError("a list pattern needs a value; what matches nothing is Empty()")


Pattern: TypeAlias = Wildcard | Constant | Range | ValueList | Empty

ANY, NONE = Wildcard(), Empty()


@public
def between(low: Any, high: Any) -> Range:
    """The closed range, as in SQL."""
    return Range(low, high)


def checked(pattern: Pattern, domain: Domain) -> Pattern:
    """The pattern with its values made those of the type; PlanError where they cannot be."""
    match pattern:
        case Constant(value):
            made = domain.checked(value)
            return pattern if made is value else Constant(made)
        case ValueList(values):
            return ValueList(tuple(domain.checked(value) for value in values))
        case Range(low, high, low_closed, high_closed):
            if not domain.ordered and pattern != Range():
                raise PlanError(f"a range needs an order, which {domain.type} has not; use a list")
            return Range(domain.checked(low), domain.checked(high), low_closed, high_closed)
        case Wildcard() | Empty():
            return pattern
    raise PlanError(f"found {pattern!r}, expected a pattern")


def matches(value: Any, pattern: Pattern, domain: Domain) -> bool:
    match pattern:
        case Wildcard():
            return True
        case Empty():
            return False
        case Constant(constant):
            return _same(value, constant, domain)
        case ValueList(values):
            return any(_same(value, item, domain) for item in values)
        case Range(low, high, low_closed, high_closed):
            if value is None:
                return False
            key = domain.key(value)
            if low is not None and not (
                domain.key(low) < key or (low_closed and _same(value, low, domain))
            ):
                return False
            return (
                high is None
                or key < domain.key(high)
                or (high_closed and _same(value, high, domain))
            )


def canonical(pattern: Pattern, domain: Domain) -> Pattern:
    match pattern:
        case Wildcard() | Empty():
            return pattern
        case ValueList(values):
            written = patterns(value_set([pattern], domain))
            if len(written) == 1:
                return written[0]
            distinct = {domain.key(value): value for value in values if value is not None}
            nulls = (None,) if None in values and domain.nullable else ()
            return ValueList((*nulls, *(domain.value(key) for key in sorted(distinct))))
    return patterns(value_set([pattern], domain))[0]


def combine(p: Pattern, q: Pattern, domain: Domain) -> Pattern:
    """The pattern that matches what both match."""
    p, q = canonical(p, domain), canonical(q, domain)
    if p == ANY or q == NONE:
        return q
    if q == ANY or p == NONE:
        return p
    for listed, other in ((p, q), (q, p)):
        if isinstance(listed, Constant | ValueList):
            values = listed.values if isinstance(listed, ValueList) else (listed.value,)
            kept = tuple(value for value in values if matches(value, other, domain))
            return canonical(ValueList(kept), domain) if kept else NONE
    return patterns(value_set([p], domain) & value_set([q], domain))[0]


def covers(p: Pattern, q: Pattern, domain: Domain) -> bool:
    """Whether p matches whatever q matches."""
    return bool((value_set([q], domain) - value_set([p], domain)).is_nothing[0])


def union(many: Iterable[Pattern], domain: Domain) -> tuple[Pattern, ...]:
    """The fewest patterns that match what any of the given ones does: at most one list (or
    constant), then disjoint ranges in ascending order; none where nothing is matched."""
    merged = value_set(many, domain)
    return () if merged.is_nothing[0] else patterns(merged)


def complement(many: Iterable[Pattern], domain: Domain) -> tuple[Pattern, ...]:
    """Patterns, as by `union`, that match what none of the given ones does."""
    rest = value_set(many, domain).complement()
    return () if rest.is_nothing[0] else patterns(rest)


def value_set(many: Iterable[Pattern], domain: Domain) -> ValueSets:
    """The one set of all that the patterns match."""
    listed = list(many)
    return value_sets(listed, domain).merged(np.zeros(len(listed), dtype=np.int64), 1)


def value_sets(many: Sequence[Pattern], domain: Domain) -> ValueSets:
    """A set for each pattern."""
    null = np.zeros(len(many), dtype=np.bool_)
    points: tuple[list[int], list[Any]] = ([], [])
    starts: tuple[list[int], list[Any]] = ([], [])
    stops: tuple[list[int], list[Any]] = ([], [])
    for number, pattern in enumerate(many):
        match pattern:
            case Constant(None):
                null[number] = True
            case Constant(value):
                points[0].append(number)
                points[1].append(value)
            case ValueList(values):
                known = [value for value in values if value is not None]
                null[number] = len(known) < len(values)
                points[0].extend([number] * len(known))
                points[1].extend(known)
            case Wildcard():
                null[number] = True
                starts[0].append(number)
                starts[1].append(domain.first)
            case Range():
                start, stop = _cuts(pattern, domain)
                if start is not None and (stop is None or start < stop):
                    starts[0].append(number)
                    starts[1].append(start)
                    if stop is not None:
                        stops[0].append(number)
                        stops[1].append(stop)
    owners = [np.array(part[0], dtype=np.int64) for part in (points, starts, stops)]
    single = ValueSets.of_points(domain, len(many), owners[0], domain.keys(points[1]))
    begin, end = (domain.key_array(part[1]) for part in (starts, stops))
    return single | ValueSets.of_intervals(domain, null, owners[1], begin, owners[2], end)


def patterns(sets: ValueSets, number: int = 0) -> tuple[Pattern, ...]:
    """The patterns that one of the sets is written as: its list, if any, then its ranges."""
    domain = sets.domain
    if sets.is_everything[number]:
        return (ANY,)
    if sets.is_nothing[number]:
        return (NONE,)
    owner, start, size, end = sets.intervals
    first, last = np.searchsorted(owner, [number, number + 1])
    listed: list[Any] = [None] if sets.null[number] and domain.nullable else []
    ranges: list[Pattern] = []
    for at in range(first, last):
        key = start[at : at + 1].tolist()[0]
        stop = sets.cut[end[at] : end[at] + 1].tolist()[0] if end[at] >= 0 else None
        if size[at] <= 2 and not (key == domain.first and stop is None):
            listed += [domain.value(k) for k in (key, domain.after(key))[: size[at]]]
        else:
            ranges.append(_range(key, stop, domain))
    if not listed:
        return tuple(ranges)
    return (Constant(listed[0]) if len(listed) == 1 else ValueList(tuple(listed)), *ranges)


def _cuts(pattern: Range, domain: Domain) -> tuple[Any, Any]:
    """The first key of a range, None where there is none, and the first after it, None for none."""
    start, stop = domain.first, None
    if pattern.low is not None:
        start = domain.key(pattern.low)
        start = start if pattern.low_closed else domain.after(start)
    if pattern.high is not None:
        stop = domain.key(pattern.high)
        stop = domain.after(stop) if pattern.high_closed else stop
    return start, stop


def _range(start: Any, stop: Any, domain: Domain) -> Range:
    if not domain.ordered and (start, stop) != (domain.first, None):
        raise PlanError(f"values of {domain.type} have no order: all but some is not a pattern")
    low, low_closed = None, False
    if start != domain.first:
        low, low_closed = _end(start, domain.before(start), domain)
    if stop is None:
        return Range(low, None, low_closed)
    high, high_open = _end(stop, domain.before(stop), domain, closed_is_before=True)
    return Range(low, high, low_closed, not high_open)


def _end(cut: Any, before: Any, domain: Domain, closed_is_before: bool = False) -> tuple[Any, bool]:
    """The value to write for a cut, and whether it is the one at the cut, not the one before."""
    at_cut, one_before = _written(cut, domain), _written(before, domain)
    if one_before is None:
        assert at_cut is not None, "one of two neighbours can always be written"
        return at_cut[0], True
    if at_cut is None:
        return one_before[0], False
    costs = (one_before[1], at_cut[1]) if domain.terse else (0, 0)
    use_cut = costs[1] < costs[0] or (costs[1] == costs[0] and not closed_is_before)
    return (at_cut if use_cut else one_before)[0], use_cut


def _written(key: Any, domain: Domain) -> tuple[Any, int] | None:
    """The value of a key and how long it is to write; None where Python has no such value."""
    if key is None:
        return None
    try:
        value = domain.value(key)
    except (ValueError, OverflowError):
        return None
    text = literals.write(value, domain.type)
    return value, len(text) if text != "NaN" else len("Infinity") + 1


def _same(a: Any, b: Any, domain: Domain) -> bool:
    if a is None or b is None:
        return a is b and domain.nullable
    return bool(domain.key(a) == domain.key(b))
