"""The log: numbered entries, each created atomically, that add up to the manifest.

Law: what the log does not name does not exist, so a task may die or run twice, and a process may be
killed at any moment: nothing is lost and nothing counts twice. An entry is a file that comes into
being whole or not at all; whoever comes second to a number loses. It carries its number and the
checksum of the one before, so none can be copied, dropped or put elsewhere; the name of the *head*
says which is the newest. Every so often a checkpoint holds the whole manifest, and older entries
go. The format is in docs/format.md.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial, reduce
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from penstock.errors import StateError, WriterConflictError
from penstock.state import layout_2
from penstock.state.manifest import (
    Action,
    Manifest,
    action_from_json,
    action_to_json,
    manifest_from_json,
    manifest_to_json,
)
from penstock.state.store import sync_directory

T = TypeVar("T")
logger = logging.getLogger("penstock")

CHECKPOINT_EVERY = 50
LAYOUT = 3
"""A number for how the files of a state directory are written. What is in them has kinds, each with
its own version."""
_READ = (layout_2.LAYOUT, LAYOUT)
_ENTRY, _CHECKPOINT, _HEAD = ".json", ".checkpoint", ".head"
_NUMBER = re.compile(r"[0-9]{20}")
_HEAD_NAME = re.compile(r"[0-9]{20}-([0-9a-f]{8})?\.head")
_DRAFT = re.compile(r"\.[0-9]{20}\.(json|checkpoint)\.[0-9]+")
_TRIES = 20


class Log:
    """A state directory's log, opened by its one writer."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        directory.mkdir(parents=True, exist_ok=True)
        self._lock = _lock(directory / "writer.lock")
        try:
            files = _files(directory)
            if not files.newest and not files.head:
                self._begin()
            self.manifest = read_manifest(directory)
            self._head = _files(directory).head
        except BaseException:
            self._lock.close()
            raise
        with _whatever_happens("drafts of a writer that was killed"):
            for draft in filter(_is_draft, directory.iterdir()):
                draft.unlink()
        with _whatever_happens("head"):
            self._point_to_newest()

    def commit(self, actions: Sequence[Action], note: dict[str, Any] | None = None) -> Manifest:
        """Make the actions true, all of them or none. The note is for people, not folded.

        Once the entry is there the commit is made, whatever else may fail.
        """
        if self._lock.closed:
            raise WriterConflictError(f"{self._directory.parent} was closed; open it again")
        version = self.manifest.version + 1
        body = {
            "previous": self.manifest.checksum,
            "actions": [action_to_json(action) for action in actions],
            "note": note or {},
        }
        manifest = fold(self.manifest, version, actions)
        checksum = _create(_path(self._directory, version, _ENTRY), version, body)
        self.manifest = replace(manifest, checksum=checksum, layout=LAYOUT)
        with _whatever_happens("directory"):
            sync_directory(self._directory)
        with _whatever_happens("head"):
            self._point_to_newest()
        if version % CHECKPOINT_EVERY == 0:
            with _whatever_happens("checkpoint"):
                self._checkpoint()
        return self.manifest

    def close(self) -> None:
        self._lock.close()

    def _begin(self) -> None:
        """A new log, where there is no state that an older one should tell of."""
        runs = self._directory.parent / "runs"
        if next(runs.glob("*.arrow"), None) is not None:
            raise StateError(
                self._directory,
                f"the log is gone, and {runs} holds what only a log can tell the meaning of; "
                "restore it, or begin anew with another path",
            )
        (self._directory / _head_name(Manifest())).touch()
        for directory in (self._directory, *self._directory.parents[:2]):
            sync_directory(directory)

    def _point_to_newest(self) -> None:
        """Let the name of the head tell which entry is the newest, and its checksum."""
        name = _head_name(self.manifest)
        if self._head is None:
            (self._directory / name).touch()
        elif self._head.name != name:
            self._head.rename(self._directory / name)
        self._head = self._directory / name

    def _checkpoint(self) -> None:
        version = self.manifest.version
        path = _path(self._directory, version, _CHECKPOINT)
        _create(path, version, manifest_to_json(self.manifest))
        sync_directory(self._directory)
        for path in self._directory.iterdir():
            old = 0 < _number(path) <= version - 2 * CHECKPOINT_EVERY
            if old and path.suffix in (_ENTRY, _CHECKPOINT):
                path.unlink()


@contextmanager
def _whatever_happens(what: str) -> Iterator[None]:
    """What follows a commit may fail: the commit is made, and the next one will try again.

    It may fail by anything: a caller who is told of an error brings the rows again.
    """
    try:
        yield
    except Exception as error:
        logger.warning("the %s of the log could not be written: %r", what, error)


def fold(manifest: Manifest, version: int, actions: Iterable[Action]) -> Manifest:
    return reduce(lambda m, action: action.apply(m), actions, replace(manifest, version=version))


