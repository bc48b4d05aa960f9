"""Days of a time zone: where they begin, whatever its clocks do.

A day begins at its midnight, or at its first moment where the clocks skip midnight, or come to it
twice. Days are counted from 1970-01-01 on, so those whose number is a multiple of 7 are Thursdays.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from penstock.errors import UnsupportedError
from penstock.kinds import kind

Ints: TypeAlias = npt.NDArray[np.int64]

DAY = 86_400_000_000
UTC = "UTC"
_EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
_CYCLE = 146_097  # days in 400 years, after which the calendar repeats itself
_FIRST, _LAST = -719_162, 2_932_896  # the years 1 to 9999
_OFFSET = re.compile(r"(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?([0-5]\d))?(?::?([0-5]\d))?")
_FARTHEST = 1 << 62


@kind("midnights")
@dataclass(frozen=True)
class Midnights:
    """The beginnings of every so many days of a time zone, as points in time."""

    days: int
    zone: str

    @property
    def longest(self) -> int:
        """More than what is between two of them: a zone may move its clocks by up to a day."""
        return (self.days + 1) * DAY

    def describe(self) -> str:
        return f"every {self.days} days of {self.zone}"

    def at_or_before(self, time: Ints) -> Ints:
        return self._each(time, lambda t: starts(_group(t, self), self.zone))

    def latest(self, time: int) -> int:
        return int(self.at_or_before(np.array([time]))[0])

    def at_or_after(self, time: Ints) -> Ints:
        def found(t: Ints) -> Ints:
            group = _group(t, self)
            here = starts(group, self.zone)
            return np.where(here == t, here, starts(group + self.days, self.zone))

        return self._each(time, found)

    def after(self, time: Ints) -> Ints:
        return self._each(time, lambda t: starts(_group(t, self) + self.days, self.zone))

    def _each(self, time: Ints, find: Callable[[Ints], Ints]) -> Ints:
        """Of the beginning and the end of time there are no days."""
        known = np.abs(np.clip(time, -_FARTHEST, _FARTHEST)) < _FARTHEST
        result = time.copy()
        result[known] = find(time[known])
        return result


def starts(days: Ints, zone: str) -> Ints:
    """When days begin."""
    distinct, place = np.unique(days, return_inverse=True)
    times = np.array([_start(day, zone) for day in distinct.tolist()], dtype=np.int64)
    return times[place] if len(distinct) else days


def _group(time: Ints, points: Midnights) -> Ints:
    """The last of the days that begins at or before each time."""
    day = time // DAY - 1  # in no zone is it two days from what it is in UTC
    day = day + (starts(day + 1, points.zone) <= time) + (starts(day + 2, points.zone) <= time)
    return day - day % points.days


@lru_cache(maxsize=1 << 16)
def _start(day: int, zone: str) -> int:
    cycles = 0
    if not _FIRST <= day <= _LAST:
        cycles = -(-(_FIRST - day) // _CYCLE) if day < _FIRST else (_LAST - day) // _CYCLE
    date = dt.date(1970, 1, 1) + dt.timedelta(days=day + cycles * _CYCLE)
    midnight = dt.datetime(date.year, date.month, date.day, tzinfo=zone_named(zone))
    return (midnight - _EPOCH) // dt.timedelta(microseconds=1) - cycles * _CYCLE * DAY


@lru_cache
def zone_named(name: str) -> dt.tzinfo:
    """A time zone as Spark names it: by its region, or by how far it is from UTC."""
    if name == "Z":
        return dt.UTC
    if found := _OFFSET.fullmatch(name):
        hours, minutes, seconds = (int(found[i] or 0) for i in (2, 3, 4))
        length = dt.timedelta(hours=hours, minutes=minutes, seconds=seconds)
        if length <= dt.timedelta(hours=18):
            return dt.timezone(length if found[1] == "+" else -length)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise UnsupportedError(
            f"Time zone {name!r} is not known here, so its days are not. Set "
            "spark.sql.session.timeZone to the name of a region, such as Europe/Paris."
        ) from None
