"""The laws end to end: random plans as views of one engine, restarted and rescaled at random."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from penstock.algebra.outline import outline
from penstock.algebra.plan import Node
from penstock.element import INF, changes, concat
from penstock.execution.task import Merge
from penstock.runtime import maintenance
from penstock.runtime.jobs import Jobs, SparkJobs
from penstock.state import compaction
from penstock.state.store import RunReference
from penstock.testing.cases import can_lift, in_cases, lifted, with_shared_marks
from penstock.testing.engine_runs import LocalJobs, run_on_engine
from penstock.testing.local_runs import first_difference, random_cuts, run_in_steps
from penstock.testing.random_plans import SCANS, random_plan
from penstock.testing.random_streams import HORIZON, random_streams

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.long

VIEWS, CASES = 10, 8


def check(
    jobs: Jobs,
    directory: Path,
    seed: int,
    cuts: list[int] | None = None,
    views: int = VIEWS,
    **more: Any,
) -> None:
    """Every view has the reference's snapshots, and the changes of a run in other steps."""
    rng = Random(seed)
    plans: dict[str, Node] = {}
    while len(plans) < views:
        plan = random_plan(rng, rng.randint(1, 5))
        if can_lift(plan):
            plans[f"v{len(plans)}"] = lifted(with_shared_marks(plan))
    streams = in_cases([random_streams(rng, SCANS) for _ in range(CASES)])
    found = run_on_engine(jobs, directory, plans, streams, cuts or random_cuts(rng), rng, **more)
    for name, plan in plans.items():
        difference = first_difference(plan, streams, found[name])
        assert difference is None, f"seed {seed}\n{outline(plan)}\n{difference}"
        other = run_in_steps(plan, streams, random_cuts(rng), rng)
        net = changes(concat(plan.schema, [found[name], other.negated()]))
        assert len(net) == 0, f"seed {seed}\n{outline(plan)}\n{net.rows()}"


@pytest.mark.parametrize("seed", range(12))
def test_oracle_engine_in_one_process(seed: int, tmp_path: Path) -> None:
    check(LocalJobs(), tmp_path, seed)


@pytest.mark.parametrize("seed", range(20, 26))
def test_oracle_engine_that_merges_little_by_little(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most merges take several steps, with restarts and changes of parallelism between them."""
    monkeypatch.setattr(compaction, "PART", 100)
    monkeypatch.setattr(compaction, "FANS", (2,))
    monkeypatch.setattr(maintenance, "bytes_to_merge", lambda *_: 1000)
    unfinished = 0

    def rest(self: Merge, into: str, since: int) -> Iterator[RunReference]:
        nonlocal unfinished
        for ref in _rest(self, into, since):
            unfinished += since > 0
            yield ref

    _rest = Merge.rest
    monkeypatch.setattr(Merge, "rest", rest)
    check(LocalJobs(), tmp_path, seed, [*range(1, HORIZON + 2), INF], views=4)
    assert unfinished > 0


@pytest.mark.spark
@pytest.mark.parametrize("seed", [101, 102])
def test_oracle_engine_on_spark(seed: int, tmp_path: Path, spark: SparkSession) -> None:
    check(SparkJobs(spark), tmp_path, seed)
