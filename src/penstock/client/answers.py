"""What a service answers, as values. Times are integers or ISO 8601, as in the API."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, TypeAlias, TypeVar

Row: TypeAlias = dict[str, Any]
Time: TypeAlias = str | int | None
T = TypeVar("T")


@dataclass(frozen=True)
class SourceInfo:
    """What a source is, and how far it has come."""

    name: str
    kind: str
    event_time: str | None
    frontier: Time
    accepted: int
    late: int
    rejected: int
    idle: bool
    ended: bool


@dataclass(frozen=True)
class ViewInfo:
    """`position` is where to follow the changes from that come from now on."""

    name: str
    key: list[str] | None
    sql: str
    version: int
    frontier: Time
    oldest: Time
    position: str
    failed: str | None


@dataclass(frozen=True)
class Status:
    """How far the service has come; `failures` are what does not go on."""

    version: int
    frontier: Time
    running: bool
    failures: Mapping[str, str]


@dataclass(frozen=True)
class Appended:
    """What became of a batch; of a `duplicate` nothing was received again."""

    accepted: int
    late: int
    rejected: int
    duplicate: bool
    reasons: list[str]
    version: int


@dataclass(frozen=True)
class Rows:
    """The rows of an answer; a statement without rows has a message."""

    rows: Sequence[Row]
    message: str = ""
    position: str | None = None
    frontier: Time = None


@dataclass(frozen=True)
class Page:
    """Changes up to a position; `complete` where no others are out yet."""

    rows: Sequence[Row]
    position: str
    frontier: Time
    complete: bool


@dataclass(frozen=True)
class Snapshot:
    """All rows of a view, at a position."""

    rows: Sequence[Row]
    position: str
    version: int
    frontier: Time


@dataclass(frozen=True)
class Changes:
    """The changes after the last position and up to this one, in the order of their times."""

    changes: Sequence[Row]
    position: str
    version: int
    frontier: Time


@dataclass(frozen=True)
class Progress:
    """Nothing has changed up to this position."""

    position: str
    version: int
    frontier: Time


Update: TypeAlias = Snapshot | Changes | Progress


def of(kind: type[T], values: Mapping[str, Any]) -> T:
    """A value of what a service has told; what this client does not know is left out."""
    known = {field.name for field in fields(kind)}  # type: ignore[arg-type]
    return kind(**{name: value for name, value in values.items() if name in known})
