"""What a commit leaves in the log, and what may fail after it."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import StateError, WriterConflictError
from penstock.state import log as log_module
from penstock.state import store
from penstock.state.log import CHECKPOINT_EVERY, LAYOUT, Log, check_log, read_manifest
from penstock.state.manifest import Advanced, manifest_to_json


def written(directory: Path, commits: int = 8) -> list[Path]:
    """The entries of a log with so many."""
    log = Log(directory)
    for number in range(commits):
        log.commit([Advanced(number)])
    log.close()
    return sorted(directory.glob("*.json"))


def content(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes().partition(b"\n")[2])
    return found


def test_an_entry_has_its_number_and_the_checksum_of_the_one_before(tmp_path: Path) -> None:
    previous = ""
    for number, path in enumerate(written(tmp_path), start=1):
        assert path.stem == f"{number:020d}"
        assert (content(path)["number"], content(path)["previous"]) == (number, previous)
        previous = path.read_text()[:8]
    assert [path.name for path in tmp_path.glob("*.head")] == [f"{8:020d}-{previous}.head"]


def copied(entries: list[Path]) -> Path:
    """The newest entry once more."""
    path = entries[-1].with_stem(f"{len(entries) + 1:020d}")
    shutil.copy(entries[-1], path)
    return path


def copied_with_its_number(entries: list[Path]) -> Path:
    """The newest entry once more, as one would who knows about numbers and checksums."""
    path = entries[-1].with_stem(f"{len(entries) + 1:020d}")
    data = content(entries[-1]) | {"number": len(entries) + 1}
    text = json.dumps(data).encode()
    path.write_bytes(b"%08x\n" % zlib.crc32(text) + text)
    return path


def dropped(entries: list[Path]) -> Path:
    entries[-1].unlink()
    return entries[-1]


def dropped_before(entries: list[Path]) -> Path:
    """The newest but one, and the newest is in its place."""
    entries[-1].rename(entries[-2])
    return entries[-2]


def reordered(entries: list[Path]) -> Path:
    draft = entries[0].with_name("draft")
    for old, new in ((-1, draft), (-2, entries[-1])):
        entries[old].rename(new)
    draft.rename(entries[-2])
    return entries[-2]


def of_another_log(entries: list[Path]) -> Path:
    other = entries[0].parent.parent / "other"
    log = Log(other)
    for number in range(len(entries)):
        log.commit([Advanced(number)], {"by": "another"})
    log.close()
    shutil.copy(other / entries[-1].name, entries[-1])
    return entries[-1]


def with_an_older_head_of_another_log(entries: list[Path]) -> Path:
    """The head is one that a crash may leave, but for its checksum."""
    (head,) = entries[0].parent.glob("*.head")
    head.rename(head.with_name(f"{entries[-3].stem}-{'0' * 8}.head"))
    return entries[-3]


def with_a_checkpoint_that_is_newer(entries: list[Path]) -> Path:
    """As when a checkpoint is put there that was made of a later log."""
    log = Log(entries[0].parent)
    later = replace(log.manifest, version=log.manifest.version + 2)
    log.close()
    path = entries[-1].with_stem(f"{later.version:020d}")
    text = json.dumps({"layout": LAYOUT, "number": later.version, **manifest_to_json(later)})
    path.with_suffix(".checkpoint").write_text(f"{zlib.crc32(text.encode()):08x}\n{text}")
    return path


@pytest.mark.parametrize(
    "damage",
    [
        *(copied, copied_with_its_number, dropped, dropped_before, reordered, of_another_log),
        *(with_an_older_head_of_another_log, with_a_checkpoint_that_is_newer),
    ],
)
def test_the_newest_entries_are_what_they_were(
    damage: Callable[[list[Path]], Path], tmp_path: Path
) -> None:
    directory = tmp_path / "log"
    path = damage(written(directory))
    for read in (read_manifest, Log, Log):
        with pytest.raises(StateError) as error:
            read(directory)
        assert error.value.path == path
    assert path in [error.path for error in check_log(directory)]


@pytest.mark.parametrize("problem", [OSError("full"), TypeError("odd"), WriterConflictError("two")])
@pytest.mark.parametrize("what", ["_checkpoint", "_point_to_newest", "directory"])
def test_nothing_that_follows_a_commit_fails_it(
    what: str, problem: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path)

    def fails(*_: object) -> None:
        raise problem

    with monkeypatch.context() as broken:
        if what == "directory":
            broken.setattr(log_module, "sync_directory", fails)
        else:
            broken.setattr(Log, what, fails)
        for number in range(CHECKPOINT_EVERY + 5):
            assert log.commit([Advanced(number)]).frontier == number
        assert read_manifest(tmp_path) == log.manifest
    for number in range(CHECKPOINT_EVERY):
        log.commit([Advanced(number)])
    log.close()
    assert read_manifest(tmp_path) == log.manifest
    assert list(tmp_path.glob("*.checkpoint"))
    again = Log(tmp_path)
    assert again.manifest == log.manifest
    again.close()


def test_directories_are_synced_when_something_comes_to_be_in_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        found = [path for path in (state / "log", state / "runs", state, tmp_path) if path.exists()]
        status = os.fstat(descriptor)
        names = (path.name for path in found if os.path.samestat(status, path.stat()))
        synced.append(next(names, "a file"))
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    state = tmp_path / "state"
    log = Log(state / "log")
    assert synced == ["log", "state", tmp_path.name]
    synced.clear()
    log.commit([Advanced(1)])
    assert synced == ["a file", "log"]
    synced.clear()
    runs = store.FileStore(state / "runs")
    with runs.segment() as segment:
        assert not segment._file.closed
    assert synced == ["state", "a file", "runs"]
    log.close()


def test_files_of_others_in_the_log_are_left_alone(tmp_path: Path) -> None:
    others = ["notes.json", "1.json", "1abc.head", "0x.checkpoint", ".DS_Store", ".a.json.1"]
    written(tmp_path, 3)
    for name in others:
        (tmp_path / name).write_text("mine")
    (tmp_path / ".folder").mkdir()
    draft = tmp_path / f".{4:020d}.json.123"
    draft.touch()
    log = Log(tmp_path)
    assert not draft.exists()
    for number in range(3 * CHECKPOINT_EVERY):
        log.commit([Advanced(number)])
    assert read_manifest(tmp_path) == log.manifest
    assert all((tmp_path / name).read_text() == "mine" for name in others)
    assert len(list(tmp_path.glob("0*00.checkpoint"))) == 1
    log.close()
