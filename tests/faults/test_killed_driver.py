"""Kill -9 of the driver at any moment: nothing is lost, nothing counts twice, nothing shows."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from penstock.runtime.options import Options
from penstock.testing.scripts import (
    COLLECT,
    KILL,
    STEP,
    Advance,
    Kill,
    Operation,
    Outcome,
    Reopen,
    Rows,
    Script,
)
from tests.faults.pipelines import assert_same, operations, script

pytestmark = pytest.mark.long

POINTS = (
    "os.link",
    "os.fsync",
    "os.unlink",
    "os.replace",
    "penstock.state.log.Log.commit",
    "penstock.state.log.Log._checkpoint",
    "penstock.state.store.SegmentWriter.write",
    "penstock.state.store._ChecksummedPart.write",
    "penstock.state.changelog.merged",
    "penstock.state.compaction.merge",
    "penstock.execution.task.StageTask.run",
    "penstock.runtime.step_loop.StepLoop.step",
    "penstock.runtime.receiver.Receiver.receive_rows",
    "penstock.runtime.maintenance.Maintenance.collect_garbage",
    "penstock.testing.scripts.deliver",
)
"""Where the driver dies: around whatever ingest, steps, compaction, commits and sinks do."""

STEPS = 10
RETAINED = Options(tasks=2, grace=0.0, retention=25)


@pytest.mark.parametrize("options", [None, RETAINED], ids=["all kept", "retention"])
def test_differential_kills_at_random_calls(options: Options | None, tmp_path: Path) -> None:
    """Ten or so in each run, which is reopened with another number of tasks besides."""
    kills = 0
    for seed in range(3):
        plain = script(operations(seed, STEPS), options)
        expected = plain.run(tmp_path / f"{seed} undisturbed")
        found = _disturbed(plain, Random(f"kills {seed}")).run(tmp_path / f"{seed} killed")
        assert_same(found, expected)
        kills += found.kills
    assert kills >= 25


def test_differential_kills_at_50_random_moments(tmp_path: Path) -> None:
    plain = script(operations(7, STEPS))
    expected = plain.run(tmp_path / "undisturbed")
    kills = runs = 0
    while kills < 50:
        rng = Random(f"moments {runs}")
        found: list[Operation] = []
        for operation in plain.operations:
            found += [Kill(delay=rng.uniform(0.001, 0.1)), operation]
        killed = script(found).run(tmp_path / f"{runs} killed")
        assert_same(killed, expected)
        kills += killed.kills
        runs += 1
        assert runs < 20, f"only {kills} kills in {runs} runs"


class Cycle(NamedTuple):
    """A directory just before some operations of a script, and what should come of them."""

    directory: Path
    script: Script
    start: int
    expected: Outcome


@pytest.fixture(scope="module")
def cycle(tmp_path_factory: pytest.TempPathFactory) -> Cycle:
    """A batch for each source, a step that compacts, sinks, garbage, a promise, a checkpoint."""
    ops = operations(3, STEPS)
    now = 10 * STEPS + 10
    bids = Rows("bids", [(i % 6, i, now + i % 7) for i in range(12)])
    auctions = Rows("auctions", [(2, "seller 9", now)])
    ends = [Advance(source, now + 3) for source in ("bids", "auctions")]
    plain = script([*ops, bids, auctions, *ends, STEP, COLLECT])
    directory = tmp_path_factory.mktemp("cycle")
    script(ops).run(directory / "before")
    shutil.copytree(directory / "before", directory / "undisturbed")
    expected = plain.run(directory / "undisturbed", len(ops), watch=POINTS)
    return Cycle(directory / "before", plain, len(ops), expected)


@pytest.mark.parametrize("point", [p for p in POINTS if not p.endswith("_checkpoint")])
def test_differential_a_kill_at_each_call_of_a_cycle(
    point: str, cycle: Cycle, tmp_path: Path
) -> None:
    calls = cycle.expected.calls.get(point, 0)
    assert calls > 0, f"{point} is not called: the test proves nothing"
    for call in sorted({1, 2, 3, calls // 2, calls - 1, calls} & set(range(1, calls + 1))):
        for after in (False, True):
            directory = tmp_path / f"{call} {after}"
            shutil.copytree(cycle.directory, directory)
            ops = list(cycle.script.operations)
            ops.insert(cycle.start, Kill(at=point, call=call, after=after))
            found = script(ops).run(directory, cycle.start)
            assert found.kills == 1, f"call {call} of {point} was not made"
            assert_same(found, cycle.expected)
            shutil.rmtree(directory)


def test_differential_kills_while_the_log_is_cut(tmp_path: Path) -> None:
    """Checkpoints come every fifty commits, and then old commits go, one file after the other."""
    ops: list[Operation] = []
    for now in range(0, 200, 4):
        ops += [Rows("bids", [(now % 6, now, now)]), Advance("bids", now + 1)]
        ops += [Advance("auctions", t) for t in (now, now + 1)]
        ops += [STEP] if now % 5 == 0 else []
    plain = script(ops)
    expected = plain.run(tmp_path / "undisturbed", watch=POINTS)
    assert expected.calls["penstock.state.log.Log._checkpoint"] >= 4
    rng = Random("the log")
    for place in range(0, 240, 12):
        point = rng.choice(["penstock.state.log.Log._checkpoint", "os.unlink", "os.link"])
        ops.insert(place, Kill(at=point, call=rng.choice((1, 7, 25)), after=rng.random() < 0.5))
    found = script(ops).run(tmp_path / "killed")
    assert_same(found, expected)
    assert found.kills >= 10


def _disturbed(plain: Script, rng: Random) -> Script:
    ops = list(plain.operations)
    for _ in range(24):
        call = rng.choice((1, 1, 2, 5))
        kill = Kill(at=rng.choice(POINTS), call=call, after=rng.random() < 0.5)
        ops.insert(rng.randrange(len(ops)), rng.choice((kill, kill, kill, KILL)))
    ops.insert(rng.randrange(len(ops)), Reopen(replace(plain.options, tasks=rng.choice((1, 3)))))
    return replace(plain, operations=ops)
