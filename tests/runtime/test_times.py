"""Event times as users write and see them."""

from datetime import UTC, date, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.element import BEGIN, INF
from penstock.errors import PlanError
from penstock.ingest.times import parsed, shown, ticks

INTEGER, TIMESTAMP = pa.int64(), pa.timestamp("us", tz="UTC")


@given(st.datetimes())
def test_no_microsecond_is_lost(t: datetime) -> None:
    assert datetime(1970, 1, 1) + timedelta(microseconds=ticks(t)) == t
    assert parsed(str(t), TIMESTAMP) == ticks(t)
    assert parsed(shown(ticks(t), TIMESTAMP), TIMESTAMP) == ticks(t)


def test_times_of_any_form() -> None:
    day = 86_400_000_000
    assert ticks(5) == 5
    assert ticks(date(1970, 1, 2)) == ticks(datetime(1970, 1, 2)) == day
    assert ticks(datetime(1970, 1, 2, 2, tzinfo=timezone(timedelta(hours=2)))) == day
    assert parsed("-7", INTEGER) == parsed("-7", TIMESTAMP) == -7
    assert parsed("1970-01-02", TIMESTAMP) == parsed("1970-01-02T02:00+02:00", TIMESTAMP) == day
    assert shown(5, INTEGER) == "5"
    assert shown(day, TIMESTAMP) == str(datetime(1970, 1, 2, tzinfo=UTC))
    assert shown(BEGIN, INTEGER) == "the beginning of time"
    assert shown(INF, TIMESTAMP) == "the end of time"
    assert shown(INF - 1, TIMESTAMP) == str(INF - 1)


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("soon", INTEGER, "an integer"),
        ("1970-01-02", INTEGER, "an integer"),
        ("soon", TIMESTAMP, "one like 2026-01-31 12:00:00"),
    ],
)
def test_what_is_no_time_says_what_would_be(text: str, kind: pa.DataType, expected: str) -> None:
    with pytest.raises(PlanError, match=f"'{text}' is not a time; expected {expected}"):
        parsed(text, kind)
