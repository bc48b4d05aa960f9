"""What brings rows by itself while a session is open: streams of Spark, and ports.

A stream that was attached is a query of Structured Streaming, which hands over its batches with
their numbers. A port is listened on from the moment its source is there.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.boundary import is_lost
from penstock.errors import PenstockError
from penstock.ingest import checkpoints
from penstock.ingest.connectors import PortFeed, StreamFeed
from penstock.ingest.file_sources.batch import FileBatch
from penstock.ingest.file_sources.listing import files_of
from penstock.ingest.fitting import Rejected
from penstock.ingest.rows import columns_of
from penstock.ingest.socket_source import Listener
from penstock.ingest.sources import IngestReport, SourceDefinition
from penstock.runtime.engine import Engine
from penstock.runtime.runner import Runner

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

logger = logging.getLogger("penstock")


class Attachments:
    """The streams and ports of a session's sources."""

    def __init__(self, engine: Engine, spark: SparkSession, runner: Runner) -> None:
        self._engine = engine
        self._spark = spark
        self._runner = runner
        self._listeners: dict[str, Listener] = {}
        self.queries: dict[str, list[StreamingQuery]] = {}
        """The queries of each source, those that have ended too."""
        for source in engine.sources.values():
            self.listen(self.listener(source), source.name)

    def close(self) -> None:
        """Stop all that brings rows."""
        for listener in self._listeners.values():
            listener.close()
        for query in chain.from_iterable(self.queries.values()):
            if not is_lost():
                query.stop()

    def forget(self, source: str) -> None:
        """A source is dropped."""
        self._stop_queries(source)
        if source in self._listeners:
            self._listeners.pop(source).close()

    def altered(self, source: str) -> None:
        """The columns of a source have changed, and what feeds it is to know.

        Streams that users have attached go on with the columns that they have.
        """
        definition = self._engine.source(source)
        if source in self._listeners:
            self._listeners[source].read_as(definition.given)
        if isinstance(definition.feed, StreamFeed):
            self._stop_queries(source)
            if self._runner.running:
                self.start()

    def _stop_queries(self, source: str) -> None:
        for query in self.queries.pop(source, ()):
            query.stop()

    # --- ports ----------------------------------------------------------------------------------

    def listener(self, source: SourceDefinition) -> Listener | None:
        """Listens on the port of a source that has one."""
        if not isinstance(source.feed, PortFeed):
            return None

        def receive(rows: pa.Table, rejected: list[Rejected]) -> None:
            report = self._engine.receive_table(source.name, rows, rejected=rejected)
            try:
                self._runner.wake(report.accepted)
            except PenstockError as error:  # the rows are received; what failed shows by itself
                logger.warning("source %s: %s", source.name, error)

        return Listener(source.name, source.feed.port, source.given, receive)

    def listen(self, listener: Listener | None, source: str) -> None:
        """Keep what listens for a source until that is dropped, or all is closed."""
        if listener is not None:
            self._listeners[source] = listener

    # --- streams --------------------------------------------------------------------------------

    def start(self, **trigger: Any) -> Sequence[StreamingQuery]:
        """Attach the streams of sources that have one and are not attached."""
        started = []
        for name, source in self._engine.sources.items():
            running = [query for query in self.queries.get(name, ()) if query.isActive]
            if isinstance(source.feed, StreamFeed) and not running:
                started.append(self._attach_feed(source, source.feed, trigger))
        return started

    def pull(self) -> None:
        """Receive what feeds have to give now."""
        for query in self.start(availableNow=True):
            query.awaitTermination()

    def attach(
        self, source: SourceDefinition, rows: DataFrame, trigger: Mapping[str, Any]
    ) -> StreamingQuery:
        """Receive a Structured Streaming DataFrame, batch by batch, each exactly once."""
        checkpoint = self._checkpoint(source)

        def receive(batch: DataFrame, number: int) -> IngestReport:
            return self._engine.receive_rows(source.name, batch, number)

        return self._attach(source, columns_of(rows, source.given), checkpoint, receive, trigger)

    def _attach_feed(
        self, source: SourceDefinition, feed: StreamFeed, trigger: Mapping[str, Any]
    ) -> StreamingQuery:
        """Receive what a feed brings. Tasks read files themselves: Spark but says which."""
        rows, format = feed.rows(self._spark, source.given), feed.files()
        if format is None:
            return self.attach(source, rows, trigger)
        checkpoint = self._checkpoint(source)

        def receive(batch: DataFrame, number: int) -> IngestReport:
            files = FileBatch.of(format, source.given, files_of(checkpoint, number))
            return self._engine.receive_files(source.name, files, number)

        return self._attach(source, rows, checkpoint, receive, trigger)

    def _attach(
        self,
        source: SourceDefinition,
        rows: DataFrame,
        checkpoint: Path,
        take: Callable[[DataFrame, int], IngestReport],
        trigger: Mapping[str, Any],
    ) -> StreamingQuery:
        engine, name = self._engine, source.name

        def receive(batch: DataFrame, number: int) -> None:
            checkpoints.check_next(checkpoint, name, engine.source_state(name), number)
            report = take(batch, number)
            self._runner.wake(report.accepted)

        writer = rows.writeStream.foreachBatch(receive)
        writer = writer.queryName(f"penstock {name}")
        if trigger:
            writer = writer.trigger(**trigger)
        query = writer.option("checkpointLocation", str(checkpoint)).start()
        self.queries.setdefault(name, []).append(query)
        return query

    def _checkpoint(self, source: SourceDefinition) -> Path:
        """Where Spark's checkpoint is; an error where it is damaged or does not fit the log."""
        state = self._engine.source_state(source.name)
        checkpoint = checkpoints.place_of(self._engine.directory, source.name, state)
        checkpoints.check_whole(checkpoint, source.name, state)
        return checkpoint
