"""Operators behind queues, one tuple at a time: the machine of the negative-tuples paper.

The clock is virtual. Rows arrive at random times, a server takes them one after the other through
the operators of a plan, and a step lasts as long as the kernels that had something to do in it.
That is measured in processor time, as a median for each operator and number of rows, so that the
result does not depend on what else the machine does.

What a strategy has the server do:
- `input`: a step for each row that arrived. Operators run when they have input, and see as much of
  time as it brings.
- `negative`, `negative+messages`: a step for each row that arrived and each that expired.
- `piggyback`, `auto`: a step for each row that arrived, which takes all expiry before it along.
  What has expired has a step of its own only while no row waits.
"""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from statistics import median

import numpy as np

from penstock.algebra import plan as p
from penstock.element import BEGIN, INF, Elements
from penstock.physical.closing import Said
from penstock.physical.expiry import Strategy
from penstock.physical.expiry.streams import Messages
from penstock.physical.kernel import Kernel
from penstock.physical.kernels.adaptive_join import AdaptiveJoin
from penstock.physical.kernels.aggregate import GroupAggregate
from penstock.physical.kernels.join import InnerJoin
from penstock.physical.lower import Operator
from penstock.testing.local_pipeline import LocalPipeline

Signature = tuple[str, int, bool]


class Costs:
    """Seconds of operators, by how many rows come to them and whether anything falls due."""

    def __init__(self) -> None:
        self._samples: defaultdict[Signature, list[float]] = defaultdict(list)
        self._medians: dict[Signature, float] = {}

    def measured(self, signature: Signature, seconds: float) -> None:
        self._samples[signature].append(seconds)

    def settle(self) -> None:
        """From now on costs are what they were in the middle."""
        self._medians = {s: median(found) for s, found in self._samples.items() if len(found) > 4}

    def of(self, signature: Signature, seconds: float) -> float:
        """The cost of a kind of run; where none was measured, of the most similar one."""
        name, rows, due = signature
        known = [s for s in self._medians if s[0] == name and s[2] == due]
        known = known or [s for s in self._medians if s[0] == name]
        if not known:
            return seconds
        return self._medians[min(known, key=lambda s: abs(s[1] - rows))]


class Host(LocalPipeline):
    """Runs only the operators that have something to do, and tells what that costs."""

    def __init__(self, plan: p.Node, expiry: Strategy, costs: Costs) -> None:
        self.by_input = expiry == "input"  # with clocks of their own, operators need no others
        super().__init__(plan, expiry="piggyback" if self.by_input else expiry)
        self._costs = costs
        self._clocks: dict[Operator, int] = {}
        self.seconds = 0.0
        self.spent: dict[str, float] = defaultdict(float)
        self.tuples: dict[str, list[int]] = defaultdict(lambda: [0, 0])

    def run(self, inputs: Mapping[str, Elements], w1: int) -> float:
        """A step; the seconds it takes."""
        self.seconds = 0.0
        self.step(inputs, w1)
        return self.seconds

    def _run(
        self,
        i: int,
        operator: Operator,
        given: list[Elements],
        inputs: Mapping[str, Elements],
        w1: int,
        said: Said,
    ) -> Elements:
        if operator.kernel is None:
            return super()._run(i, operator, given, inputs, w1, said)
        rows = sum(map(len, given))
        due = 0 if self.by_input and not rows else self._due(i, operator, w1)
        if not rows and not due and operator in self._clocks:
            return Elements.empty(operator.schema)
        name = _name(operator.kernel)
        self._count(name, operator, given, due)
        out, took = self._timed(i, operator, operator.kernel, given, w1)
        signature = (name, min(rows, 8), due > 0)
        self._costs.measured(signature, took)
        cost = self._costs.of(signature, took)
        self.seconds += cost
        self.spent[name] += cost
        return out

    def _timed(
        self, i: int, operator: Operator, kernel: Kernel, given: list[Elements], w1: int
    ) -> tuple[Elements, float]:
        """What a kernel gives, and the seconds to compute it and to add to its state. To open its
        state tables and to compact them is the host's work, and not counted."""
        state_tables = {spec.name: self.state_tables[i, spec.name] for spec in kernel.state_tables}
        opened = {name: state_table.open(self.store) for name, state_table in state_tables.items()}
        started = time.process_time()
        result = kernel.step(opened, given, self._clocks.get(operator, BEGIN), w1)
        for name, write in result.writes.items():
            state_tables[name].append(self.store, write, w1)
        took = time.process_time() - started
        for spec in kernel.state_tables:
            state_tables[spec.name].compact(self.store, spec)
        self._clocks[operator] = w1
        return result.out, took

    def _due(self, i: int, operator: Operator, w1: int) -> int:
        """How many rows fall due that the operator has kept."""
        clock = self._clocks.get(operator, BEGIN)
        assert operator.kernel is not None
        state_tables = [
            self.state_tables[i, spec.name]
            for spec in operator.kernel.state_tables
            if spec.order == "time"
        ]
        return sum(
            len(state_table.open(self.store).begun_between(clock, w1))
            for state_table in state_tables
        )

    def _count(self, name: str, operator: Operator, given: Sequence[Elements], due: int) -> None:
        """Positive and negative tuples; an end that no positive tuple brought counts as one, and
        of a message all that it retires."""
        positive = sum(int(np.count_nonzero(x.n > 0)) for x in given)
        negative = sum(int(np.count_nonzero(x.n < 0)) for x in given)
        told = [c for c in operator.inputs if isinstance(c.work, Messages)]
        messages = sum(len(self.results[child]) for child in told)
        counted = self.tuples[name]
        counted[0] += positive - messages
        counted[1] += negative + messages
        if due and not positive and not self.by_input and name == GroupAggregate.__name__:
            counted[1] += due


