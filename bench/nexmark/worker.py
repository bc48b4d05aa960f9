"""What a process that runs a query is told, and what it tells when it is done.

It runs in the environment of its engine: nothing is imported here but what Python has.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

EVENTS = "events.json"
BEGUN = "begun"
"""The file beside the report that is there as soon as start-up is over."""
REACHED = "reached"
"""The file beside it that tells how much of the events a run has been through, if it knows."""
_PARENT, _TICKS = 1, slice(11, 15)


@dataclass
class Job:
    """A query over the files of `data`; `warm` has a few of the same kind, to warm up with.

    With `answers`, a folder, the rows of the answers to some queries are wanted rather than a time.
    """

    query: str
    data: Path
    warm: Path
    report: Path
    launched: float
    answers: Path | None = None
    told: dict[str, Any] = field(default_factory=dict)

    @staticmethod
    def of_arguments() -> Job:
        parser = argparse.ArgumentParser()
        parser.add_argument("query")
        for name in ("--data", "--warm", "--report"):
            parser.add_argument(name, type=Path, required=True)
        parser.add_argument("--answers", type=Path)
        parser.add_argument("--launched", type=float, required=True)
        return Job(**vars(parser.parse_args()))

    @contextmanager
    def timed(self) -> Iterator[None]:
        """What comes before is start-up."""
        begun, used = time.time(), processor_seconds()
        self._begin()
        yield
        self.told = {
            "startup": begun - self.launched,
            "seconds": time.time() - begun,
            "processors": processor_seconds() - used,
            **self.told,
        }

    def _begin(self) -> None:
        (self.report.parent / BEGUN).touch()

    def reach(self, part: float) -> None:
        """So much of the events has been through by now."""
        draft = self.report.parent / f"{REACHED}.draft"
        draft.write_text(repr(part))
        os.replace(draft, self.report.parent / REACHED)

    def finish(self, **more: Any) -> None:
        self.report.write_text(json.dumps({**self.told, **more}))

    def answer(self, rows_of: Callable[[str], list[list[Any]]]) -> None:
        """Write the rows of each query, with times as microseconds, or else what went wrong."""
        assert self.answers is not None
        self._begin()
        for query in self.query.split(","):
            try:
                told: Any = {"rows": rows_of(query)}
            except Exception as error:
                told = {"error": str(error)}
            (self.answers / f"{query}.json").write_text(json.dumps(told))


def family(process: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and (known := _known(entry)):
            children.setdefault(int(known[_PARENT]), []).append(int(entry.name))
    found = [process]
    for member in found:
        found += children.get(member, [])
    return found


def processor_seconds() -> float:
    """The time that processors have spent on this process and all below it, ended ones too."""
    known = [_known(Path(f"/proc/{member}")) for member in family(os.getpid())]
    ticks = sum(int(ticks) for each in known for ticks in each[_TICKS])
    return ticks / os.sysconf("SC_CLK_TCK")


def _known(process: Path) -> list[str]:
    """What the system tells of a process, behind its name; nothing of one that is gone."""
    try:
        return (process / "stat").read_text().rsplit(")", 1)[1].split()
    except OSError:
        return []


def count_of(data: Path, kind: str) -> int:
    """How many events of a kind the files hold."""
    counts: dict[str, int] = json.loads((data / EVENTS).read_text())
    return counts[kind]
