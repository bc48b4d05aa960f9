"""Law: under `input` an operator is exact whenever a tuple comes to it, and waits in between."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import replace
from random import Random

import numpy as np
import pytest

from penstock.algebra import plan as p
from penstock.algebra.outline import outline
from penstock.element import BEGIN, INF, Elements, changes, concat, consolidate, snapshot
from penstock.physical.kernel import Kernel
from penstock.physical.kernels.coalesce import Coalescing
from penstock.physical.kernels.join import InnerJoin
from penstock.physical.kernels.schedule import Restriction, Splitting
from penstock.physical.kernels.sync import Synchronization
from penstock.physical.lower import Graph, Operator
from penstock.state.state_table import StateTable
from penstock.testing.local_runs import random_cuts, run_in_steps
from penstock.testing.plan_snapshots import TIMES
from penstock.testing.random_plans import Plans, random_plan
from penstock.testing.random_streams import Stream
from tests.laws.nodes import NODES, compaction_at_every_turn, seeded, streams_for

pytestmark = pytest.mark.long


class Oracle:
    """All tuples of each operator, from all tuples of its inputs at once."""

    def __init__(self, streams: Mapping[str, Stream]) -> None:
        self._streams = streams
        self._known: dict[Operator, Elements] = {}

    def view(self, plan: p.Node) -> Elements:
        return noticed(self.of(Graph().lower(plan)))[0]

    def of(self, operator: Operator) -> Elements:
        if operator not in self._known:
            inputs = tuple(map(self.of, operator.inputs))
            self._known[operator] = self._all(operator, inputs)
        return self._known[operator]

    def _all(self, operator: Operator, inputs: tuple[Elements, ...]) -> Elements:
        match operator.work:
            case p.Scan(name, schema):
                return Elements.of(schema, self._streams[name])
            case Coalescing():
                return inputs[0]
            case InnerJoin() | Restriction() | Splitting():
                return in_one_step(operator.work, inputs)
            case Synchronization():
                return changes(in_one_step(operator.work, inputs))
            case Kernel() as kernel:
                return changes(in_one_step(kernel, noticed(*inputs)))
            case transform:
                return transform.apply(*inputs)


def in_one_step(kernel: Kernel, inputs: tuple[Elements, ...]) -> Elements:
    state_tables = {spec.name: StateTable(spec) for spec in kernel.state_tables}
    return kernel.step(state_tables, inputs, BEGIN, INF).out


def noticed(*inputs: Elements) -> tuple[Elements, ...]:
    """The tuples of an operator's inputs as it sees them: they end when one of them comes."""
    netted = [consolidate(x) for x in inputs]
    comes = sorted({t for x in netted for t in x.ts.tolist()})
    ends = [[next_of(comes, te) for te in x.te.tolist()] for x in netted]
    pairs = zip(netted, ends, strict=True)
    return tuple(replace(x, te=np.array(te, dtype=np.int64)) for x, te in pairs)


def next_of(times: list[int], end: int) -> int:
    place = bisect_left(times, end)
    return times[place] if place < len(times) else INF


def assert_waits(plan: p.Node, streams: Mapping[str, Stream], rng: Random) -> None:
    cuts = random_cuts(rng)
    found = run_in_steps(plan, streams, cuts, rng, expiry="input")
    expected = Oracle(streams).view(plan)
    net = changes(concat(plan.schema, [found, expected.negated()]))
    assert len(net) == 0, f"steps {cuts}\n{outline(plan)}\n{dict(streams)}\n{net.rows()[:5]}"


@pytest.mark.parametrize("node", NODES)
def test_oracle_every_node(node: str) -> None:
    for seed in range(40):
        with seeded(f"{node} by input", seed) as rng, compaction_at_every_turn(seed % 2 == 1):
            plan = NODES[node](Plans(rng))
            assert_waits(plan, streams_for(plan, seed % 20, 200)[seed], rng)


def test_oracle_plans_of_up_to_six_nodes() -> None:
    for seed in range(200):
        with seeded("plan by input", seed) as rng, compaction_at_every_turn(seed % 2 == 1):
            plan = random_plan(rng, rng.randint(2, 6))
            assert_waits(plan, streams_for(plan, seed % 20, 200)[seed], rng)


@pytest.mark.parametrize(
    "node", ["distinct", "difference", "intersection", "except", "intersect", "aggregate", "rank"]
)
def test_one_operator_shows_what_was_right_when_its_last_tuple_came(node: str) -> None:
    """The delay is the time to the next tuple, as the paper says."""
    for seed in range(20):
        with seeded(f"{node} at its clock", seed) as rng:
            plan = NODES[node](Plans(rng))
            if isinstance(plan, p.Rank) and plan.kind != "row_number":
                continue
            streams = streams_for(plan, seed % 20, 200)[seed]
            out = run_in_steps(plan, streams, random_cuts(rng), rng, expiry="input")
            exact = run_in_steps(plan, streams, [INF], rng)
            scans = [node for node in plan.walk() if isinstance(node, p.Scan)]
            inputs = [consolidate(Elements.of(s.schema, streams[s.name])) for s in scans]
            comes = sorted({t for x in inputs for t in x.ts.tolist()})
            for t in TIMES:
                clock = max((c for c in comes if c <= t), default=BEGIN)
                assert snapshot(out, t) == snapshot(exact, clock), f"at {t}\n{outline(plan)}"
