"""Expressions as text: for readers, and as SQL that means the same."""

import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.algebra.expr import Call, Column, Expr, Literal, cast, compare
from penstock.algebra.times import TIMESTAMP, micros, shifted
from penstock.reasoning.identity import Identities
from penstock.reasoning.printing import expression, listed, sql_expression
from penstock.reasoning.to_sql import Names, rendered

INT, BOOL = pa.int64(), pa.bool_()
A, B = Column("0:a", INT), Column("1:b#2", INT)
TS = Column("0:ts", TIMESTAMP)
ONE, TWO = Literal(1, INT), Literal(2, INT)


A1, B1 = compare("=", A, ONE), compare("=", B, ONE)
LISTED = [compare("=", A, Literal(n, INT)) for n in range(7)]


def logic(word: str, *parts: Expr) -> Expr:
    return Call(word, parts, BOOL)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (compare("<", Call("+", (A, ONE), INT), B), "(a + 1) < b"),
        (logic("and", logic("or", A1, B1), A), "(a = 1 OR b = 1) AND a"),
        (logic("or", logic("and", A1, B1), A), "a = 1 AND b = 1 OR a"),
        (compare("=", A1, B1), "(a = 1) = (b = 1)"),
        (logic("not", logic("is null", A)), "NOT (a IS NULL)"),
        (logic("or", *LISTED), "a IN (0, 1, 2, 3, 4, 5, 6)"),
        (logic("until now", shifted(micros(TS), "+", 300_000_000)), "NOW() < ts + 5 MINUTES"),
        (cast(Call("UPPER({0})", (A,), INT), pa.int32()), "UPPER(a)"),
    ],
)
def test_for_readers(value: Expr, text: str) -> None:
    assert expression(value) == text


def test_as_sql_nothing_is_left_out() -> None:
    column = Column("t1.a", pa.int32())
    value = compare("<", cast(column, INT), Call("-", (TWO, ONE), INT))
    assert sql_expression(value) == "CAST(t1.a AS BIGINT) < (2 - 1)"


def test_alternatives_stay_together_among_other_conditions() -> None:
    scan = p.Scan("s", pa.schema([("a", INT), ("b", INT)]), append_only=True)
    a, b = (Column(name, INT) for name in "ab")
    either = logic("or", compare("=", a, ONE), compare("=", b, ONE))
    plan = p.Filter(scan, logic("and", either, compare("<", a, TWO)))
    names = Names({}, {}, Identities(), ticks=True)
    assert rendered(plan, names) == "SELECT a, b FROM s WHERE (a = 1 OR b = 1) AND a < 2"


def test_lists_of_names() -> None:
    assert listed([]) == ""
    assert listed(["a"]) == "a"
    assert listed("abc") == "a, b and c"
