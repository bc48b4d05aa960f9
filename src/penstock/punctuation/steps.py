"""Many functions from the values of one attribute to times, each a list of steps.

Meaning: from the time of a value on, no more rows with it come; INF is never.

Law: the time of a value is that of the last of the function's cuts that is at most its key, INF
where there is none. Neighbouring steps differ, and a first step is not INF: a function has exactly
one such list. NULL is apart.

What several functions say together is their least time, and what is true of all of some values is
the largest. Both are one sweep over the steps of all functions.

State: three arrays with an entry per cut, sorted by function and then by cut. Cost: a sort of the
cuts; for a lookup, a binary search.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock import record
from penstock.element import BEGIN, INF
from penstock.punctuation.domain import Domain, Keys
from penstock.punctuation.valuesets import ValueSets
from penstock.record import Ints, Mask


class Spans(NamedTuple):
    """Intervals of keys, each of a function, with a time; one that is not `ended` has no stop."""

    owner: Ints
    start: Keys
    ended: Mask
    stop: Keys
    """Of those that are ended, in order."""
    time: Ints


@dataclass(frozen=True, eq=False)
class Steps:
    """Functions side by side: the cuts and times of each belong to its number in `owner`."""

    domain: Domain
    null: Ints
    """The time of NULL, per function."""
    owner: Ints
    """The function that each cut is of."""
    cut: Keys
    time: Ints

    def __post_init__(self) -> None:
        if not self.domain.nullable:
            object.__setattr__(self, "null", self._all_values())

    def __len__(self) -> int:
        return len(self.null)

    def __reduce__(self) -> tuple[object, ...]:
        return Steps, (self.domain, self.null, self.owner, self.cut, self.time)

    @staticmethod
    def of(sets: ValueSets, times: Ints, into: Ints, count: int) -> Steps:
        """`count` functions: that of number `into[i]` is at most `times[i]` on set i."""
        owner, start, end = sets.spans
        ended = end >= 0
        spans = Spans(into[owner], start, ended, sets.cut[end[ended]], times[owner])
        null = np.full(count, INF)
        np.minimum.at(null, into[sets.null], times[sets.null])
        return Steps(sets.domain, null, *_swept(spans, np.minimum))

    @staticmethod
    def constant(domain: Domain, times: Ints) -> Steps:
        """Functions of one time each for all values, NULL too."""
        some = np.flatnonzero(times < INF)
        cut = np.repeat(domain.key_array([domain.first]), len(some))
        return Steps(domain, times, some, cut, times[some])

    @staticmethod
    def concat(parts: Sequence[Steps]) -> Steps:
        before = np.cumsum([0, *(len(part) for part in parts)])
        owner = [part.owner + n for part, n in zip(parts, before[:-1], strict=True)]
        null, cut, time = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("null", "cut", "time")
        )
        return Steps(parts[0].domain, null, np.concatenate(owner), cut, time)

    # --- functions of functions -----------------------------------------------------------------

    @cached_property
    def offset(self) -> Ints:
        """Where the cuts of each function begin, and at last the number of all cuts."""
        return np.searchsorted(self.owner, np.arange(len(self) + 1))

    @property
    def spans(self) -> Spans:
        """Of each step, the values with its time."""
        ended = np.ones(len(self.owner), dtype=np.bool_)
        ended[self.offset[1:][np.diff(self.offset) > 0] - 1] = False
        stop = self.cut[np.flatnonzero(ended) + 1]
        return Spans(self.owner, self.cut, ended, stop, self.time)

    def least(self, into: Ints, count: int) -> Steps:
        """The least time of the functions with the same number in `into`, `count` of them."""
        null = np.full(count, INF)
        np.minimum.at(null, into, self.null)
        spans = self.spans
        known = spans.time < INF
        stop = spans.stop[known[spans.ended]]
        chosen = Spans(
            into[spans.owner[known]],
            spans.start[known],
            spans.ended[known],
            stop,
            spans.time[known],
        )
        return Steps(self.domain, null, *_swept(chosen, np.minimum))

    def largest(self, into: Ints, count: int) -> Steps:
        """The largest time of the functions with the same number in `into`; each has some."""
        null = np.full(count, BEGIN)
        np.maximum.at(null, into, self.null)
        size = np.diff(self.offset)
        begins = np.zeros(len(self), dtype=np.bool_)
        begins[size > 0] = self.cut[self.offset[:-1][size > 0]] == self.domain.first
        late = np.flatnonzero(~begins)  # whose smallest values have no time
        first = np.repeat(self.domain.key_array([self.domain.first]), len(late))
        spans, has_cut = self.spans, size[late] > 0
        both = Spans(
            into[np.concatenate([spans.owner, late])],
            np.concatenate([spans.start, first]),
            np.concatenate([spans.ended, has_cut]),
            np.concatenate([spans.stop, self.cut[self.offset[late[has_cut]]]]),
            np.concatenate([spans.time, np.full(len(late), INF)]),
        )
        return Steps(self.domain, null, *_swept(both, np.maximum))

    def with_times(self, null: Ints, time: Ints) -> Steps:
        """The same cuts with other times."""
        return Steps(self.domain, null, *_changing(self.owner, self.cut, time))

    def settled(self, frontier: int) -> Steps:
        """Times before the frontier are as good as the beginning."""
        null, time = (np.where(t < frontier, BEGIN, t) for t in (self.null, self.time))
        return self.with_times(null, time)

    def up_to(self, descending: bool) -> Steps:
        """Of one function: the largest time of a value and all that come before it in an order.

        NULL keeps its own.
        """
        if descending:
            return self.with_times(self.null, np.maximum.accumulate(self.time[::-1])[::-1])
        begins = len(self.cut) > 0 and self.cut[0] == self.domain.first
        time = np.maximum.accumulate(self.time) if begins else np.full(len(self.time), INF)
        return self.with_times(self.null, time)

    def through(self, domain: Domain, at: Keys, before: Keys, rising: bool) -> Steps:
        """The times of what a monotone function makes of the values, in another domain.

        `at` is what it makes of the cuts, and `before` of the keys before them; those of cuts at
        the first key are not looked at. A value's time is the largest of all keys that become it.
        """
        none, inner = -1, self.cut != self.domain.first
        cuts, size = np.arange(len(self.cut)), np.diff(self.offset)
        low = np.where(inner, cuts, none)
        high = np.where(self.spans.ended, cuts + 1, none)
        first = self.offset[np.flatnonzero(size > 0)]
        begun = np.zeros(len(self), dtype=np.bool_)
        begun[self.owner[first[~inner[first]]]] = True
        late = np.flatnonzero(~begun)  # whose smallest keys have no time
        low = np.concatenate([low, np.full(len(late), none)])
        high = np.concatenate([high, np.where(size[late] > 0, self.offset[late], none)])
        edges = (low, high) if rising else (high, low)
        near = at if rising else before
        start = np.repeat(domain.key_array([domain.first]), len(low))
        start[edges[0] >= 0] = near[edges[0][edges[0] >= 0]]
        shared = at == before
        ended = edges[1] >= 0
        ended[ended] = ~(shared & (near == domain.last))[edges[1][ended]]
        stop, same = near[edges[1][ended]], shared[edges[1][ended]]
        stop[same] = domain.next_of(stop[same])
        time = np.concatenate([self.time, np.full(len(late), INF)])
        spans = Spans(np.concatenate([self.owner, late]), start, ended, stop, time)
        return Steps(domain, self.null, *_swept(spans, np.maximum))

    def take(self, index: Ints) -> Steps:
        begin, size = self.offset[index], np.diff(self.offset)[index]
        owner = np.repeat(np.arange(len(index)), size)
        place = np.arange(len(owner)) - (np.cumsum(size) - size)[owner] + begin[owner]
        return Steps(self.domain, self.null[index], owner, self.cut[place], self.time[place])

    def without(self, covered: Mask) -> Steps:
        """INF in some of the steps."""
        return self.with_times(self.null, np.where(covered, INF, self.time))

    # --- what kind of functions -----------------------------------------------------------------

    def _all_values(self) -> Ints:
        """The largest time of all values but NULL."""
        found = np.full(len(self), INF)
        some = np.flatnonzero(np.diff(self.offset) > 0)
        whole = some[self.cut[self.offset[some]] == self.domain.first]
        if len(whole):
            largest = np.maximum.reduceat(self.time, self.offset[some])
            found[whole] = largest[np.searchsorted(some, whole)]
        return found

    @cached_property
    def whole(self) -> Ints:
        """The largest time of all values, NULL too, per function."""
        return np.maximum(self._all_values(), self.null)

    @cached_property
    def soonest(self) -> Ints:
        """The least time of all values, NULL too, per function."""
        found = self.null.copy()
        np.minimum.at(found, self.owner, self.time)
        return found

    @property
    def is_constant(self) -> Mask:
        return (self.whole < INF) & (self.whole == self.soonest)

    # --- lookups --------------------------------------------------------------------------------

    def at(self, row: Ints | None, column: pa.Array) -> Ints:
        """The time of the value of each record by function `row[i]`, or by the only one.

        A record whose function is -1 has none.
        """
        if not len(self):
            return np.full(len(column), INF)
        cuts, codes = self._index
        place = self.domain.rank(cuts, column)
        found = np.append(INF, self.time)
        if row is not None:
            mine = np.maximum(row, 0)
            place = np.searchsorted(codes, mine * (len(cuts) + 1) + place, side="right")
            place = np.where(place > self.offset[mine], place, 0)
        found = found[place]
        if column.null_count:
            null = self.null[0] if row is None else self.null[np.maximum(row, 0)]
            found = np.where(record.valid(column), found, null)
        return found if row is None else np.where(row >= 0, found, INF)

    def of_keys(self, keys: Keys) -> Ints:
        """The times of some keys by the only function."""
        return np.append(INF, self.time)[np.searchsorted(self.cut, keys, side="right")]

    @cached_property
    def _index(self) -> tuple[Keys, Ints]:
        """The different cuts, and the (function, cut) code of each step, which ascend."""
        if len(self) == 1:
            return self.cut, np.arange(1, len(self.cut) + 1)
        cuts, code = np.unique(self.cut, return_inverse=True)
        return cuts, self.owner * (len(cuts) + 1) + code + 1

    # --- as sets --------------------------------------------------------------------------------

    def pieces(self) -> tuple[Ints, Ints, ValueSets]:
        """Sets of values of one time and function: the function, the time, and the set."""
        spans = self.spans
        step, null = np.flatnonzero(spans.time < INF), np.flatnonzero(self.null < INF)
        if not self.domain.nullable:
            null = null[:0]
        owner = np.concatenate([spans.owner[step], null])
        time = np.concatenate([spans.time[step], self.null[null]])
        order = np.lexsort((time, owner))
        fresh = record.starts_of(owner[order], time[order])
        piece = np.empty(len(order), dtype=np.int64)
        piece[order] = np.cumsum(fresh) - 1
        count, chosen = int(fresh.sum()), order[fresh]
        has_null = np.zeros(count, dtype=np.bool_)
        has_null[piece[len(step) :]] = True
        ended = spans.ended[step]
        stop = spans.stop[(np.cumsum(spans.ended) - 1)[step[ended]]]
        sets = ValueSets.of_intervals(
            self.domain,
            has_null,
            piece[: len(step)],
            spans.start[step],
            piece[: len(step)][ended],
            stop,
        )
        return owner[chosen], time[chosen], sets

    @property
    def piece_count(self) -> int:
        return int(np.count_nonzero(self.time < INF))

    def covered_by(self, other: Steps) -> Mask:
        """Of each step, whether it is within one step, no later, of a single other function."""
        spans = self.spans
        first = np.searchsorted(other.cut, spans.start, side="right")
        last = np.full(len(first), len(other.cut))
        last[spans.ended] = np.searchsorted(other.cut, spans.stop, side="left")
        found: Mask = (first == last) & (np.append(INF, other.time)[first] <= spans.time)
        return found


def _swept(spans: Spans, best: np.ufunc) -> tuple[Ints, Keys, Ints]:
    """The steps of functions that have, for each key, the best time of the spans it is in.

    For the largest time, each key of a function has to be in one.
    """
    if len(spans.owner) == 0:
        return spans.owner.astype(np.int64), spans.start, spans.time
    many = len(spans.start)
    keys, code = np.unique(np.concatenate([spans.start, spans.stop]), return_inverse=True)
    last = np.full(many, len(keys))
    last[spans.ended] = code[many:]
    width = len(keys) + 1
    low, high = spans.owner * width + code[:many], spans.owner * width + last
    bounds, place = np.unique(np.concatenate([low, high]), return_inverse=True)
    nothing = INF if best is np.minimum else BEGIN
    time = record.best_covering(place[:many], place[many:], spans.time, len(bounds), best, nothing)
    real = bounds % width < len(keys)  # the others are where functions end
    owner, at = np.divmod(bounds[real], width)
    return _changing(owner, keys[at], time[real])


def _changing(owner: Ints, cut: Keys, time: Ints) -> tuple[Ints, Keys, Ints]:
    """The cuts at which the time of a function becomes another."""
    before = np.append(INF, time[:-1])
    before[record.starts_of(owner)] = INF
    changed = time != before
    return owner[changed], cut[changed], time[changed]
