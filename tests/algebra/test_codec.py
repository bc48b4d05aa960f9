"""Plans, and what they run as, survive the way to JSON and back."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from penstock.algebra.codec import decode, encode, fingerprint
from penstock.algebra.plan import Node
from penstock.errors import StateError
from penstock.physical.lower import Graph
from penstock.testing.random_plans import Plans, random_plan
from tests.laws.nodes import NODES


def there_and_back(value: Any) -> str:
    """The fingerprint of what comes back, in which a NaN equals itself."""
    again = decode(json.loads(json.dumps(encode(value))))
    assert type(again) is type(value)
    return fingerprint(again)


@pytest.mark.parametrize("node", NODES)
def test_every_node_and_its_operators(node: str) -> None:
    for seed in range(20):
        plan = NODES[node](Plans(Random(seed)))
        assert there_and_back(plan) == fingerprint(plan)
        for operator in Graph().lower(plan).walk():
            if not isinstance(operator.work, Node):
                with pytest.raises(StateError, match="never made"):
                    there_and_back(operator.work)


def test_plans_of_several_nodes() -> None:
    for seed in range(100):
        plan = random_plan(Random(seed), 5)
        assert there_and_back(plan) == fingerprint(plan)