def _name(kernel: Kernel) -> str:
    """A join that could expire by negative tuples, and does not, is like any other."""
    return InnerJoin.__name__ if isinstance(kernel, AdaptiveJoin) else type(kernel).__name__


@dataclass
class Outcome:
    """Of one run: delays of arrivals and expiries in seconds; tuples and seconds by operator."""

    delays: list[float] = field(default_factory=list)
    tuples: Mapping[str, Sequence[int]] = field(default_factory=dict)
    spent: Mapping[str, float] = field(default_factory=dict)
    busy: float = 0.0
    arrived: int = 0

    @property
    def average(self) -> float:
        return sum(self.delays) / max(len(self.delays), 1)

    @property
    def most(self) -> float:
        return max(self.delays, default=0.0)


@dataclass(frozen=True)
class Row:
    """A row that arrives: its source, its time in microseconds and its record."""

    source: str
    at: int
    record: tuple[int, ...]


@dataclass(frozen=True)
class Load:
    """A plan, its tables, rows in the order of time, how long they are valid, and the validity of
    each result that they have."""

    plan: p.Node
    tables: Mapping[str, Elements]
    rows: Sequence[Row]
    window: int
    results: Sequence[tuple[int, int]]


def served(load: Load, expiry: Strategy, costs: Costs, warm: int) -> Outcome:
    """Serve all rows; delays count from a time on, when windows are full."""
    host = Host(load.plan, expiry, costs)
    scans = {node.name: node for node in load.plan.walk() if isinstance(node, p.Scan)}
    host.run(load.tables, 0)
    arrivals = list(load.rows)
    expiries: list[int] = []
    done: list[tuple[int, float]] = []
    marks = sorted(ts for ts, _ in load.results)
    now, place, outcome = 0.0, 0, Outcome(arrived=len(load.rows))
    while place < len(arrivals):
        row = arrivals[place]
        event = row.at
        if expiry != "input" and expiries and expiries[0] <= row.at:
            event = expiries[0]
        ready = max(now, event / 1e6)
        inputs: dict[str, Elements] = {}
        if expiry in ("piggyback", "auto") and event < row.at <= ready * 1e6:
            event = row.at  # a row waits: what has expired rides on it
        if event == row.at:
            schema = scans[row.source].schema
            inputs = {row.source: Elements.of(schema, [(row.record, row.at, INF, 1)])}
            heappush(expiries, row.at + load.window)
            place += 1
        elif expiry in ("piggyback", "auto"):
            while len(expiries) > 1 and expiries[1] <= ready * 1e6:
                heappop(expiries)
            event = expiries[0]
        while expiries and expiries[0] <= event:
            heappop(expiries)
        spent = host.run(inputs, event + 1)
        now = ready + spent
        outcome.busy += spent
        shows = expiry != "input" or _has(marks, event)
        if shows:
            done.append((event, now))
    outcome.delays = _delays(load.results, done, warm)
    outcome.tuples, outcome.spent = dict(host.tuples), dict(host.spent)
    return outcome


def _has(marks: Sequence[int], event: int) -> bool:
    place = bisect_left(marks, event)
    return place < len(marks) and marks[place] == event


def _delays(
    results: Sequence[tuple[int, int]], done: Sequence[tuple[int, float]], warm: int
) -> list[float]:
    """From each time at which a result comes or goes to the end of the step that shows it."""
    events, last = [event for event, _ in done], done[-1][0]
    found = []
    for event in (at for pair in results for at in pair if warm <= at <= last):
        _, shown = done[bisect_left(events, event)]
        found.append(shown - event / 1e6)
    return found
