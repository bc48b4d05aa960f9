"""What statements define beside sources and views, as it is kept in the log."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.kinds import kind
from penstock.punctuation.schemes import Punctuated
from penstock.sql.binding.catalog import Moment, SyncPoints


@kind("stream")
@dataclass(frozen=True)
class StreamDefinition(Punctuated):
    """A tagged stream over a source; without a key every row is an insert."""

    key: tuple[str, ...]
    operation: str | None
    text: str
    sequence: str | None = None

    @property
    def operations(self) -> tuple[str, ...]:
        return () if self.operation is None else (self.operation,)


@kind("clock view")
@dataclass(frozen=True)
class ClockView:
    """A view over the clock: points in time, or the latest of them."""

    points: SyncPoints | Moment
    text: str
