"""Pairs of a view and a query, from the files of the folder, and a session to try them in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.local_session import local_session

FOLDER = Path(__file__).parent / "cases"
OBJECTS = """
CREATE SOURCE readings
  (room STRING, kind STRING, temp INT, level INT, x DOUBLE, ends BIGINT, t INT) EVENT TIME t;
CREATE SOURCE alarms (room STRING, level INT, t INT) EVENT TIME t;
CREATE SOURCE marks (n INT, t INT) EVENT TIME t;
CREATE STREAM room_temp OVER readings KEY (room);
CREATE VIEW sync2 AS SELECT timepoint FROM clock WHERE timepoint % 2 = 0;
CREATE VIEW sync3 AS SELECT timepoint FROM clock WHERE timepoint % 3 = 0;
CREATE VIEW sync4 AS SELECT timepoint FROM clock WHERE timepoint % 4 = 0;
CREATE VIEW odd AS SELECT timepoint FROM clock WHERE timepoint % 2 = 1;
CREATE VIEW sync2_or_3 AS SELECT timepoint FROM clock WHERE timepoint % 2 = 0 OR timepoint % 3 = 0;
CREATE VIEW mark_sync AS SELECT t FROM marks;
CREATE VIEW high_sync AS SELECT t FROM marks WHERE n > 3;
"""
ROOMS = [("a", 1), ("b", 1), ("c", 2), (None, 3)]


@dataclass(frozen=True)
class Case:
    file: str
    title: str
    view: str
    query: str
    told: str

    @property
    def is_match(self) -> bool:
        return self.told.startswith("Answered from") and "no view" not in self.told

    @property
    def name(self) -> str:
        """Of the view."""
        return self.view.split()[2]

    def __str__(self) -> str:
        return f"{self.file}: {self.title}"


def cases() -> Iterator[Case]:
    for path in sorted(FOLDER.glob("*.sql")):
        for block in path.read_text().split("\n\n"):
            lines = block.strip().split("\n")
            told = "\n".join(line[2:] for line in lines if line.startswith("> "))
            title, view, query = lines[0].removeprefix("-- "), lines[1], lines[2]
            yield Case(path.stem, title, view, query.removeprefix("EXPLAIN SHARING "), told)


def opened(path: Path, sharing: bool = True) -> Session:
    db = local_session(path, Options(tasks=2, sharing=sharing, unbounded="allow"))
    schema = pa.schema([("room", pa.string()), ("floor", pa.int32())])
    db.create_table("rooms", ROOMS, schema)
    db.sql(OBJECTS)
    return db


def random_rows(rng: Random, count: int) -> dict[str, list[tuple[Any, ...]]]:
    """Rows of all sources in the order of time, with NULLs, ties and equal rows."""

    def some(*values: Any) -> Any:
        return rng.choice((*values, None))

    readings = [
        (
            some("a", "b", "c"),
            some("a", "b", "c"),
            some(0, 3, 4, 5, 6, 80, 81, 90, 100, 101),
            some(0, 3, 4, 9, 20),
            some(0.1, 0.2, 1.5, -0.0, 0.0),
            some(2, 5, 8, 12, 20),
            t // 2,
        )
        for t in range(count)
    ]
    alarms = [(some("a", "b", "c"), some(1, 3, 4, 5), t // 2) for t in range(count // 2)]
    marks = [(rng.choice((1, 3, 4)), t) for t in sorted(rng.sample(range(count // 2), 6))]
    return {"readings": readings, "alarms": alarms, "marks": marks}
