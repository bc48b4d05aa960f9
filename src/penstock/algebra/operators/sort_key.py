from __future__ import annotations

from dataclasses import dataclass

from penstock.kinds import kind
from penstock.record import Direction


@kind("sort key")
@dataclass(frozen=True)
class SortKey:
    """A column to sort by, with its direction and the place of NULLs."""

    column: str
    descending: bool = False
    nulls_first: bool = True

    @property
    def direction(self) -> Direction:
        return Direction(self.descending, self.nulls_first)

    def describe(self) -> str:
        nulls = "" if self.nulls_first else " nulls last"
        return f"{self.column}{' desc' if self.descending else ''}{nulls}"
