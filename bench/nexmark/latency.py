"""How long it takes from the arrival of an event until its change can be read.

Files are made beforehand and appended to the sources at a fixed rate, with event time going as fast
as the clock; one that has to wait for its turn has arrived all the same. A session steps in the
background. A change can be read when the frontier that is committed with it has passed its event.
"""

from __future__ import annotations

import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from bench.nexmark.comparing import Files, outcome, say
from bench.nexmark.engines import PENSTOCK
from bench.nexmark.generate import Settings, events
from bench.nexmark.penstock_run import define, run
from penstock.record import numpy
from penstock.runtime.spark import start_spark
from penstock.session import Session, connect

INTERVAL = 0.25
BEFORE = 8  # files that must be through before the others come at their rate
WARM = 5.0

Floats = npt.NDArray[np.float64]


def measure_latency(query: str, size: int, files: Files, seconds: float) -> dict[str, Any]:
    """At half of the rate that is reached over `size` events."""
    most = outcome(PENSTOCK, query, size, files, timeout=1800)
    if most.error:
        raise SystemExit(f"{query}: {most.error}")
    rate = int(most.rate / 2)
    with tempfile.TemporaryDirectory(prefix="nexmark-") as directory:
        waited = feed_and_watch(query, rate, seconds, Path(directory), files.warm(False))
    p50, p99 = np.quantile(waited, [0.5, 0.99])
    say(f"{query}: {rate:,} events/s, p50 {p50:.2f} s, p99 {p99:.2f} s, most {waited.max():.2f} s")
    found = {"p50": float(p50), "p99": float(p99), "most": float(waited.max())}
    return {"query": query, "rate": rate, "interval": INTERVAL, **found}


@dataclass
class Arrivals:
    """The event times of each file, and when it arrived."""

    times: list[npt.NDArray[np.int64]] = field(default_factory=list)
    arrived: list[float] = field(default_factory=list)


def feed_and_watch(query: str, rate: int, seconds: float, directory: Path, warm: Path) -> Floats:
    """How long each event waited, but for those of the first seconds."""
    spark = start_spark("local[2]")
    run(query, warm, spark)
    with connect(directory / "state", spark, keep_input=False, unbounded="allow") as db:
        sources = define(db, query)
        staged = prepare(directory / "staged", sources, rate, seconds + WARM + BEFORE * INTERVAL)
        watch = Watch(db)
        db.start()
        first = bring(staged[:BEFORE], db)
        if not db.await_frontier(int(first.times[-2].max()), timeout=120):
            raise SystemExit(f"{query}: nothing came out of the first files")
        watch.start()
        arrivals = bring(staged[BEFORE:], db)
        db.await_frontier(int(arrivals.times[-2].max()), timeout=60)
        watch.stop()
    return waits(arrivals, watch)


def prepare(directory: Path, kinds: list[str], rate: int, seconds: float) -> list[dict[str, Path]]:
    """The files of every interval, by kind."""
    settings, each = Settings(rate=rate), max(50, int(rate * INTERVAL))
    staged = []
    for i in range(int(seconds / INTERVAL)):
        made = {}
        for kind, table in events(i * each, (i + 1) * each, settings, kinds).items():
            path = directory / kind / f"{i:05}.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table, path)
            made[kind] = path
        staged.append(made)
    return staged


def bring(staged: list[dict[str, Path]], db: Session) -> Arrivals:
    arrivals = Arrivals(
        [np.concatenate([_times(path) for path in made.values()]) for made in staged]
    )
    begun = time.monotonic()
    for i, made in enumerate(staged):
        arrived = begun + i * INTERVAL
        time.sleep(max(0.0, arrived - time.monotonic()))
        for kind, path in made.items():
            db.source(kind).append(path)
        arrivals.arrived.append(arrived)
    return arrivals


def _times(path: Path) -> npt.NDArray[np.int64]:
    column = pq.read_table(path, columns=["dateTime"]).column(0)
    return numpy(column.cast(pa.int64()).combine_chunks()).astype(np.int64)


class Watch:
    """Notes how far the frontier has come, every few milliseconds."""

    def __init__(self, db: Session) -> None:
        self._db = db
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.seen: list[tuple[int, float]] = []

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(0.005):
            frontier = self._db.frontier
            if not self.seen or frontier > self.seen[-1][0]:
                self.seen.append((frontier, time.monotonic()))


def waits(arrivals: Arrivals, watch: Watch) -> Floats:
    frontiers = np.array([frontier for frontier, _ in watch.seen])
    moments = np.array([moment for _, moment in watch.seen])
    found = []
    for times, arrived in zip(arrivals.times, arrivals.arrived, strict=True):
        if arrived - arrivals.arrived[0] >= WARM:
            first = np.searchsorted(frontiers, times, side="right")
            known = first < len(moments)
            found.append(moments[first[known]] - arrived)
    return np.concatenate(found)
