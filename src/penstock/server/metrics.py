"""What Prometheus reads: counts of the session as they are, and what is measured as it happens.

Names and labels are part of what users rely on: `docs/service.md` lists them, and a test compares.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa
from opentelemetry import trace
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock import __version__
from penstock.element import BEGIN, INF
from penstock.server.service import Service
from penstock.session import Session
from penstock.session.published import event_time

STEP_SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300)
REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
_LOOK_SECONDS = 0.25
_VERSIONS = 10_000
logger = logging.getLogger("penstock.server")


class Metrics:
    """Of one service."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._registry = CollectorRegistry()
        self._registry.register(OfSession(service, self))
        self._steps = Histogram(
            "penstock_step_seconds",
            "How long steps took, from their beginning to their commit",
            buckets=STEP_SECONDS,
            registry=self._registry,
        )
        self.requests = Counter(
            "penstock_http_requests",
            "Requests that were answered",
            ["method", "path", "status"],
            registry=self._registry,
        )
        self.request_seconds = Histogram(
            "penstock_http_request_seconds",
            "How long requests took; subscriptions do not count",
            ["path"],
            buckets=REQUEST_SECONDS,
            registry=self._registry,
        )
        self._published = Counter(
            "penstock_view_rows_out",
            "Elements that a view has published since the service started",
            ["view"],
            registry=self._registry,
        )
        self._step_seen = self._version_seen = -1
        self._committed: deque[tuple[int, float]] = deque(maxlen=_VERSIONS)
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._look())

    async def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    def text(self) -> bytes:
        return generate_latest(self._registry)

    async def _look(self) -> None:
        """Note steps and versions as they come."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            try:
                if not self._service.not_open:
                    self.observe(self._service.session)
            except Exception:
                logger.exception("metrics could not be taken")

    def observe(self, session: Session) -> None:
        """What has happened since the last look."""
        for progress in session.recent_progress:
            if progress["version"] > self._step_seen:
                self._step_seen = progress["version"]
                self._steps.observe(sum(progress["seconds"].values()))
                _trace(progress)
        manifest, now = session.engine.manifest, time.time()
        if manifest.version == self._version_seen:
            return
        for view, log in manifest.changelogs.items():
            fresh = [p for p in log if p.version > self._version_seen and not p.level]
            if self._version_seen >= 0 and fresh:
                rows = sum(ref.statistics.rows for p in fresh for ref in p.refs)
                self._published.labels(view).inc(rows)
            if fresh:
                self._committed.append((fresh[-1].version, now))
        self._version_seen = manifest.version

    def waiting_since(self, version: int) -> float | None:
        """When something came first that whoever has come to a version has not had."""
        return next((when for number, when in self._committed if number > version), None)


def _trace(progress: dict[str, Any]) -> None:
    """A step as a span; nothing where the program has set up no OpenTelemetry SDK."""
    end = time.time_ns()
    start = end - int(1e9 * sum(progress["seconds"].values()))
    span = trace.get_tracer("penstock").start_span("penstock step", start_time=start)
    span.set_attribute("penstock.version", progress["version"])
    for what, seconds in progress["seconds"].items():
        span.set_attribute(f"penstock.seconds.{what}", seconds)
    span.end(end)


class OfSession(Collector):
    """What the session knows when it is asked."""

    def __init__(self, service: Service, metrics: Metrics) -> None:
        self._service, self._metrics = service, metrics

    def describe(self) -> list[Metric]:
        return []

    def collect(self) -> Iterator[Metric]:
        yield _gauge("penstock_info", "The version of Penstock", ["version"], [([__version__], 1)])
        reasons = self._service.not_ready()
        yield _gauge("penstock_ready", "1 if /readyz says so", [], [([], int(not reasons))])
        if self._service.not_open:
            return
        session = self._service.session
        yield from self._of_time(session)
        yield from _of_sources(session)
        yield from _of_state(session)
        yield from self._of_sinks(session)
        yield from self._of_subscribers()

    def _of_time(self, session: Session) -> Iterator[Metric]:
        frontier = session.frontier
        yield _gauge(
            "penstock_version", "The last commit", [], [([], session.engine.manifest.version)]
        )
        yield _gauge(
            "penstock_failed", "Parts that do not go on", [], [([], len(session.failures()))]
        )
        if BEGIN < frontier < INF:
            yield _gauge("penstock_frontier", "All before is complete", [], [([], frontier)])
            if pa.types.is_timestamp(event_time(session.engine)):
                lag = time.time() - frontier / 1e6
                yield _gauge(
                    "penstock_frontier_lag_seconds",
                    "How far the frontier is behind the clock",
                    [],
                    [([], lag)],
                )

    def _of_sinks(self, session: Session) -> Iterator[Metric]:
        found, now = [], time.time()
        for name, sink in session.engine.manifest.sinks.items():
            since = self._metrics.waiting_since(sink.version)
            behind = sink.version < session.engine.manifest.version and since is not None
            found.append(([name], now - since if behind and since is not None else 0.0))
        yield _gauge(
            "penstock_sink_delay_seconds",
            "For how long something has been waiting for a sink",
            ["sink"],
            found,
        )

    def _of_subscribers(self) -> Iterator[Metric]:
        feeds = self._service.followed
        following = {} if feeds is None else feeds.subscribers
        yield _gauge(
            "penstock_subscribers",
            "Who follows a view",
            ["view"],
            [([view], count) for view, count in following.items()],
        )
        yield _counter(
            "penstock_subscribers_dropped",
            "Subscriptions that ended by a problem",
            ["condition"],
            [([c], n) for c, n in ({} if feeds is None else feeds.dropped).items()],
        )
        yield _counter(
            "penstock_messages_delivered",
            "Messages that subscribers were sent",
            ["view"],
            [([v], n) for v, n in ({} if feeds is None else feeds.delivered).items()],
        )


def _of_sources(session: Session) -> Iterator[Metric]:
    engine = session.engine
    states = {
        name: engine.source_state(name) for name, s in engine.sources.items() if not s.is_table
    }
    yield _counter(
        "penstock_source_rows_in",
        "Rows that were accepted",
        ["source"],
        [([name], state.accepted) for name, state in states.items()],
    )
    yield _counter(
        "penstock_source_late_rows",
        "Rows that came too late, or without a time",
        ["source"],
        [([name], state.late) for name, state in states.items()],
    )
    yield _counter(
        "penstock_source_rejected_rows",
        "Records that could not be taken, and rows that a punctuation had ruled out",
        ["source"],
        [([name], state.rejected + state.broken) for name, state in states.items()],
    )
    if pa.types.is_timestamp(event_time(engine)):
        now = time.time()
        yield _gauge(
            "penstock_source_frontier_lag_seconds",
            "How far a source that is not idle is behind the clock",
            ["source"],
            [
                ([name], now - state.frontier / 1e6)
                for name, state in states.items()
                if BEGIN < state.frontier < INF and not state.idle
            ],
        )


def _of_state(session: Session) -> Iterator[Metric]:
    last = session.last_progress or {"state": {}, "kept": {}}
    state_tables = {**last["state"], **last["kept"]}
    for what, told in (("bytes", "Bytes"), ("rows", "Rows")):
        yield _gauge(
            f"penstock_state_{what}",
            f"{told} that an operator, a view or a source keeps",
            ["operator"],
            [([name], held[what]) for name, held in state_tables.items()],
        )
    operators = session.metrics()["operators"]
    for way, told in (("in", "into"), ("out", "out of")):
        yield _counter(
            f"penstock_operator_rows_{way}",
            f"Rows {told} an operator since the service started",
            ["operator"],
            [
                ([name], counts[f"positive_{way}"] + counts[f"negative_{way}"])
                for name, counts in operators.items()
            ],
        )


def _gauge(
    name: str, help: str, labels: list[str], values: list[tuple[list[str], float]]
) -> Metric:
    family = GaugeMetricFamily(name, help, labels=labels)
    for label, value in values:
        family.add_metric(label, value)
    return family


def _counter(
    name: str, help: str, labels: list[str], values: list[tuple[list[str], float]]
) -> Metric:
    family = CounterMetricFamily(name, help, labels=labels)
    for label, value in values:
        family.add_metric(label, value)
    return family


class Requests:
    """Counts requests by the path as it is declared, so that there are few."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, started = 500, time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, noted)
        finally:
            path = getattr(scope.get("route"), "path", "other")
            self._metrics.requests.labels(scope["method"], path, status).inc()
            if not path.endswith("/subscribe"):
                seconds = time.perf_counter() - started
                self._metrics.request_seconds.labels(path).observe(seconds)
