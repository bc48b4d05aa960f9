"""Where Structured Streaming notes how much of an attached stream it has read.

Law: what it has read and what the log has received are the same batches. Batches are numbered from
0 without a gap: Spark writes `offsets/N` before batch N, the log commits its rows with the number,
and Spark writes `commits/N` after that. Where the two do not fit, rows would be missing without a
word, so the source fails by name.

Each source that is created has a place of its own, which the log names. There is nothing to delete
before one is created, and a name that was dropped may be taken again.
"""

from __future__ import annotations

import json
import re
import shutil
import struct
import uuid
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.errors import StateError
from penstock.state.manifest import SourceState
from penstock.state.names import file_name

FOLDER = "checkpoints"
_PLACE = re.compile(r"[a-z0-9_-]+(\.[0-9a-f]{64})?\.[0-9a-f]{32}")


def new_place(source: str) -> str:
    """A place that nothing had before."""
    return f"{file_name(source)}.{uuid.uuid4().hex}"


def place_of(directory: Path, source: str, state: SourceState) -> Path:
    """Where the checkpoint of a source is: as the log says, or else where it was before it did."""
    place = state.checkpoint
    if not place:
        plain = source not in ("", ".", "..") and not set("/\0") & set(source)
        place = source if plain else file_name(source)
    elif not _PLACE.fullmatch(place):
        raise StateError(
            directory, f"the log names a checkpoint {place!r}, which Penstock does not"
        )
    return directory / FOLDER / place


def problems_of(checkpoint: Path, source: str, state: SourceState) -> Iterator[StateError]:
    """What is wrong with the checkpoint of a source: with its files, and how it fits the log."""
    yield from problems_in(checkpoint)
    try:
        check_agrees(checkpoint, source, state)
    except StateError as error:
        yield error


def check_whole(checkpoint: Path, source: str, state: SourceState) -> None:
    """An error that names the file where a checkpoint is damaged or does not fit the log."""
    for error in problems_of(checkpoint, source, state):
        raise error


def check_agrees(checkpoint: Path, source: str, state: SourceState) -> None:
    """An error where Spark would go on with other rows than those that the log has not received."""
    offsets, commits = (_numbers(checkpoint / kind) for kind in ("offsets", "commits"))
    if state.batch >= 0 and state.batch not in offsets:
        there = f"ends with batch {max(offsets)}" if offsets else "is gone"
        raise _gap(checkpoint, source, state, f"this checkpoint {there}")
    if max(commits, default=-1) > state.batch:
        raise _gap(checkpoint, source, state, f"this checkpoint is at batch {max(commits)}")


def check_next(checkpoint: Path, source: str, state: SourceState, batch: int) -> None:
    """An error where a batch is neither the next one nor the last one once more."""
    if batch not in (state.batch, state.batch + 1):
        raise _gap(checkpoint, source, state, f"Spark brings batch {batch}")


def _gap(checkpoint: Path, source: str, state: SourceState, found: str) -> StateError:
    received = f"batch {state.batch}" if state.batch >= 0 else "nothing"
    return StateError(
        checkpoint,
        f"source {source} has received {received} of its stream, and {found}: rows would be lost "
        "or come twice. Put back the checkpoint and the log of one backup, or drop the source "
        "and create it again, which reads the stream from its beginning",
    )


def _numbers(folder: Path) -> set[int]:
    """The batches that Spark has a file for; of some, together with those before."""
    try:
        names = (path.name.removesuffix(".compact") for path in folder.iterdir())
        return {int(name) for name in names if name.isdecimal()}
    except FileNotFoundError:
        return set()


def places(directory: Path) -> set[Path]:
    """The checkpoints there are in places that `new_place` gave."""
    found = (directory / FOLDER).glob("*")
    return {path for path in found if _PLACE.fullmatch(path.name) and not path.is_symlink()}


def delete(checkpoint: Path) -> None:
    """Delete the checkpoint of a source that is no more."""
    if _PLACE.fullmatch(checkpoint.name) and checkpoint.parent.name == FOLDER:
        shutil.rmtree(checkpoint, ignore_errors=True)


