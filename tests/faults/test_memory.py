"""State larger than memory, and memory that does not grow."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import weakref
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from penstock.element import Elements, concat, consolidate
from penstock.runtime.jobs import store_of
from penstock.state import compaction
from penstock.state.compaction import merge, merge_in_parts
from penstock.state.run import Order, StateTableSpec, sorted_run
from tests.faults.pipelines import BIDS

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]
SCRIPT = '#!/bin/sh\nulimit -d {kilobytes}\nexec {python} "$@"\n'


def large_state(
    directory: Path, steps: int, megabytes: int, where: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Arrow takes its memory from the system here: its own pool reserves far more than it uses."""
    environment["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    given = (str(directory), str(steps), str(megabytes), where)
    return script("large_state", *given, **environment)


def script(name: str, *given: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", f"tests.faults.{name}", *given],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=900,
    )


def found_by(done: subprocess.CompletedProcess[str]) -> Any:
    """What a script printed last."""
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_state_of_twice_the_memory(tmp_path: Path) -> None:
    """While runs are merged, over several steps, they stay beside what is made of them."""
    found = found_by(large_state(tmp_path, 48, 200, "here"))
    assert found["right"]
    assert found["state"] > 400 * 2**20
    assert found["most"] < 2, "files stay that nobody needs"
    assert found["disk"] < 1.1 * found["state"], "files stay of runs that were merged"


def test_that_memory_is_too_little_to_merge_runs_whole(tmp_path: Path) -> None:
    done = large_state(tmp_path, 40, 200, "whole")
    assert done.returncode != 0
    assert "MemoryError" in done.stderr


@pytest.mark.spark
def test_state_larger_than_the_memory_of_a_worker_on_spark(tmp_path: Path) -> None:
    """One task has all of the state, in a Python worker that the shell has limited."""
    kilobytes = 300 * 1024
    python = tmp_path / "python"
    python.write_text(SCRIPT.format(kilobytes=kilobytes, python=sys.executable))
    python.chmod(0o755)
    found = found_by(large_state(tmp_path / "state", 40, 0, "spark", PYSPARK_PYTHON=str(python)))
    assert found["right"]
    assert found["limits"] == [kilobytes * 1024]
    assert found["state"] > 1.3 * found["limits"][0]


@pytest.mark.spark
def test_memory_does_not_grow_over_100_steps_of_a_window() -> None:
    held = np.array(found_by(script("many_steps", "100")))
    early, late = held[20:40].max(axis=0), held[80:].max(axis=0)
    assert len(held) == 100
    assert (early > 50 * 1024).all(), "the driver and its workers were found"
    assert (late < 1.15 * early).all(), f"kilobytes of (driver, workers): {early}, then {late}"


def test_runs_of_directories_out_of_use_are_closed(tmp_path: Path) -> None:
    first = weakref.ref(store_of(tmp_path / "first"))
    assert first() is store_of(tmp_path / "first")
    for i in range(10):
        store_of(tmp_path / str(i))
    assert first() is None


@pytest.mark.parametrize("order", ["hash", "time"])
@pytest.mark.parametrize("seed", range(10))
def test_differential_compaction_in_parts(
    seed: int, order: Order, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = Random(f"parts {seed}")
    spec = StateTableSpec(
        "area", BIDS.schema, rng.choice((("auction",), tuple(BIDS.schema.names))), order
    )
    frontier = rng.randrange(40)
    runs = [sorted_run(spec, _random_elements(rng)) for _ in range(rng.randint(1, 6))]
    whole = merge(spec, runs, frontier)
    monkeypatch.setattr(compaction, "PART", rng.choice((1, 500, 3000, 10**9)))
    found = list(merge_in_parts(spec, runs, frontier))
    bounds = [bound for _, bound in found]
    assert bounds == sorted(set(bounds))
    parts = [part for part, _ in found if len(part)]
    places = [part.hashes if order == "hash" else part.elements.ts for part in parts]
    ends = [int(end) for place in places for end in (place[0], place[-1])]
    assert ends == sorted(ends), "the parts are in order"
    for (part, bound), (after, _) in pairwise(found):
        for place, below in ((part, True), (after, False)):
            where = place.hashes if order == "hash" else place.elements.ts
            assert np.all((where < bound) == below)
    together = concat(spec.schema, [part.elements for part in parts])
    assert len(consolidate(concat(spec.schema, [together, whole.elements.negated()]))) == 0
    assert len(together) == len(whole)
    assert sorted(np.concatenate([[], *(part.keep for part in parts)])) == sorted(whole.keep)


def _random_elements(rng: Random) -> Elements:
    rows = []
    for _ in range(rng.randrange(1, 80)):
        record = (rng.randrange(8), rng.randrange(3), 0)
        ts = rng.randrange(40)
        rows.append((record, ts, rng.choice((ts + 5, 2**60)), rng.choice((1, 1, -1))))
    return Elements.of(BIDS.schema, rows)
