"""What users hold: a session on a state directory, its sources and its views."""

from __future__ import annotations

import tempfile
import threading
import time
from collections import deque
from collections.abc import Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from penstock.algebra.plan import Node, Scan
from penstock.element import BEGIN, INF
from penstock.errors import PlanError
from penstock.physical.program import base_area, view_area
from penstock.runtime.engine import Engine, Options
from penstock.runtime.jobs import SparkJobs, read_view
from penstock.runtime.reading import Reading, What
from penstock.runtime.runner import Runner
from penstock.runtime.sinks import Deliver, Sink, may_have_changes, to_format
from penstock.runtime.sources import LatePolicy, SourceDefinition, late_area
from penstock.runtime.spark import start_spark
from penstock.state.manifest import Delivered

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery
    from pyspark.sql.types import StructType

    Rows: TypeAlias = (
        Sequence[dict[str, Any]] | Sequence[tuple[Any, ...]] | pa.Table | pd.DataFrame | DataFrame
    )

Time: TypeAlias = int | datetime | date


def connect(
    path: str | Path | None = None, spark: SparkSession | None = None, **options: Any
) -> Session:
    """Open a state directory, a new temporary one where no path is given.

    Without a SparkSession a local one is started; a given one is used as it is. Options: `tasks`,
    how many tasks a step has; `retention`, for how long in event time changes are kept; `grace`,
    for how many seconds unnamed files stay.
    """
    known = Options.__dataclass_fields__
    for name in options:
        if name not in known:
            raise PlanError(f"no option {name!r}; there are: {', '.join(known)}")
    directory = Path(path) if path is not None else Path(tempfile.mkdtemp(prefix="penstock-"))
    spark = spark or start_spark()
    return Session(Engine(directory.absolute(), SparkJobs(spark), Options(**options)), spark)


class Session:
    def __init__(self, engine: Engine, spark: SparkSession) -> None:
        self.spark = spark
        self._engine = engine
        self._sinks: dict[str, Sink] = {}
        self._progress: deque[dict[str, Any]] = deque(maxlen=100)
        self._runner = Runner(self.step)
        self._stepping = threading.Lock()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop what runs in the background and let go of the directory."""
        self.stop()
        self._engine.close()

    @property
    def path(self) -> Path:
        return self._engine.directory

    # --- sources and views ----------------------------------------------------------------------

    def create_source(
        self,
        name: str,
        schema: str | pa.Schema | StructType,
        time: str,
        delay: int = 0,
        late: LatePolicy = "keep",
    ) -> Source:
        """A source with these columns, one of which is the event time.

        The delay is in microseconds for times of type TIMESTAMP or DATE, in ticks for integers.
        """
        definition = SourceDefinition(name, _arrow_schema(schema), time, delay, late)
        kinds = {time_type(source) for source in self._engine.sources.values()}
        if kinds and time_type(definition) not in kinds:
            raise PlanError(
                f"source {name!r} has {time_type(definition)} for event time; the others have "
                f"{kinds.pop()}. All sources of a pipeline share one kind of time."
            )
        self._engine.define(name, definition)
        return self.source(name)

    def create_view(self, name: str, plan: Node) -> View:
        self._engine.define(name, plan)
        return self.view(name)

    def scan(self, source: str) -> Scan:
        """The plan that reads a source: an append-only stream of its rows."""
        return Scan(source, self._engine.source(source).schema, append_only=True)

    def source(self, name: str) -> Source:
        return Source(self, self._engine, self._runner, self._engine.source(name).name)

    def view(self, name: str) -> View:
        if name not in self._engine.views:
            known = ", ".join(self._engine.views) or "none yet"
            raise PlanError(f"no view {name!r}; there are: {known}")
        return View(self, self._engine, name)

    # --- running --------------------------------------------------------------------------------

    def step(self) -> dict[str, Any] | None:
        """Move everything as far as the frontiers allow; what happened, or None if nothing."""
        with self._stepping:
            progress = self._engine.step()
            for sink in list(self._sinks.values()):
                self._serve(sink)
        if progress is not None:
            self._progress.append(progress)
            if progress["version"] % 20 == 0:
                self._engine.collect_garbage()
        return progress

    def start(self) -> None:
        """Step in the background whenever rows or promises arrive."""
        self._runner.start()

    def stop(self) -> None:
        """Finish the step under way and stop stepping; raises what went wrong in the background."""
        self._runner.stop()

    def await_frontier(self, t: Time, timeout: float | None = None) -> bool:
        """Wait until everything before `t` is out; False where that takes longer than `timeout`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._engine.manifest.frontier < _ticks(t):
            self._runner.check()
            if deadline is not None and time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    @property
    def frontier(self) -> int:
        """Everything before this time is complete and final."""
        return self._engine.manifest.frontier

    @property
    def last_progress(self) -> dict[str, Any] | None:
        return self._progress[-1] if self._progress else None

    @property
    def recent_progress(self) -> list[dict[str, Any]]:
        return list(self._progress)

    def metrics(self) -> dict[str, Any]:
        """Rows received and late per source, and the latest progress."""
        states = {name: self._engine.source_state(name) for name in self._engine.sources}
        return {
            "frontier": self.frontier,
            "sources": {
                name: {"accepted": s.accepted, "late": s.late, "frontier": s.frontier}
                for name, s in states.items()
            },
            "last_step": self.last_progress,
        }

    def add_sink(self, sink: Sink) -> None:
        """Serve a sink what it has not had yet, and from now on each publication."""
        with self._stepping:
            self._sinks[sink.name] = sink
            self._serve(sink)

    def _serve(self, sink: Sink) -> None:
        log = self._engine.manifest.changelogs.get(sink.view, ())
        for entry in log:
            if entry.version > self._engine.manifest.sinks.get(sink.name, 0):
                if may_have_changes(entry, log):
                    rows = self.view(sink.view).read("changes", entry.w0, entry.w1)
                    sink.deliver(rows, entry.version)
                self._engine.commit(Delivered(sink.name, entry.version))


