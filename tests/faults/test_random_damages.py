"""500 damages to all kinds of files: each is an error about a file of the directory, or harmless.

What is copied, dropped or put elsewhere is among them. An answer, where there is one, is right.
"""

from __future__ import annotations

import os
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.errors import StateError
from penstock.runtime import jobs
from penstock.runtime.options import Options
from penstock.state import log
from penstock.testing import local_session
from tests.faults.test_damaged_files import flipped, overwritten, truncated, zeroed

DAMAGES, STEPS = 500, 8
OPTIONS = Options(tasks=1, grace=0.0)


def prepare(directory: Path) -> None:
    db = local_session(directory, OPTIONS)
    db.sql("CREATE SOURCE s (k BIGINT, x BIGINT, t BIGINT) EVENT TIME t")
    db.sql("CREATE VIEW v AS SELECT k, count(*) AS n, max(x) AS most FROM s GROUP BY k")
    for step in range(STEPS):
        db.source("s").append([(k, step, 10 * step) for k in range(4)])
        db.step()
    db.close()


def finish(directory: Path) -> Any:
    """Open as a new process would, receive and step, and read all there is."""
    jobs._stores.clear()
    db = local_session(directory, OPTIONS)
    try:
        db.source("s").append([(1, 99, 10 * STEPS)])
        db.step()
        view = db.view("v")
        reads = (view.snapshot(), view.history(), view.changes())
        tables = [frame.toArrow().to_pylist() for frame in reads]
        return [Counter(tuple(row.values()) for row in rows) for rows in tables]
    finally:
        db.close()


def dropped(path: Path, others: list[Path], rng: Random) -> None:
    path.unlink()


def copied(path: Path, others: list[Path], rng: Random) -> None:
    """Another file of its kind is there in its place."""
    content = rng.choice(others).read_bytes()
    path.unlink()
    path.write_bytes(content)


def exchanged(path: Path, others: list[Path], rng: Random) -> None:
    other = rng.choice(others)
    own, theirs = path.read_bytes(), other.read_bytes()
    for each, content in ((path, theirs), (other, own)):
        each.unlink(missing_ok=True)
        each.write_bytes(content)


def repeated(path: Path, others: list[Path], rng: Random) -> None:
    """The newest file comes again with the next number."""
    newest = max(others)
    if newest.suffix == ".json":
        newest.with_stem(f"{int(newest.stem) + 1:020d}").write_bytes(newest.read_bytes())


def changed(damage: Callable[[bytes, Random], bytes]) -> Callable[[Path, list[Path], Random], None]:
    def damaged(path: Path, others: list[Path], rng: Random) -> None:
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(damage(content, rng) if content else b"?")

    damaged.__name__ = damage.__name__
    return damaged


KINDS = (
    *(dropped, copied, exchanged, repeated),
    *map(changed, (flipped, truncated, zeroed, overwritten)),
)


@pytest.mark.long
def test_no_damage_gives_a_wrong_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log, "CHECKPOINT_EVERY", 6)
    prepare(tmp_path / "origin")
    shutil.copytree(tmp_path / "origin", tmp_path / "right")
    expected, noticed = finish(tmp_path / "right"), Counter[str]()
    for number in range(DAMAGES):
        rng, directory = Random(f"damage {number}"), tmp_path / f"copy {number}"
        shutil.copytree(tmp_path / "origin", directory, copy_function=os.link)
        suffix = rng.choice((".json", ".json", ".checkpoint", ".head", ".arrow"))
        files = sorted(directory.rglob(f"*{suffix}"))
        damage = rng.choice(KINDS)
        damage(rng.choice(files), files, rng)
        try:
            assert finish(directory) == expected, (number, suffix, damage.__name__)
        except StateError as error:
            assert directory in (error.path, *error.path.parents), (number, error)
            noticed[damage.__name__] += 1
            noticed[suffix] += 1
        shutil.rmtree(directory)
    assert min(noticed[damage.__name__] for damage in KINDS) > 5, noticed
    assert min(noticed[suffix] for suffix in (".json", ".checkpoint", ".arrow", ".head")) > 5, (
        noticed
    )


def test_a_log_that_is_gone_is_damage(tmp_path: Path) -> None:
    prepare(tmp_path)
    shutil.rmtree(tmp_path / "log")
    with pytest.raises(StateError, match="the log is gone") as error:
        local_session(tmp_path, OPTIONS)
    assert error.value.path == tmp_path / "log"


def test_the_newest_entry_cannot_go_unnoticed(tmp_path: Path) -> None:
    prepare(tmp_path)
    newest = max((tmp_path / "log").glob("*.json"))
    newest.unlink()
    for _ in range(2):
        with pytest.raises(StateError, match="newest entry of the log is gone") as error:
            local_session(tmp_path, OPTIONS)
        assert error.value.path == newest


@pytest.mark.parametrize("failing", ["_checkpoint", "_point_to_newest"])
def test_a_commit_that_is_there_does_not_fail_for_what_follows(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: log.Log) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(log, "CHECKPOINT_EVERY", 2)
    with monkeypatch.context() as broken:
        broken.setattr(log.Log, failing, fails)
        prepare(tmp_path)
    db = local_session(tmp_path, OPTIONS)
    assert db.engine.source_state("s").accepted == 4 * STEPS
    db.close()