_MAGIC = b"crc\0"
_COMPACT_EVERY = 10  # as Spark does where it is not told otherwise
_NUMBERED = re.compile(r"(\d+)(\.compact)?")


def problems_in(checkpoint: Path) -> Iterator[StateError]:
    """What is wrong with the files of a checkpoint, each by itself and with one another."""
    for path in sorted(checkpoint.rglob("*")):
        if not path.name.startswith(".") and path.is_file() and not has_its_checksum(path):
            yield StateError(path, "its checksum does not match its content")
    offsets = _numbered(checkpoint / "offsets")
    for folder in (offsets, _numbered(checkpoint / "commits")):
        yield from _gaps(folder)
    before: list[Any] = []
    for path in offsets.values():
        try:
            now = _positions(path)
        except (ValueError, OSError) as error:
            yield StateError(path, f"it is not what Spark writes there ({error})")
            continue
        if any(a > b for a, b in zip(before, now, strict=False)):
            yield StateError(path, "it is at an earlier place of the stream than the one before it")
        before = now
    for number, position in enumerate(before):
        yield from _listed(checkpoint / "sources" / str(number), position)


def has_its_checksum(path: Path) -> bool:
    """Whether the sum that Hadoop keeps beside a file is that of its content; true without one."""
    try:
        sums, content = path.with_name(f".{path.name}.crc").read_bytes(), path.read_bytes()
    except FileNotFoundError:
        return True
    if len(sums) < 8 or sums[:4] != _MAGIC:
        return False
    (size,) = struct.unpack(">i", sums[4:8])
    parts = range(0, len(content), size) if size > 0 else ()
    found = [zlib.crc32(content[start : start + size]) for start in parts]
    return sums[8:] == struct.pack(f">{len(found)}I", *found)


def _numbered(folder: Path) -> dict[int, Path]:
    """The files of a folder whose names are numbers, in their order."""
    found: dict[int, Path] = {}
    for path in folder.iterdir() if folder.is_dir() else ():
        if match := _NUMBERED.fullmatch(path.name):
            found[int(match[1])] = path
    return dict(sorted(found.items()))


def _gaps(files: dict[int, Path]) -> Iterator[StateError]:
    for number in range(min(files, default=0), max(files, default=-1)):
        if number not in files:
            yield StateError(next(iter(files.values())).with_name(str(number)), "it is gone")


def _positions(path: Path) -> list[int]:
    """How far each source of a stream was with a batch, where that is a number of Spark's log."""
    version, _, *lines = path.read_text("utf-8").rstrip("\n").split("\n")
    if not re.fullmatch(r"v\d+", version):
        raise ValueError(f"it begins with {version[:20]!r}")
    found = [json.loads(line) if line != "-" else None for line in lines]
    return [p.get("logOffset", -1) if isinstance(p, dict) else -1 for p in found]


def _listed(folder: Path, position: int) -> Iterator[StateError]:
    """The files that a stream has read are listed batch by batch, and all so far every ten."""
    files = _numbered(folder)
    if position < 0:
        return
    compact = [number for number, path in files.items() if path.suffix == ".compact"]
    needed = range(max(compact, default=0), max(position, *files, 0) + 1)
    for number in needed:
        if number not in files:
            ending = ".compact" if (number + 1) % _COMPACT_EVERY == 0 else ""
            yield StateError(folder / f"{number}{ending}", "it is gone")
            continue
        batches = _batches(files[number])
        if batches is None:
            yield StateError(files[number], "it is not what Spark writes there")
        elif number not in compact and batches - {number}:
            yield StateError(files[number], "it is the list of another batch")


def _batches(path: Path) -> set[int] | None:
    """The batches that a list says its files are of."""
    try:
        _, *lines = path.read_text("utf-8").rstrip("\n").split("\n")
        return {json.loads(line)["batchId"] for line in lines}
    except (OSError, ValueError, KeyError, TypeError):
        return None
