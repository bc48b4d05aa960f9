"""The strategies end to end: restarts, any number of tasks, and choices that change at any step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from penstock.algebra.outline import outline
from penstock.algebra.plan import Node
from penstock.element import changes, concat
from penstock.physical.expiry import Strategy
from penstock.physical.expiry.choosing import Chooser
from penstock.testing.cases import can_lift, in_cases, lifted, with_shared_marks
from penstock.testing.engine_runs import LocalJobs, run_on_engine
from penstock.testing.local_runs import random_cuts, run_in_steps
from penstock.testing.random_plans import SCANS, Plans, random_plan
from penstock.testing.random_streams import random_streams

pytestmark = pytest.mark.long

VIEWS, CASES = 5, 4


def any_plan(rng: Random) -> Node:
    return random_plan(rng, rng.randint(1, 5))


def over_a_join(rng: Random) -> Node:
    """Of tuples that end with others that do not."""
    plans = Plans(rng)
    ending = rng.choice([scan for scan in SCANS if not scan.append_only])
    join = plans.join(ending, plans.scan(append_only=True))
    return rng.choice((plans.aggregate, plans.distinct, plans.filter))(join)


def assert_agree(
    directory: Path, seed: int, strategy: Strategy, make: Callable[[Random], Node] = any_plan
) -> None:
    """Each view has the changes of a run of its own, by the same delay where there is one."""
    rng = Random(seed)
    plans: dict[str, Node] = {}
    while len(plans) < VIEWS:
        plan = make(rng)
        if can_lift(plan):
            plans[f"v{len(plans)}"] = lifted(with_shared_marks(plan))
    streams = in_cases([random_streams(rng, SCANS) for _ in range(CASES)])
    cuts, late = random_cuts(rng), rng.random() < 0.5
    found = run_on_engine(
        LocalJobs(), directory, plans, streams, cuts, rng, at_any_time=late, expiry=strategy
    )
    alone: Strategy = "input" if strategy == "input" else "piggyback"
    for name, plan in plans.items():
        other = run_in_steps(plan, streams, random_cuts(rng), rng, expiry=alone)
        net = changes(concat(plan.schema, [found[name], other.negated()]))
        assert len(net) == 0, f"seed {seed}\n{outline(plan)}\n{net.rows()[:5]}"


@pytest.mark.parametrize("strategy", ["negative", "negative+messages", "input"])
@pytest.mark.parametrize("seed", range(2))
def test_differential_engine_by_each_strategy(
    strategy: Strategy, seed: int, tmp_path: Path
) -> None:
    assert_agree(tmp_path, seed, strategy)


@pytest.mark.parametrize("seed", range(3))
def test_differential_engine_that_changes_its_mind(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def is_negative(self: Chooser, join: str) -> bool:
        asked.append(not (asked and asked[-1]))
        return asked[-1]

    monkeypatch.setattr(Chooser, "is_negative", is_negative)
    assert_agree(tmp_path, seed, "auto", over_a_join)
    assert len(set(asked)) == 2
