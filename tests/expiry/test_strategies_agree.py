"""Law: by whichever strategy tuples expire, the changes that come out are the same."""

from __future__ import annotations

import pytest

from penstock.algebra import plan as p
from penstock.algebra.outline import outline
from penstock.element import changes, concat
from penstock.physical.expiry import Strategy
from penstock.testing.cases import can_lift, in_cases, lifted, with_shared_marks
from penstock.testing.local_runs import random_cuts, run_in_steps
from penstock.testing.random_plans import Plans, random_plan
from tests.laws.nodes import NODES, compaction_at_every_turn, seeded, streams_for

pytestmark = pytest.mark.long

EXACT: tuple[Strategy, ...] = ("negative", "negative+messages", "piggyback", "auto")


def assert_agree(plan: p.Node, seed: int, strategy: Strategy, cases: int = 10) -> None:
    with seeded(f"{strategy} strategy", seed) as rng, compaction_at_every_turn(seed % 2 == 1):
        streams = in_cases(streams_for(plan, seed % 20, 200)[:cases])
        plan = lifted(with_shared_marks(plan))
        cuts = random_cuts(rng)
        found = run_in_steps(plan, streams, cuts, rng, expiry=strategy)
        expected = run_in_steps(plan, streams, random_cuts(rng), rng)
        net = changes(concat(plan.schema, [found, expected.negated()]))
        assert len(net) == 0, f"{strategy}, steps {cuts}\n{outline(plan)}\n{net.rows()[:5]}"


@pytest.mark.parametrize("strategy", EXACT)
@pytest.mark.parametrize("node", NODES)
def test_differential_every_node(node: str, strategy: Strategy) -> None:
    for seed in range(3):
        with seeded(f"{node} by strategy", seed) as rng:
            assert_agree(NODES[node](Plans(rng)), seed, strategy, cases=100)


@pytest.mark.parametrize("strategy", EXACT)
def test_differential_plans_of_up_to_six_nodes(strategy: Strategy) -> None:
    seen = 0
    for seed in range(60):
        with seeded("plan by strategy", seed) as rng:
            plan = random_plan(rng, rng.randint(2, 6))
        if can_lift(plan):
            seen += 1
            assert_agree(plan, seed, strategy)
    assert seen > 25
