"""Where Structured Streaming notes how much of an attached stream it has read.

Law: what it has read and what the log has received are the same batches. Batches are numbered from
0 without a gap: Spark writes `offsets/N` before batch N, the log commits its rows with the number,
and Spark writes `commits/N` after that. Where the two do not fit, rows would be missing without a
word, so the source fails by name.

Each source that is created has a place of its own, which the log names. There is nothing to delete
before one is created, and a name that was dropped may be taken again.
"""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

from penstock.errors import StateError
from penstock.ingest.checkpoint_files import problems_in
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
