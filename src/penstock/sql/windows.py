"""Lengths of time and the windows made of them, as they are written after a stream's name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from penstock.sql.text import NOWHERE, Name, Span

MICROSECONDS = {
    "MICROSECOND": 1,
    "MILLISECOND": 1_000,
    "SECOND": 1_000_000,
    "MINUTE": 60_000_000,
    "HOUR": 3_600_000_000,
    "DAY": 86_400_000_000,
    "WEEK": 604_800_000_000,
}
UNITS = {name: size for unit, size in MICROSECONDS.items() for name in (unit, f"{unit}S")}
UNITS_WITHOUT_LENGTH = ("MONTH", "MONTHS", "QUARTER", "QUARTERS", "YEAR", "YEARS")
LONGEST = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Duration:
    """A length of time: in microseconds, or in ticks where time is plain integers."""

    length: int
    ticks: bool = False

    def __str__(self) -> str:
        if self.ticks:
            return str(self.length)
        unit, size = next(
            (unit, size)
            for unit, size in reversed(MICROSECONDS.items())
            if self.length % size == 0 and (self.length or unit == "SECOND")
        )
        count = self.length // size
        return f"{count} {unit}" if count == 1 else f"{count} {unit}S"


NO_TIME = Duration(0, ticks=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Window:
    span: Span = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class RangeWindow(_Window):
    """Each row for `size`; with `slide`, refreshed only at its multiples."""

    size: Duration
    slide: Duration | None = None


@dataclass(frozen=True, slots=True)
class FixedWindow(_Window):
    """Each row until the next multiple of `size`."""

    size: Duration


@dataclass(frozen=True, slots=True)
class RowsWindow(_Window):
    """The latest rows, or the latest rows of each partition."""

    rows: int
    partition: tuple[Name, ...] = ()


@dataclass(frozen=True, slots=True)
class NowWindow(_Window):
    """Each row at the one time that it carries."""


@dataclass(frozen=True, slots=True)
class UnboundedWindow(_Window):
    """Each row from its time on."""


Window: TypeAlias = RangeWindow | FixedWindow | RowsWindow | NowWindow | UnboundedWindow
