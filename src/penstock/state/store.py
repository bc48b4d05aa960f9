"""Where runs are kept: in memory, or as memory-mapped Arrow files.

Both keep the same thing under the same interface. A *segment* is a file of one or more runs: the
hashes of each and then its rows, both complete Arrow IPC files with checksums in its reference.
They are verified when a process reads them first: a damaged file is an error, never an answer. Rows
of a run that nothing was found in are not read at all.
"""

from __future__ import annotations

import os
import uuid
import zlib
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import cached_property
from io import BufferedWriter
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pyarrow as pa

from penstock.errors import StateError
from penstock.kinds import kind
from penstock.state.layout import hashes_of, rows_of, to_batches
from penstock.state.names import is_segment
from penstock.state.run import Run, StateTableSpec, Statistics, hashed_between
from penstock.state.storage import storage_errors

_ALIGNMENT = 64
ALL_HASHES = (0, 1 << 32)


@kind("stretch")
class ByteRange(NamedTuple):
    """A part of a segment."""

    offset: int = 0
    length: int = 0
    checksum: int = 0


@kind("run")
@dataclass(frozen=True, slots=True)
class RunReference:
    """Where a run is in its store, and what can be known of it without opening it.

    `owners` is the range of hashes that the owners of its rows lie in. A merge may take several
    steps: `into` is the name of the run it makes, of which there are parts already, and `hashes`
    the range of those rows that are still to be had from here. `whole` is the name of the run that
    this one is a part of.
    """

    segment: str
    index: ByteRange
    rows: ByteRange
    statistics: Statistics
    owners: tuple[int, int] = ALL_HASHES
    hashes: tuple[int, int] = ALL_HASHES
    whole: str = ""
    into: str = ""

    @property
    def name(self) -> str:
        return self.place if self.hashes == ALL_HASHES else f"{self.place}:{self.hashes[0]}"

    @property
    def place(self) -> str:
        return f"{self.segment}:{self.index.offset}"

    def __reduce__(self) -> tuple[Any, ...]:
        """As few parts as can be: a step sends thousands to each task."""
        statistics = tuple(getattr(self.statistics, name) for name in _STATISTICS)
        places = tuple(self.index), tuple(self.rows)
        return _run_ref, (statistics, self.segment, *places, *(getattr(self, n) for n in _REST))


_Place: TypeAlias = tuple[int, int, int]


def _run_ref(
    statistics: tuple[Any, ...], segment: str, index: _Place, rows: _Place, *rest: Any
) -> RunReference:
    return RunReference(
        segment, ByteRange(*index), ByteRange(*rows), Statistics(*statistics), *rest
    )


_REF = tuple(field.name for field in fields(RunReference))
_REST = _REF[_REF.index("statistics") + 1 :]
_STATISTICS = tuple(field.name for field in fields(Statistics))


