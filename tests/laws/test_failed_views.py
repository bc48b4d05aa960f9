"""Views that fail at random and are resumed at random give what views give that never failed."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.element import INF
from penstock.execution.problems import Problem
from penstock.execution.task import Report, StepSpec
from penstock.runtime.engine import Engine
from penstock.runtime.receiver import Receiver
from penstock.testing.engine_runs import LocalJobs
from penstock.testing.random_streams import HORIZON
from tests.laws.test_engine import check

pytestmark = pytest.mark.long


class Misfortune(LocalJobs):
    """In some steps an operator has no result; what came before it did its work."""

    def __init__(self, seed: int) -> None:
        self.rng = Random(seed)
        self.failed = 0

    def step(self, spec: StepSpec) -> list[Report]:
        reports = super().step(spec)
        is_own = bool(spec.kept)  # and not one that a new view is made up in
        if is_own and spec.program.places and self.rng.random() < 0.4:
            place = self.rng.choice(spec.program.places)
            self.rng.choice(reports).failures[place.identity] = Problem("no luck")
        return reports

    def visit(self, engine: Engine, over: bool) -> None:
        for view in list(engine.manifest.failures):
            if over or self.rng.random() < 0.3:
                engine.resume(view)
                self.failed += 1


@pytest.mark.parametrize("seed", range(40, 44))
def test_oracle_views_that_failed_and_go_on(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs, ingest = Misfortune(seed), Receiver._ingest

    def unlucky(self: Receiver, rows: Any, how: Any) -> Any:
        report = ingest(self, rows, how)
        if how.input_buffers and jobs.rng.random() < 0.1:
            input_buffer = jobs.rng.choice(how.input_buffers).name
            report.state_tables.pop(input_buffer, None)
            report.failures[input_buffer] = Problem("no luck at arrival")
        return report

    monkeypatch.setattr(Receiver, "_ingest", unlucky)
    check(jobs, tmp_path, seed, [*range(1, HORIZON + 2), INF], views=6, visit=jobs.visit)
    assert jobs.failed > 0
