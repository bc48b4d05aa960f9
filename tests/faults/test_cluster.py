"""A real cluster of several processes, one of which is killed in the middle of a step."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.runtime.engine import Options
from penstock.testing.scripts import Script
from tests.faults.pipelines import SALES, SOURCES, assert_same, cycles
from tests.faults.sessions import cluster_session


@pytest.mark.spark
def test_differential_an_executor_is_killed_midway(tmp_path: Path) -> None:
    """`local-cluster` starts a master and two workers, with an executor process each."""
    plain = Script(SOURCES, {"sales": SALES}, cycles(2), Options(tasks=3, grace=0.0))
    expected = plain.run(tmp_path / "undisturbed")
    on_cluster = Script(SOURCES, plain.views, plain.operations, plain.options, cluster_session)
    found = on_cluster.run(tmp_path / "cluster", timeout=300.0)
    assert_same(found, expected)
    killed = (tmp_path / "cluster" / "killed").read_bytes()
    assert b"CoarseGrainedExecutorBackend" in killed