class FileStore:
    """Segments in one directory. A file that nobody refers to is garbage."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._open: dict[str, tuple[pa.Schema, Run]] = {}
        """Runs that are open, and the columns that their state tables had then."""

    def write(self, run: Run) -> RunReference:
        with self.segment() as segment:
            return segment.write(run)

    @contextmanager
    def writing(self) -> Iterator[Writing]:
        """Several segments, which are on disk when the block ends."""
        with ThreadPoolExecutor() as pool:
            writing = Writing(self, pool)
            yield writing
            writing.finish()

    @contextmanager
    def segment(self) -> Iterator[SegmentWriter]:
        """One segment, which is on disk when the block ends."""
        with self.writing() as writing, writing.segment() as segment:
            yield segment

    def open(self, spec: StateTableSpec, ref: RunReference) -> Run:
        schema, run = self._open.get(ref.place, (None, None))
        if run is None or not (schema is spec.schema or spec.schema.equals(schema)):
            run = self._map(spec, ref)
            self._open[ref.place] = spec.schema, run
        return run if ref.hashes == ALL_HASHES else hashed_between(run, *ref.hashes)

    def columns(self, ref: RunReference) -> pa.Schema:
        """The columns that a run was written with, of its records and of ours."""
        path = self.path(ref.segment)
        try:
            with pa.memory_map(str(path)) as mapped:
                rows = mapped.read_buffer().slice(ref.rows.offset, ref.rows.length)
                return pa.ipc.open_file(rows).schema
        except (OSError, pa.ArrowInvalid) as error:
            raise StateError(path, str(error)) from error

    def delete(self, ref: RunReference) -> None:
        """Forget a run. Its segment goes too: for stores that write each run by itself."""
        self._open.pop(ref.place, None)
        self.path(ref.segment).unlink(missing_ok=True)

    def forget(self, keep: Iterable[RunReference]) -> None:
        """Close all runs but these."""
        places = {ref.place for ref in keep}
        opened = list(self._open.items())  # others may open runs meanwhile
        self._open = {place: run for place, run in opened if place in places}

    def sync(self) -> None:
        """See to it that the names of all files are on disk, too."""
        if self._directory.exists():
            sync_directory(self._directory)

    def path(self, segment: str) -> Path:
        if not is_segment(segment):
            raise StateError(self._directory, f"the log names a file {segment!r} of runs")
        return self._directory / f"{segment}.arrow"

    def _map(self, spec: StateTableSpec, ref: RunReference) -> Run:
        path = self.path(ref.segment)
        try:
            with pa.memory_map(str(path)) as mapped:
                whole = mapped.read_buffer()
        except (OSError, pa.ArrowInvalid) as error:
            raise StateError(path, str(error)) from error
        hashes = hashes_of(_read(path, whole, ref.index))
        return Run(hashes, ref.statistics, lambda: rows_of(spec, _read(path, whole, ref.rows)))


def sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(path: Path, segment: pa.Buffer, place: ByteRange) -> pa.RecordBatch:
    start = min(place.offset, segment.size)
    data = segment.slice(start, min(place.length, segment.size - start))
    found = zlib.crc32(data)
    if found != place.checksum or data.size != place.length:
        raise StateError(
            path,
            f"at byte {place.offset} the checksum is {found} over {data.size} bytes, "
            f"expected {place.checksum} over {place.length}",
        )
    try:
        return pa.ipc.open_file(data).get_batch(0)
    except (OSError, pa.ArrowInvalid) as error:
        raise StateError(path, str(error)) from error


class Writing:
    """Segments one after the other: while one is on its way to the disk the next can be filled."""

    def __init__(self, store: FileStore, pool: Executor) -> None:
        self._store = store
        self._pool = pool
        self._closing: list[Future[None]] = []

    @contextmanager
    def segment(self) -> Iterator[SegmentWriter]:
        """A new segment for several runs; no file for no runs."""
        name = uuid.uuid4().hex
        writer = SegmentWriter(name, self._store.path(name))
        try:
            yield writer
        finally:
            self._closing.append(self._pool.submit(writer.close))

    def finish(self) -> None:
        """Wait until all is on disk."""
        for closing in self._closing:
            closing.result()
        self._store.sync()


class SegmentWriter:
    """Appends runs to one file, which comes to be with the first."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._path = path

    @cached_property
    def _file(self) -> BufferedWriter:
        with storage_errors(self._path):
            directory = self._path.parent
            if not directory.exists():
                directory.mkdir(parents=True, exist_ok=True)
                sync_directory(directory.parent)
            return open(self._path, "xb")

    def close(self) -> None:
        if "_file" in self.__dict__:
            with storage_errors(self._path), self._file as file:
                file.flush()
                os.fsync(file.fileno())

    def write(
        self,
        run: Run,
        owners: tuple[int, int] = ALL_HASHES,
        packed: bool = False,
        whole: str | None = None,
    ) -> RunReference:
        """Packed runs are smaller, and have to be unpacked when they are opened."""
        index, rows = map(self._append, to_batches(run, packed))
        return RunReference(
            self.name, index, rows, run.statistics, owners, whole=whole or self.name
        )

    def _append(self, batch: pa.RecordBatch) -> ByteRange:
        offset = self._file.tell()
        part = _ChecksummedPart(self._file)
        with storage_errors(self._path):
            with pa.ipc.new_file(pa.PythonFile(part, mode="w"), batch.schema) as writer:
                writer.write_batch(batch)
            self._file.write(bytes(-part.length % _ALIGNMENT))
        return ByteRange(offset, part.length, part.checksum)


class _ChecksummedPart:
    """What an Arrow writer writes to: a stretch of a file, its length and checksum kept."""

    def __init__(self, file: BufferedWriter) -> None:
        self._file = file
        self.checksum = self.length = 0
        self.closed = False

    def write(self, data: Any) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        written = self._file.write(data)
        self.length += written
        return written

    def tell(self) -> int:
        return self.length

    def flush(self) -> None:
        pass

    def close(self) -> None:
        self.closed = True
