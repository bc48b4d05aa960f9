"""What comes and goes, as streams: against what any two snapshots in a row say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from random import Random

import pytest

from penstock.algebra import plan as p
from penstock.algebra.outline import outline
from penstock.algebra.reference import FIRST, Record, Reference, Relation
from penstock.algebra.streams import rstream
from penstock.testing.cases import can_lift
from penstock.testing.local_runs import (
    assert_agrees_with_reference,
    assert_batch_invariant,
    assert_one_case_agrees_with_reference,
)
from penstock.testing.plan_snapshots import TIMES
from penstock.testing.random_plans import random_plan, scans_of
from penstock.testing.random_streams import random_streams
from tests.laws.nodes import seeded, streams_for

pytestmark = pytest.mark.long


def relation_as_a_stream(now: Relation, last: Relation) -> Relation:
    return now if now != last else Counter()


def either(now: Relation, last: Relation) -> Relation:
    return (now - last) + (last - now)


def together(
    reference: Reference,
    plan: p.Node,
    t: int,
    new: Callable[[Relation, Relation], Relation],
    timed: bool,
) -> Relation:
    """All that is new at any time up to t."""
    found: Counter[Record] = Counter()
    for s in range(FIRST, t + 1):
        for e, n in new(reference.at(plan, s), reference.at(plan, s - 1)).items():
            found[(*e, s) if timed else e] += n
    return found


STREAMS: dict[str, tuple[Callable[[p.Node, str | None], p.Node], Callable[..., Relation]]] = {
    "inserted": (lambda plan, time: p.Changes(plan, "inserted", time), lambda a, b: a - b),
    "deleted": (lambda plan, time: p.Changes(plan, "deleted", time), lambda a, b: b - a),
    "changed": (lambda plan, time: p.Changes(plan, "changed", time), either),
    "relation as a stream": (rstream, relation_as_a_stream),
}


@pytest.mark.parametrize("time", [None, "at"])
@pytest.mark.parametrize("kind", STREAMS)
def test_oracle_snapshots_in_a_row(kind: str, time: str | None) -> None:
    make, new = STREAMS[kind]
    for seed in range(60):
        with seeded(kind, seed) as rng:
            source = random_plan(rng, rng.randint(0, 3))
            plan = make(source, time)
            assert p.append_only(plan)
            reference = Reference(random_streams(rng, scans_of(plan)))
            for t in TIMES:
                expected = together(reference, source, t, new, time is not None)
                assert reference.at(plan, t) == expected, outline(plan)


def test_oracle_relations_as_streams() -> None:
    for seed in range(60):
        with seeded("relation as a stream", seed) as rng:
            plan = rstream(random_plan(rng, rng.randint(0, 3)), rng.choice((None, "at")))
            if can_lift(plan):
                cases = streams_for(plan, seed % 20, 200)[:20]
                assert_agrees_with_reference(plan, cases, rng)
                assert_batch_invariant(plan, cases, rng)
            else:
                streams = random_streams(rng, scans_of(plan))
                assert_one_case_agrees_with_reference(plan, streams, rng)


def test_what_was_always_there_never_came() -> None:
    total = p.Aggregate(p.Scan("s", random_plan(Random(1), 0).schema), (), ())
    assert Reference({"s": []}).at(p.Changes(total, "inserted"), 3) == Counter()
    assert_one_case_agrees_with_reference(p.Changes(total, "inserted"), {"s": []}, Random(1))
