"""Are the files whole that Structured Streaming keeps of an attached stream?

Law: a file of a checkpoint that was changed, dropped or put elsewhere would lose rows or bring them
twice without a word, so it is an error that names it. Spark's own checksums tell what was changed;
that the numbers have no gap, and what files say of themselves, tells the rest.
"""

from __future__ import annotations

import json
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penstock.errors import StateError

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
