"""Law 2: how the input was cut into steps never shows in the changes that come out."""

from __future__ import annotations

import pytest

from penstock.testing.cases import can_lift
from penstock.testing.local_runs import assert_batch_invariant
from penstock.testing.random_plans import Plans, random_plan
from tests.laws.nodes import NODES, compaction_at_every_turn, seeded, streams_for

pytestmark = pytest.mark.long


@pytest.mark.parametrize("node", NODES)
def test_differential_every_node(node: str) -> None:
    for seed in range(10):
        with seeded(f"{node} in batches", seed) as rng, compaction_at_every_turn(seed % 2 == 1):
            plan = NODES[node](Plans(rng))
            assert_batch_invariant(plan, streams_for(plan, seed, 200), rng)


def test_differential_plans_of_up_to_six_nodes() -> None:
    seen = 0
    for seed in range(200):
        with seeded("plan in batches", seed) as rng, compaction_at_every_turn(seed % 2 == 1):
            plan = random_plan(rng, rng.randint(2, 6))
            if can_lift(plan):
                seen += 1
                assert_batch_invariant(plan, streams_for(plan, seed % 20, 200)[:10], rng)
    assert seen > 100
