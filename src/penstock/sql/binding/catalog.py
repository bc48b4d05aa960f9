"""What names stand for: the objects that queries read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from penstock.algebra.calendar import Midnights
from penstock.algebra.expr import Literal
from penstock.algebra.plan import Node, Periodic, TimePoints
from penstock.kinds import kind

ONE_ROW = "one row"
CLOCKS = ("clock", "clockstr")

Point: TypeAlias = Periodic | TimePoints | Midnights | Node


@dataclass(frozen=True)
class Relation:
    """A source, stream, table or view that a query can read.

    `time` is the column with the event time of its rows, which queries may call TS; a hidden one
    is not among the columns of `*`.
    """

    kind: str
    plan: Node
    time: str | None = None
    hidden: frozenset[str] = frozenset()

    @property
    def columns(self) -> list[str]:
        return [name for name in self.plan.schema.names if name not in self.hidden]


@kind("sync points")
@dataclass(frozen=True)
class SyncPoints:
    """Points in time: those of any of the parts, by arithmetic on the clock or by events."""

    parts: tuple[Point, ...]


@kind("moment")
@dataclass(frozen=True)
class Moment:
    """A relation of one row: constants, and the current time where a column has none.

    With points, the time is that of the latest of them.
    """

    columns: tuple[tuple[str, Literal | None], ...]
    points: tuple[Point, ...] = ()


Entry: TypeAlias = Relation | SyncPoints | Moment


def is_constant(name: str) -> bool:
    """Whether a table was made for a VALUES, or for a query without FROM."""
    return name == ONE_ROW or "VALUES (" in name


@dataclass(frozen=True)
class Catalog:
    """All names, in the spelling they were created in, and the kind of time of the pipeline."""

    entries: Mapping[str, Entry]
    time: pa.DataType | None = None

    def find(self, name: str) -> tuple[str, Entry] | None:
        if name in self.entries:
            return name, self.entries[name]
        for known, entry in self.entries.items():
            if known.lower() == name.lower():
                return known, entry
        return None

    @property
    def readable(self) -> list[str]:
        """What can stand in a FROM, but for the rows of a VALUES, which are written there."""
        relations = [name for name, entry in self.entries.items() if isinstance(entry, Relation)]
        return [name for name in relations if not is_constant(name)]

    @property
    def integer_time(self) -> bool:
        return self.time is not None and pa.types.is_integer(self.time)