def read_manifest(directory: Path, known: Manifest | None = None) -> Manifest:
    """The manifest as of the latest entry; readers need no lock.

    Of one that is known from before, only what is new is read. A writer may add and delete files in
    the meantime: what looks damaged is looked at again when there are other files.
    """
    for _ in range(_TRIES):
        files = _files(directory)
        try:
            return _read_manifest(directory, files, known)
        except StateError:
            if known is None and _files(directory) == files:
                raise
            known = None
    return _read_manifest(directory, _files(directory), None)


def check_log(directory: Path) -> list[StateError]:
    """What is wrong with a log: with each of its files, and with how they follow one another.

    `read_manifest` reads the newest checkpoint and what follows; this reads all there is. Where a
    writer adds and deletes files meanwhile, it is looked at again.
    """
    for _ in range(_TRIES):
        files, paths = _files(directory), log_files(directory)
        problems = list(_problems(directory, files, paths))
        if not problems or log_files(directory) == paths:
            break
    return problems


def log_files(directory: Path) -> list[Path]:
    """The entries and checkpoints that are there, in the order of their numbers."""
    found = directory.iterdir() if directory.exists() else ()
    return sorted(p for p in found if p.suffix in (_ENTRY, _CHECKPOINT) and _number(p))


def write_head(directory: Path, manifest: Manifest) -> Path:
    """A head for a copy of a log, whose newest entry the manifest is as of."""
    path = directory / _head_name(manifest)
    path.touch()
    return path


def _problems(directory: Path, files: _Files, paths: Sequence[Path]) -> Iterator[StateError]:
    """Entries older than the oldest checkpoint have no manifest to follow: only their order is
    looked at. What a writer was about to delete when it was killed is not looked at."""
    there, oldest = set(paths), files.checkpoint - 2 * CHECKPOINT_EVERY + 1
    versions = sorted({number for number in map(_number, paths) if number >= oldest})
    manifest = Manifest() if versions[:1] in ([], [1]) else None
    before = ""  # the checksum of the entry before, as far as it is known
    for place, version in enumerate(versions):
        entry = _path(directory, version, _ENTRY)
        checkpoint = _path(directory, version, _CHECKPOINT)
        if place and version > versions[place - 1] + 1:
            manifest, before = None, ""
            yield StateError(_path(directory, versions[place - 1] + 1, _ENTRY), "it is gone")
        try:
            checksum, data = _read(entry)
            if manifest is not None:
                manifest = _parsed(entry, version, partial(_following, manifest))
            else:
                _check_order(entry, version, data, before)
            before = checksum
        except StateError as error:
            manifest, before = None, ""
            if entry in there or place:  # the oldest that is kept may be a checkpoint by itself
                yield error
        if checkpoint in there:
            try:
                said = _parsed(checkpoint, version, _checkpointed)
                if manifest is not None and not _same(manifest, said):
                    raise StateError(checkpoint, "it is not what the entries before it add up to")
                if before and said.checksum not in ("", before):
                    raise StateError(checkpoint, f"it does not fit {entry.name}")
                manifest = replace(said, checksum=said.checksum or before)
            except StateError as error:
                yield error
        if manifest is not None and version < versions[-1]:
            yield from _head_problems(directory, files.head, manifest)
    if manifest is not None:
        yield from _head_problems(directory, files.head, manifest, newest=True)


def _head_problems(
    directory: Path, head: Path | None, manifest: Manifest, newest: bool = False
) -> Iterator[StateError]:
    try:
        _check_head(directory, head, manifest, newest)
    except StateError as error:
        yield error


def _check_order(entry: Path, version: int, data: object, before: str) -> None:
    """An entry by itself: it has its number, and names the one before it."""
    if not isinstance(data, dict) or data.get("layout") not in _READ:
        raise StateError(entry, "it is not what this version of Penstock writes")
    if data.get("number", version) != version:
        raise StateError(entry, f"it is file number {data['number']}")
    if before and data.get("previous", before) != before:
        raise StateError(entry, "another entry was there before it")


def _same(folded: Manifest, said: Manifest) -> bool:
    """Checkpoints of layout 2 have no checksum of the entry."""
    return replace(folded, checksum=said.checksum, layout=said.layout) == said


class _Files(NamedTuple):
    """The numbers of the newest entry and checkpoint, zero for none, and the head."""

    entry: int
    checkpoint: int
    head: Path | None

    @property
    def newest(self) -> int:
        return max(self.entry, self.checkpoint)


def _files(directory: Path) -> _Files:
    paths = list(directory.iterdir()) if directory.exists() else []

    def last(suffix: str) -> int:
        return max((_number(path) for path in paths if path.suffix == suffix), default=0)

    heads = sorted(path for path in paths if _HEAD_NAME.fullmatch(path.name))
    return _Files(last(_ENTRY), last(_CHECKPOINT), heads[-1] if heads else None)


