"""Verdicts on any plan: they exist, say something, and windows on all streams bound every plan."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from penstock.algebra import plan as p
from penstock.algebra.closing import with_closing
from penstock.memory.plans import operators_of
from penstock.memory.values import Declared
from penstock.rewrite import rewrite
from penstock.testing.random_plans import random_plan


def with_times(node: p.Node) -> p.Node:
    """The plan over streams that have an event time."""
    if isinstance(node, p.Scan):
        return replace(node, time="a") if node.append_only else node
    return node.with_inputs(*map(with_times, node.inputs))


def with_windows(node: p.Node) -> p.Node:
    """The plan over the latest rows of its streams, as far as it lets itself be."""
    if isinstance(node, p.Scan):
        return p.RowWindow(node, 10) if node.append_only else node
    return node.with_inputs(*map(with_windows, node.inputs))


def can_have_windows(plan: p.Node) -> bool:
    needs_streams = (p.Window, p.RowWindow, p.Upsert, p.Session, p.Changes, p.Restrict, p.Sync)
    return not any(isinstance(node, needs_streams) for node in plan.walk())


@pytest.mark.parametrize("seed", range(300))
def test_every_operator_has_a_verdict_that_says_why(seed: int) -> None:
    plan = with_closing(with_times(random_plan(Random(seed), 6)))
    for verdict in operators_of(rewrite(plan), Declared()):
        assert verdict.operator
        assert verdict.because
        assert verdict.bounded == (verdict.bound is not None)
        assert verdict.outcome.startswith(("bounded", "unbounded", "no bound"))


@pytest.mark.parametrize("seed", range(200))
def test_row_windows_on_all_streams_bound_every_plan(seed: int) -> None:
    plan = random_plan(Random(seed), 6)
    if can_have_windows(plan):
        for verdict in operators_of(rewrite(with_times(with_windows(plan))), Declared()):
            assert verdict.bounded, verdict
