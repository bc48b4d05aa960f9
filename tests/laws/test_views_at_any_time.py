"""A view that is created after rows came is what it would be had it always been there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

from penstock.algebra.outline import outline
from penstock.algebra.plan import (
    Changes,
    Node,
    RowWindow,
    Scan,
    Session,
    Sync,
    Upsert,
    Window,
)
from penstock.element import BEGIN, INF, changes, concat
from penstock.runtime.jobs import Jobs, SparkJobs
from penstock.testing.cases import can_lift, in_cases, lifted, with_shared_marks
from penstock.testing.engine_runs import LocalJobs, is_table, run_on_engine
from penstock.testing.local_runs import first_difference, random_cuts
from penstock.testing.random_plans import SCANS, random_plan
from penstock.testing.random_streams import Stream, random_streams

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.long

PLANS, CASES = 4, 4
_OF_ARRIVAL = (Changes, Window, RowWindow, Upsert, Session, Sync)


def plans_that_share(rng: Random) -> dict[str, Node]:
    """Some plans, and parts of them as views of their own."""
    plans: list[Node] = []
    while len(plans) < PLANS:
        plan = random_plan(rng, rng.randint(1, 5))
        if can_lift(plan):
            plan = lifted(with_shared_marks(plan))
            parts = [node for node in plan.walk() if not isinstance(node, Scan)]
            plans += [plan, *rng.sample(parts, min(2, len(parts)))]
    return {f"v{i}": plan for i, plan in enumerate(plans)}


def with_tables(
    streams: dict[str, Stream], plans: Iterable[Node], rng: Random
) -> dict[str, Stream]:
    """Some of the logs as relations that are there for all time.

    Sessions of their rows would begin at a time that no expression can count with.
    """
    can_have_tables = not any(isinstance(node, Session) for plan in plans for node in plan.walk())
    logs = ("log1", "log2") if can_have_tables else ()
    tables = {name for name in logs if rng.random() < 0.3}
    return {
        name: [(e, BEGIN, INF, 1) for e, *_ in stream] if name in tables else stream
        for name, stream in streams.items()
    }


def asks_when_rows_came(plan: Node, streams: Mapping[str, Stream]) -> bool:
    """Of rows that were always there, the reference does not know when they came."""
    nodes = list(plan.walk())
    tables = [n for n in nodes if isinstance(n, Scan) and is_table(streams[n.name])]
    asks = any(isinstance(n, _OF_ARRIVAL) for n in nodes)
    return bool(tables) and asks


def check(jobs: Jobs, directory: Path, seed: int) -> None:
    rng = Random(seed)
    plans = plans_that_share(rng)
    streams = in_cases([random_streams(rng, SCANS) for _ in range(CASES)])
    streams, cuts = with_tables(streams, plans.values(), rng), random_cuts(rng)
    found = run_on_engine(jobs, directory / "any time", plans, streams, cuts, rng, at_any_time=True)
    always = run_on_engine(jobs, directory / "always", plans, streams, random_cuts(rng), rng)
    for name, plan in plans.items():
        difference = None
        if not asks_when_rows_came(plan, streams):
            difference = first_difference(plan, streams, found[name])
        assert difference is None, f"seed {seed}\n{outline(plan)}\n{difference}"
        net = changes(concat(plan.schema, [found[name], always[name].negated()]))
        assert len(net) == 0, f"seed {seed}\n{outline(plan)}\n{net.rows()}"


@pytest.mark.parametrize("seed", range(12))
def test_oracle_views_at_any_time_in_one_process(seed: int, tmp_path: Path) -> None:
    check(LocalJobs(), tmp_path, seed)


@pytest.mark.spark
def test_oracle_views_at_any_time_on_spark(tmp_path: Path, spark: SparkSession) -> None:
    check(SparkJobs(spark), tmp_path, 101)
