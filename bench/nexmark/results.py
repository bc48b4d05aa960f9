"""What was measured so far, in a file: a long run can be broken off and continued."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """A run of a query: its times in seconds and memory in bytes, or why it failed.

    One that took too long was broken off after `seconds`, when it had held `memory` at most and, if
    that is known, `part` of the events were through. `load` is how many processes wanted the
    machine when it began, `processors` the seconds that they worked on it, all together.
    """

    engine: str
    query: str
    events: int
    files: int
    startup: float = 0.0
    seconds: float = 0.0
    memory: int = 0
    error: str = ""
    load: float = 0.0
    processors: float = 0.0
    part: float = 1.0

    @property
    def rate(self) -> float:
        """Events a second; until it was broken off, or at most."""
        return self.events * self.part / self.seconds if self.seconds else 0.0

    @property
    def work(self) -> float:
        """Seconds of a processor for a million events."""
        return self.processors * 1e6 / self.events

    @property
    def broken_off(self) -> bool:
        return bool(self.error) and self.seconds > 0

    def bounded(self, sign: str) -> str:
        """A sign before what is only a bound, or a rate of a part."""
        if not self.broken_off:
            return ""
        return f"{sign} " if self.part == 1 else "~ "


@dataclass
class Results:
    path: Path
    about: dict[str, Any] = field(default_factory=dict)
    runs: list[Outcome] = field(default_factory=list)
    growth: list[Outcome] = field(default_factory=list)
    latency: list[dict[str, Any]] = field(default_factory=list)
    profiles: dict[str, dict[str, Any]] = field(default_factory=dict)

    @staticmethod
    def read(path: Path) -> Results:
        if not path.exists():
            return Results(path)
        data = json.loads(path.read_text())
        for name in ("runs", "growth"):
            data[name] = [Outcome(**each) for each in data[name]]
        return Results(path, **data)

    def write(self) -> None:
        data = {name: value for name, value in asdict(self).items() if name != "path"}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".draft")
        draft.write_text(json.dumps(data, indent=1))
        os.replace(draft, self.path)

    def of(self, engine: str, query: str, events: int) -> list[Outcome]:
        return [
            run
            for run in self.runs
            if (run.engine, run.query, run.events) == (engine, query, events)
        ]

    def forget(self, engines: Iterable[str], queries: Iterable[str], events: int) -> None:
        gone = {(engine, query, events) for engine in engines for query in queries}
        self.runs = [run for run in self.runs if (run.engine, run.query, run.events) not in gone]

    def best(self, engine: str, query: str, events: int) -> Outcome | None:
        """The fastest run; one that failed only where none did not."""
        found = self.of(engine, query, events)
        return min(found, key=lambda run: (bool(run.error), -run.rate), default=None)

    def slowest(self, engine: str, queries: Iterable[str], events: int) -> list[str]:
        """Those of the queries that were run to their end, the slowest first."""
        best = (self.best(engine, query, events) for query in queries)
        ended = [run for run in best if run and not run.error]
        return [run.query for run in sorted(ended, key=lambda run: run.rate)]

    def sizes(self) -> Iterator[int]:
        """How many events were measured, the largest first."""
        yield from sorted({run.events for run in self.runs}, reverse=True)
