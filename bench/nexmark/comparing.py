"""Runs of queries through engines, one after the other; an outcome is kept at once."""

from __future__ import annotations

import os
import shutil
import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from itertools import product
from pathlib import Path

from bench.nexmark.data import WARM_EVENTS, WARM_FILES, made, place
from bench.nexmark.engines import PENSTOCK, Engine
from bench.nexmark.generate import Settings
from bench.nexmark.growing import STEPWISE
from bench.nexmark.measuring import RunError, TooSlowError, measure
from bench.nexmark.penstock_run import SYNCHRONIZED
from bench.nexmark.results import Outcome, Results

LONGEST = 3600.0


@dataclass(frozen=True)
class Files:
    """Where the files of a run are, and how many events each has."""

    directory: Path
    per_file: int

    def count(self, events: int) -> int:
        return max(1, events // self.per_file)

    def place(self, events: int) -> Path:
        return place(self.directory, events, self.count(events), Settings())

    def of(self, events: int, text: bool) -> Path:
        return made(self.directory, events, self.count(events), Settings(), text)

    def warm(self, text: bool) -> Path:
        return made(self.directory, WARM_EVENTS, WARM_FILES, Settings(), text)


def compare(
    results: Results,
    engines: Iterable[Engine],
    queries: Iterable[str],
    events: int,
    files: Files,
    repeat: int,
    timeout: float,
) -> None:
    """All engines take turns at a query, so that what else the machine does is shared by them."""
    for query in queries:
        for attempt in range(repeat):
            for engine in engines:
                if query in SYNCHRONIZED and engine is not PENSTOCK:
                    continue
                known = results.of(engine.name, query, events)
                failed = any(run.error for run in known)
                if query in engine.cannot or failed or len(known) > attempt:
                    continue
                results.runs.append(outcome(engine, query, events, files, timeout))
                results.write()


def outcome(
    engine: Engine,
    query: str,
    events: int,
    files: Files,
    timeout: float,
    warm: Path | None = None,
) -> Outcome:
    load = os.getloadavg()[0]
    found = Outcome(engine.name, query, events, files.count(events), load=load)
    data, warm = files.of(events, engine.text), warm or files.warm(engine.text)
    try:
        measured = measure(engine, query, data, warm, timeout)
        found = replace(found, **asdict(measured))
        what = f"{found.rate:>12,.0f} events/s {found.memory >> 20:>6,} MB"
    except TooSlowError as error:
        found = replace(found, **asdict(error.until), error=str(error))
        what = f"broken off: {error}"
    except RunError as error:
        found = replace(found, error=str(error))
        what = f"failed: {error}"
    say(f"{query:16} {engine.title:22} {what}")
    return found


def grow(
    results: Results, queries: Iterable[str], sizes: Iterable[int], files: Files, repeat: int
) -> None:
    """Penstock alone, step by step, over more and more events; before, over a middling number.

    It may take its time. Files that were not there before are deleted.
    """
    wanted, sizes = tuple(queries), sorted(sizes)
    there = {events for events in sizes if files.place(events).exists()}
    warm = files.of(sizes[len(sizes) // 2], False)
    known = Counter((run.query, run.events) for run in results.growth)
    for query, attempt, events in product(wanted, range(repeat), sizes):
        if known[query, events] <= attempt:
            results.growth.append(outcome(STEPWISE, query, events, files, LONGEST, warm))
            results.write()
    for events in set(sizes) - there:
        shutil.rmtree(files.place(events), ignore_errors=True)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
