"""Event times as users write and see them; everywhere else a time is an integer."""

from __future__ import annotations

import time
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import TypeAlias

import pyarrow as pa

from penstock.element import BEGIN, INF
from penstock.errors import PlanError, brief
from penstock.ingest.sources import SourceDefinition

Time: TypeAlias = int | datetime | date

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TICK = timedelta(microseconds=1)


def now() -> int:
    """The time of the clock, in microseconds."""
    return time.time_ns() // 1000


def time_types(sources: Iterable[SourceDefinition]) -> set[pa.DataType]:
    """How event times are shown: as timestamps, or as the integers they are. Tables have none."""
    kinds = [s.schema.field(s.time).type for s in sources if s.time is not None]
    return {
        pa.int64() if pa.types.is_integer(kind) else pa.timestamp("us", tz="UTC") for kind in kinds
    }


def time_of(sources: Iterable[SourceDefinition]) -> pa.DataType:
    """The kind of time that all sources of a pipeline share."""
    return next(iter(time_types(sources)), pa.int64())


def ticks(t: Time) -> int:
    """A time as an integer; a datetime without a time zone is in UTC."""
    if isinstance(t, datetime):
        return ((t if t.tzinfo is not None else t.replace(tzinfo=UTC)) - _EPOCH) // _TICK
    if isinstance(t, date):
        return ticks(datetime(t.year, t.month, t.day))
    if not -INF <= t <= INF:
        raise PlanError(f"{brief(t)} is no time: times are integers of 64 bits, or datetimes")
    return int(t)


def parsed(text: str, kind: pa.DataType) -> int:
    """The time that a text stands for, in a pipeline with this kind of time."""
    try:
        return int(text)
    except ValueError:
        pass
    try:
        if pa.types.is_timestamp(kind):
            return ticks(datetime.fromisoformat(text))
    except ValueError:
        pass
    expected = "an integer" if pa.types.is_integer(kind) else "one like 2026-01-31 12:00:00"
    raise PlanError(f"{text!r} is not a time; expected {expected}")


def shown(t: int, kind: pa.DataType) -> str:
    """A time as users read it."""
    if t in (BEGIN, INF):
        return "the beginning of time" if t == BEGIN else "the end of time"
    try:
        return str(t) if pa.types.is_integer(kind) else str(_EPOCH + t * _TICK)
    except OverflowError:
        return str(t)
