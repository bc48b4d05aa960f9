"""Random relations for random queries: tables, append-only streams and keyed streams of changes.

Values come from small domains and are NULL often, so that joins match, groups have several rows and
records have duplicates. Every stream can say what it is at a time, in rows: that is what another
engine is given in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from random import Random
from typing import Any, Literal, TypeAlias

Row: TypeAlias = tuple[Any, ...]

HORIZON = 12
"""The last time at which a row comes."""

DECIMAL = "DECIMAL(8,2)"
DOMAINS: dict[str, tuple[Any, ...]] = {
    "INT": (-1, 0, 1, 2, 3),
    "BIGINT": (0, 1, 2, 5),
    "STRING": ("", "a", "b", "ab", "B"),
    "BOOLEAN": (False, True),
    "DOUBLE": (-1.5, 0.0, 0.5, 2.0),  # sums of these are exact in any order
    DECIMAL: (Decimal("-1.50"), Decimal("0.00"), Decimal("0.25"), Decimal("2.00")),
    "DATE": (date(2020, 2, 28), date(2020, 2, 29), date(2021, 1, 1)),
}
POOL = (
    *(("i", "INT"), ("j", "INT"), ("n", "BIGINT"), ("s", "STRING"), ("u", "STRING")),
    *(("b", "BOOLEAN"), ("x", "DOUBLE"), ("d", DECIMAL), ("day", "DATE")),
)
TIME = ("tick", "BIGINT")


@dataclass(frozen=True)
class Column:
    """A column of a random relation, with the kind of its values."""

    name: str
    kind: str


@dataclass(frozen=True)
class Window:
    """A window as it is written after a stream's name, with `[`; `name` says it in a word."""

    kind: Literal["range", "fixed", "now", "rows", "unbounded"]
    size: int = 0

    @property
    def name(self) -> str:
        return f"{self.kind}_{self.size}"

    def __str__(self) -> str:
        return f"[{self.kind.upper()}{f' {self.size}' if self.size else ''}]"

    def rows(self, rows: Sequence[Row], times: Sequence[int], t: int) -> list[Row]:
        """The rows that are valid at a time, of rows that came at these times, in their order."""
        if self.kind == "rows":
            return [row for row, at in zip(rows, times, strict=True) if at <= t][-self.size :]
        ends = [self._end(at) for at in times]
        pairs = zip(rows, times, ends, strict=True)
        return [row for row, at, end in pairs if at <= t and (end is None or t < end)]

    def _end(self, at: int) -> int | None:
        match self.kind:
            case "range":
                return at + self.size
            case "fixed":
                return (at // self.size + 1) * self.size
            case "now":
                return at + 1
        return None


UNBOUNDED = Window("unbounded")
WINDOWS = (
    *(UNBOUNDED, Window("now"), Window("range", 3), Window("range", 5)),
    *(Window("fixed", 4), Window("rows", 2), Window("rows", 4)),
)


@dataclass(frozen=True)
class Table:
    """Rows that are valid for all time."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    windows: tuple[Window, ...] = ()

    def at(self, t: int, window: Window = UNBOUNDED) -> list[Row]:
        return list(self.rows)


@dataclass(frozen=True)
class AppendOnly:
    """Rows in the order of their times, which are unique and the last column."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    windows: tuple[Window, ...] = WINDOWS

    def at(self, t: int, window: Window = UNBOUNDED) -> list[Row]:
        return window.rows(self.rows, [row[-1] for row in self.rows], t)


@dataclass(frozen=True)
class Keyed:
    """Changes, in the order of their times: the operation, and a row.

    The first columns of a row, as many as `keys` says, are its key; the last is its time. No key
    changes twice at a time.
    """

    name: str
    columns: tuple[Column, ...]
    changes: tuple[tuple[str, Row], ...]
    keys: int = 1
    windows: tuple[Window, ...] = ()

    def at(self, t: int, window: Window = UNBOUNDED) -> list[Row]:
        there: dict[Row, Row] = {}
        for op, row in self.changes:
            if row[-1] <= t:
                there.pop(row[: self.keys], None)
                if op != "-":
                    there[row[: self.keys]] = row
        return list(there.values())


Input: TypeAlias = Table | AppendOnly | Keyed


def random_inputs(rng: Random) -> list[Input]:
    """Two to four relations, one of them a stream of changes."""
    makers = [
        _keyed,
        *(rng.choice((_keyed, _append_only, _table)) for _ in range(rng.randint(1, 3))),
    ]
    return [make(rng, f"r{i}") for i, make in enumerate(makers)]


def random_value(rng: Random, kind: str) -> Any:
    return None if rng.random() < 0.15 else rng.choice(DOMAINS[kind])


def _columns(rng: Random, fewest: int) -> list[Column]:
    chosen = rng.sample(POOL, rng.randint(fewest, 5))
    return [Column(*pair) for pair in POOL if pair in chosen]


def _row(rng: Random, columns: Sequence[Column]) -> Row:
    return tuple(random_value(rng, column.kind) for column in columns)


def _table(rng: Random, name: str) -> Table:
    columns = _columns(rng, 2)
    rows = rng.choice((0, 3, 5, 7, 9))
    return Table(name, tuple(columns), tuple(_row(rng, columns) for _ in range(rows)))


def _append_only(rng: Random, name: str) -> AppendOnly:
    columns = _columns(rng, 1)
    times = sorted(rng.sample(range(HORIZON + 1), rng.randint(3, HORIZON)))
    rows = tuple((*_row(rng, columns), at) for at in times)
    return AppendOnly(name, (*columns, Column(*TIME)), rows)


def _keyed(rng: Random, name: str) -> Keyed:
    """The key may be NULL: that is a key like any other."""
    columns = [Column("k", rng.choice(("INT", "STRING"))), *_columns(rng, 1)]
    changes: list[tuple[str, Row]] = []
    there: set[Any] = set()
    domain = (None, *DOMAINS[columns[0].kind])
    for at in range(HORIZON + 1):
        for key in rng.sample(domain, rng.choice((0, 1, 1, 2, 3))):
            goes = key in there and rng.random() < 0.25
            op = "-" if goes else "u" if key in there else "+"
            there = there - {key} if goes else there | {key}
            changes.append((op, (key, *_row(rng, columns[1:]), at)))
    return Keyed(name, (*columns, Column(*TIME)), tuple(changes))
