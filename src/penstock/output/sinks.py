"""Sinks: the changes of a view, delivered once per publication, in order.

A sink is known by its name; the log says up to which version it has been served. A crash between a
delivery and its commit repeats that delivery, with the same version and the same rows: a file sink
writes each version to a place of its own and overwrites it, a function is given the version.

Law: a sink holds up nobody but itself. It is served while no lock is held, so it may call the
session; what it raises, or how long it takes, is no matter of the others or of steps.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

from penstock.errors import PlanError, StateError
from penstock.execution.problems import BACK_OFF
from penstock.execution.spark_errors import misnamed_format
from penstock.output.readers import CommittedView, Reading, handed_over, read_view
from penstock.state.manifest import Action, Delivered, Manifest, Publication
from penstock.state.names import check_name

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Deliver: TypeAlias = "Callable[[DataFrame, int], None]"
_PATIENCE = 10.0
"""For how many seconds those who stop wait for sinks to have what they are due."""
MOST_OF_A_NAME = 10_000  # characters, as it may be a path
logger = logging.getLogger("penstock")


@dataclass(frozen=True)
class Sink:
    """A name, under which deliveries are noted, a view, and the function that gets its changes."""

    name: str
    view: str
    deliver: Deliver


def to_format(spark: SparkSession, kind: str, path: str, **options: str) -> Deliver:
    """Writes each version into `path/version=N`, in any Spark format that there is."""
    _check_format(spark, kind, path)

    def deliver(rows: DataFrame, version: int) -> None:
        writer = rows.write.format(kind).options(**options).mode("overwrite")
        writer.save(f"{path}/version={version}")

    return deliver


def _check_format(spark: SparkSession, kind: str, path: str) -> None:
    """An error where Spark has no such format; what else it says, it says of the path."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    try:
        spark.read.format(kind).schema("x INT").load(path)
    except (Py4JJavaError, PySparkException) as error:
        if "DATA_SOURCE_NOT_FOUND" in str(error) or "ClassNotFoundException" in str(error):
            raise PlanError(str(misnamed_format(kind))) from error


class Pipeline(Protocol):
    """What sinks ask of the engine that they are served by."""

    directory: Path

    @property
    def manifest(self) -> Manifest: ...
    @property
    def tasks(self) -> int: ...
    def reading(self, choose: Callable[[], Reading]) -> AbstractContextManager[Reading]: ...
    def commit(self, *actions: Action) -> Manifest: ...
    def delivered(self, action: Delivered) -> None: ...


