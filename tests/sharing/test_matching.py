"""Random queries that overlap: what is answered from a view is the same at all times.

`PENSTOCK_EFFORT=10` tries ten times as many.
"""

from __future__ import annotations

import os
from collections import Counter
from random import Random

import pytest

from penstock.algebra.plan import Node, Scan
from penstock.rewrite import rewrite
from penstock.sharing import Running, Sharing, leaf_name
from penstock.testing.plan_snapshots import assert_same_meaning
from penstock.testing.random_overlaps import OVERLAPPING, Spec, Specs, with_times
from penstock.testing.random_plans import scans_of
from penstock.testing.random_streams import random_streams

EFFORT = int(os.environ.get("PENSTOCK_EFFORT", "1"))
PAIRS = 500
STREAMS = 4


def kind_of(spec: Spec) -> str:
    if spec.keys is not None:
        return "groups"
    return "different rows" if spec.distinct else "rows"


def assert_same(query: Node, plan: Node, rng: Random, seed: int) -> None:
    for _ in range(STREAMS):
        streams = with_times(random_streams(rng, {*scans_of(query), *OVERLAPPING}))
        try:
            assert_same_meaning(query, plan, streams)
        except AssertionError as difference:
            difference.add_note(f"seed {seed}")
            raise


@pytest.mark.long
def test_oracle_what_is_answered_from_a_view_is_the_same() -> None:
    matched: Counter[tuple[str, str]] = Counter()
    for seed in range(PAIRS * EFFORT):
        rng = Random(seed)
        specs = Specs(rng)
        view = specs.view()
        query = specs.changed(view)
        sharing = Sharing(thrifty=False)
        said = view.plan()
        sharing.add(Running("v", said, rewrite(said)))
        found = sharing.share(query.plan())
        if found.views:
            matched[kind_of(view), kind_of(query)] += 1
            leaves = [node.name for node in found.over_views.walk() if isinstance(node, Scan)]
            assert any(name in leaves for name in map(leaf_name, found.views))
            assert_same(query.plan(), found.plan, rng, seed)
    assert matched.total() > PAIRS * EFFORT // 5, matched
    assert {("rows", "rows"), ("groups", "groups"), ("rows", "groups")} <= matched.keys()
