"""What the laws are tested on: for each kind of node, random plans of one such node over scans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from random import Random
from typing import TypeAlias

import pytest

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.physical.kernels.combining import can_combine
from penstock.state import compaction
from penstock.testing.random_plans import SCANS, Plans, scans_of
from penstock.testing.random_streams import Stream, random_streams

Maker: TypeAlias = Callable[[Plans], p.Node]


def _join(kind: p.JoinKind) -> Maker:
    return lambda plans: plans.join(plans.scan(), plans.scan(), kind)


def _set_operation(kind: p.SetKind) -> Maker:
    return lambda plans: plans.set_operation(plans.scan(), plans.scan(), kind)


def _at_points(plans: Plans) -> p.Node:
    return plans.sync(plans.scan(append_only=True))


def _combined(plans: Plans) -> p.Node:
    """Groups of which no more is asked for than sums and the first and last values."""
    groups = plans.aggregate(_at_points(plans), keyed=True)
    calls = [call for call in groups.calls if can_combine((call,))]
    return replace(groups, calls=(*calls, AggregateCall("count", (), "how_many")))


NODES: dict[str, Maker] = {
    "filter": lambda plans: plans.filter(plans.scan()),
    "map": lambda plans: plans.map(plans.scan()),
    "union": lambda plans: plans.union(plans.scan(), plans.scan()),
    "group": lambda plans: plans.group(plans.scan()),
    "distinct": lambda plans: plans.distinct(plans.scan()),
    **{f"{kind} join": _join(kind) for kind in p.JOIN_KINDS},
    **{kind: _set_operation(kind) for kind in p.SET_KINDS},
    "aggregate": lambda plans: plans.aggregate(plans.scan(), keyed=True),
    "aggregate of what grows": lambda plans: plans.aggregate(plans.scan(append_only=True), True),
    "window": lambda plans: plans.window(plans.scan(append_only=True)),
    "row window": lambda plans: plans.row_window(plans.scan(append_only=True)),
    "upsert": lambda plans: plans.upsert(plans.scan(append_only=True)),
    "session": lambda plans: plans.session(plans.scan(append_only=True)),
    "rank": lambda plans: plans.rank(plans.scan()),
    "rank of all": lambda plans: replace(plans.rank(plans.scan()), limit=None, number="rank"),
    "rank of what grows": lambda plans: plans.rank(plans.scan(append_only=True)),
    "coalesce": lambda plans: plans.coalesce(plans.scan()),
    "split": lambda plans: plans.split(plans.scan()),
    "sync to points": lambda plans: plans.sync(plans.scan()),
    "sync to stream": lambda plans: plans.sync(plans.scan(), plans.scan()),
    "sync to streams": lambda plans: plans.sync(plans.scan(), plans.scan(), plans.scan()),
    "aggregate at points": _combined,
    "rank at points": lambda plans: replace(plans.rank(_at_points(plans)), kind="row_number"),
    "changes at points": lambda plans: plans.changes(_at_points(plans)),
    "window at points": lambda plans: plans.window(_at_points(plans)),
    "row window at points": lambda plans: plans.row_window(_at_points(plans)),
    "changes": lambda plans: plans.changes(plans.scan()),
    "restrict": lambda plans: plans.restrict(plans.scan()),
    "aggregate from a start": lambda plans: plans.started(plans.scan()),
    "count from a start": lambda plans: plans.counted(plans.scan(append_only=True)),
}


@cache
def _streams(seed: int, count: int) -> list[dict[str, Stream]]:
    rng = Random(f"streams {seed}")
    return [random_streams(rng, SCANS) for _ in range(count)]


def streams_for(plan: p.Node, seed: int, count: int) -> list[dict[str, Stream]]:
    """Random streams for the scans of a plan: those of a seed are the same for all plans."""
    names = {scan.name for scan in scans_of(plan)}
    return [{name: case[name] for name in names} for case in _streams(seed, count)]


@contextmanager
def seeded(what: str, seed: int) -> Iterator[Random]:
    """Random numbers for one attempt, whose seed is told where it fails."""
    try:
        yield Random(f"{what} {seed}")
    except Exception as error:
        error.add_note(f"seed {seed} of {what}")
        raise


@contextmanager
def compaction_at_every_turn(switched_on: bool = True) -> Iterator[None]:
    """State tables of two runs are compacted, as otherwise only large ones are."""
    with pytest.MonkeyPatch.context() as patch:
        if switched_on:
            patch.setattr(compaction, "FANS", (2,))
            patch.setattr(compaction, "_SLACK", 0)
        yield
