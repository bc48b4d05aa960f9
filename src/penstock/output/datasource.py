"""Views as a Spark data source: `spark.read` and `spark.readStream.format("penstock")`.

    spark.read.format("penstock").option("view", "hot").load("state-dir")
    spark.readStream.format("penstock").option("view", "hot").option("what", "changes").load(...)

Options: `view`, its name; `what`, one of snapshot (the default), changes and history; `at`, the
time of a snapshot; `since`, the time from which on changes are wanted. A stream is one of changes.

Law: a reader needs no writer, no lock, and no Penstock session. A DataFrame shows the version that
was committed when it was loaded. The batches of a stream together are the changes of the view: each
publication is in exactly one batch, in order, however often a batch is planned or read again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
from pyspark.sql.types import StructType

from penstock.boundary import public
from penstock.element import BEGIN
from penstock.errors import PlanError, StateError
from penstock.execution.task import hash_range
from penstock.ingest.times import parsed, shown
from penstock.output.definitions import sources_and_views
from penstock.output.readers import CommittedView, Reading, committed_view
from penstock.state.log import read_manifest
from penstock.state.manifest import Manifest
from penstock.state.store import FileStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KINDS = ("snapshot", "changes", "history")
_BYTES_A_TASK = 1 << 25
_MOST_TASKS = 64
_registered: WeakSet[SparkSession] = WeakSet()


@public
def register(spark: SparkSession) -> None:
    """Make `format("penstock")` known to a SparkSession."""
    if spark not in _registered:
        spark.dataSource.register(PenstockDataSource)
        _registered.add(spark)


class PenstockDataSource(DataSource):
    """The format `penstock` of a Spark session; options name the directory and the view."""

    @classmethod
    def name(cls) -> str:
        return "penstock"

    def schema(self) -> StructType:
        return from_arrow_schema(self._reading.schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        return _Reader(self._reading, _arrow(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return _StreamReader(PenstockDataSource(self.options), _arrow(schema))

    @cached_property
    def _reading(self) -> Reading:
        """What is read. It goes with this object, so that Spark may plan as often as it likes."""
        view = self.view()
        match self.what:
            case "snapshot":
                return view.snapshot(self.time("at", view))
            case "changes":
                return view.changes(self.time("since", view))
        return view.history()

    def view(self, known: Manifest | None = None) -> CommittedView:
        """The view as of the version that is committed now; `known` is an earlier one."""
        manifest = self._manifest(known)
        if "view" not in self.options:
            views = ", ".join(sources_and_views(manifest)[1]) or "none yet"
            raise PlanError(f"which view? Write .option('view', name); there are: {views}")
        return committed_view(manifest, self.directory, self.options["view"])

    def _manifest(self, known: Manifest | None) -> Manifest:
        log = self.directory / "log"
        if not log.is_dir():
            found = "not a state directory" if self.directory.exists() else "no such directory"
            raise StateError(self.directory, f"{found}; expected the path given to connect()")
        return read_manifest(log, known)

    @property
    def directory(self) -> Path:
        if "path" not in self.options:
            raise PlanError("which state directory? Write .load(path), the path given to connect()")
        return Path(self.options["path"]).absolute()

    @property
    def what(self) -> str:
        what = self.options.get("what", "snapshot").lower()
        if what not in _KINDS:
            raise PlanError(f"option what is {what!r}; expected one of {', '.join(_KINDS)}")
        for option, of in (("at", "snapshot"), ("since", "changes")):
            if option in self.options and what != of:
                raise PlanError(f"option {option!r} is for what={of!r}, not for {what!r}")
        return what

    def time(self, option: str, view: CommittedView) -> int | None:
        text = self.options.get(option)
        return None if text is None else parsed(text, view.time)


@dataclass
class _Part(InputPartition):
    """A share of the records of a reading, by their hashes."""

    reading: Reading
    low: int
    high: int

    def read(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        store = FileStore(self.reading.directory)
        for batch in self.reading.read(self.low, self.high, store):
            yield batch.cast(schema)


def _parts(reading: Reading) -> list[_Part]:
    size = sum(ref.statistics.bytes for ref in reading.runs)
    tasks = min(1 + size // _BYTES_A_TASK, _MOST_TASKS)
    return [_Part(reading, *hash_range(task, tasks)) for task in range(tasks)]


class _Reader(DataSourceReader):
    def __init__(self, reading: Reading, schema: pa.Schema) -> None:
        self._reading = reading
        self._schema = schema

    def partitions(self) -> list[InputPartition]:
        return [*_parts(self._reading)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Part)
        return partition.read(self._schema)


@dataclass(frozen=True)
class _Offset:
    """How much of a view a stream has delivered: the changes before the frontier of a version."""

    version: int
    frontier: int

    def to_json(self) -> dict[str, int]:
        return {"version": self.version, "frontier": self.frontier}


class _StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    def __init__(self, source: PenstockDataSource, schema: pa.Schema) -> None:
        self._source = source
        self._schema = schema
        self._known: Manifest | None = None
        self._end: _Offset | None = None

    def prepareForTriggerAvailableNow(self) -> None:
        """The query ends where the view is now, whatever is published or merged meanwhile."""
        self._end = self._latest(self._view()) or _Offset(0, BEGIN)

    def initialOffset(self) -> dict[str, int]:
        view = self._view()
        return _Offset(0, view.changes(self._source.time("since", view)).since).to_json()

    def latestOffset(self, start: dict[str, int], limit: ReadLimit) -> dict[str, int]:
        begun, view = _Offset(**start), self._view()
        if view.manifest.version < begun.version:
            raise StateError(
                self._source.directory,
                f"its latest version is {view.manifest.version}, but {begun.version} was read "
                "before: it is not the same any more. Begin with a new checkpoint",
            )
        self._check_same(view, begun)
        latest = self._end or self._latest(view)
        if latest is None or latest.version <= begun.version:
            return start
        return _Offset(latest.version, max(latest.frontier, begun.frontier)).to_json()

    def _check_same(self, view: CommittedView, begun: _Offset) -> None:
        """What was read before is of the query that the view has now."""
        replaced = view.manifest.replaced.get(view.name, 0)
        if 0 < begun.version < replaced:
            raise StateError(
                self._source.directory,
                f"view {view.name} was replaced by another query at version {replaced}, and this "
                f"stream has read the changes of the one before up to version {begun.version}. "
                "Begin with a new checkpoint, which reads all changes of the new one",
            )

    def reportLatestOffset(self) -> dict[str, int] | None:
        latest = self._end or self._latest(self._view())
        return None if latest is None else latest.to_json()

    def partitions(self, start: dict[str, int], end: dict[str, int]) -> list[InputPartition]:
        begun, view = _Offset(**start), self._view()
        self._check_same(view, begun)
        if begun.frontier < view.oldest:
            raise StateError(
                self._source.directory,
                f"the changes of view {view.name} before {shown(view.oldest, view.time)} are no "
                f"longer kept, and those from {shown(begun.frontier, view.time)} on were wanted. "
                "Begin with a new checkpoint, and give the pipeline a longer retention",
            )
        reading = view.changes(begun.frontier, _Offset(**end).frontier)
        return [*_parts(reading)] if reading.runs else []

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        assert isinstance(partition, _Part)
        return partition.read(self._schema)

    def _view(self) -> CommittedView:
        """The view as it is now; of the log, only what is new is read."""
        if self._source.what != "changes":
            raise PlanError("a stream is one of changes; write .option('what', 'changes')")
        view = self._source.view(self._known)
        self._known = view.manifest
        return view

    def _latest(self, view: CommittedView) -> _Offset | None:
        """How far the publications go."""
        log = view.publications
        return _Offset(log[-1].version, log[-1].w1) if log else None


def _arrow(schema: StructType) -> pa.Schema:
    """The Arrow schema that Spark wants of these columns."""
    found: Any = to_arrow_schema(schema, timezone="UTC")
    return found