class Source:
    def __init__(self, session: Session, engine: Engine, runner: Runner, name: str) -> None:
        self._session = session
        self._engine = engine
        self._runner = runner
        self.name = name

    def append(self, rows: Rows) -> dict[str, int]:
        """One batch: dicts, tuples, an Arrow table, a pandas or Spark DataFrame."""
        schema = self._engine.source(self.name).schema
        table = _table(rows, schema)
        if table is not None:
            report = self._engine.receive_table(self.name, table)
        else:
            report = self._engine.receive_rows(self.name, rows.select(*schema.names))  # type: ignore[union-attr]
        self._runner.wake()
        return {"accepted": report.accepted, "late": report.late}

    def attach(self, rows: DataFrame, **trigger: Any) -> StreamingQuery:
        """Receive a Structured Streaming DataFrame, batch by batch, each exactly once."""
        names = self._engine.source(self.name).schema.names

        def receive(batch: DataFrame, number: int) -> None:
            self._engine.receive_rows(self.name, batch.select(*names), number)
            self._runner.wake()

        checkpoint = self._engine.directory / "checkpoints" / self.name
        writer = rows.writeStream.foreachBatch(receive).queryName(f"penstock {self.name}")
        if trigger:
            writer = writer.trigger(**trigger)
        return writer.option("checkpointLocation", str(checkpoint)).start()

    def advance(self, to: Time) -> None:
        """A heartbeat: no more rows before `to`."""
        self._engine.promise(self.name, _ticks(to))
        self._runner.wake()

    def end(self) -> None:
        """The stream is over."""
        self._engine.promise(self.name, INF)
        self._runner.wake()

    def idle(self) -> None:
        """Hold nobody back until the next batch comes."""
        self._engine.set_idle(self.name)
        self._runner.wake()

    def late(self) -> DataFrame:
        """The rows that came too late or without a time, where the source keeps them."""
        definition = self._engine.source(self.name)
        area = late_area(definition)
        refs = self._engine.manifest.area(area.name).refs
        everything = Reading(
            "rows", area, refs, self._engine.runs, time_type(definition), until=INF
        )
        return read_view(self._session.spark, everything, self._engine.tasks)


