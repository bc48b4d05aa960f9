"""What is measured: tuples through operators, and how long after its time a change is shown."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from penstock.element import INF
from penstock.execution.task import Report
from penstock.physical.program import Program
from penstock.runtime.metrics import Delays, Metrics, seconds_of
from penstock.testing import local_session

NOTHING = Program((), {}, (), {}, {}, {})


def test_delays_have_an_average_quantiles_and_a_largest() -> None:
    delays = Delays()
    assert delays.shown() == {}
    for delay in range(1, 102):
        delays.add(delay)
    assert delays.shown() == {"average": 51.0, "p50": 51.0, "p99": 100.0, "max": 101}
    delays.reach(50)
    delays.reach(500)
    assert delays.shown() == {"average": 51.0, "p50": 51.0, "p99": 100.0, "max": 500}


def test_the_sample_of_many_delays_is_as_good_at_any_place() -> None:
    delays = Delays()
    for delay in range(100_000):
        delays.add(delay)
    shown = delays.shown()
    assert len(delays.sample) == 2000
    assert shown["average"] == 49_999.5
    assert shown["p50"] == pytest.approx(50_000, rel=0.1)
    assert shown["p99"] == pytest.approx(99_000, rel=0.01)


def test_a_delay_is_counted_from_when_time_was_heard_of(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((100.0, 101.0, 105.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    metrics = Metrics()
    for event in (10, 12, 11, 12, INF):  # time does not go back, and does not come to its end
        metrics.observe_event_time(event)
    metrics.stepped(NOTHING, [Report(times={"v": [8, 11, 7]})], w1=13)
    assert metrics.delay("v") == {
        "event": {"average": 2.5, "p50": 2.5, "p99": pytest.approx(3.97), "max": 5},
        "seconds": {"average": 4.5, "p50": 4.5, "p99": pytest.approx(4.99), "max": 5.0},
    }
    assert metrics.delay("another") == {"event": {}, "seconds": {}}


def test_at_the_end_of_time_the_last_that_was_heard_of_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = iter((1.0, 2.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(clock))
    metrics = Metrics()
    metrics.observe_event_time(10)
    metrics.stepped(NOTHING, [Report(times={"v": [4, 20, 4]})], w1=INF)
    delay = metrics.delay("v")
    assert (delay["event"]["average"], delay["event"]["max"]) == (3.0, 6)
    assert delay["seconds"]["max"] == 1.0, "nobody has heard of 20"


def test_seconds_add_up_over_tasks() -> None:
    reports = [Report(seconds={"a": 1.0, "b": 2.0}), Report(seconds={"a": 0.5})]
    assert seconds_of(reports) == {"a": 1.5, "b": 2.0}


def test_tuples_are_counted_at_each_operator(tmp_path: Path) -> None:
    with local_session(tmp_path) as db:
        db.sql("""
          CREATE SOURCE s (k INT, v INT, t INT) EVENT TIME t;
          CREATE VIEW sums AS SELECT k, sum(v) AS x FROM s [RANGE 5] GROUP BY k;
        """)
        db.source("s").append([(1, 10, 1), (1, 20, 2), (2, 5, 3)])
        db.step()  # up to 3
        progress = db.last_progress
        assert progress is not None
        (first,) = by_kind(progress["operators"], db.metrics()["operators"], "GroupAgg")
        db.source("s").append([(1, 10, 4), (1, 20, 9), (2, 5, 20)])
        db.step()  # up to 20
        found = db.metrics()["operators"]
    assert first == {"rows_in": 2, "negative_in": 0, "ending": 2, "rows_out": 2, "negative": 0}
    (groups,) = (counts for name, counts in found.items() if name.startswith("GroupAgg"))
    assert groups["positive_in"] == 5
    assert groups["negative_out"] == 1


def by_kind(
    step: dict[str, dict[str, float]], names: dict[str, object], kind: str
) -> list[dict[str, float]]:
    """What operators of a kind did in a step, but for how long it took."""
    identities = [name.split()[-1] for name in names if name.startswith(kind)]
    return [{k: n for k, n in step[i].items() if k != "seconds"} for i in identities]
