"""The worked examples of "Query Processing Using Negative Tuples in Stream Query Engines".

The figures are drawings; the streams here are what the text says of them. Windows are of six time
units. A positive tuple is a change of weight 1, a negative one of weight -1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.expr import Column
from penstock.element import INF, changes, concat, snapshot
from penstock.testing.local_runs import run_in_steps, steps

SCHEMA = pa.schema([("v", pa.int64())])
S, R = (p.Scan(name, SCHEMA, append_only=True) for name in ("s", "r"))
WINDOW_S, WINDOW_R = (p.Window(scan, "sliding", 6) for scan in (S, R))

Arrivals = Sequence[tuple[int, int]]
TICKS = range(1, 15)


def streams(**arrivals: Arrivals) -> Mapping[str, list[tuple[tuple[int], int, int, int]]]:
    """From pairs (time, value)."""
    return {name: [((v,), t, INF, 1) for t, v in pairs] for name, pairs in arrivals.items()}


def tuples_by_tick(plan: p.Node, **arrivals: Arrivals) -> dict[int, list[str]]:
    """What happens at each tick, as the paper writes it: 5+ comes, 5- goes."""
    out = run_in_steps(plan, streams(**arrivals), [*TICKS, INF], Random(0))
    found: dict[int, list[str]] = {}
    for e, t, _, n in sorted(changes(out).rows()):
        found.setdefault(t, []).append(f"{e[0]}{'+' if n > 0 else '-'}")
    return dict(sorted(found.items()))


# Tuple 1 expires at T7 and 4 at T9, each while a duplicate of it is in the window.
FIGURE_5 = [(1, 1), (3, 4), (4, 1), (5, 5), (6, 4)]


def test_figure_5_a_distinct_value_stays_while_a_duplicate_is_in_the_window() -> None:
    plan = p.Distinct(WINDOW_S)
    out = run_in_steps(plan, streams(s=FIGURE_5), [*TICKS, INF], Random(0))
    at = {t: sorted(e[0] for e in snapshot(out, t)) for t in TICKS}
    assert at[5] == [1, 4, 5]
    assert at[7] == [1, 4, 5]
    assert at[9] == [1, 4, 5]
    assert [at[t] for t in (2, 4, 10, 11, 12)] == [[1], [1, 4], [4, 5], [4], []]


def test_figure_5_what_comes_out_when() -> None:
    """W-Distinct replaces 1 at T7 and 4 at T9 by duplicates; as elements nothing happens then."""
    assert tuples_by_tick(p.Distinct(WINDOW_S), s=FIGURE_5) == {
        1: ["1+"],
        3: ["4+"],
        5: ["5+"],
        10: ["1-"],
        11: ["5-"],
        12: ["4-"],
    }


def test_figure_5_distinct_before_the_window_is_wrong() -> None:
    """The unexpected answer of the figure: the duplicates were dropped, and do not come back."""
    first_ones = [(1, 1), (3, 4), (5, 5)]
    out = run_in_steps(WINDOW_S, streams(s=first_ones), [INF], Random(0))
    assert sorted(e[0] for e in snapshot(out, 9)) == [5]


# Up to T5, S has 2, 1 and 3. At T6, 1 comes to R; at T7, 5 to S; at T8, the 5 of R expires.
FIGURE_6_S = [(3, 2), (4, 1), (5, 3), (7, 5)]
FIGURE_6_R = [(2, 5), (6, 1)]


def test_figure_6_minus() -> None:
    plan = p.SetOperation("difference", WINDOW_S, WINDOW_R)
    assert tuples_by_tick(plan, s=FIGURE_6_S, r=FIGURE_6_R) == {
        3: ["2+"],
        4: ["1+"],
        5: ["3+"],
        6: ["1-"],  # a negative tuple for a positive one (case 2)
        8: ["5+"],  # a positive tuple for one that expires (case 3)
        9: ["2-"],
        11: ["3-"],
        13: ["5-"],
    }


def test_figure_6_negative_tuples_come_with_the_step_they_are_due_in() -> None:
    plan = p.SetOperation("difference", WINDOW_S, WINDOW_R)
    parts = steps(plan, streams(s=FIGURE_6_S, r=FIGURE_6_R), [*TICKS, INF], Random(0))
    by_tick = {w0: out.rows() for w0, _, out in parts}
    assert by_tick[4] == [((1,), 4, INF, 1)]
    assert by_tick[6] == [((1,), 6, INF, -1)]
    assert by_tick[7] == []
    assert by_tick[8] == [((5,), 8, INF, 1)]


def test_figure_6_in_one_step_has_no_negative_tuples() -> None:
    plan = p.SetOperation("difference", WINDOW_S, WINDOW_R)
    out = run_in_steps(plan, streams(s=FIGURE_6_S, r=FIGURE_6_R), [INF], Random(0))
    assert sorted(out.rows()) == [
        ((1,), 4, 6, 1),
        ((2,), 3, 9, 1),
        ((3,), 5, 11, 1),
        ((5,), 8, 13, 1),
    ]


def test_minus_keeps_duplicates() -> None:
    """With n copies in S and m in R, the output has max(0, n - m)."""
    plan = p.SetOperation("difference", WINDOW_S, WINDOW_R)
    arrivals = streams(s=[(1, 7), (2, 7), (3, 7)], r=[(4, 7), (5, 7)])
    out = run_in_steps(plan, arrivals, [*TICKS, INF], Random(0))
    counts = {t: snapshot(out, t)[(7,)] for t in TICKS}
    assert [counts[t] for t in range(1, 11)] == [1, 2, 3, 2, 1, 1, 0, 0, 0, 0]


def test_a_join_result_expires_with_the_first_of_its_tuples() -> None:
    """Section 5.5: the output is valid while both tuples are."""
    other = p.Map(WINDOW_R, (("w", Column("v", pa.int64())),))
    plan = p.Join(WINDOW_S, other, "inner", (p.Equality("v", "w"),))
    assert tuples_by_tick(plan, s=[(1, 6)], r=[(3, 6), (8, 6)]) == {3: ["6+"], 7: ["6-"]}


def test_steps_add_up_to_the_whole() -> None:
    plan = p.Distinct(WINDOW_S)
    parts = [out for _, _, out in steps(plan, streams(s=FIGURE_5), [*TICKS, INF], Random(0))]
    whole = run_in_steps(plan, streams(s=FIGURE_5), [INF], Random(0))
    assert len(changes(concat(SCHEMA, [*parts, whole.negated()]))) == 0
