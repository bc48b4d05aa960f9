"""Which files a batch of Structured Streaming is of: as its checkpoint lists them.

Spark writes down the files of a batch before it begins, and reads the same again after a failure.
To ask Spark to read their names would read the files too, and fail for one that is gone.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from penstock.errors import StateError
from penstock.state.storage import storage_errors

_VERSION = "v1"


def files_of(checkpoint: Path, batch: int) -> list[str]:
    """The paths of the files of a batch, as URIs, in the order in which they came."""
    first = _offset(checkpoint, batch - 1) + 1 if batch > 0 else 0
    last = _offset(checkpoint, batch)
    return [path for number in range(first, last + 1) for path in _entries(checkpoint, number)]


def _offset(checkpoint: Path, batch: int) -> int:
    """How far the stream had come at the end of a batch: the number of its last list of files."""
    path = checkpoint / "offsets" / str(batch)
    *_, offset = _lines(path)
    try:
        return int(json.loads(offset)["logOffset"])
    except (ValueError, KeyError, TypeError):
        raise StateError(
            path, f"it ends with {offset[:100]!r}, which is no offset of files"
        ) from None


def _entries(checkpoint: Path, number: int) -> Iterator[str]:
    """What one list of files says; every now and then Spark writes several into one."""
    folder = checkpoint / "sources" / "0"
    path = folder / str(number)
    if not path.is_file():
        compacts = (p for p in folder.glob("*.compact") if p.stem.isdecimal())
        known = sorted((p for p in compacts if int(p.stem) >= number), key=lambda p: int(p.stem))
        if not known:
            raise StateError(
                path, "it is gone, and with it the names of files that were to be read"
            )
        path = known[0]
    for line in _lines(path)[1:]:
        try:
            entry = json.loads(line)
            if entry["batchId"] == number:
                yield str(entry["path"])
        except (ValueError, KeyError, TypeError):
            raise StateError(path, f"{line[:100]!r} is no entry of a file") from None


def _lines(path: Path) -> list[str]:
    with storage_errors(path):
        lines = path.read_text("utf-8").rstrip("\n").split("\n")
    if lines[0] != _VERSION:
        raise StateError(
            path, f"it is of version {lines[0][:20]!r} of Spark's lists, expected {_VERSION!r}"
        )
    return lines