class Server:
    """Serves one sink, in the thread that asks for it or in one of its own."""

    def __init__(
        self,
        sink: Sink,
        engine: Pipeline,
        spark: SparkSession,
        committed: Callable[[str], CommittedView],
    ) -> None:
        self.sink = sink
        self.failure: str | None = None
        self._engine, self._spark, self._committed = engine, spark, committed
        self._busy = threading.Lock()
        self._wanted, self._stopped = threading.Event(), threading.Event()
        self._thread: threading.Thread | None = None

    def serve(self) -> None:
        """Deliver all that is due; nothing where another call is about it, which goes on."""
        if not self._busy.acquire(blocking=False):
            return
        try:
            while (due := self._due()) is not None:
                self._deliver(due[0].name, due[1])
            self.failure = None
        except Exception as error:
            self.failure = f"{type(error).__name__}: {error}".split("\n")[0][:500]
            raise
        finally:
            self._busy.release()

    def _due(self) -> tuple[CommittedView, Publication] | None:
        """The next publication that the sink has not had, and the view that it is one of.

        What is due of a view that was replaced comes before what is of the one in its place.
        """
        manifest = self._engine.manifest
        state = manifest.sinks.get(self.sink.name)
        if state is None or state.view not in manifest.definitions:
            return None
        view = self._committed(state.view)
        state = view.manifest.sinks[self.sink.name]  # of the same version
        for found in (*(handed_over(view, due) for due in state.pending), view):
            for entry in found.publications:
                if entry.version > state.version:
                    return found, entry
        return None

    def _deliver(self, view: str, entry: Publication) -> None:
        def changes() -> Reading:
            """The changes in files that the log names by now."""
            due = self._due()
            if due is None or due[1].version != entry.version:
                raise StateError(self._engine.directory, f"view {view} is not there any more")
            return due[0].changes(entry.w0, entry.w1)

        with self._engine.reading(changes) as reading:
            if reading.runs:
                rows = read_view(self._spark, reading, self._engine.tasks)
                self.sink.deliver(rows, entry.version)
        self._engine.delivered(Delivered(self.sink.name, view, entry.version))

    def start(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self.failure = None
            self._stopped.clear()
            name = f"penstock sink {self.sink.name}"
            self._thread = threading.Thread(target=self._work, name=name, daemon=True)
            self._thread.start()
        elif self.failure is not None:
            self.failure = None
        self.wake()

    def wake(self) -> None:
        self._wanted.set()

    def stop(self, patience: float) -> None:
        """Let it deliver what is due, for so many seconds; one that takes longer is left alone."""
        self._stopped.set()
        self._wanted.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join(patience)
            if self._thread.is_alive():
                logger.warning("sink %s is still busy, and is left alone", self.sink.name)
        self._thread = None

    def _work(self) -> None:
        while True:
            self._wanted.wait()
            self._wanted.clear()
            over = self._stopped.is_set()
            if self.failure is None:
                self._try()
            if over:
                return

    def _try(self) -> None:
        for seconds in (*BACK_OFF, None):
            try:
                return self.serve()
            except Exception:
                if seconds is None or self._stopped.is_set():
                    logger.exception("sink %s failed", self.sink.name)
                    return None
                logger.warning("sink %s, again in %s s: %s", self.sink.name, seconds, self.failure)
                self._stopped.wait(seconds)
        return None


class Sinks:
    """The sinks of a session, each with a server of its own."""

    def __init__(
        self, engine: Pipeline, spark: SparkSession, committed: Callable[[str], CommittedView]
    ) -> None:
        self._engine, self._spark, self._committed = engine, spark, committed
        self._mutex = threading.Lock()
        self._servers: dict[str, Server] = {}
        self._started = False

    def add(self, sink: Sink) -> None:
        """Serve a sink what it has not had yet, and from now on each publication."""
        with self._mutex:
            if sink.name in self._servers:
                raise PlanError(f"there is a sink {sink.name!r} already; give this one a name=")
            known = self._engine.manifest.sinks.get(sink.name)
            if known is not None and known.view != sink.view:
                raise PlanError(
                    f"the sink {sink.name!r} is one of view {known.view!r}; give this one a name="
                )
            if known is None:
                check_name(sink.name, "the name of a sink", MOST_OF_A_NAME)
                self._engine.commit(Delivered(sink.name, sink.view, 0))
            server = Server(sink, self._engine, self._spark, self._committed)
            self._servers[sink.name] = server
        if self._started:
            server.start()
        else:
            server.serve()

    def forget(self, view: str) -> None:
        """The sinks of a view go with it; one that is busy is not waited for."""
        with self._mutex:
            gone = [s for s in self._servers.values() if s.sink.view == view]
            self._servers = {n: s for n, s in self._servers.items() if s.sink.view != view}
        for server in gone:
            server.stop(0.0)

    def rename(self, old: str, new: str) -> None:
        """A view has another name, and keeps its sinks."""
        with self._mutex:
            for server in self._servers.values():
                if server.sink.view == old:
                    server.sink = replace(server.sink, view=new)

    def serve(self) -> None:
        """Serve each of them; raise what the first one raised, when all have been."""
        if self._started:
            for server in self._all():
                server.wake()
            return
        errors: list[Exception] = []
        for server in self._all():
            try:
                server.serve()
            except Exception as error:
                logger.error("sink %s failed: %s", server.sink.name, server.failure)
                error.add_note(f"This is of the sink {server.sink.name!r}.")
                errors.append(error)
        if errors:
            raise errors[0]

    def start(self) -> None:
        """Serve them in the background, each in a thread of its own; those that failed, again."""
        self._started = True
        for server in self._all():
            server.start()

    def stop(self) -> None:
        self._started = False
        end = time.monotonic() + _PATIENCE
        for server in self._all():
            server.stop(max(end - time.monotonic(), 0.0))

    @property
    def failures(self) -> dict[str, str]:
        return {s.sink.name: s.failure for s in self._all() if s.failure is not None}

    def _all(self) -> list[Server]:
        with self._mutex:
            return list(self._servers.values())
