"""Days begin where java.time's and zoneinfo's do, whatever the clocks of the zone do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from penstock.algebra.calendar import DAY, Midnights, starts, zone_named
from penstock.element import BEGIN, INF
from penstock.errors import UnsupportedError

HOUR = 3_600_000_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def micros(text: str) -> int:
    return (datetime.fromisoformat(text) - EPOCH) // timedelta(microseconds=1)


@pytest.mark.parametrize(
    ("zone", "time", "before", "after"),
    [
        # 23 and 25 hours
        ("America/New_York", "2024-03-10T12:00Z", "2024-03-10T05:00Z", "2024-03-11T04:00Z"),
        ("America/New_York", "2024-11-03T12:00Z", "2024-11-03T04:00Z", "2024-11-04T05:00Z"),
        # half an hour of summer
        ("Australia/Lord_Howe", "2024-04-06T20:00Z", "2024-04-06T13:00Z", "2024-04-07T13:30Z"),
        # midnight is skipped: the day begins at one; in autumn the hour before it comes twice
        ("Asia/Beirut", "2024-03-31T12:00Z", "2024-03-30T22:00Z", "2024-03-31T21:00Z"),
        # midnight comes twice: the day begins with the first
        ("America/Havana", "2024-11-03T12:00Z", "2024-11-03T04:00Z", "2024-11-04T05:00Z"),
        # a whole day is skipped
        ("Pacific/Apia", "2011-12-29T12:00Z", "2011-12-29T10:00Z", "2011-12-30T10:00Z"),
        ("Asia/Kolkata", "1969-12-31T18:30Z", "1969-12-31T18:30Z", "1970-01-01T18:30Z"),
        ("+05:30", "2024-01-01T00:00Z", "2023-12-31T18:30Z", "2024-01-01T18:30Z"),
    ],
)
def test_days_around_changes_of_clocks(zone: str, time: str, before: str, after: str) -> None:
    days, t = Midnights(1, zone), np.array([micros(time)])
    assert days.at_or_before(t).tolist() == [micros(before)]
    assert days.after(t).tolist() == [micros(after)]
    assert days.at_or_after(np.array([micros(before)])).tolist() == [micros(before)]


@pytest.mark.parametrize("zone", ["America/New_York", "Asia/Kolkata", "Pacific/Apia", "-03:00"])
def test_property_points_are_the_starts_of_days(zone: str) -> None:
    rng = Random(zone)
    t = np.array(sorted(rng.randrange(-(10**16), 10**17) for _ in range(2000)))
    for length in (1, 2, 7):
        days = Midnights(length, zone)
        before, at, after = days.at_or_before(t), days.at_or_after(t), days.after(t)
        assert np.all(before <= t)
        assert np.all(t <= at)
        assert np.all(t < after)
        assert np.all(after - before <= days.longest)
        assert np.all((at == before) | (at == after))
        assert np.array_equal(days.at_or_after(before), before)
        clocks = [datetime.fromtimestamp(x // 10**6, zone_named(zone)) for x in after.tolist()]
        assert all((c.hour, c.minute, c.second) < (3, 0, 0) for c in clocks)


def test_far_away_there_are_days_too() -> None:
    zone = ZoneInfo("America/New_York")
    far = np.array([4 * 10**17, -(10**18), 10**18, BEGIN, INF])
    after = Midnights(1, zone.key).after(far)
    assert after.tolist()[3:] == [BEGIN, INF]
    assert np.all(after[:3] - far[:3] <= DAY + HOUR)
    assert np.all(after[:3] > far[:3])
    assert np.all(np.diff(starts(np.arange(2_932_890, 2_932_910), zone.key)) == DAY)


def test_a_zone_that_is_not_known() -> None:
    with pytest.raises(UnsupportedError, match=r"'Mars/Olympus'.*name of a region"):
        zone_named("Mars/Olympus")
