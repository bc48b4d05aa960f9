"""The log: numbered commits, each created atomically, that add up to the manifest.

Law: what the log does not name does not exist, so a task may die or run twice, and a process may be
killed at any moment: nothing is lost and nothing counts twice. A commit is a file that comes into
being whole or not at all; whoever comes second to a number loses. Every so often a checkpoint holds
the whole manifest, and older commits go.
"""

from __future__ import annotations

import fcntl
import json
import os
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import IO, Any, TypeVar

from penstock.errors import StateError, WriterConflictError
from penstock.state.manifest import (
    Action,
    Manifest,
    action_from_json,
    action_to_json,
    manifest_from_json,
    manifest_to_json,
)

T = TypeVar("T")

CHECKPOINT_EVERY = 50
LAYOUT = 2
"""A number for all that a state directory holds, and another one whenever that changes: state that
an operator of another version wrote can look right and mean something else."""
_COMMIT, _CHECKPOINT = ".json", ".checkpoint"


class Log:
    """A state directory's log, opened by its one writer."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(directory / "writer.lock")
        try:
            self.manifest = read_manifest(directory)
        except BaseException:
            self._lock.close()
            raise
        for draft in directory.glob(".*"):  # of a writer that was killed
            draft.unlink()

    def commit(self, actions: Sequence[Action], note: dict[str, Any] | None = None) -> Manifest:
        """Make the actions true, all of them or none. The note is for people, not folded."""
        if self._lock.closed:
            raise WriterConflictError(f"{self._directory.parent} was closed; open it again")
        version = self.manifest.version + 1
        body = {"actions": [action_to_json(action) for action in actions], "note": note or {}}
        _create(_path(self._directory, version, _COMMIT), body)
        self.manifest = fold(self.manifest, version, actions)
        if version % CHECKPOINT_EVERY == 0:
            self._checkpoint()
        return self.manifest

    def close(self) -> None:
        self._lock.close()

    def _checkpoint(self) -> None:
        version = self.manifest.version
        _create(_path(self._directory, version, _CHECKPOINT), manifest_to_json(self.manifest))
        for path in self._directory.iterdir():
            if path.suffix in (_COMMIT, _CHECKPOINT) and int(path.stem) <= version - (
                2 * CHECKPOINT_EVERY
            ):
                path.unlink()


def fold(manifest: Manifest, version: int, actions: Iterable[Action]) -> Manifest:
    return reduce(lambda m, action: action.apply(m), actions, replace(manifest, version=version))


def read_manifest(directory: Path, known: Manifest | None = None) -> Manifest:
    """The manifest as of the latest commit; readers need no lock.

    Of one that is known from before, only what is new is read. A writer may delete commits in the
    meantime. There is a later checkpoint then, and reading begins again with that one.
    """
    while True:
        last = max(_versions(directory, _COMMIT), default=0)
        checkpoint = max(_versions(directory, _CHECKPOINT), default=0)
        manifest = known if known is not None and known.version <= last else Manifest()
        try:
            if checkpoint > manifest.version:
                path = _path(directory, checkpoint, _CHECKPOINT)
                manifest = _parsed(path, manifest_from_json)
            for version in range(manifest.version + 1, last + 1):
                actions = _parsed(_path(directory, version, _COMMIT), _actions_from_json)
                manifest = fold(manifest, version, actions)
            return manifest
        except StateError:
            if max(_versions(directory, _CHECKPOINT), default=0) <= checkpoint:
                raise


def _versions(directory: Path, suffix: str) -> list[int]:
    """The numbers of the files of one kind."""
    return [int(path.stem) for path in directory.glob(f"[0-9]*{suffix}")]


def _path(directory: Path, version: int, suffix: str) -> Path:
    return directory / f"{version:020d}{suffix}"


def _create(path: Path, body: dict[str, Any]) -> None:
    """A file with this content, or none; an error where there is one already."""
    text = json.dumps({"layout": LAYOUT, **body}).encode()
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with open(temporary, "wb") as file:
        file.write(b"%08x\n" % zlib.crc32(text) + text)
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(temporary, path)
    except FileExistsError as error:
        raise WriterConflictError(
            f"{path} was written by another process; only one may write to a state directory. "
            "Stop the other one, or choose another path."
        ) from error
    finally:
        temporary.unlink()


def _read(path: Path) -> dict[str, Any]:
    try:
        checksum, _, text = path.read_bytes().partition(b"\n")
        if int(checksum, 16) != zlib.crc32(text):
            raise StateError(path, "its checksum does not match its content")
        data: dict[str, Any] = json.loads(text)
    except (OSError, ValueError) as error:
        raise StateError(path, str(error) or "it is not a log file") from error
    return data


def _parsed(path: Path, parse: Callable[[dict[str, Any]], T]) -> T:
    data = _read(path)
    try:
        layout = data.pop("layout", None)
        if layout != LAYOUT:
            raise StateError(path, _other_layout(layout))
        return parse(data)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = f"it is not what this version of Penstock writes ({error!r})"
        raise StateError(path, problem) from error


def _other_layout(found: object) -> str:
    return (
        f"it was written by another version of Penstock (layout {found or 1}, and this version "
        f"reads {LAYOUT}). Use that version, or begin anew with another path."
    )


def _actions_from_json(data: dict[str, Any]) -> list[Action]:
    return [action_from_json(action) for action in data["actions"]]


def _lock(path: Path) -> IO[str]:
    file = open(path, "a+")  # noqa: SIM115 - held for as long as the log is open
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        file.seek(0)
        holder = file.read().strip() or "unknown"
        file.close()
        raise WriterConflictError(
            f"process {holder} is writing to {path.parent.parent}; only one may at a time. "
            "Stop it, choose another path, or read with spark.read.format('penstock')."
        ) from error
    file.truncate(0)
    file.write(str(os.getpid()))
    file.flush()
    return file
