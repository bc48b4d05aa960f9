"""Readers of the log take no lock, and the writer goes on while they read."""

import threading
from pathlib import Path

import pytest

from penstock.errors import StateError
from penstock.state import log as log_module
from penstock.state.log import CHECKPOINT_EVERY, Log, read_manifest
from penstock.state.manifest import Advanced, Defined, Manifest


def write(log: Log, commits: int) -> None:
    for _ in range(commits):
        log.commit([Advanced(log.manifest.version + 1)])


def test_a_manifest_that_is_known_is_brought_up_to_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path)
    assert read_manifest(tmp_path) == read_manifest(tmp_path / "nowhere") == Manifest()
    log.commit([Defined("s", {})])
    write(log, 20)
    known = read_manifest(tmp_path)
    assert known == log.manifest
    opened: list[Path] = []
    read = log_module._read

    def watched(path: Path) -> object:
        opened.append(path)
        return read(path)

    monkeypatch.setattr(log_module, "_read", watched)
    assert read_manifest(tmp_path, known) == known
    assert not opened
    write(log, 2)
    known = read_manifest(tmp_path, known)
    assert known == log.manifest
    assert len(opened) == 2
    write(log, 5 * CHECKPOINT_EVERY)
    assert read_manifest(tmp_path, known) == read_manifest(tmp_path) == log.manifest


def test_a_known_manifest_of_another_log_is_forgotten(tmp_path: Path) -> None:
    long, short = Log(tmp_path / "long"), Log(tmp_path / "short")
    write(long, 20)
    write(short, 10)
    assert read_manifest(tmp_path / "short", long.manifest) == short.manifest
    write(short, 20)
    assert read_manifest(tmp_path / "short", long.manifest) == short.manifest


def test_commits_that_the_writer_deletes_meanwhile_are_not_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Log(tmp_path)
    write(log, CHECKPOINT_EVERY + 10)
    read, waiting = log_module._read, [4 * CHECKPOINT_EVERY, 4 * CHECKPOINT_EVERY]

    def slow(path: Path) -> object:
        if path.suffix == ".json" and waiting:
            write(log, waiting.pop())
            assert not path.exists()
        return read(path)

    monkeypatch.setattr(log_module, "_read", slow)
    assert read_manifest(tmp_path) == log.manifest
    assert not waiting


def test_a_commit_that_is_gone_for_good_is_an_error(tmp_path: Path) -> None:
    log = Log(tmp_path)
    write(log, 10)
    lost = tmp_path / f"{4:020d}.json"
    lost.unlink()
    with pytest.raises(StateError, match=lost.name):
        read_manifest(tmp_path)


def test_readers_beside_a_writer_see_whole_versions(tmp_path: Path) -> None:
    log = Log(tmp_path)
    done = threading.Event()
    seen: list[Manifest] = []

    def follow() -> None:
        known: Manifest | None = None
        while not done.is_set():
            known = read_manifest(tmp_path, known)
            seen.extend([known, read_manifest(tmp_path)])

    reader = threading.Thread(target=follow)
    reader.start()
    write(log, 6 * CHECKPOINT_EVERY)
    done.set()
    reader.join()
    assert all(manifest.frontier == manifest.version for manifest in seen if manifest.version)
    versions = [manifest.version for manifest in seen]
    assert versions == sorted(versions)
