"""Random scalar expressions, and conditions, that mean the same in Spark SQL and in DuckDB."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from random import Random
from typing import Any

from penstock.testing.random_inputs import DECIMAL, DOMAINS, Column

NUMBERS = ("INT", "BIGINT", "DOUBLE", DECIMAL)
KINDS = tuple(DOMAINS)

Scope = Sequence[Column]
"""The columns that an expression can read, by their qualified names."""


def literal(value: Any, kind: str) -> str:
    """A constant of just this type in both dialects."""
    match value:
        case None:
            return f"CAST(NULL AS {kind})"
        case str():
            return f"'{value}'"
        case bool():
            return str(value).upper()
        case date():
            return f"DATE '{value}'"
        case float() | Decimal():
            return f"CAST({value} AS {kind})"
    return f"CAST({value} AS BIGINT)" if kind == "BIGINT" else str(value)


@dataclass
class Scalars:
    """Draws expressions and conditions over columns."""

    rng: Random
    rich: bool = True
    """Whether expressions may be such that only Spark can evaluate them, which takes a while."""
    kinds: Sequence[str] = KINDS
    """The types of the columns of queries."""

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def some(self, fewest: int, most: int, make: Callable[[], Any]) -> list[Any]:
        return [make() for _ in range(self.rng.randint(fewest, most))]

    def value(self, scope: Scope, kind: str, depth: int = 2) -> str:
        """An expression of this type."""
        mine = [column.name for column in scope if column.kind == kind]
        if depth == 0 or self.chance(0.4):
            return self.rng.choice(mine) if mine and self.chance(0.9) else self.constant(kind)

        def smaller(of: str = kind) -> str:
            return self.value(scope, of, depth - 1)

        general = [
            f"coalesce({smaller()}, {smaller()})",
            f"CASE WHEN {self.condition(scope, depth - 1)} THEN {smaller()} ELSE {smaller()} END",
            f"CASE WHEN {self.condition(scope, depth - 1)} THEN {smaller()} END",
        ]
        if self.rich:
            general += [
                f"nullif({smaller()}, {self.constant(kind)})",
                f"{self.rng.choice(('greatest', 'least'))}({smaller()}, {smaller()})",
            ]
        if self.chance(0.4):
            return self.rng.choice(general)
        match kind:
            case "BOOLEAN":
                return self.condition(scope, depth)
            case "INT" | "BIGINT" | "DOUBLE":
                choices = self._arithmetic(kind, smaller)
        if kind not in NUMBERS[:3] or (self.rich and self.chance(0.5)):
            choices = self._rich(kind, smaller) if self.rich else general
        return self.rng.choice(choices)

    def _arithmetic(self, kind: str, smaller: Callable[..., str]) -> list[str]:
        a, c, whole = smaller(), smaller(), smaller("INT")
        match kind:
            case "INT":
                return [f"({a} + {c})", f"({a} - {c})", f"({a} * 2)", f"({a} % 3)", f"(- {a})"]
            case "BIGINT":
                return [f"({a} + {c})", f"({a} - {whole})", f"CAST({whole} AS BIGINT)"]
        return [f"({a} + {c})", f"({a} * {whole})", f"CAST({whole} AS DOUBLE)"]

    def _rich(self, kind: str, smaller: Callable[..., str]) -> list[str]:
        a, c, text = smaller(), smaller(), smaller("STRING")
        match kind:
            case "INT":
                parts = [f"CAST({part}({smaller('DATE')}) AS INT)" for part in ("year", "day")]
                return [f"abs({a})", f"CAST(length({text}) AS INT)", *parts]
            case "BIGINT" | "DOUBLE":
                return [f"abs({a})"]
            case "STRING":
                number = smaller("INT")
                return [
                    *(f"({a} || {c})", f"upper({a})", f"lower({a})", f"substring({a}, 1, 1)"),
                    *(f"replace({a}, 'a', 'bb')", f"CAST({number} AS STRING)", f"trim({a})"),
                ]
            case "DATE":
                return [f"least({a}, {c})"]
        return [f"CAST(({a} {sign} {c}) AS {DECIMAL})" for sign in "+-"]

    def condition(self, scope: Scope, depth: int = 2) -> str:
        if depth > 0 and self.chance(0.35):
            first, second = (self.condition(scope, depth - 1) for _ in range(2))
            return self.rng.choice(
                (f"({first} AND {second})", f"({first} OR {second})", f"(NOT {first})")
            )
        kind = self.rng.choice([column.kind for column in scope] or self.kinds)
        a = self.value(scope, kind, min(depth, 1))
        match self.rng.choice(("compare", "compare", "compare", "in", "between", "null", "like")):
            case "in":
                listed = ", ".join(self.some(1, 3, lambda: self.constant(kind)))
                return f"({a} {self.rng.choice(('', 'NOT '))}IN ({listed}))"
            case "between":
                low, high = self.constant(kind), self.value(scope, kind, 0)
                return f"({a} {self.rng.choice(('', 'NOT '))}BETWEEN {low} AND {high})"
            case "null":
                return f"({a} IS {self.rng.choice(('', 'NOT '))}NULL)"
            case "like" if kind == "STRING" and self.rich:
                pattern = self.rng.choice(("a%", "%b", "_", "%a%", ""))
                return f"({a} {self.rng.choice(('', 'NOT '))}LIKE '{pattern}')"
            case "like" if kind == "BOOLEAN":
                return self.rng.choice((a, f"({a} IS TRUE)", f"({a} IS NOT FALSE)"))
        if kind in NUMBERS and self.chance(0.15):
            other = self.value(scope, "INT", 0)
        else:
            other = self.value(scope, kind, min(depth, 1))
        operators = (
            "=",
            "=",
            "<>",
            "<",
            "<=",
            ">",
            ">=",
            "IS DISTINCT FROM",
            "IS NOT DISTINCT FROM",
        )
        return f"({a} {self.rng.choice(operators)} {other})"

    def constant(self, kind: str) -> str:
        return literal(None if self.chance(0.05) else self.rng.choice(DOMAINS[kind]), kind)
