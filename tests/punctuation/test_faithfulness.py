"""Punctuated operators are faithful and proper (section 5 of the punctuation paper).

Streams of few values, so that all that may still come can be tried: at each time, what EMIT FINAL
has passed on is in the answer whatever comes (safety), and whatever is in all those answers has
been passed on (completeness). What a plan says is closed changes no more (propriety), and a plan
that forgets what is closed has the same answers (keep).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import product
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.closing import ALWAYS, closes, final_from
from penstock.algebra.evaluate import evaluate_ints
from penstock.algebra.expr import Column, Literal, compare
from penstock.algebra.outline import outline
from penstock.algebra.reference import Reference, Relation
from penstock.element import BEGIN, INF, Elements
from penstock.physical.closing import known
from penstock.punctuation import ANY, Constant, Pattern, Punctuation, ValueList, between
from penstock.punctuation.closings import Closings
from penstock.testing.local_pipeline import LocalPipeline
from penstock.testing.local_runs import snapshots

pytestmark = pytest.mark.long

BOOL = pa.bool_()
SCHEMAS = {
    name: pa.schema([pa.field(f"{name}{c}", BOOL, nullable=False) for c in "kv"]) for name in "lr"
}
VALUES = (False, True)
ROWS = tuple(product(VALUES, VALUES))
END = 7

Row = tuple[bool, bool]
Rows = dict[str, list[tuple[Row, int]]]
Marks = dict[str, list[tuple[Punctuation, int]]]


def scan(name: str) -> p.Scan:
    return p.Scan(name, SCHEMAS[name], append_only=True)


def column(name: str) -> Column:
    return Column(name, BOOL)


LEFT, RIGHT = scan("l"), scan("r")
ON = (p.Equality("lk", "rk"),)
COUNT = (AggregateCall("count", (), "n"),)
KEYS = p.project(RIGHT, ("rk",))

PLANS: dict[str, p.Node] = {
    "select": p.Filter(LEFT, compare(">", column("lv"), Literal(False, BOOL))),
    "project": p.project(LEFT, ("lk",)),
    "dupelim": p.Distinct(LEFT),
    "dupelim of a projection": p.Distinct(p.project(LEFT, ("lv",))),
    "merge": p.Union((LEFT, RIGHT)),
    "union": p.Distinct(p.Union((LEFT, RIGHT))),
    "intersect": p.SetOperation("intersect", LEFT, RIGHT),
    "intersect all": p.SetOperation("intersection", LEFT, RIGHT),
    "difference": p.SetOperation("except", LEFT, RIGHT),
    "difference all": p.SetOperation("difference", LEFT, RIGHT),
    "join": p.Join(LEFT, RIGHT, "inner", ON),
    "left outer join": p.Join(LEFT, RIGHT, "left", ON),
    "right outer join": p.Join(LEFT, RIGHT, "right", ON),
    "full outer join": p.Join(LEFT, RIGHT, "full", ON),
    "semi-join": p.Join(LEFT, RIGHT, "semi", ON),
    "anti-join": p.Join(LEFT, RIGHT, "anti", ON),
    "group-by": p.Aggregate(LEFT, ("lk",), COUNT),
    "group-by both": p.Aggregate(LEFT, ("lk", "lv"), COUNT),
    "first of a key": p.Rank(LEFT, ("lk",), (p.SortKey("lv"),), 1),
    "latest of a key": p.Upsert(LEFT, ("lk",)),
    "difference of projections": p.SetOperation("except", p.project(LEFT, ("lk",)), KEYS),
}

JOINED = p.Join(LEFT, RIGHT, "inner", ON)
COUNTED = p.Aggregate(RIGHT, ("rk",), (AggregateCall("count", (), "m"),))

COMPOSED: dict[str, p.Node] = {
    "group-by of a union": p.Aggregate(p.Union((LEFT, RIGHT)), ("lk",), COUNT),
    "group-by of a join": p.Aggregate(JOINED, ("lk",), COUNT),
    "group-by of a join and more": p.Aggregate(JOINED, ("lk", "lv", "rv"), COUNT),
    "group-by of a left outer join": p.Aggregate(p.Join(LEFT, RIGHT, "left", ON), ("lk",), COUNT),
    "group-by of a difference": p.Aggregate(
        p.SetOperation("difference", LEFT, RIGHT), ("lk",), COUNT
    ),
    "group-by of a semi-join": p.Aggregate(p.Join(LEFT, RIGHT, "semi", ON), ("lk",), COUNT),
    "group-by of an anti-join": p.Aggregate(p.Join(LEFT, RIGHT, "anti", ON), ("lk",), COUNT),
    "group-by of a dupelim": p.Aggregate(p.Distinct(LEFT), ("lk",), COUNT),
    "group-by of a group-by": p.Aggregate(
        p.Aggregate(LEFT, ("lk", "lv"), COUNT), ("lk",), (AggregateCall("sum", ("n",), "m"),)
    ),
    "join of dupelims": p.Join(p.Distinct(LEFT), p.Distinct(RIGHT), "inner", ON),
    "join with a group-by": p.Join(LEFT, COUNTED, "inner", ON),
    "outer join with a group-by": p.Join(LEFT, COUNTED, "left", ON),
    "dupelim of a join": p.Distinct(p.project(JOINED, ("lk", "rv"))),
    "difference of a union": p.SetOperation("except", p.Union((LEFT, RIGHT)), RIGHT),
    "difference with a join": p.SetOperation(
        "except", p.project(LEFT, ("lk",)), p.project(JOINED, ("lk",))
    ),
    "difference of a group-by": p.SetOperation(
        "except", p.project(p.Aggregate(LEFT, ("lk",), COUNT), ("lk",)), KEYS
    ),
}
PLANS |= COMPOSED

SAFE_ONLY = (
    "first of a key",
    "latest of a key",
    "group-by of a difference",
    "group-by of a semi-join",
    "group-by of an anti-join",
    "group-by of a dupelim",
    "difference with a join",
    "difference of a group-by",
)
"""Here all that may come can turn out to be without effect, by what has come: another copy of a row
that is there, a second partner, a row behind the first. Punctuations alone do not tell."""


def random_pattern(rng: Random) -> Pattern:
    one = rng.choice(VALUES)
    return rng.choice(
        (ANY, Constant(one), Constant(one), between(one, one), ValueList((one, True)))
    )


def random_input(rng: Random) -> tuple[Rows, Marks]:
    """Grammatical streams: no row matches a punctuation that holds at its time."""
    rows: Rows = {"l": [], "r": []}
    marks: Marks = {"l": [], "r": []}
    for t in range(END):
        for name in "lr":
            if rng.random() < 0.4:
                patterns = (random_pattern(rng), random_pattern(rng))
                marks[name].append((Punctuation(SCHEMAS[name], patterns), t))
            row = rng.choice(ROWS)
            if rng.random() < 0.6 and allowed(row, marks[name]):
                rows[name].append((row, t))
    return rows, marks


def allowed(row: Row, marks: list[tuple[Punctuation, int]]) -> bool:
    return not any(one.matches(row) for one, _ in marks)


def said_by(marks: Marks) -> dict[str, Closings]:
    return {name: Closings(SCHEMAS[name]).also(marks[name]) for name in marks}


def extensions(marks: Marks, at: int) -> Iterator[Rows]:
    """What may come at a time: some of one row of each stream, if it is not closed."""
    choices = {}
    for name in "lr":
        holding = [(one, t) for one, t in marks[name] if t <= at]
        open_rows = [row for row in ROWS if allowed(row, holding)]
        choices[name] = [[], *([(row, at)] * 3 for row in open_rows)]
    for left, right in product(choices["l"], choices["r"]):
        yield {"l": left, "r": right}


def answer(plan: p.Node, *parts: Rows, at: int) -> Relation:
    streams = {
        name: [(row, t, INF, 1) for part in parts for row, t in part[name] if t <= at]
        for name in "lr"
    }
    return Reference(streams).at(plan, at)


def until(rows: Rows, w: int) -> Rows:
    return {name: [(row, t) for row, t in rows[name] if t < w] for name in rows}


def run(plan: p.Node, rows: Rows, marks: Marks, rng: Random) -> Elements:
    """All that comes out, in random steps; each knows of the punctuations before its end."""
    pipeline, out = LocalPipeline(plan), []
    cuts = sorted({*rng.sample(range(1, END), rng.randint(0, 4)), END + 1})
    for w0, w1 in zip([BEGIN, *cuts], cuts, strict=False):
        inputs = {
            name: Elements.of(
                SCHEMAS[name], [(row, t, INF, 1) for row, t in rows[name] if w0 <= t < w1]
            )
            for name in rows
        }
        holding = {n: [(one, t) for one, t in marks[n] if t < w1] for n in marks}
        said = {name: one.settled(max(w0, -1)) for name, one in said_by(holding).items()}
        out += pipeline.step(inputs, w1, said).rows()
    return Elements.of(plan.schema, out)


def least(relations: Iterator[Relation]) -> Relation:
    return reduce(lambda a, b: a & b, relations)


@pytest.mark.parametrize("name", PLANS)
def test_final_is_what_every_continuation_gives(name: str) -> None:
    plan = PLANS[name]
    start = final_from(plan)
    final = plan if start in (None, ALWAYS) else p.Restrict(plan, start)
    passed = 0
    for seed in range(20 if name in SAFE_ONLY else 6):
        rng = Random(f"{name} {seed}")
        rows, marks = random_input(rng)
        out = dict(_snapshots(run(final, rows, marks, rng)))
        for w in range(2, END, 2):
            told = f"seed {seed}, before {w}\n{outline(plan)}\n{rows}\n{marks}"
            certain = least(
                answer(plan, until(rows, w), more, at=w)
                for more in extensions({n: [m for m in marks[n] if m[1] < w] for n in marks}, w)
            )
            found = out[w - 1]
            assert not found - certain, f"unsafe: {found - certain}\n{told}"
            if name not in SAFE_ONLY:
                assert not certain - found, f"incomplete: {certain - found}\n{told}"
            passed += found.total()
    assert passed


def _snapshots(out: Elements) -> Iterator[tuple[int, Relation]]:
    for t, there in snapshots(out):
        yield t, Counter(there)


@pytest.mark.parametrize("name", PLANS)
def test_what_is_closed_changes_no_more(name: str) -> None:
    """Propriety: after the time that `closes` tells, the records of a plan are what they are."""
    plan, seen = PLANS[name], 0
    for kind in ("any", "loss", "gain"):
        end = closes(plan, kind=kind)
        if end is None:
            continue
        for seed in range(6):
            rows, marks = random_input(Random(f"{name} {seed}"))
            known_end = known(end, said_by(marks))
            if known_end is None:
                continue
            before: Relation = Counter()
            for t in range(END):
                now = answer(plan, rows, at=t)
                for e, (m0, m1) in _moved(before, now).items():
                    x = Elements.of(plan.schema, [(e, t, INF, 1)])
                    closed_at = int(evaluate_ints(known_end, x)[0])
                    if (kind == "loss" and m1 > m0) or (kind == "gain" and m1 < m0):
                        continue
                    seen += 1
                    assert t < closed_at or closed_at == INF, (
                        f"{kind} of {e} at {t}, closed at {closed_at}\n{rows}\n{marks}"
                    )
                before = now
    assert seen or closes(plan) is None, plan


def _moved(before: Relation, now: Relation) -> Mapping[Any, tuple[int, int]]:
    return {e: (before[e], now[e]) for e in {*before, *now} if before[e] != now[e]}


@pytest.mark.parametrize("name", PLANS)
def test_what_is_forgotten_is_not_missed(name: str) -> None:
    plan = PLANS[name]
    for seed in range(6):
        rng = Random(f"{name} {seed}")
        rows, marks = random_input(rng)
        for t, found in _snapshots(run(plan, rows, marks, rng)):
            if t >= 0:
                assert found == answer(plan, rows, at=t), f"seed {seed} at {t}\n{rows}\n{marks}"
