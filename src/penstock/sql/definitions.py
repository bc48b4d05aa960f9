"""What statements define beside sources and views, as it is kept in the log."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.punctuation.schemes import Punctuated
from penstock.sql.binding.catalog import Moment, SyncPoints


@dataclass(frozen=True)
class StreamDefinition(Punctuated):
    """A tagged stream over a source; without a key every row is an insert."""

    key: tuple[str, ...]
    operation: str | None
    text: str


@dataclass(frozen=True)
class ClockView:
    """A view over the clock: points in time, or the latest of them."""

    points: SyncPoints | Moment
    text: str
