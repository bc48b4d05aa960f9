"""The files of a state directory: there when a commit names them, and gone when none does.

Law: a commit names no file that is not there, and no file is deleted that a commit names, that an
append under way has written, or that a reader may be reading. Only files are deleted whose names
Penstock makes, in the directories that it made for them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from penstock.errors import StateError
from penstock.ingest import checkpoints
from penstock.output.readers import Reading
from penstock.state.manifest import Action, Changed, HandedOver, Manifest, Merged, Published
from penstock.state.names import is_segment
from penstock.state.storage import storage_errors
from penstock.state.store import RunReference

RUNS = "runs"


def check_written(directory: Path, actions: Iterable[Action]) -> None:
    """An error where a task has told of a file that this process does not see as it was written.

    So it is where executors write to a disk of their own: what they took would be lost.
    """
    sizes: dict[str, int] = {}
    for action in actions:
        for ref in _refs(action):
            end = max(part.offset + part.length for part in (ref.index, ref.rows))
            sizes[ref.segment] = max(sizes.get(ref.segment, 0), end)
    for segment, size in sizes.items():
        path = directory / RUNS / f"{segment}.arrow"
        try:
            found = path.stat().st_size
        except FileNotFoundError:
            found = -1
        if found < size:
            here = "is not there" if found < 0 else f"has {found} bytes"
            raise StateError(
                path,
                f"a task has written {size} bytes to this file, and here it {here}; nothing was "
                "committed. The state directory must be on a file system that the driver and all "
                "executors share, under one path",
            )


def _refs(action: Action) -> Iterable[RunReference]:
    match action:
        case Changed(added=refs) | Published(refs=refs) | Merged(refs=refs):
            return refs
        case HandedOver(handovers=handovers):
            return [ref for handover in handovers for ref in handover.refs]
    return ()


class Garbage:
    """What no commit names, and since when."""

    def __init__(self, directory: Path, grace: float) -> None:
        self._directory = directory
        self._grace = grace
        self._unnamed: dict[Path, float] = {}
        self._writers: dict[object, float] = {}
        self._read: dict[object, set[Path]] = {}
        self._mutex = threading.Lock()

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Files that the block writes are named by a commit at its end, and are not garbage yet."""
        writer = object()
        with self._mutex:
            self._writers[writer] = time.monotonic()
        try:
            yield
        finally:
            with self._mutex:
                del self._writers[writer]

    @contextmanager
    def reading(self, choose: Callable[[], Reading]) -> Iterator[Reading]:
        """The files of what is chosen to be read stay until the block ends, and only they."""
        reader = object()
        with self.writing():
            reading = choose()
            with self._mutex:
                self._read[reader] = {self._segment(ref.segment) for ref in reading.runs}
        try:
            yield reading
        finally:
            with self._mutex:
                del self._read[reader]

    def collect(self, manifest: Callable[[], Manifest]) -> int:
        """Delete what nobody has named for the time of the grace; how much.

        The order matters. A file of a writer that is not under way any more is in the manifest,
        which is read after that. Any other was seen first after its writer began.
        """
        found = self._segments() | self._checkpoints()
        now = time.monotonic()
        with self._mutex:
            writing = min(self._writers.values(), default=now + 1)
            read = frozenset().union(*self._read.values())
        named = self._named(manifest()) | read
        self._unnamed = {path: self._unnamed.get(path, now) for path in found - named}
        old = [p for p, t in self._unnamed.items() if t < writing and now - t >= self._grace]
        with storage_errors(self._directory):
            for path in old:
                del self._unnamed[path]
                if path.suffix == ".arrow":
                    path.unlink(missing_ok=True)
                else:
                    checkpoints.delete(path)
        return len(old)

    def _segments(self) -> set[Path]:
        with storage_errors(self._directory):
            found = (self._directory / RUNS).glob("*.arrow")
            return {path for path in found if is_segment(path.stem)}

    def _segment(self, name: str) -> Path:
        return self._directory / RUNS / f"{name}.arrow"

    def _checkpoints(self) -> set[Path]:
        return set(checkpoints.places(self._directory))

    def _named(self, manifest: Manifest) -> set[Path]:
        segments = set(map(self._segment, manifest.segments()))
        states = manifest.sources.items()
        return segments | {checkpoints.place_of(self._directory, *state) for state in states}
