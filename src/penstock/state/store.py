"""Where runs are kept: in memory, or as memory-mapped Arrow files.

Both keep the same thing under the same interface. A file is written whole, with a checksum in its
reference, and verified when a process opens it first: a damaged file is an error, never an answer.
"""

from __future__ import annotations

import os
import uuid
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from penstock.element import Elements
from penstock.errors import StateError
from penstock.record import Ints
from penstock.record import numpy as values_of
from penstock.state.run import AreaSpec, Run, Statistics

_TIMES = ("__ts", "__te", "__n", "__keep", "__hash")


@dataclass(frozen=True, slots=True)
class RunRef:
    """The name of a run in its store, and what can be known of it without opening it."""

    name: str
    checksum: int
    statistics: Statistics

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @staticmethod
    def from_json(data: dict[str, Any]) -> RunRef:
        known = dict(data["statistics"])
        known["hash_range"] = tuple(known["hash_range"])
        known["keep_quantiles"] = tuple(known["keep_quantiles"])
        return RunRef(data["name"], data["checksum"], Statistics(**known))


class Store(Protocol):
    def write(self, run: Run) -> RunRef: ...
    def open(self, spec: AreaSpec, ref: RunRef) -> Run: ...
    def delete(self, ref: RunRef) -> None: ...


class MemoryStore:
    def __init__(self) -> None:
        self._runs: dict[str, Run] = {}

    def write(self, run: Run) -> RunRef:
        ref = RunRef(uuid.uuid4().hex, 0, run.statistics)
        self._runs[ref.name] = run
        return ref

    def open(self, spec: AreaSpec, ref: RunRef) -> Run:
        return self._runs[ref.name]

    def delete(self, ref: RunRef) -> None:
        del self._runs[ref.name]


class FileStore:
    """Arrow IPC files in one directory, one record batch each."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._open: dict[str, Run] = {}

    def write(self, run: Run) -> RunRef:
        name = uuid.uuid4().hex
        self._directory.mkdir(parents=True, exist_ok=True)
        batch = _to_batch(run)
        with open(self._directory / f"{name}.arrow", "xb") as file:
            summed = _ChecksummedFile(file)
            with pa.ipc.new_file(pa.PythonFile(summed, mode="w"), batch.schema) as writer:
                writer.write_batch(batch)
            file.flush()
            os.fsync(file.fileno())
        return RunRef(name, summed.checksum, run.statistics)

    def open(self, spec: AreaSpec, ref: RunRef) -> Run:
        if ref.name not in self._open:
            self._open[ref.name] = self._map(spec, ref)
        return self._open[ref.name]

    def delete(self, ref: RunRef) -> None:
        self._open.pop(ref.name, None)
        (self._directory / f"{ref.name}.arrow").unlink(missing_ok=True)

    def _map(self, spec: AreaSpec, ref: RunRef) -> Run:
        path = self._directory / f"{ref.name}.arrow"
        try:
            mapped = pa.memory_map(str(path))
            found = zlib.crc32(mapped.read_buffer())
            if found != ref.checksum:
                raise StateError(path, f"its checksum is {found}, expected {ref.checksum}")
            batch = pa.ipc.open_file(mapped).get_batch(0)
        except (OSError, pa.ArrowInvalid) as error:
            raise StateError(path, str(error)) from error
        return _from_batch(spec, batch, ref.statistics)


class _ChecksummedFile:
    """What a writer writes to: the file, and a checksum of all that went into it."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.checksum = 0
        self.closed = False

    def write(self, data: Any) -> int:
        self.checksum = zlib.crc32(data, self.checksum)
        return int(self._file.write(data))

    def flush(self) -> None:
        self._file.flush()

    def close(self) -> None:
        self.closed = True


def _to_batch(run: Run) -> pa.RecordBatch:
    x = run.elements
    times = [pa.array(values) for values in (x.ts, x.te, x.n, run.keep, run.hashes)]
    sums = [pa.array(weight) for weight in x.sums.values()]
    return pa.RecordBatch.from_arrays(
        [*x.columns, *times, *sums], names=[*x.schema.names, *_TIMES, *x.sums]
    )


def _from_batch(spec: AreaSpec, batch: pa.RecordBatch, statistics: Statistics) -> Run:
    width = len(spec.schema)
    ts, te, n, keep = (_ints(batch.column(width + i)) for i in range(4))
    hashes = values_of(batch.column(width + 4)).view(np.uint32)
    names = batch.schema.names
    sums = {names[i]: _ints(batch.column(i)) for i in range(width + len(_TIMES), len(names))}
    columns = tuple(batch.column(i) for i in range(width))
    return Run(Elements(spec.schema, columns, ts, te, n, sums), hashes, keep, statistics)


def _ints(column: pa.Array) -> Ints:
    values: Ints = values_of(column)
    return values