class View:
    def __init__(self, session: Session, engine: Engine, name: str) -> None:
        self._session = session
        self._engine = engine
        self.name = name

    def snapshot(self, at: Time | None = None) -> DataFrame:
        """The view at a time; without one, at the latest that is complete."""
        frontier = self._engine.manifest.frontier
        until = frontier if at is None else _ticks(at) + 1
        if until > frontier:
            raise PlanError(
                f"view {self.name}: time {at} is not complete yet; the frontier is {frontier}"
            )
        return self.read("snapshot", BEGIN, until, now=at is None)

    def changes(self, since: Time | None = None) -> DataFrame:
        """The changes from a time on, as columns op, the record's, ts."""
        return self.read("changes", BEGIN if since is None else _ticks(since))

    def history(self) -> DataFrame:
        """Every record with the times from and to which it was there; no end: it still is."""
        return self.read("history", BEGIN)

    def sink(
        self, target: str | Deliver, *, name: str | None = None, path: str = "", **options: str
    ) -> None:
        """Deliver changes to `fn(df, version)` or a Spark format, each publication once."""
        if isinstance(target, str):
            if not path:
                raise PlanError(f"a sink in format {target!r} needs a path")
            deliver = to_format(target, path, **options)
            known = name or f"{self.name} {target} {path}"
        else:
            deliver = target
            known = name or f"{self.name} {getattr(target, '__name__', 'function')}"
        self._session.add_sink(Sink(known, self.name, deliver))

    def read(
        self, what: What, since: int, until: int | None = None, now: bool = False
    ) -> DataFrame:
        """A DataFrame over the files of the version that is committed now."""
        manifest = self._engine.manifest
        area = self._engine.program.view_areas[self.name]
        base = manifest.area(base_area(self.name))
        if base.refs and since < base.frontier and not now and what != "snapshot":
            since = base.frontier + 1
        log = manifest.changelogs.get(self.name, ())
        refs, old = tuple(ref for entry in log for ref in entry.refs), base.refs
        if now:
            refs, old = manifest.area(view_area(self.name)).refs, ()
        time = next(map(time_type, self._engine.sources.values()), pa.int64())
        reading = Reading(
            what,
            area,
            refs,
            self._engine.runs,
            time,
            since,
            manifest.frontier if until is None else until,
            old,
        )
        return read_view(self._session.spark, reading, self._engine.tasks)


def time_type(source: SourceDefinition) -> pa.DataType:
    """How event times are shown: as timestamps, or as the integers they are."""
    kind = source.schema.field(source.time).type
    return pa.int64() if pa.types.is_integer(kind) else pa.timestamp("us", tz="UTC")


def _ticks(t: Time) -> int:
    if isinstance(t, datetime):
        aware = t if t.tzinfo is not None else t.replace(tzinfo=UTC)
        return int((aware - _EPOCH).total_seconds() * 1_000_000)
    if isinstance(t, date):
        return _ticks(datetime(t.year, t.month, t.day))
    return t


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _arrow_schema(schema: str | pa.Schema | StructType) -> pa.Schema:
    if isinstance(schema, pa.Schema):
        return schema
    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    struct: Any = StructType.fromDDL(schema) if isinstance(schema, str) else schema
    return to_arrow_schema(struct, timezone="UTC")


def _table(rows: Any, schema: pa.Schema) -> pa.Table | None:
    """Rows that are in this process, as an Arrow table of the schema; None for a DataFrame."""
    try:
        if isinstance(rows, pa.Table):
            return rows.select(schema.names).cast(schema)
        if isinstance(rows, Sequence):
            dicts = [
                row if isinstance(row, dict) else dict(zip(schema.names, row, strict=True))
                for row in rows
            ]
            return pa.Table.from_pylist(dicts, schema=schema)
        if type(rows).__module__.startswith("pandas."):
            return pa.Table.from_pandas(rows, schema=schema, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, KeyError, ValueError) as error:
        expected = ", ".join(f"{f.name} {f.type}" for f in schema)
        raise PlanError(f"rows do not fit the source: {error}; expected {expected}") from error
    return None
