"""Oracle: whatever SQL the check calls bounded runs in that bound, and answers as the reference.

Random queries over columns of several types, with NULLs, conditions that the theory has no words
for, and promises of sources. `PENSTOCK_EFFORT=10` tries ten times as many.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from math import inf
from random import Random
from typing import Any

import pytest

from penstock.algebra import plan as p
from penstock.element import INF
from penstock.memory.api import context_of
from penstock.memory.plans import operators_of
from penstock.memory.summaries import is_summarized
from penstock.memory.values import Declared
from penstock.sql import parse
from penstock.sql import statements as s
from penstock.testing.local_runs import first_difference, random_cuts
from penstock.testing.random_streams import HORIZON
from tests.memory.test_summaries import run

pytestmark = pytest.mark.long

EFFORT = int(os.environ.get("PENSTOCK_EFFORT", "1"))

SOURCES = {
    "s": "a INT, b INT CHECK (b BETWEEN 1 AND 4), k STRING CHECK (k IN ('x', 'y')), f BOOLEAN",
    "t": "d INT, e INT NOT NULL CHECK (e BETWEEN 2 AND 5), l STRING",
    "u": "g INT NOT NULL CHECK (g <= h), h INT NOT NULL CHECK (h < 5)",
}
VALUES: dict[str, list[Any]] = {
    "a": [*range(-2, 9), None],
    "b": [1, 2, 3, 4, None],
    "k": ["x", "y", None],
    "f": [True, False, None],
    "d": [*range(-2, 9), None],
    "e": [2, 3, 4, 5],
    "l": ["x", "y", "z", None],
}
NUMBERS = {"s": ("a", "b"), "t": ("d", "e"), "u": ("g", "h")}
TEXTS = {"s": ("k",), "t": ("l",), "u": ()}


def plan_of(sql: str) -> p.Node:
    (query,) = parse(sql)
    assert isinstance(query, s.Query)
    plan = context_of(SOURCES, integer_time=True).plan(query)
    assert plan is not None
    return plan


class Asked:
    """A random query: some streams, conditions on them, and what is asked of the combinations."""

    def __init__(self, rng: Random) -> None:
        self.rng = rng
        self.names = {f"x{i}": rng.choice("sstu") for i in range(rng.choice([1, 2, 2, 2, 3]))}

    def sql(self) -> str:
        conditions = [self._condition() for _ in range(self.rng.randint(0, 6))]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        streams = ", ".join(f"{source} AS {name}" for name, source in self.names.items())
        return f"SELECT {self._shown()} FROM {streams}{where}{self._grouped}"

    def _shown(self) -> str:
        self._grouped = ""
        columns = [self._number() for _ in range(self.rng.choice([0, 1, 1]))]
        columns += [self._any() for _ in range(self.rng.choice([0, 0, 1]))]
        columns = list(dict.fromkeys(columns))
        if self.rng.random() < 0.4:
            calls = [self._call() for _ in range(self.rng.choice([1, 1, 2, 3]))]
            self._grouped = f" GROUP BY {', '.join(columns)}" if columns else ""
            return ", ".join([*columns, *calls])
        distinct = "DISTINCT " if self.rng.random() < 0.7 else ""
        return distinct + (", ".join(columns) or "1")

    def _call(self) -> str:
        function = self.rng.choice(
            [
                "count(*)",
                "sum({})",
                "avg({})",
                "min({})",
                "max({})",
                "max({})",
                "count(DISTINCT {})",
            ]
        )
        filtered = f" FILTER (WHERE {self._number()} > 2)" if self.rng.random() < 0.15 else ""
        return function.format(self._number()) + filtered

    def _condition(self) -> str:
        one, other = self._number(), self._number()
        constant = self.rng.randint(0, 5)
        compared = self.rng.choice(["<", "<=", "=", ">=", ">"])
        return self.rng.choice(
            [
                f"{one} {compared} {other}",
                f"{one} {compared} {other}",
                f"{one} {compared} {constant}",
                f"{one} BETWEEN {constant} AND {constant + 2}",
                f"{one} IN ({constant}, {constant + 2})",
                f"({one} = {constant} OR {other} > {constant})",
                f"{self._any()} IS NOT NULL",
                f"{one} IS NULL",
                f"{one} % 3 = 1",
                *self._texts(),
            ]
        )

    def _texts(self) -> list[str]:
        known = [f"{x}.{column}" for x, source in self.names.items() for column in TEXTS[source]]
        if not known:
            return []
        one, other = self.rng.choice(known), self.rng.choice(known)
        return [f"{one} = 'x'", f"{one} IN ('x', 'z')", f"{one} = {other}"]

    def _number(self) -> str:
        name = self.rng.choice(list(self.names))
        return f"{name}.{self.rng.choice(NUMBERS[self.names[name]])}"

    def _any(self) -> str:
        name = self.rng.choice(list(self.names))
        source = self.names[name]
        columns = (*NUMBERS[source], *TEXTS[source], *(("f",) if source == "s" else ()))
        return f"{name}.{self.rng.choice(columns)}"


def rows_of(rng: Random, plan: p.Node) -> Mapping[str, list[tuple[Any, int, int, int]]]:
    found = {}
    for scan in (node for node in plan.walk() if isinstance(node, p.Scan)):
        rows = []
        for _ in range(rng.randint(0, 12)):
            ts, h = rng.randint(0, HORIZON), rng.randint(-2, 4)
            drawn = {name: rng.choice(values) for name, values in VALUES.items()}
            drawn |= {"ts": ts, "h": h, "g": h - rng.randint(0, 4)}
            rows.append((tuple(drawn[name] for name in scan.schema.names), ts, INF, 1))
        found[scan.name] = sorted(rows, key=lambda row: row[1])
    return found


def test_oracle_what_is_bounded_runs_bounded() -> None:
    """Only where OR between streams bounds a query the engine may keep more, and then says so."""
    tried: Counter[str] = Counter()
    for seed in range(150 * EFFORT):
        rng = Random(seed)
        sql = Asked(rng).sql()
        plan = plan_of(sql)
        found = operators_of(plan, Declared())
        if not all(operator.bounded for operator in found):
            tried["unbounded"] += 1
            continue
        streams = rows_of(rng, plan)
        out, most = run(plan, streams, random_cuts(rng))
        assert first_difference(plan, streams, out) is None, f"seed {seed}: {sql}"
        if any(operator.engine_keeps for operator in found):
            assert " OR " in sql, f"seed {seed}: {sql}"
            tried["more is kept"] += 1
            continue
        bound = sum(inf if operator.number is None else operator.number for operator in found)
        assert most <= bound, f"seed {seed}: {sql}"
        tried["summarized" if any(map(is_summarized, plan.walk())) else "bounded"] += 1
    assert tried["more is kept"] <= EFFORT
    assert min(tried["summarized"], tried["bounded"], tried["unbounded"]) > 10 * EFFORT


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT DISTINCT x.b FROM s x JOIN s y ON x.b = y.b WHERE x.b = 3 AND y.a IS NULL",
        "SELECT DISTINCT x.b FROM s x JOIN s y ON x.b = y.b WHERE x.a >= 2 AND y.a IN (2, 4)",
        "SELECT DISTINCT a FROM s JOIN t ON a = d WHERE k = 'x' AND d BETWEEN 5 AND 9",
        "SELECT count(*) FILTER (WHERE a > 2) FROM s JOIN t ON b = e",
    ],
)
def test_oracle_conditions_of_one_stream_only(sql: str) -> None:
    """Of an occurrence of its stream, of a type, or of an aggregate: they say nothing of others."""
    plan = plan_of(sql)
    assert is_summarized(plan.inputs[0]) or is_summarized(plan)
    for seed in range(40):
        rng = Random(seed)
        streams = rows_of(rng, plan)
        out, _ = run(plan, streams, random_cuts(rng))
        assert first_difference(plan, streams, out) is None, f"seed {seed}"
