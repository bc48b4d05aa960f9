"""A real cluster of several processes, of which one is killed in the middle of every step."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penstock.runtime.options import Options
from penstock.testing.scripts import REOPEN, Plans, Script
from tests.faults.pipelines import SALES, SOURCES, assert_same, cycles
from tests.faults.sessions import cluster_session

pytestmark = pytest.mark.long


@pytest.mark.spark
def test_differential_executors_are_killed_midway(tmp_path: Path) -> None:
    """`local-cluster` starts a master and two workers, with an executor process each."""
    ops = cycles(2)
    ops.insert(len(ops) // 2, REOPEN)
    plain = Script(Plans(SOURCES, {"sales": SALES}), ops, Options(tasks=3, grace=0.0))
    expected = plain.run(tmp_path / "undisturbed")
    on_cluster = replace(plain, open=cluster_session)
    assert_same(on_cluster.run(tmp_path / "cluster", timeout=300.0), expected)
    killed = list((tmp_path / "cluster").glob("task 0 in step to *"))
    assert len(killed) == 2
    assert all(b"CoarseGrainedExecutorBackend" in mark.read_bytes() for mark in killed)
