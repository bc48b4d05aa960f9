"""The worked examples of "A Temporal Foundation for Continuous Queries over Data Streams"."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.expr import Column, Literal, compare
from penstock.element import INF, Elements, in_time_order, intersect, intervals, remainder
from penstock.testing.local_runs import run_in_steps

INT, FLOAT = pa.int64(), pa.float64()
Interval = tuple[int, int]
Stream = list[tuple[tuple[Any, ...], int, int, int]]


def clock(time: str) -> int:
    """Seconds since the epoch, of a time on 03/11/1993."""
    return int(np.datetime64(f"1993-03-11T{time}", "s").astype(np.int64))


def result(plan: p.Node, streams: dict[str, Stream], *cuts: int) -> Stream:
    """What a plan gives, in steps: as few elements as can be, in the order of physical streams."""
    out = run_in_steps(plan, streams, [*cuts, INF], Random(0))
    return in_time_order(intervals(out)).rows()


# --- the running example ------------------------------------------------------------------------

HIGHWAY = p.Scan(
    "highway", pa.schema([("lane", pa.int16()), ("speed", FLOAT), ("length", FLOAT)]), True
)
RAW = [(5, 18.28, 5.27), (2, 21.33, 4.62), (4, 19.69, 9.97)]
ARRIVALS = [clock(time) for time in ("05:00:08", "05:01:32", "05:02:16")]
PHYSICAL: Stream = [(e, ts, INF, 1) for e, ts in zip(RAW, ARRIVALS, strict=True)]
LAST_15_MINUTES = p.Window(HIGHWAY, "sliding", 15 * 60)


def average_speed(stream: p.Node, section: int) -> p.Node:
    numbered = p.Map(
        stream, (("section", Literal(section, INT)), ("speed", Column("speed", FLOAT)))
    )
    return p.Aggregate(numbered, ("section",), (AggregateCall("avg", ("speed",), "average"),))


def test_listing_sliding_window_of_15_minutes() -> None:
    windowed = result(LAST_15_MINUTES, {"highway": PHYSICAL})
    assert windowed == [
        (RAW[0], clock("05:00:08"), clock("05:15:08"), 1),
        (RAW[1], clock("05:01:32"), clock("05:16:32"), 1),
        (RAW[2], clock("05:02:16"), clock("05:17:16"), 1),
    ]


LISTING = [
    ("18.280", "05:00:08", "05:01:32"),
    ("19.805", "05:01:32", "05:02:16"),
    ("19.766", "05:02:16", "05:15:08"),
    ("20.510", "05:15:08", "05:16:32"),
    ("19.690", "05:16:32", "05:17:16"),
]


@pytest.mark.parametrize(
    "cuts",
    [
        (),
        ARRIVALS,
        [clock("05:01:00"), clock("05:10:00"), clock("05:17:16")],
        range(clock("05:00:00"), clock("05:18:00"), 30),
    ],
    ids=["one step", "a step per tuple", "a few steps", "a step each half minute"],
)
def test_listing_average_speeds(cuts: list[int]) -> None:
    """The paper prints three digits of each average and drops the others."""
    found = result(average_speed(LAST_15_MINUTES, 1), {"highway": PHYSICAL}, *cuts)
    shown = [(f"{avg:.5f}"[:-2], ts, te, n) for (_, avg), ts, te, n in found]
    assert shown == [(avg, clock(ts), clock(te), 1) for avg, ts, te in LISTING]


def test_the_first_average_is_final_when_the_third_tuple_comes() -> None:
    """As in the paper: the reorganization before 05:02:16 gives out what ended at 05:01:32."""
    plan = average_speed(LAST_15_MINUTES, 1)
    out = run_in_steps(plan, {"highway": PHYSICAL}, [clock("05:02:16")], Random(0)).rows()
    assert out == [
        ((1, 18.28), clock("05:00:08"), clock("05:01:32"), 1),
        ((1, 39.61 / 2), clock("05:01:32"), INF, 1),
    ]


def test_example_query_where_traffic_is_slow() -> None:
    """Sections where the average of the last 15 minutes is below 15 m/s (section 2.2)."""
    jam = p.Scan("jam", HIGHWAY.schema, True)
    averages = p.Union(
        (
            average_speed(LAST_15_MINUTES, 1),
            average_speed(p.Window(jam, "sliding", 15 * 60), 2),
        )
    )
    slow = p.Filter(averages, compare("<", Column("average", FLOAT), Literal(15.0, FLOAT)))
    speeds = [(20.0, "05:00:00"), (8.0, "05:10:00"), (9.0, "05:20:00")]
    streams = {
        "highway": PHYSICAL,
        "jam": [((1, speed, 4.0), clock(time), INF, 1) for speed, time in speeds],
    }
    assert result(p.project(slow, ["section"]), streams, clock("05:12:00")) == [
        ((2,), clock("05:10:00"), clock("05:35:00"), 1),
    ]


def test_fixed_windows_end_where_the_next_section_begins() -> None:
    """Section 2.6: the least multiple of the size that is greater than the beginning."""
    plan = p.Window(p.Scan("s", pa.schema([("v", INT)]), True), "fixed", 10)
    stream = [((v,), v, INF, 1) for v in (0, 3, 9, 10, 25)]
    found = {row[0][0]: row[2] for row in result(plan, {"s": stream})}
    assert found == {0: 10, 3: 10, 9: 10, 10: 20, 25: 30}


# --- figures ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("i", "j", "common", "rest"),
    [
        ((2, 8), (1, 9), (2, 8), []),
        ((2, 8), (2, 8), (2, 8), []),
        ((2, 8), (1, 5), (2, 5), [(5, 8)]),
        ((2, 8), (2, 5), (2, 5), [(5, 8)]),
        ((2, 8), (5, 9), (5, 8), [(2, 5)]),
        ((2, 8), (5, 8), (5, 8), [(2, 5)]),
        ((2, 8), (4, 6), (4, 6), [(2, 4), (6, 8)]),
    ],
)
def test_figure_3_intersect_and_its_inverse(
    i: Interval, j: Interval, common: Interval, rest: list[Interval]
) -> None:
    ends = [np.array([t]) for t in (*i, *j)]
    (ts,), (te,) = intersect(*ends)
    assert (ts, te) == common
    parts = [(int(ts[0]), int(te[0])) for ts, te in remainder(*ends)]
    assert [part for part in parts if part[0] < part[1]] == rest


S1, S2 = (p.Scan(name, pa.schema([("e", pa.string())])) for name in ("s1", "s2"))


def as_stream(*validities: Interval) -> Stream:
    return [(("e",), ts, te, 1) for ts, te in validities]


@pytest.mark.parametrize("cuts", [(), (3, 6, 9), range(1, 14)], ids=str)
def test_figure_4_the_difference_of_time_intervals(cuts: tuple[int, ...]) -> None:
    """An element less three that overlap it, step by step, and the three less the one."""
    streams = {"s1": as_stream((2, 10)), "s2": as_stream((1, 4), (5, 7), (8, 12))}
    left = p.SetOperation("difference", S1, S2)
    right = p.SetOperation("difference", S2, S1)
    assert result(left, streams, *cuts) == as_stream((4, 5), (7, 8))
    assert result(right, streams, *cuts) == as_stream((1, 2), (10, 12))


def test_figure_4_each_overlap_is_removed_once() -> None:
    streams = {"s1": as_stream((2, 10), (3, 6)), "s2": as_stream((1, 4), (3, 5))}
    plan = p.SetOperation("difference", S1, S2)
    found = {t: n for (_, ts, te, n) in result(plan, streams) for t in range(ts, te)}
    assert found == {5: 2, 6: 1, 7: 1, 8: 1, 9: 1} | {4: 1}


@pytest.mark.parametrize("cuts", [(), (4,), range(1, 12)], ids=str)
@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ((2, 9), (4, 6), [(1, 2, 4), (11, 4, 6), (1, 6, 9)]),
        ((2, 9), (4, 9), [(1, 2, 4), (11, 4, 9)]),
        ((2, 6), (4, 9), [(1, 2, 4), (11, 4, 6), (10, 6, 9)]),
        ((4, 6), (4, 6), [(11, 4, 6)]),
        ((4, 6), (2, 9), [(10, 2, 4), (11, 4, 6), (10, 6, 9)]),
        ((4, 9), (2, 6), [(10, 2, 4), (11, 4, 6), (1, 6, 9)]),
        ((4, 9), (4, 6), [(11, 4, 6), (1, 6, 9)]),
    ],
    ids=[
        "inside",
        "inside to the end",
        "exceeds the right border",
        "the same",
        "contains",
        "exceeds the left border",
        "from the beginning",
    ],
)
def test_figure_5_cases_of_the_incremental_aggregation(
    old: Interval, new: Interval, expected: list[tuple[int, int, int]], cuts: tuple[int, ...]
) -> None:
    scan = p.Scan("s", pa.schema([("k", INT), ("v", INT)]))
    plan = p.Aggregate(scan, ("k",), (AggregateCall("sum", ("v",), "total"),))
    stream: Stream = [((0, 1), *old, 1), ((0, 10), *new, 1)]
    assert result(plan, {"s": stream}, *cuts) == [
        ((0, total), ts, te, 1) for total, ts, te in expected
    ]


def test_figure_5_gaps_between_aggregates_are_filled() -> None:
    """The role of `last` in algorithm 8: a new element over two old ones and the gap between."""
    scan = p.Scan("s", pa.schema([("k", INT), ("v", INT)]))
    plan = p.Aggregate(scan, ("k",), (AggregateCall("sum", ("v",), "total"),))
    stream: Stream = [((0, 1), 1, 3, 1), ((0, 2), 5, 7, 1), ((0, 10), 0, 9, 1)]
    assert [(e[1], ts, te) for e, ts, te, _ in result(plan, {"s": stream})] == [
        (10, 0, 1),
        (11, 1, 3),
        (10, 3, 5),
        (12, 5, 7),
        (10, 7, 9),
    ]


def test_elements_of_a_physical_stream_are_in_order() -> None:
    assert in_time_order(Elements.of(HIGHWAY.schema, PHYSICAL[::-1])).rows() == PHYSICAL
