"""A backup of a state directory, which may be in use, and the way back.

Law: a backup is the directory as of one commit: that commit, those before it that are kept, every
file that they name, and as much of Structured Streaming's checkpoints as that commit has received.
It is there as a whole or not at all, and is verified before it is called a backup.

A backup is a state directory, and `backup.json` in it lists its files with their checksums. Files
of runs never change, so they may be links. What the writer deletes while files are copied is copied
anew as of a later commit: each round has only that to copy which came since the round before.
Files are held open while they wait for their turn. The alternative, links within the directory that
is copied, would leave them there when a backup is killed, and write to what may be read only.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from penstock.boundary import public
from penstock.directory.listing import listed_in, write_list
from penstock.directory.staging import check_vacant, staged
from penstock.directory.state_tables import LOG, existing_directory
from penstock.directory.verification import Verification, Watch, verified, watching
from penstock.errors import PlanError, StateError
from penstock.ingest import checkpoints
from penstock.runtime.files import RUNS
from penstock.runtime.places import local_path
from penstock.state.log import LAYOUT, log_files, read_manifest, write_head
from penstock.state.manifest import Manifest, SourceState
from penstock.state.storage import storage_errors
from penstock.state.store import FileStore

_TRIES = 100
_OPEN = 256
"""So many files are held open at once, so that the writer cannot delete them meanwhile."""
_PART = 1 << 20


@dataclass(frozen=True)
class Copied:
    """What was copied: the directory as of a version."""

    source: Path
    target: Path
    version: int
    files: int
    bytes: int


@public
def backup(
    path: str | Path, target: str | Path, link: bool = False, watch: Watch | None = None
) -> Copied:
    """Back up a state directory into a new directory; the pipeline may go on meanwhile.

    With `link`, files of runs are hard links: they take no place, and are on the same disk.
    """
    source, to, watch = existing_directory(path), _new_directory(target), watching(watch)
    _check_apart(source, to)
    with storage_errors(source), staged(to, "a backup") as staging:
        copy = _Copy(source, staging, link, watch)
        manifest = copy.run()
        found = verified(staging)
        _check_whole(found, staging, source)
        write_list(staging, manifest, copy.sums)
    return Copied(source, to, manifest.version, len(copy.sums), copy.done)


@public
def restore(target: str | Path, path: str | Path, watch: Watch | None = None) -> Copied:
    """Copy a backup into a new state directory, where everything in it is as it was backed up."""
    source, to, watch = existing_directory(target), _new_directory(path), watching(watch)
    _check_apart(source, to)
    check_vacant(to, "a state directory that is restored")
    listed = listed_in(source)
    with storage_errors(source), staged(to, "a state directory that is restored") as staging:
        total, done = sum(size for size, _ in listed.values()), 0
        for name, (size, checksum) in listed.items():
            found = _copied(source / name, staging / name)
            if found != (size, checksum):
                raise StateError(source / name, "it is not the file that was backed up")
            done += size
            watch(done, total)
        found_whole = verified(staging)
        _check_whole(found_whole, staging, source)
    return Copied(source, to, found_whole.version, len(listed), done)


def _new_directory(path: str | Path) -> Path:
    return local_path(path, "name a directory of this machine, or a mounted one")


def _check_apart(source: Path, target: Path) -> None:
    one, other = (Path(os.path.realpath(path)) for path in (source, target))
    if one == other or one in other.parents or other in one.parents:
        raise PlanError(f"{target} and {source} lie in one another; choose a directory elsewhere")


def _check_whole(found: Verification, staging: Path, source: Path) -> None:
    """An error about the file of which the copy is damaged."""
    for problem in found.problems:
        if problem.file.is_relative_to(staging):
            raise StateError(source / problem.file.relative_to(staging), problem.problem)
        raise StateError(source, str(problem))


class _Copy:
    """A copy of a directory in the making, and the sizes and checksums of its files by name."""

    def __init__(self, source: Path, staging: Path, link: bool, watch: Watch) -> None:
        self.sums: dict[str, tuple[int, int]] = {}
        self._source, self._staging = source, staging
        self._link, self._watch = link, watch

    @property
    def done(self) -> int:
        return sum(size for size, _ in self.sums.values())

    def run(self) -> Manifest:
        """Copy until everything is there that one commit names; the directory as of that."""
        (self._staging / RUNS).mkdir()
        for _ in range(_TRIES):
            manifest = read_manifest(self._source / LOG)
            with suppress(FileNotFoundError):
                self._copy_runs(manifest)
                self._copy_log(manifest)
                self._copy_checkpoints(manifest)
                self._prune(manifest)
                return manifest
            self._check_there(manifest)
        raise StateError(
            self._source,
            "it changes faster than it can be copied; back it up with links (--link), or while "
            "nothing writes to it",
        )

    def _check_there(self, manifest: Manifest) -> None:
        """A file is gone that the newest commit names, too: that is damage."""
        newest = read_manifest(self._source / LOG)
        if newest.version == manifest.version:
            for segment in sorted(newest.segments()):
                path = self._source / RUNS / f"{segment}.arrow"
                if not path.exists():
                    raise StateError(path, "it is gone, and the log names it")

    def _copy_runs(self, manifest: Manifest) -> None:
        store = FileStore(self._source / RUNS)
        names = [f"{RUNS}/{store.path(name).name}" for name in sorted(manifest.segments())]
        missing = [name for name in names if name not in self.sums]
        total = self.done + sum((self._source / name).stat().st_size for name in missing)
        for start in range(0, len(missing), _OPEN):
            for name, size_and_sum in self._copy_some(missing[start : start + _OPEN]):
                self.sums[name] = size_and_sum
                self._watch(self.done, total)

    def _copy_some(self, names: list[str]) -> Iterator[tuple[str, tuple[int, int]]]:
        with ExitStack() as stack:
            if self._link:
                for name in names:
                    (self._staging / name).unlink(missing_ok=True)
                    _hard_link(self._source / name, self._staging / name)
                yield from ((name, _sum_of(self._staging / name)) for name in names)
                return
            files = [stack.enter_context(open(self._source / name, "rb")) for name in names]
            for name, file in zip(names, files, strict=True):
                yield name, _written(file, self._staging / name)

    def _copy_log(self, manifest: Manifest) -> None:
        folder = self._staging / LOG
        if folder.exists():
            shutil.rmtree(folder)
        folder.mkdir()
        self._forget(LOG)
        for path in log_files(self._source / LOG):
            if int(path.stem) <= manifest.version:
                self._add(f"{LOG}/{path.name}")
        if manifest.layout == LAYOUT:
            self.sums[f"{LOG}/{write_head(folder, manifest).name}"] = (0, 0)
        try:
            same = read_manifest(folder) == manifest
        except StateError:
            same = False
        if not same:  # the writer has deleted what was needed
            raise FileNotFoundError(folder)

    def _copy_checkpoints(self, manifest: Manifest) -> None:
        """What Structured Streaming notes of batches that the log has not received is left out."""
        if (self._staging / checkpoints.FOLDER).exists():
            shutil.rmtree(self._staging / checkpoints.FOLDER)
        self._forget(checkpoints.FOLDER)
        for source, state in manifest.sources.items():
            place = checkpoints.place_of(self._source, source, state)
            for path in _of_checkpoint(place, state):
                self._add(str(path.relative_to(self._source)))

    def _add(self, name: str) -> None:
        self.sums[name] = _copied(self._source / name, self._staging / name)

    def _forget(self, folder: str) -> None:
        self.sums = {n: s for n, s in self.sums.items() if not n.startswith(f"{folder}/")}

    def _prune(self, manifest: Manifest) -> None:
        """Delete what was copied for an earlier commit."""
        named = {f"{RUNS}/{name}.arrow" for name in manifest.segments()}
        for name in [n for n in self.sums if n.startswith(f"{RUNS}/") and n not in named]:
            (self._staging / name).unlink()
            del self.sums[name]


_BATCH = re.compile(r"\.?(\d+)(\.crc)?")


def _of_checkpoint(place: Path, state: SourceState) -> Iterable[Path]:
    """The files of a checkpoint as of a batch; those of unfinished writes have other names.

    Which files a stream has read is listed before its batches are planned: all of that may come.
    """
    found: dict[Path, None] = {}
    while True:  # until nothing came while it was looked at
        before = len(found)
        for path in sorted(place.rglob("*")) if place.is_dir() else ():
            batch = _BATCH.fullmatch(path.name)
            planned = path.parent.name == "offsets" and path.parent.parent == place
            ended = path.parent.name == "commits" and path.parent.parent == place
            later = batch is not None and int(batch[1]) > state.batch and (planned or ended)
            if path.is_file() and not later and not path.name.endswith(".tmp"):
                found[path] = None
        if len(found) == before:
            return [path for path in found if path.exists()]


def _hard_link(source: Path, target: Path) -> None:
    try:
        os.link(source, target)
    except OSError as error:
        if error.errno not in (errno.EXDEV, errno.EPERM, errno.EOPNOTSUPP):
            raise
        raise PlanError(
            f"{source} cannot be linked to from there: {error.strerror}. Back up without links, or "
            "to a place on the same file system"
        ) from error


def _copied(source: Path, target: Path) -> tuple[int, int]:
    target.parent.mkdir(parents=True, exist_ok=True)
    with open(source, "rb") as file:
        return _written(file, target)


def _written(file: IO[bytes], target: Path) -> tuple[int, int]:
    """Write all of a file to another, and to disk; how much that is, and its checksum."""
    size = checksum = 0
    with open(target, "wb") as copy:
        while part := file.read(_PART):
            copy.write(part)
            size, checksum = size + len(part), zlib.crc32(part, checksum)
        copy.flush()
        os.fsync(copy.fileno())
    return size, checksum


def _sum_of(path: Path) -> tuple[int, int]:
    size = checksum = 0
    with open(path, "rb") as file:
        while part := file.read(_PART):
            size, checksum = size + len(part), zlib.crc32(part, checksum)
    return size, checksum
