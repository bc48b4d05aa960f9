"""Each rule on many random streams: the snapshots before and after are equal.

`PENSTOCK_EFFORT=10` tries ten times as many.
"""

from __future__ import annotations

import os
from random import Random

import pytest

from penstock.algebra.plan import Node, RowWindow, Session, Upsert, Window, append_only
from penstock.rewrite import RULES, Rule, commute, normalized, reassociate, trace
from penstock.testing.plan_snapshots import assert_same_meaning
from penstock.testing.random_plans import Plans, random_plan, scans_of
from penstock.testing.random_streams import random_streams
from tests.rewrite.patterns import PATTERNS

pytestmark = pytest.mark.long

EFFORT = int(os.environ.get("PENSTOCK_EFFORT", "1"))
STREAMS_PER_PLAN = 4


def assert_equivalent(before: Node, after: Node, rng: Random, seed: int) -> None:
    for _ in range(STREAMS_PER_PLAN):
        try:
            assert_same_meaning(before, after, random_streams(rng, scans_of(before)))
        except AssertionError as difference:
            difference.add_note(f"seed {seed}")
            raise


BY_NAME: dict[str, Rule] = {rule.__name__: rule for rule in (*RULES, commute, reassociate)}


@pytest.mark.parametrize("name", PATTERNS)
def test_differential_before_and_after_a_rule(name: str) -> None:
    rule = BY_NAME[name.partition(":")[0]]
    wanted = 100 * EFFORT
    applied = 0
    for seed in range(20 * wanted):
        rng = Random(seed)
        before = PATTERNS[name](Plans(rng))
        if (after := rule(before)) is not None:
            assert_equivalent(before, after, rng, seed)
            applied += 1
        if applied == wanted:
            break
    assert applied == wanted, "the patterns hardly ever fit the rule"


def test_differential_before_and_after_all_rules() -> None:
    fired: set[str] = set()
    for seed in range(250 * EFFORT):
        rng = Random(seed)
        before = random_plan(rng, rng.randint(1, 6))
        after, names, normal = trace(before)
        assert normal == normalized(before)
        assert trace(after) == (after, (), after), (
            f"seed {seed}: a second rewrite changes the plan again"
        )
        assert_equivalent(before, after, rng, seed)
        assert append_only_where_needed(after) or not append_only_where_needed(before)
        fired.update(names)
    assert len(fired) > len(RULES) // 2


def append_only_where_needed(plan: Node) -> bool:
    needed = (Window, RowWindow, Upsert, Session)
    return all(append_only(node.input) for node in plan.walk() if isinstance(node, needed))
