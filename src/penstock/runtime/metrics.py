"""What has gone through operators since the session began, and how long views took to show it.

A tuple counts as positive or negative; one that ends within its step, or says when it will, is one
positive tuple. The delay of a change is the way from when its time came to when the view shows it.
In event time: how far the frontier had gone beyond it. On the clock: the seconds since the session
first heard of that time, by a row or a promise. Of long steps a sample is measured.
"""

from __future__ import annotations

import threading
import time
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np

from penstock.element import BEGIN, INF
from penstock.execution.task import Report
from penstock.physical.program import Program

_KEPT = 2000
_MOST_OBSERVED = 1000


@dataclass
class Delays:
    """Average and largest of all, quantiles of a sample of all."""

    count: int = 0
    total: float = 0.0
    most: float = 0.0
    sample: list[float] = field(default_factory=list)
    _random: Random = field(default_factory=lambda: Random(0))

    def add(self, delay: float) -> None:
        self.count += 1
        self.total += delay
        self.most = max(self.most, delay)
        if len(self.sample) < _KEPT:
            self.sample.append(delay)
        elif (place := self._random.randrange(self.count)) < _KEPT:
            self.sample[place] = delay

    def reach(self, delay: float) -> None:
        """The largest of what a sample was taken of."""
        self.most = max(self.most, delay)

    def shown(self) -> dict[str, float]:
        if not self.count:
            return {}
        p50, p99 = np.quantile(self.sample, (0.5, 0.99)).tolist()
        return {"average": self.total / self.count, "p50": p50, "p99": p99, "max": self.most}


@dataclass
class ViewDelays:
    """How late changes were shown, in event time and by the clock."""

    event: Delays = field(default_factory=Delays)
    seconds: Delays = field(default_factory=Delays)

    def shown(self) -> dict[str, Any]:
        return {"event": self.event.shown(), "seconds": self.seconds.shown()}


class Metrics:
    """Of one session; nothing of it is kept."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._observed: deque[tuple[int, float]] = deque(maxlen=_MOST_OBSERVED)
        self._operators: dict[str, dict[str, int]] = {}
        self._views: dict[str, ViewDelays] = {}
        self._late: dict[str, Delays] = {}

    def observe_event_time(self, event: int) -> None:
        """Time has come so far, by a row or by a promise."""
        with self._mutex:
            if BEGIN < event < INF and (not self._observed or event > self._observed[-1][0]):
                self._observed.append((event, time.monotonic()))

    def stepped(
        self, program: Program, reports: Sequence[Report], w1: int
    ) -> dict[str, dict[str, float]]:
        """A step is committed, and what it gave can be read; what each operator did in it."""
        now, totals = time.monotonic(), _totals(reports)
        with self._mutex:
            for place in program.places:
                if place.identity in totals:
                    name = f"{type(place.operator.work).__name__} {place.identity}"
                    _count(self._operators.setdefault(name, {}), totals[place.identity])
            observed = list(self._observed)
            frontier = w1 - 1 if w1 < INF else observed[-1][0] if observed else BEGIN
            for report in reports:
                for view, (*some, first) in report.times.items():
                    delays = self._views.setdefault(view, ViewDelays())
                    for event in (event for event in some if event > BEGIN):
                        delays.event.add(max(frontier - event, 0))
                        if (since := _since(event, observed)) is not None:
                            delays.seconds.add(now - since)
                    if first > BEGIN:
                        delays.event.reach(frontier - first)
                        delays.seconds.reach(now - (_since(first, observed) or now))
                for operator, (*few, most) in report.late.items():
                    late = self._late.setdefault(operator, Delays())
                    for delay in few:
                        late.add(delay)
                    late.reach(most)
        return totals

    def operators(self) -> dict[str, dict[str, Any]]:
        """Tuples through each operator; where ends wait, for how long in event time."""
        with self._mutex:
            found: dict[str, dict[str, Any]] = {}
            for name, counts in self._operators.items():
                ratio = counts["negative_in"] / max(counts["positive_in"], 1)
                found[name] = {**counts, "ratio": ratio}
                if name in self._late:
                    found[name]["noticed_late"] = self._late[name].shown()
            return found

    def delay(self, view: str) -> dict[str, Any]:
        with self._mutex:
            return self._views.get(view, ViewDelays()).shown()


def _since(event: int, observed: list[tuple[int, float]]) -> float | None:
    """When the session first heard of a time, as far back as it remembers."""
    place = bisect_left(observed, (event, 0.0))
    return observed[place][1] if place < len(observed) else None


def _count(counts: dict[str, int], total: Mapping[str, float]) -> None:
    moved = {
        "positive_in": total["rows_in"] - total["negative_in"],
        "negative_in": total["negative_in"],
        "positive_out": total["rows_out"] - total["negative"],
        "negative_out": total["negative"],
    }
    for name, value in moved.items():
        counts[name] = counts.get(name, 0) + int(value)


def _totals(reports: Iterable[Report]) -> dict[str, dict[str, float]]:
    """What all tasks together report of each operator."""
    totals: dict[str, dict[str, float]] = {}
    for report in reports:
        for metric in report.metrics:
            total = totals.setdefault(metric["operator"], {})
            for name, value in metric.items():
                if name != "operator":
                    total[name] = total.get(name, 0) + value
    return totals


def seconds_of(reports: Iterable[Report]) -> dict[str, float]:
    """How long all tasks together were busy with what, within the run."""
    found: dict[str, float] = {}
    for report in reports:
        for what, seconds in report.seconds.items():
            found[what] = found.get(what, 0.0) + seconds
    return found
