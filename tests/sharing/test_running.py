"""Views that overlap, shared and apart, from the start and attached on the way: the same changes.

`PENSTOCK_EFFORT=10` tries ten times as many.
"""

from __future__ import annotations

import os
from pathlib import Path
from random import Random

import pytest

from penstock.algebra.outline import outline
from penstock.algebra.plan import Node
from penstock.element import Elements
from penstock.testing.local_runs import random_cuts
from penstock.testing.random_overlaps import OVERLAPPING, Spec, Specs, with_times
from penstock.testing.random_streams import Stream, random_streams
from tests.sharing.runs import net, opened, over, run

pytestmark = pytest.mark.long

EFFORT = int(os.environ.get("PENSTOCK_EFFORT", "1"))
SEEDS = range(4 * EFFORT)
FAMILIES = 3


def overlapping(rng: Random) -> dict[str, Node]:
    """A few families of queries: one, and two or three that are made from it or from each other."""
    plans: dict[str, Node] = {}
    for family in range(FAMILIES):
        specs = Specs(rng)
        known: list[Spec] = [specs.view()]
        for _ in range(rng.choice((1, 2))):
            known.append(specs.changed(rng.choice(known)))
        plans |= {f"v{family}_{i}": spec.plan() for i, spec in enumerate(known)}
    return plans


def streams_of(rng: Random) -> dict[str, Stream]:
    return with_times(random_streams(rng, OVERLAPPING, size=10))


def assert_same(
    seed: int, plans: dict[str, Node], found: dict[str, Elements | None], other: Elements, name: str
) -> None:
    mine = found[name]
    assert mine is not None
    difference = net(mine, other).rows()
    assert not difference, f"seed {seed}, {name}\n{outline(plans[name])}\n{difference}"


@pytest.mark.parametrize("seed", SEEDS)
def test_differential_shared_or_apart(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    plans, streams = overlapping(rng), streams_of(rng)
    shared = run(tmp_path / "shared", plans, streams, random_cuts(rng), rng, sharing=True)
    apart = run(tmp_path / "apart", plans, streams, random_cuts(rng), rng, sharing=False)
    for name in plans:
        other = apart[name]
        assert other is not None
        assert_same(seed, plans, shared, other, name)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("keep_input", [True, False])
def test_differential_attached_or_always_there(seed: int, keep_input: bool, tmp_path: Path) -> None:
    rng = Random(1000 + seed)
    plans, streams = overlapping(rng), streams_of(rng)
    cuts = random_cuts(rng)
    late = {name: rng.randint(0, len(cuts)) for name in plans if not name.endswith("_0")}
    found = run(tmp_path / "a", plans, streams, cuts, rng, late, keep_input=keep_input)
    always = run(tmp_path / "b", plans, streams, random_cuts(rng), rng, sharing=False)
    for name in plans:
        other = always[name]
        assert other is not None
        if found[name] is not None:
            assert_same(seed, plans, found, other, name)
        else:
            assert not keep_input
            assert late[name] > 0


def test_attached_views_are_made_up_from_views(tmp_path: Path) -> None:
    """Of many random views, most that are contained in others need no rows of sources."""
    attached = 0
    for seed in range(30):
        rng = Random(seed)
        specs = Specs(rng)
        view = specs.view()
        plans = {"v": view.plan(), "q": specs.changed(view).plan()}
        with opened(tmp_path / str(seed)) as db:
            db.create_view("v", over(plans["v"]))
            shared = db.shared_views.share(over(plans["q"]))
        late = run(
            tmp_path / f"late {seed}",
            plans,
            streams_of(rng),
            [5, 9],
            rng,
            {"q": 1},
            keep_input=False,
        )
        attached += late["q"] is not None and bool(shared.views)
    assert attached > 5
