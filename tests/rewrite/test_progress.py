"""What time closes: plans that forget it have the same answers, and plans that could not do not."""

from __future__ import annotations

from random import Random

import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.closing import closed_by_time as closes
from penstock.algebra.closing import with_closing
from penstock.algebra.expr import Call, Column, Expr, Literal, compare
from penstock.algebra.times import shifted
from penstock.element import INF, Elements, intervals
from penstock.testing.local_pipeline import LocalPipeline
from penstock.testing.local_runs import assert_one_case_agrees_with_reference
from penstock.testing.random_streams import HORIZON, Stream

INT = pa.int64()


def scan(name: str) -> p.Scan:
    columns = pa.schema([(f"{name}.{column}", INT) for column in ("k", "v", "t")])
    return p.Scan(name, columns, append_only=True, time=f"{name}.t")


def column(name: str) -> Column:
    return Column(name, INT)


def window_end(time: Expr, size: int) -> Expr:
    step = Literal(size, INT)
    return shifted(Call("-", (time, Call("%", (time, step), INT)), INT), "+", size)


def kept(plan: p.Node) -> tuple[tuple[str, Expr], ...]:
    return tuple((name, column(name)) for name in plan.schema.names)


class Plans:
    """Random plans over streams in order of their time; names of columns stay apart."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.count = 0

    def fresh(self) -> str:
        self.count += 1
        return f"c{self.count}"

    def plan(self, size: int) -> p.Node:
        if size <= 1:
            source = scan(self.rng.choice("su"))
            return p.Map(source, tuple((self.fresh(), column(n)) for n in source.schema.names))
        make = self.rng.choice(
            [self.filter, self.stamp, self.window, self.group, self.distinct, self.rank, self.join]
        )
        return make(size)

    def some(self, plan: p.Node, count: int) -> tuple[str, ...]:
        names = plan.schema.names
        return tuple(self.rng.sample(names, min(count, len(names))))

    def filter(self, size: int) -> p.Node:
        plan = self.plan(size - 1)
        (name,) = self.some(plan, 1)
        return p.Filter(plan, compare(">", column(name), Literal(self.rng.randint(0, 3), INT)))

    def stamp(self, size: int) -> p.Node:
        """A column more, computed from one that time may close."""
        plan = self.plan(size - 1)
        times = list(plan.progress) or plan.schema.names
        time = column(self.rng.choice(times))
        value = self.rng.choice(
            [window_end(time, self.rng.randint(1, 4)), shifted(time, "+", self.rng.randint(-2, 2))]
        )
        return p.Map(plan, (*kept(plan), (self.fresh(), value)))

    def window(self, size: int) -> p.Node:
        plan = self.plan(size - 1)
        return p.Window(plan, "sliding", self.rng.randint(1, 4)) if p.append_only(plan) else plan

    def group(self, size: int) -> p.Node:
        plan = self.plan(size - 1)
        (argument,) = self.some(plan, 1)
        function = self.rng.choice(["count", "sum", "max"])
        call = AggregateCall(function, (argument,), self.fresh())
        return p.Aggregate(plan, self.some(plan, 2), (call,))

    def distinct(self, size: int) -> p.Node:
        plan = self.plan(size - 1)
        return p.Distinct(p.project(plan, self.some(plan, 2)))

    def rank(self, size: int) -> p.Node:
        plan = self.plan(size - 1)
        order = tuple(p.SortKey(name) for name in plan.schema.names)
        return p.Rank(plan, self.some(plan, 1), order, self.rng.randint(1, 2))

    def join(self, size: int) -> p.Node:
        below = self.rng.randint(1, size - 1)
        left, right = self.plan(below), self.plan(max(1, size - 1 - below))
        (a,) = self.some(left, 1)
        (b,) = self.some(right, 1)
        kind = self.rng.choice(p.JOIN_KINDS)
        if self.rng.random() < 0.5:
            on = (p.Equality(a, b),)
            return p.Join(left, right, kind, on)
        low = compare("<=", shifted(column(a), "+", -self.rng.randint(0, 2)), column(b))
        high = compare("<", column(b), shifted(column(a), "+", self.rng.randint(0, 2)))
        return p.Join(left, right, kind, (), Call("and", (low, high), pa.bool_()))


def streams(rng: Random) -> dict[str, Stream]:
    def stream() -> Stream:
        times = [rng.randint(0, HORIZON - 4) for _ in range(8)]
        return [((rng.randint(0, 2), rng.randint(0, 3), t), t, INF, 1) for t in times]

    return {name: stream() for name in "su"}


@pytest.mark.long
def test_what_is_forgotten_is_never_asked_for() -> None:
    closed = 0
    for seed in range(400):
        rng = Random(seed)
        plan = Plans(rng).plan(rng.randint(2, 6))
        marked = with_closing(plan)
        closed += marked != plan
        try:
            assert_one_case_agrees_with_reference(marked, streams(rng), rng)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    assert closed > 150


def test_a_record_is_final_from_when_it_is_closed() -> None:
    """EMIT FINAL: restricted to begin when they are closed, records come once and stay."""
    seen = 0
    for seed in range(300):
        rng = Random(seed)
        plan = Plans(rng).plan(rng.randint(2, 5))
        end = closes(plan)
        if end is None or any(isinstance(node, p.Window) for node in plan.walk()):
            continue
        final = p.Restrict(with_closing(plan), end, None)
        pipeline, rows = LocalPipeline(final), streams(rng)
        scans = {n.name: n for n in plan.walk() if isinstance(n, p.Scan)}
        inputs = {name: Elements.of(s.schema, rows[name]) for name, s in scans.items()}
        out = intervals(pipeline.step(inputs, INF))
        seen += len(out)
        assert (out.te == INF).all(), f"seed {seed}"
        assert (out.n > 0).all(), f"seed {seed}"
    assert seen > 100


@pytest.mark.parametrize(("size", "moved", "k"), [(10, 0, 1), (10, -5, -4), (1, 0, 1), (7, 3, 4)])
def test_the_end_of_a_window_is_after_its_rows(size: int, moved: int, k: int) -> None:
    s = scan("s")
    ends = shifted(window_end(column("s.t"), size), "+", moved)
    assert p.Map(s, (("ends", ends),)).progress == {"ends": k}


def test_groups_by_the_end_of_a_window_are_closed_when_it_is_reached() -> None:
    ends = window_end(column("s.t"), 10)
    plan = p.Map(scan("s"), (("k", column("s.k")), ("ends", ends)))
    grouped = with_closing(p.Aggregate(plan, ("k", "ends"), (AggregateCall("count", (), "n"),)))
    assert isinstance(grouped, p.Aggregate)
    assert grouped.until == column("ends")


def test_what_does_not_follow_time_is_not_closed() -> None:
    assert closes(p.Distinct(p.project(scan("s"), ("s.k", "s.v")))) is None
    assert p.RowWindow(scan("s"), 3).progress == {}
    assert p.Upsert(scan("s"), ("s.k",)).progress == {}
