"""Law 1: at every time, the snapshot of a result is the reference's, on 10,000 streams per node."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.physical.kernels import join
from penstock.state.store import FileStore
from penstock.testing.cases import can_lift
from penstock.testing.local_runs import (
    assert_agrees_with_reference,
    assert_one_case_agrees_with_reference,
)
from penstock.testing.random_plans import Plans, random_plan, scans_of
from penstock.testing.random_streams import random_streams
from tests.laws.nodes import NODES, compaction_at_every_turn, seeded, streams_for

pytestmark = pytest.mark.long

PLANS, STREAMS = 50, 200


@pytest.mark.parametrize("node", NODES)
def test_oracle_every_node(node: str) -> None:
    for seed in range(PLANS):
        with seeded(node, seed) as rng, compaction_at_every_turn(seed % 2 == 1):
            plan = NODES[node](Plans(rng))
            assert_agrees_with_reference(plan, streams_for(plan, seed, STREAMS), rng)


@pytest.mark.parametrize("node", NODES)
def test_oracle_every_node_with_state_in_files(node: str, tmp_path: Path) -> None:
    for seed in range(3):
        with seeded(f"{node} in files", seed) as rng, compaction_at_every_turn():
            plan = NODES[node](Plans(rng))
            cases = streams_for(plan, seed, STREAMS)[:50]
            assert_agrees_with_reference(plan, cases, rng, FileStore(tmp_path))


def test_oracle_joins_of_rows_that_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join, "_FEW", 0)
    for seed in range(PLANS):
        with seeded("rows that meet", seed) as rng:
            plan = NODES["inner join"](Plans(rng))
            assert_agrees_with_reference(plan, streams_for(plan, seed, STREAMS)[:50], rng)


def test_oracle_aggregates_without_keys() -> None:
    for seed in range(300):
        with seeded("global aggregate", seed) as rng, compaction_at_every_turn(seed % 2 == 1):
            plans = Plans(rng)
            plan = plans.aggregate(plans.scan(), keyed=False)
            assert_one_case_agrees_with_reference(plan, random_streams(rng, scans_of(plan)), rng)


def test_oracle_plans_of_several_nodes() -> None:
    for seed in range(150):
        with seeded("plan", seed) as rng, compaction_at_every_turn(seed % 2 == 1):
            plan = random_plan(rng, rng.randint(2, 6))
            if can_lift(plan):
                cases = streams_for(plan, seed % PLANS, STREAMS)[:10]
                assert_agrees_with_reference(plan, cases, rng)
            else:
                streams = random_streams(rng, scans_of(plan))
                assert_one_case_agrees_with_reference(plan, streams, rng)
