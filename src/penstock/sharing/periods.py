"""Queries that come together and say the same at different periods.

None of them contains the others. What they say at the points of all of them does: at the greatest
common divisor of their periods. It runs once, and each looks at it at its own points.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from penstock.algebra.plan import Node, Periodic, Sync
from penstock.rewrite import normalized, rewrite
from penstock.sharing.identity import Identities
from penstock.sharing.planning import Running
from penstock.sharing.points import common_period

_EVERY = Periodic(1)


def in_common(queries: Mapping[str, Node]) -> list[Running]:
    """What some of these queries say at the points of all of them, to be read by each."""
    identities = Identities()
    found: dict[str, dict[str, Node]] = {}
    for name, plan in queries.items():
        said = normalized(plan)
        if _period(said) is not None:
            found.setdefault(identities.of(_at(said, _EVERY)), {})[name] = said
    running = []
    for same in found.values():
        periods = [period for period in map(_period, same.values()) if period is not None]
        if len(set(periods)) > 1:
            said = _at(next(iter(same.values())), common_period(periods))
            running.append(Running(f"what {' and '.join(same)} share", said, rewrite(said)))
    return running


def _period(plan: Node) -> Periodic | None:
    """The one period by which all of a plan is synchronized that is."""
    points = {node.points for node in plan.walk() if isinstance(node, Sync)}
    match list(points):
        case [(Periodic() as period,)]:
            return period
    return None


def _at(plan: Node, period: Periodic) -> Node:
    """The plan with another period for all that is synchronized in it."""
    new: dict[int, Node] = {}
    for node in plan.walk():
        same = node.with_inputs(*(new[id(child)] for child in node.inputs))
        new[id(node)] = replace(same, points=(period,)) if isinstance(same, Sync) else same
    return new[id(plan)]
