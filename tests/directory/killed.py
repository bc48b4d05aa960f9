"""Directories that are copied while a process writes to them, and processes that are killed.

    python -m tests.directory.killed --count 50 --seed 1

Law: a backup, or a directory that is restored, is under its name whole or not at all. It goes on to
what a run gives that was never disturbed, when its producer sends everything again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from pathlib import Path
from random import Random
from typing import Any

from penstock.directory import backup, restore, verify
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing import scripts
from penstock.testing.local_session import local_session
from penstock.testing.scripts import Kill

PIPELINE = """
CREATE SOURCE s (k STRING, v INT, t INT) EVENT TIME t;
CREATE VIEW totals AS SELECT k, count(*) AS n, sum(v) AS v FROM s GROUP BY k;
CREATE VIEW lately AS SELECT k, max(v) AS most FROM s [RANGE 7] GROUP BY k;
"""
BATCHES = 45
OPTIONS = Options(tasks=2, grace=0.0)


def run(action: Callable[..., object], *args: object, kill: Kill | None = None) -> bool:
    """Run it in a process, which may be killed at a call; whether it was."""
    process = started(_armed, kill, action, *args)
    try:
        process.join(120)
        assert process.exitcode in (0, -signal.SIGKILL), process.exitcode
        return process.exitcode != 0
    finally:
        process.kill()
        process.join()


def started(action: Callable[..., object], *args: object) -> BaseProcess:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([__name__, "pandas"])
    process = context.Process(target=action, args=args, daemon=True)
    process.start()
    return process


def _armed(kill: Kill | None, action: Callable[..., object], *args: object) -> None:
    if kill is not None:
        scripts._arm(kill)
    action(*args)


def opened(directory: Path) -> Session:
    db = local_session(directory, OPTIONS)
    if "lately" not in db.engine.definitions:
        for statement in PIPELINE.strip().split(";\n"):
            if statement.split()[2] not in db.engine.definitions:
                db.sql(statement)
    return db


def produce(directory: Path, seconds: float = 0.0) -> None:
    """Send everything, from the beginning: what was received is not received again."""
    with opened(directory) as db:
        rng = Random("rows")
        for number in range(BATCHES):
            rows = [(rng.choice("abc"), rng.randrange(100), number) for _ in range(3)]
            answer = db.source("s").append(rows, batch=f"p/{number}")
            assert answer.get("duplicate") or answer["accepted"] == 3
            if number % 3 == 2:
                db.step()
            if number % 10 == 9:
                db.engine.collect_garbage()
            time.sleep(seconds)


def outcome(directory: Path) -> Any:
    """What comes of a directory when its producer has sent everything."""
    produce(directory)
    with opened(directory) as db:
        db.source("s").end()
        db.step()
        frames = [db.view(name).changes().toArrow() for name in ("totals", "lately")]
        return [Counter(map(str, frame.to_pylist())) for frame in frames]


def leftovers(target: Path) -> list[Path]:
    return [path for path in target.parent.iterdir() if ".unfinished-" in path.name]


def backed_up_while_running(scratch: Path, count: int, seed: int) -> tuple[int, int]:
    """Backups at random moments of a producer that is killed now and then: how many, and kills."""
    expected = outcome(scratch / "undisturbed")
    rng, kills, made = Random(f"running {seed}"), 0, 0
    state = scratch / "state"
    with opened(state):
        pass
    process = started(produce, state, 0.02)
    try:
        while made < count:
            if not process.is_alive():
                process.join()
                process = started(produce, state, 0.02)
            time.sleep(rng.uniform(0, 0.3))
            if rng.random() < 0.3:
                process.kill()
                process.join()
                kills += 1
            target = scratch / f"backup {made}"
            backup(state, target, link=rng.random() < 0.5)
            made += 1
    finally:
        process.kill()
        process.join()
    for number in range(made):
        restored = scratch / f"restored {number}"
        restore(scratch / f"backup {number}", restored)
        assert outcome(restored) == expected, (seed, number)
        assert verify(restored).is_whole, (seed, number)
    assert outcome(state) == expected, seed
    return made, kills


def killed_while_copying(scratch: Path, count: int, seed: int) -> int:
    """Kills at random calls of a backup and of the restoring of it; how many there were."""
    state, rng, kills = scratch / "state", Random(f"copying {seed}"), 0
    produce(state)
    whole, expected = scratch / "whole", outcome(scratch / "undisturbed")
    backup(state, whole)
    for number in range(count):
        action, source = rng.choice(((backup, state), (restore, whole)))
        target = scratch / f"target {number}"
        kill = Kill(
            at=rng.choice(POINTS), call=rng.choice((1, 1, 2, 5, 20)), after=rng.random() < 0.5
        )
        kills += run(action, source, target, kill=kill)
        there = target.exists() and any(target.iterdir())
        if there:
            assert verify(target).is_whole, (seed, number, kill)
        else:
            action(source, target)
        assert not leftovers(target), (seed, number, kill)
        if action is backup:
            restore(target, scratch / f"restored {number}")
            target = scratch / f"restored {number}"
        if number % 10 == 0:
            assert outcome(target) == expected, (seed, number, kill)
    return kills


POINTS = (
    *("os.fsync", "os.rename", "os.mkdir", "os.open", "os.unlink"),
    *("penstock.directory.backups.write_list", "penstock.directory.backups.verified"),
    *("penstock.directory.backups._written", "penstock.state.log.read_manifest"),
)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.directory.killed")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="penstock-killed-") as folder:
        scratch = Path(folder)
        for name in ("running", "copying"):
            (scratch / name).mkdir()
        print(
            backed_up_while_running(scratch / "running", given.count, given.seed), "backups, kills"
        )
        print(killed_while_copying(scratch / "copying", given.count, given.seed), "kills")
