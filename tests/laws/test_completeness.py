"""Law 3: a step `[w0, w1)` gives all changes of its times, and never one of an earlier time."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import pytest

from penstock.algebra import plan as p
from penstock.algebra.outline import outline
from penstock.element import Elements, concat
from penstock.testing.cases import can_lift, in_cases, lifted, with_shared_marks
from penstock.testing.local_runs import first_difference, random_cuts, steps
from penstock.testing.random_plans import Plans, random_plan
from penstock.testing.random_streams import Stream
from tests.laws.nodes import NODES, seeded, streams_for

pytestmark = pytest.mark.long


def assert_complete(plan: p.Node, cases: Sequence[dict[str, Stream]], rng: Random) -> None:
    plan = lifted(with_shared_marks(plan))
    streams = in_cases(cases)
    so_far: list[Elements] = []
    for w0, w1, out in steps(plan, streams, random_cuts(rng), rng):
        early, late = out.where(out.ts < w0), out.where(out.ts >= w1)
        assert len(early) == len(late) == 0, (
            f"step [{w0}, {w1})\n{outline(plan)}\nearly {early.rows()}\nlate {late.rows()}"
        )
        so_far.append(out)
        different = first_difference(plan, streams, concat(plan.schema, so_far))
        assert different is None or different[0] >= w1, (
            f"after the step [{w0}, {w1}), at {different}\n{outline(plan)}"
        )


@pytest.mark.parametrize("node", NODES)
def test_every_node(node: str) -> None:
    for seed in range(5):
        with seeded(f"{node} to the frontier", seed) as rng:
            plan = NODES[node](Plans(rng))
            assert_complete(plan, streams_for(plan, seed, 200)[:20], rng)


def test_plans_of_several_nodes() -> None:
    for seed in range(40):
        with seeded("plan to the frontier", seed) as rng:
            plan = random_plan(rng, rng.randint(2, 6))
            if can_lift(plan):
                assert_complete(plan, streams_for(plan, seed % 5, 200)[:5], rng)


def test_time_alone_brings_out_what_ends() -> None:
    """After the last input, steps without any still give every change that is due."""
    for seed in range(30):
        with seeded("time alone", seed) as rng:
            plans = Plans(rng)
            plan = plans.aggregate(plans.window(plans.scan(append_only=True)), keyed=True)
            cases = [
                {name: [row for row in stream if row[1] < 3] for name, stream in case.items()}
                for case in streams_for(plan, seed % 5, 200)[:20]
            ]
            assert_complete(plan, cases, rng)