def _read_manifest(directory: Path, files: _Files, known: Manifest | None) -> Manifest:
    usable = known is not None and known.version <= files.newest
    manifest = known if known is not None and usable else Manifest()
    if files.checkpoint > manifest.version:
        path = _path(directory, files.checkpoint, _CHECKPOINT)
        if files.checkpoint > files.entry:
            entry = _path(directory, files.checkpoint, _ENTRY)
            raise StateError(entry, f"it is gone, and {path.name} is as of it")
        manifest = _parsed(path, files.checkpoint, _checkpointed)
    for version in range(manifest.version + 1, files.entry + 1):
        path = _path(directory, version, _ENTRY)
        before = manifest

        def following(data: dict[str, Any], before: Manifest = before) -> Manifest:
            return _following(before, data)

        _check_head(directory, files.head, before)
        manifest = _parsed(path, version, following)
    _check_head(directory, files.head, manifest, newest=True)
    return manifest


def _checkpointed(data: dict[str, Any]) -> Manifest:
    layout, version = data.pop("layout"), data.pop("number", None)
    if layout == layout_2.LAYOUT:
        return replace(manifest_from_json(layout_2.manifest(data)), layout=layout)
    if version != data["version"]:
        raise ValueError(f"it is as of version {data['version']}")
    return replace(manifest_from_json(data), layout=layout)


def _following(before: Manifest, data: dict[str, Any]) -> Manifest:
    """What an entry makes of the manifest before it."""
    layout, actions = data["layout"], data["actions"]
    if layout == layout_2.LAYOUT:
        if before.layout == LAYOUT:
            raise ValueError("it is of an older layout than the entry before it")
        actions = layout_2.actions(actions)
    elif before.checksum != data["previous"]:
        raise ValueError("another entry was there before it")
    manifest = fold(before, before.version + 1, map(action_from_json, actions))
    return replace(manifest, checksum=data["checksum"], layout=layout)


def _check_head(
    directory: Path, head: Path | None, manifest: Manifest, newest: bool = False
) -> None:
    """The entry of a manifest is the one that the head names, if it names that number.

    The newest may be one that the head does not know of yet, and none comes before the one that
    it names.
    """
    if head is None:
        if newest and manifest.layout == LAYOUT:
            raise StateError(
                directory, "the head of the log, which names its newest entry, is gone"
            )
        return
    number, _, checksum = head.stem.partition("-")
    entry = _path(directory, int(number), _ENTRY)
    if newest and int(number) > manifest.version:
        raise StateError(entry, f"the newest entry of the log is gone ({head.name} names it)")
    if int(number) == manifest.version and checksum != manifest.checksum:
        raise StateError(entry, f"it is another entry than the one that {head.name} names")


def _head_name(manifest: Manifest) -> str:
    return f"{manifest.version:020d}-{manifest.checksum}{_HEAD}"


def _number(path: Path) -> int:
    """The number of an entry or checkpoint, zero where the file is none."""
    return int(path.stem) if _NUMBER.fullmatch(path.stem) else 0


def _is_draft(path: Path) -> bool:
    return _DRAFT.fullmatch(path.name) is not None


def _path(directory: Path, version: int, suffix: str) -> Path:
    return directory / f"{version:020d}{suffix}"


def _create(path: Path, version: int, body: dict[str, Any]) -> str:
    """A file with this content, or none; an error where there is one already. Its checksum."""
    text = json.dumps({"layout": LAYOUT, "number": version, **body}).encode()
    checksum = f"{zlib.crc32(text):08x}"
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            file.write(checksum.encode() + b"\n" + text)
            file.flush()
            os.fsync(file.fileno())
        os.link(temporary, path)
    except FileExistsError as error:
        raise WriterConflictError(
            f"{path} was written by another process; only one may write to a state directory. "
            "Stop the other one, or choose another path."
        ) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    return checksum


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    """The checksum and content of a file."""
    try:
        checksum, _, text = path.read_bytes().partition(b"\n")
        if checksum != b"%08x" % zlib.crc32(text):
            raise StateError(path, "its checksum does not match its content")
        data: dict[str, Any] = json.loads(text)
    except (OSError, ValueError, RecursionError) as error:
        raise StateError(path, str(error) or "it is not a log file") from error
    return checksum.decode(), data


def _parsed(path: Path, version: int, parse: Callable[[dict[str, Any]], T]) -> T:
    checksum, data = _read(path)
    try:
        layout = data.get("layout")
        if layout not in _READ:
            raise StateError(path, _other_layout(layout))
        if layout == LAYOUT and data["number"] != version:
            raise ValueError(f"it is file number {data['number']}")
        return parse({**data, "checksum": checksum} if "actions" in data else data)
    except StateError as error:
        raise error if error.path == path else StateError(path, str(error)) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = f"it is not what this version of Penstock writes ({error!r})"
        raise StateError(path, problem) from error


def _other_layout(found: object) -> str:
    return (
        f"it was written by another version of Penstock (layout {found or 1}, and this version "
        f"reads {' and '.join(map(str, _READ))}). Use that version, or begin anew with another "
        "path."
    )


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
