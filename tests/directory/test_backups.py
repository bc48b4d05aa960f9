"""A backup is the directory as of one commit, whole or not there; what is restored goes on."""

from __future__ import annotations

import errno
import json
import os
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.directory import backups
from penstock.directory.staging import staged
from penstock.errors import PlanError, StateError
from penstock.ingest import checkpoints
from penstock.runtime.options import Options
from penstock.state.log import read_manifest
from penstock.state.manifest import Received
from penstock.testing import local_session
from tests.directory.killed import backed_up_while_running, killed_while_copying, leftovers
from tests.faults.damages import finish, flip, prepare, settings


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with all that one can hold; nobody may write to it."""
    directory = tmp_path_factory.mktemp("full") / "state"
    with settings():
        prepare(directory)
    return directory


def content(directory: Path) -> dict[str, bytes]:
    paths = [path for path in directory.rglob("*") if path.is_file()]
    return {str(path.relative_to(directory)): path.read_bytes() for path in paths}


@pytest.mark.parametrize("link", [False, True], ids=["copies", "links"])
def test_what_is_restored_goes_on_as_the_original(link: bool, full: Path, tmp_path: Path) -> None:
    shutil.copytree(full, tmp_path / "right")
    before, told = content(full), list[tuple[int, int]]()
    made = penstock.backup(full, tmp_path / "backup", link, lambda *now: told.append(now))
    assert content(full) == before
    assert told[-1][0] == told[-1][1] > 0
    assert made.version == read_manifest(full / "log").version
    found = penstock.verify(tmp_path / "backup")
    assert (found.is_whole, found.unnamed) == (True, ())
    again = penstock.restore(tmp_path / "backup", tmp_path / "restored")
    assert (again.files, again.bytes) == (made.files, made.bytes)
    kept = {name for name in before if name != "log/writer.lock"}
    unnamed = {str(path.relative_to(full)) for path in penstock.verify(full).unnamed}
    assert content(tmp_path / "restored").keys() == kept - unnamed
    with settings():
        assert finish(tmp_path / "restored") == finish(tmp_path / "right")
    assert penstock.verify(tmp_path / "backup").is_whole, "the backup has another life"


def test_backups_while_a_producer_writes_and_is_killed(tmp_path: Path) -> None:
    backups_made, _ = backed_up_while_running(tmp_path, count=3, seed=3)
    assert backups_made == 3


@pytest.mark.long
def test_backups_and_restores_that_are_killed(tmp_path: Path) -> None:
    assert killed_while_copying(tmp_path, count=8, seed=4) > 2


def test_a_backup_that_is_torn_or_damaged_is_refused(full: Path, tmp_path: Path) -> None:
    penstock.backup(full, tmp_path / "backup")
    rows = max((tmp_path / "backup" / "runs").iterdir())
    entry = max((tmp_path / "backup" / "log").glob("*.json"))
    commit = next((tmp_path / "backup" / "checkpoints").rglob("commits/3"))
    listed = tmp_path / "backup" / "backup.json"

    def truncated(path: Path) -> None:
        path.write_bytes(path.read_bytes()[:-1])

    damages: list[tuple[Path, Callable[[Path], object]]] = [
        *((path, Path.unlink) for path in (rows, entry, commit, listed)),
        *((path, truncated) for path in (rows, entry, commit, listed)),
    ]
    for path, damage in damages:
        copy = tmp_path / "copy"
        shutil.copytree(tmp_path / "backup", copy)
        changed = copy / path.relative_to(tmp_path / "backup")
        damage(changed)
        with pytest.raises(StateError) as error:
            penstock.restore(copy, tmp_path / "restored")
        assert error.value.path == changed
        assert not (tmp_path / "restored").exists()
        assert not leftovers(tmp_path / "restored")
        shutil.rmtree(copy)


def test_a_damaged_directory_has_no_backup(full: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    shutil.copytree(full, state)
    ref = read_manifest(state / "log").state_tables["view v"].refs[0]
    path = state / "runs" / f"{ref.segment}.arrow"
    flip(path, ref.rows.offset + ref.rows.length // 2)
    with pytest.raises(StateError, match="checksum") as error:
        penstock.backup(state, tmp_path / "backup")
    assert error.value.path == path
    path.unlink()
    with pytest.raises(StateError, match="gone") as error:
        penstock.backup(state, tmp_path / "backup")
    assert error.value.path == path
    assert sorted(each.name for each in tmp_path.iterdir()) == ["state"]


def test_a_disk_that_is_full_or_read_only_gets_no_backup(
    full: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = content(full)
    for number in (errno.ENOSPC, errno.EROFS):
        for at in ("fsync", "link", "mkdir", "rename"):

            def refuses(*_: Any, number: int = number, **__: Any) -> None:
                raise OSError(number, os.strerror(number))

            with monkeypatch.context() as patched:
                patched.setattr(os, at, refuses)
                with pytest.raises(StateError, match=r"free some space|mount it for writing"):
                    penstock.backup(full, tmp_path / "backup", link=at == "link")
            assert not list(tmp_path.iterdir())
    assert content(full) == before


def test_nothing_that_is_there_is_overwritten(full: Path, tmp_path: Path) -> None:
    penstock.backup(full, tmp_path / "backup")
    mine = tmp_path / "mine"
    mine.mkdir()
    penstock.restore(tmp_path / "backup", mine)  # an empty directory may be there
    (tmp_path / "file").touch()
    for there in (mine, tmp_path / "file"):
        with pytest.raises(PlanError, match="there already"):
            penstock.restore(tmp_path / "backup", there)
        with pytest.raises(PlanError, match="there already"):
            penstock.backup(full, there)
    for inside in (full / "runs" / "x", full, full.parent):
        with pytest.raises(PlanError, match="lie in one another"):
            penstock.backup(full, inside)
    for nothing in (tmp_path / "nowhere", tmp_path):
        with pytest.raises(PlanError, match="not a state directory"):
            penstock.backup(nothing, tmp_path / "new")
        with pytest.raises(PlanError, match="not a state directory"):
            penstock.restore(nothing, tmp_path / "new")
    with pytest.raises(StateError, match="no backup that was finished"):
        penstock.restore(full, tmp_path / "new")
    with pytest.raises(PlanError, match="not on this machine"):
        penstock.backup(full, "s3://bucket/state")


def test_what_a_killed_backup_left_goes_and_what_another_writes_stays(
    full: Path, tmp_path: Path
) -> None:
    left = tmp_path / f"backup.unfinished-{'0' * 32}"
    shutil.copytree(full, left)
    others = [tmp_path / f"other.unfinished-{'0' * 32}", tmp_path / "backup.unfinished-mine"]
    for path in others:
        path.mkdir()
    with staged(tmp_path / "backup", "a backup") as staging:
        penstock.backup(full, tmp_path / "backup")
        assert staging.exists()
        assert not left.exists()
        shutil.rmtree(tmp_path / "backup")
    assert all(path.exists() for path in others)


def test_a_file_that_the_writer_deletes_meanwhile_is_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step comes between what the backup reads of the log and what it copies."""
    db = local_session(tmp_path / "state", Options(tasks=1, grace=0.0))
    db.sql("CREATE SOURCE s (k INT, t INT) EVENT TIME t")
    db.sql("CREATE VIEW v AS SELECT k, count(*) AS n FROM s [RANGE 5] GROUP BY k")
    read, steps = read_manifest, iter(range(1, 5))

    def reads(directory: Path) -> Any:
        found = read(directory)
        step = next(steps, None) if directory.is_relative_to(tmp_path / "state") else None
        if step is not None:
            db.source("s").append([(1, 10 * step)])
            db.step()
            db.engine.collect_garbage()
        return found

    db.source("s").append([(1, 1)])
    db.step()
    monkeypatch.setattr(backups, "read_manifest", reads)
    made = penstock.backup(tmp_path / "state", tmp_path / "backup")
    assert next(steps, None) is None
    assert made.version <= db.engine.manifest.version
    assert penstock.verify(tmp_path / "backup").unnamed == ()
    db.close()


def test_a_checkpoint_goes_no_further_than_the_log(full: Path, tmp_path: Path) -> None:
    """Structured Streaming has gone on since the commit: its later batches come again."""
    shutil.copytree(full, tmp_path / "state")
    with local_session(tmp_path / "state") as db:
        earlier = replace(db.engine.source_state("files"), batch=5)
        db.engine.commit(Received("files", earlier))
    penstock.backup(tmp_path / "state", tmp_path / "backup")
    place = checkpoints.place_of(tmp_path / "backup", "files", earlier)
    checkpoints.check_whole(place, "files", earlier)
    assert {int(p.name) for p in (place / "commits").iterdir() if p.name.isdigit()} == set(range(6))


def test_a_list_that_names_files_elsewhere_is_refused(full: Path, tmp_path: Path) -> None:
    penstock.backup(full, tmp_path / "backup")
    for name in ("../victim", os.fspath(tmp_path / "victim")):
        text = json.dumps({"files": {name: [0, 0]}}).encode()
        (tmp_path / "backup" / "backup.json").write_bytes(b"%08x\n" % zlib.crc32(text) + text)
        with pytest.raises(StateError, match="elsewhere"):
            penstock.restore(tmp_path / "backup", tmp_path / "new")
