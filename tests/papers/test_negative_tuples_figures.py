"""Figures 2, 4, 5, 6, 7, 8 and 9 of the negative-tuples paper, with what flows between operators.

The figures are drawings; the streams here are what the text says of them. One step is one tick.
A tuple is written as in the paper, 5+ or 5-; `!` is a join message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.element import BEGIN, INF, Elements, concat, snapshot
from penstock.physical.expiry import Strategy
from penstock.physical.kernels.aggregate import GroupAggregate
from penstock.physical.kernels.expire import Expire, NegativeTuples
from penstock.physical.kernels.join import InnerJoin
from penstock.physical.kernels.message_join import MessageJoin
from penstock.physical.kernels.netting_join import NettingJoin
from penstock.physical.kernels.trigger import Trigger
from penstock.testing.local_pipeline import LocalPipeline

INT = pa.int64()
EXACT: tuple[Strategy, ...] = ("piggyback", "negative", "negative+messages", "auto")
Rows = Sequence[tuple[int, ...]]
Flow = dict[int, list[str]]


class Traced:
    """A plan run tick by tick; rows are (time, values...), those of tables from BEGIN on."""

    def __init__(self, plan: p.Node, expiry: Strategy, ticks: range, **streams: Rows) -> None:
        self.pipeline = LocalPipeline(plan, expiry=expiry)
        self._flows, self._given = defaultdict[type, Flow](dict), defaultdict[type, Flow](dict)
        scans = {node.name: node for node in plan.walk() if isinstance(node, p.Scan)}
        self._all = concat(plan.schema, list(self._steps(scans, ticks, streams)))

    def _steps(
        self, scans: Mapping[str, p.Scan], ticks: range, streams: Mapping[str, Rows]
    ) -> Iterator[Elements]:
        for w0, w1 in zip([BEGIN, *ticks], [*ticks, ticks.stop], strict=True):
            inputs = {
                name: Elements.of(
                    scan.schema, [(tuple(e), t, INF, 1) for t, *e in streams[name] if w0 <= t < w1]
                )
                for name, scan in scans.items()
            }
            yield self.pipeline.step(inputs, w1)
            self._note(w1 - 1)

    def _note(self, tick: int) -> None:
        results = self.pipeline.results
        for operator, out in results.items():
            kind = type(operator.work)
            if operator is self.pipeline.root and kind in (Expire, Trigger):
                continue  # the recipient's own
            self._flows[kind].setdefault(tick, []).extend(tuples(out))
            if operator.inputs:
                self._given[kind].setdefault(tick, []).extend(tuples(results[operator.inputs[0]]))

    def out(self, kernel: type) -> Flow:
        """What the operators of a kind gave, by tick."""
        return {tick: found for tick, found in self._flows[kernel].items() if found}

    def given(self, kernel: type) -> Flow:
        """What they were given as their first input."""
        return {tick: found for tick, found in self._given[kernel].items() if found}

    def answer(self, t: int) -> list[object]:
        """The first column of what the view shows."""
        return sorted((e[0] for e in snapshot(self._all, t).elements()), key=str)


def tuples(x: Elements) -> list[str]:
    """As the paper writes them; a record whose columns are all NULL and that weighs nothing is a
    message."""
    rows = [(e[0] if e else "", n) for e, _, _, n in x.rows()]
    return sorted("!" if n == 0 else f"{v}{'+' if n > 0 else '-'}" for v, n in rows)


def scan(name: str, *columns: str) -> p.Scan:
    return p.Scan(name, pa.schema([(column, INT) for column in columns]), append_only=True)


# Q1: how many favorite items were sold in the last five time units?
S, FAVORITES = scan("s", "item"), scan("favorites", "favorite")
Q1 = p.Aggregate(
    p.Join(p.Window(S, "sliding", 5), FAVORITES, "inner", (p.Equality("item", "favorite"),)),
    (),
    (AggregateCall("count", (), "n"),),
)
SOLD = [(0, 4), (1, 5), (2, 2), (3, 4), (4, 5), (5, 2), (6, 1), (7, 5)]
FAVORITE = [(BEGIN, 4), (BEGIN, 5)]


def q1(expiry: Strategy, sold: Rows = SOLD, until: int = 13) -> Traced:
    return Traced(Q1, expiry, range(until), s=sold, favorites=FAVORITE)


def test_figure_2_the_count_stays_4_until_a_tuple_comes() -> None:
    """S2 has nothing at T5 and T6, so that S3 stays at 4 until the tuple at T7."""
    run = q1("input")
    assert {t: f for t, f in run.out(InnerJoin).items() if t < 8} == {
        0: ["4+"],
        1: ["5+"],
        3: ["4+"],
        4: ["5+"],
        7: ["5+"],
    }
    assert [run.answer(t) for t in range(13)] == [
        [1], [2], [2], [3], [4], [4], [4], [3], [3], [3], [3], [3], [3]
    ]  # fmt: skip


def test_figure_2_what_was_noticed_late() -> None:
    """The tuple of T0 expired at T5 and that of T1 at T6; both are noticed at T7."""
    run = q1("input", until=8)
    assert run.out(Trigger)[7] == ["4-", "5+", "5-"]
    assert {5, 6}.isdisjoint(run.out(Trigger))


@pytest.mark.parametrize("expiry", EXACT)
def test_figure_4_the_count_is_right_at_all_times(expiry: Strategy) -> None:
    run = q1(expiry)
    assert [run.answer(t) for t in range(13)] == [
        [1], [2], [2], [3], [4], [3], [2], [3], [2], [1], [1], [1], [0]
    ]  # fmt: skip


def test_figure_4_negative_tuples_follow_their_positive_ones() -> None:
    run = q1("negative")
    assert run.out(Expire) == {
        0: ["4+"],
        1: ["5+"],
        2: ["2+"],
        3: ["4+"],
        4: ["5+"],
        5: ["2+", "4-"],
        6: ["1+", "5-"],
        7: ["2-", "5+"],
        8: ["4-"],
        9: ["5-"],
        10: ["2-"],
        11: ["1-"],
        12: ["5-"],
    }
    assert run.out(NettingJoin) == {
        0: ["4+"],
        1: ["5+"],
        3: ["4+"],
        4: ["5+"],
        5: ["4-"],
        6: ["5-"],
        7: ["5+"],
        8: ["4-"],
        9: ["5-"],
        12: ["5-"],
    }
    assert run.out(GroupAggregate)[5] == ["3+", "4-"]
    assert run.out(GroupAggregate)[6] == ["2+", "3-"]


# Tuple 1 expires at T7 and 4 at T9, each while a duplicate of it is in the window of six units.
FIGURE_5 = [(1, 1), (3, 4), (4, 1), (5, 5), (6, 4)]


@pytest.mark.parametrize("expiry", EXACT)
def test_figure_5_distinct(expiry: Strategy) -> None:
    run = Traced(p.Distinct(p.Window(S, "sliding", 6)), expiry, range(14), s=FIGURE_5)
    assert [run.answer(t) for t in (2, 5, 7, 9, 10, 11, 12)] == [
        [1], [1, 4, 5], [1, 4, 5], [1, 4, 5], [4, 5], [4], []
    ]  # fmt: skip


def test_figure_5_negative_tuples_of_what_is_there_twice() -> None:
    """1- comes to W-Distinct at T7 and 4- at T9, and nothing goes on: a duplicate takes over."""
    plan = p.Distinct(p.Window(S, "sliding", 6))
    run = Traced(plan, "negative", range(14), s=FIGURE_5)
    flow = run.out(Expire)
    assert (flow[7], flow[9]) == (["1-"], ["4-"])
    kernel = type(run.pipeline.root.inputs[0].work)
    given, out = run.given(kernel), run.out(kernel)
    assert (given[7], given[9]) == (["1-"], ["4-"])
    assert out == {1: ["1+"], 3: ["4+"], 5: ["5+"], 10: ["1-"], 11: ["5-"], 12: ["4-"]}


def test_figure_5_under_input() -> None:
    """After T6 no tuple comes, and the answer stays."""
    run = Traced(p.Distinct(p.Window(S, "sliding", 6)), "input", range(14), s=FIGURE_5)
    assert [run.answer(t) for t in (6, 10, 13)] == [[1, 4, 5]] * 3


# Up to T5, S has 2, 1 and 3. At T6, 1 comes to R; at T7, 5 to S; at T8, the 5 of R expires.
R = scan("r", "item")
MINUS = p.SetOperation("difference", p.Window(S, "sliding", 6), p.Window(R, "sliding", 6))
FIGURE_6_S = [(3, 2), (4, 1), (5, 3), (7, 5)]
FIGURE_6_R = [(2, 5), (6, 1)]


@pytest.mark.parametrize("expiry", EXACT)
def test_figure_6_minus(expiry: Strategy) -> None:
    run = Traced(MINUS, expiry, range(14), s=FIGURE_6_S, r=FIGURE_6_R)
    assert [run.answer(t) for t in (5, 6, 7, 8, 9, 11, 13)] == [
        [1, 2, 3], [2, 3], [2, 3], [2, 3, 5], [3, 5], [5], []
    ]  # fmt: skip


def test_figure_6_negative_for_positive_and_positive_for_negative() -> None:
    run = Traced(MINUS, "negative", range(14), s=FIGURE_6_S, r=FIGURE_6_R)
    into, out = run.out(Expire), run.out(type(run.pipeline.root.inputs[0].work))
    assert (into[6], out[6]) == (["1+"], ["1-"])  # case 2
    assert (into[7], out.get(7)) == (["5+"], None)
    assert (into[8], out[8]) == (["5-"], ["5+"])  # case 3
    assert (into[9], out[9]) == (["2-"], ["2-"])  # case 4
    assert (into[10], out.get(10)) == (["1-"], None)


# Q2: the largest price of S2 at a store at which S1 sold something, too.
S1, S2 = scan("s1", "store1", "price1"), scan("s2", "store2", "price2")
Q2 = p.Aggregate(
    p.Join(
        p.Window(S1, "sliding", 5),
        p.Window(S2, "sliding", 5),
        "inner",
        (p.Equality("store1", "store2"),),
    ),
    (),
    (AggregateCall("max", ("price2",), "most"),),
)
FIGURE_7_S1, FIGURE_7_S2 = [(1, 6, 1)], [(2, 6, 10), (3, 6, 30), (4, 6, 20)]


@pytest.mark.parametrize("expiry", EXACT)
def test_figure_7_the_largest_price(expiry: Strategy) -> None:
    run = Traced(Q2, expiry, range(11), s1=FIGURE_7_S1, s2=FIGURE_7_S2)
    assert [run.answer(t) for t in range(8)] == [
        [None], [None], [10], [30], [30], [30], [None], [None]
    ]  # fmt: skip


def test_figure_7b_three_negative_tuples_without_messages() -> None:
    run = Traced(Q2, "negative", range(11), s1=FIGURE_7_S1, s2=FIGURE_7_S2)
    assert run.out(NettingJoin) == {2: ["6+"], 3: ["6+"], 4: ["6+"], 6: ["6-", "6-", "6-"]}
    assert run.given(GroupAggregate)[6] == ["6-", "6-", "6-"]


def test_figure_7c_one_message_retires_three_tuples() -> None:
    run = Traced(Q2, "negative+messages", range(11), s1=FIGURE_7_S1, s2=FIGURE_7_S2)
    assert run.out(NegativeTuples) == {6: ["6-"], 7: ["6-"], 8: ["6-"], 9: ["6-"]}
    assert run.out(MessageJoin) == {2: ["6+"], 3: ["6+"], 4: ["6+"], 6: ["!"]}
    assert run.out(Trigger)[6] == ["6-", "6-", "6-"]  # MAX scans its state for the expiry


def test_figure_8_no_message_when_the_later_tuple_expires() -> None:
    """The reference count of the tuple of T1 is one, that of the tuple of T3 zero."""
    run = Traced(Q2, "negative+messages", range(11), s1=[(1, 6, 1)], s2=[(3, 6, 10)])
    assert run.out(NegativeTuples) == {6: ["6-"], 8: ["6-"]}
    assert run.out(MessageJoin) == {3: ["6+"], 6: ["!"]}


def test_joined_tuples_table_no_message_for_what_joined_nothing() -> None:
    """Section 6.1.3: negative tuples whose positive ones had no results are simply ignored."""
    run = q1("negative+messages")
    assert run.out(NegativeTuples)[10] == ["2-"]
    messages = [tick for tick, found in run.out(MessageJoin).items() if "!" in found]
    assert messages == [5, 6, 8, 9, 12]


# In tenths of the paper's units: from T6 to T8 the join lets nothing pass but at the end of T6.
FIGURE_9 = [(10, 4), (20, 5), (30, 5), (50, 4), (61, 5), (70, 2), (80, 1), (100, 4), (111, 5)]
Q1_IN_TENTHS = p.Aggregate(
    p.Join(p.Window(S, "sliding", 50), FAVORITES, "inner", (p.Equality("item", "favorite"),)),
    (),
    (AggregateCall("count", (), "n"),),
)


def figure_9(expiry: Strategy) -> Traced:
    return Traced(Q1_IN_TENTHS, expiry, range(120), s=FIGURE_9, favorites=FAVORITE)


def test_figure_9_expiry_rides_on_the_positive_tuples_or_on_the_frontier() -> None:
    """4, 5 and 5 expire at T6, T7 and T8 at once, though no tuple comes: the frontier does. At T10
    and T11 COUNT reads 4+ and 5+ alone, and its answer reflects 4- and 5- as well."""
    run = figure_9("piggyback")
    given = run.given(GroupAggregate)
    assert [run.answer(t) for t in (59, 60, 61, 70, 80, 99)] == [[4], [3], [4], [3], [2], [2]]
    assert {60, 70, 80}.isdisjoint(given)
    assert (given[100], given[111]) == (["4+"], ["5+"])
    assert [run.answer(t) for t in (100, 111)] == [[2], [2]]
    assert 100 not in run.out(GroupAggregate)  # one comes, one goes: the answer is the same
    assert not any(word.endswith("-") for words in given.values() for word in words)


def test_figure_9_without_piggybacking_both_tuples_are_read() -> None:
    given = figure_9("negative").given(GroupAggregate)
    assert [given[t] for t in (60, 70, 80)] == [["4-"], ["5-"], ["5-"]]
    assert (given[100], given[111]) == (["4+", "4-"], ["5+", "5-"])


def test_figure_9_negative_tuples_where_nothing_else_would_tell() -> None:
    """Nobody knows in advance how long an answer of COUNT holds: it is taken back."""
    out = figure_9("piggyback").out(GroupAggregate)
    assert (out[60], out[70], out[80]) == (["3+", "4-"], ["3+", "4-"], ["2+", "3-"])
