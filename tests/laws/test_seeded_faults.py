"""The properties can fail: kernels that were broken on purpose are found out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from penstock.element import INF, Elements
from penstock.physical import kernel
from penstock.physical.kernel import Write
from penstock.physical.kernels import aggregate, multiplicity, rank
from penstock.record import Direction
from penstock.state.state_table import StateTable
from penstock.testing.local_runs import assert_agrees_with_reference, assert_batch_invariant
from penstock.testing.random_plans import Plans
from tests.laws.nodes import NODES, seeded, streams_for

pytestmark = pytest.mark.long


def check(node: str) -> None:
    for seed in range(5):
        with seeded(f"{node} with a fault", seed) as rng:
            plan = NODES[node](Plans(rng))
            cases = streams_for(plan, seed, 200)
            assert_agrees_with_reference(plan, cases, rng)
            assert_batch_invariant(plan, cases, rng)


def ends_one_late(
    schedule: StateTable, delta: Elements, w0: int, w1: int
) -> tuple[Elements, Write]:
    late = np.where(delta.te < INF, delta.te + 1, delta.te)
    return kernel.due_changes(schedule, replace(delta, te=late), w0, w1)


def ends_due_at_the_frontier_are_lost(
    schedule: StateTable, delta: Elements, w0: int, w1: int
) -> tuple[Elements, Write]:
    changes, later = kernel.due_changes(schedule, delta, w0, w1)
    return changes, replace(later, elements=later.elements.where(later.elements.ts > w1))


def retractions_are_lost(
    schedule: StateTable, delta: Elements, w0: int, w1: int
) -> tuple[Elements, Write]:
    changes, later = kernel.due_changes(schedule, delta, w0, w1)
    return changes.where((changes.n > 0) | (changes.ts > w0)), later


FAULTS = {
    "interval end": ends_one_late,
    "end at the frontier": ends_due_at_the_frontier_are_lost,
    "dropped retraction": retractions_are_lost,
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("module", "node"),
    [(multiplicity, "distinct"), (aggregate, "aggregate"), (rank, "rank")],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_wrong_change_is_found(
    module: object, node: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "due_changes", FAULTS[fault])
    with pytest.raises((AssertionError, ValueError), match="seed"):
        check(node)


def test_a_wrong_tie_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ties broken by the order of records backwards."""

    class Backwards(Direction):
        def __new__(cls) -> Backwards:
            return super().__new__(cls, descending=True)

    monkeypatch.setattr(rank, "Direction", Backwards)
    with pytest.raises(AssertionError, match="seed"):
        check("rank")


@pytest.mark.parametrize("node", ["distinct", "aggregate", "rank"])
def test_without_a_fault_nothing_is_found(node: str) -> None:
    check(node)
