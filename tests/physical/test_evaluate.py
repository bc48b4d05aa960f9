"""Simple expressions on columns give what they mean row by row."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.algebra import expr as ex
from penstock.algebra.evaluate import evaluate, evaluate_mask
from penstock.algebra.expr import Call, Column, Expr, Literal, arithmetic, compare
from penstock.algebra.reference import value
from penstock.element import Elements, hashable
from penstock.errors import ArithmeticOverflowError, DivisionByZeroError, UnsupportedError
from penstock.testing.random_expressions import random_expression
from tests.types import VALUES

INT, FLOAT, TEXT, BOOL = pa.int64(), pa.float64(), pa.string(), pa.bool_()
SCHEMA = pa.schema([("i", INT), ("j", INT), ("x", FLOAT), ("y", FLOAT), ("s", TEXT), ("p", BOOL)])
DOMAINS: dict[pa.DataType, list[Any]] = {
    INT: [None, -7, -1, 0, 1, 2, 2**40],
    FLOAT: [None, math.nan, math.inf, -math.inf, -0.0, 0.0, 1.5],
    TEXT: [None, "", "x", "y", "ä"],
    BOOL: [None, False, True],
}
LOWEST = -(2**63)


def rows_of(schema: pa.Schema, rows: list[tuple[Any, ...]]) -> Elements:
    return Elements.of(schema, [(row, 0, 1, 1) for row in rows])


def random_rows(rng: Random, count: int) -> list[tuple[Any, ...]]:
    return [tuple(rng.choice(DOMAINS[f.type]) for f in SCHEMA) for _ in range(count)]


def in_plain_python(expr: Expr, schema: pa.Schema, rows: list[tuple[Any, ...]]) -> list[Any]:
    return [value(expr, dict(zip(schema.names, hashable(row), strict=True))) for row in rows]


@pytest.mark.parametrize("kind", [INT, FLOAT, TEXT, BOOL], ids=str)
def test_oracle_random_expressions(kind: pa.DataType) -> None:
    for seed in range(300):
        rng = Random(seed)
        expr, rows = random_expression(rng, SCHEMA, kind, 3), random_rows(rng, 30)
        found = evaluate(expr, rows_of(SCHEMA, rows))
        assert found.type == kind
        expected = in_plain_python(expr, SCHEMA, rows)
        assert hashable(found.to_pylist()) == hashable(expected), f"seed {seed}: {expr}"


@pytest.mark.parametrize("kind", [k for k in VALUES if k not in ("map", "interval", "null")])
def test_oracle_comparisons_of_every_type(kind: str) -> None:
    arrow, values = VALUES[kind]
    schema = pa.schema([("a", arrow), ("b", arrow)])
    rows = [(a, b) for a in [*values, None] for b in [*values, None]]
    plain = [tuple(_without_names(v) for v in row) for row in rows]
    for operator in ex.COMPARISONS:
        expr = compare(operator, Column("a", arrow), Column("b", arrow))
        found = evaluate(expr, rows_of(schema, rows)).to_pylist()
        assert found == in_plain_python(expr, schema, plain), operator


def _without_names(item: Any) -> Any:
    """Structs as tuples, at any depth."""
    if isinstance(item, dict):
        return tuple(_without_names(v) for v in item.values())
    return [_without_names(v) for v in item] if isinstance(item, list) else item


def test_a_predicate_selects_what_it_is_true_of() -> None:
    rows = rows_of(SCHEMA, [(None, 0, 0.0, 0.0, "", p) for p in (None, False, True)])
    assert evaluate_mask(Column("p", BOOL), rows).tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("operator", "left", "right"),
    [("+", 2**63 - 1, 1), ("-", LOWEST, 1), ("*", 2**62, 2), ("*", LOWEST, -1)],
)
def test_what_does_not_fit_is_an_error(operator: str, left: int, right: int) -> None:
    expr = arithmetic(operator, Column("i", INT), Column("j", INT))
    rows = [(left, right, 0.0, 0.0, "", True), (None, right, 0.0, 0.0, "", True)]
    with pytest.raises(ArithmeticOverflowError, match=r"\(i . j\)"):
        evaluate(expr, rows_of(SCHEMA, rows))
    assert evaluate(expr, rows_of(SCHEMA, rows[1:])).to_pylist() == [None]


@pytest.mark.parametrize(("operator", "kind"), [("%", INT), ("%", FLOAT), ("/", FLOAT)])
def test_division_by_zero_is_the_same_error_everywhere(operator: str, kind: pa.DataType) -> None:
    schema = pa.schema([("a", kind), ("b", kind)])
    expr = arithmetic(operator, Column("a", kind), Column("b", kind))
    rows = [(None, 0), (0, None), (5, 0)]
    assert evaluate(expr, rows_of(schema, rows[:2])).to_pylist() == [None, None]
    errors = []
    for evaluated in (
        lambda: evaluate(expr, rows_of(schema, rows)),
        lambda: in_plain_python(expr, schema, rows),
    ):
        with pytest.raises(DivisionByZeroError, match=r"\(a . b\): division by zero") as raised:
            evaluated()
        errors.append(str(raised.value))
    assert errors[0] == errors[1]


def test_a_negative_that_does_not_fit_is_an_error() -> None:
    for kind, lowest in ((pa.int8(), -128), (pa.int32(), -(2**31)), (INT, LOWEST)):
        schema = pa.schema([("a", kind)])
        expr = Call("negative", (Column("a", kind),), kind)
        assert evaluate(expr, rows_of(schema, [(lowest + 1,)])).to_pylist() == [-lowest - 1]
        with pytest.raises(ArithmeticOverflowError, match=r"negative\(a\)"):
            evaluate(expr, rows_of(schema, [(lowest,)]))


KINDS = ("int8", "int16", "int32", "int64", "float32", "float64", "date", "timestamp")
WHOLE = KINDS[:4]
SIMPLE = [
    (a, b)
    for a in KINDS
    for b in (*KINDS, "timestamp in zone")
    if ex.is_simple(ex.cast(Column("a", VALUES[a][0]), VALUES[b][0]))
]
NARROWER = [(a, b) for i, a in enumerate(WHOLE) for b in WHOLE[:i]]
WIDER = [pair for pair in SIMPLE if pair not in NARROWER]


def test_casts_that_widen_and_those_of_whole_numbers_are_simple() -> None:
    between = [(a, b) for i, a in enumerate(WHOLE) for b in (*WHOLE[i + 1 :], "float64")]
    rest = [("float32", "float64"), ("date", "timestamp in zone")]
    assert [*between, *rest, ("timestamp", "timestamp in zone")] == WIDER
    assert set(NARROWER) == set(SIMPLE) - set(WIDER)


@pytest.mark.parametrize(("kind", "narrower"), NARROWER)
def test_a_whole_number_without_room_is_an_error(kind: str, narrower: str) -> None:
    (arrow, values), (to, _) = VALUES[kind], VALUES[narrower]
    schema, expr = pa.schema([("a", arrow)]), ex.cast(Column("a", arrow), to)
    most = 2 ** (to.bit_width - 1)
    fitting = [v for v in (*values, most - 1, -most) if -most <= v < most]
    rows = rows_of(schema, [(v,) for v in (*fitting, None)])
    found = evaluate(expr, rows)
    assert found.type == to
    assert found.to_pylist() == [e[0] for e, _, _, _ in rows.rows()]
    for outside in (most, -most - 1):
        with pytest.raises(ArithmeticOverflowError):
            evaluate(expr, rows_of(schema, [(outside,)]))
        nothing = Call("is null", (Column("a", arrow),), BOOL)
        guarded = Call("if", (nothing, expr, Literal(None, to)), to)
        assert evaluate(guarded, rows_of(schema, [(outside,)])).to_pylist() == [None]


@pytest.mark.parametrize(("kind", "wider"), WIDER)
def test_oracle_casts(kind: str, wider: str) -> None:
    (arrow, values), (to, _) = VALUES[kind], VALUES[wider]
    schema, rows = pa.schema([("a", arrow)]), [(v,) for v in (*values, None)]
    expr = ex.cast(Column("a", arrow), to)
    x = rows_of(schema, rows)
    found = evaluate(expr, x)
    assert found.type == to
    expected = in_plain_python(expr, schema, [e for e, _, _, _ in x.rows()])
    assert hashable(found.to_pylist()) == hashable(expected)


INSTANT = pa.timestamp("us", "UTC")


@pytest.mark.parametrize(
    ("function", "argument", "result"),
    [
        ("unix_micros", INSTANT, INT),
        ("timestamp_micros", INT, INSTANT),
        ("unix_date", pa.date32(), pa.int32()),
    ],
)
def test_oracle_conversions(function: str, argument: pa.DataType, result: pa.DataType) -> None:
    kind = next(name for name, (arrow, _) in VALUES.items() if arrow == argument)
    values = [0, -1, 10**15] if argument == INT else VALUES[kind][1]
    schema, rows = pa.schema([("a", argument)]), [(v,) for v in (*values, None)]
    expr = Call(function, (Column("a", argument),), result)
    assert ex.is_simple(expr)
    found = evaluate(expr, rows_of(schema, rows))
    assert found.type == result
    assert found.to_pylist() == in_plain_python(expr, schema, rows)


I32, TEXT_COLUMN = Column("i", pa.int32()), Column("s", TEXT)
NOT_SIMPLE = [
    ex.cast(Column("x", FLOAT), INT),
    ex.cast(Column("x", FLOAT), pa.float32()),
    ex.cast(I32, pa.float32()),
    ex.cast(TEXT_COLUMN, INT),
    ex.cast(Column("i", INT), TEXT),
    ex.cast(Column("t", INSTANT), pa.date32()),
    ex.cast(Column("t", INSTANT), pa.timestamp("us")),
    ex.cast(Column("t", pa.timestamp("ms")), INSTANT),
    ex.cast(Column("d", pa.date32()), pa.timestamp("us")),
    Call("unix_micros", (Column("t", pa.timestamp("us")),), INT),
    Call("timestamp_micros", (I32,), INSTANT),
    Call("unix_date", (Column("t", INSTANT),), pa.int32()),
    Call("date_format", (Column("t", INSTANT), ex.Literal("MMMM", TEXT)), TEXT),
    Call("date_format", (Column("t", INSTANT), ex.Literal("yy", TEXT)), TEXT),
    Call("date_format", (Column("t", INSTANT), ex.Literal("HH'h'", TEXT)), TEXT),
    Call("date_format", (Column("t", pa.timestamp("us")), ex.Literal("HH", TEXT)), TEXT),
    Call("negative", (Column("d", pa.decimal128(5, 2)),), pa.decimal128(5, 2)),
    Call("/", (Column("i", INT), Column("j", INT)), FLOAT),
    Call("/", (Column("x", pa.float32()), Column("y", pa.float32())), pa.float32()),
    Call("%", (Column("d", pa.decimal128(5, 2)),) * 2, pa.decimal128(5, 2)),
]


@pytest.mark.parametrize("expr", NOT_SIMPLE, ids=lambda e: f"{e.args[0].type} {e} {e.type}")
def test_what_is_not_simple_is_not_evaluated(expr: Call) -> None:
    assert not ex.is_simple(expr)
    assert not ex.is_simple(Call("coalesce", (expr,), expr.type))
    schema = pa.schema([(arg.name, arg.type) for arg in expr.args if isinstance(arg, Column)][:1])
    if len(ex.columns(expr)) == 1:
        with pytest.raises(UnsupportedError, match="only Spark"):
            evaluate(expr, Elements.empty(schema))


def test_a_day_too_far_for_a_timestamp_is_an_error_unless_guarded() -> None:
    day, micros = pa.date32(), INSTANT
    schema = pa.schema([("d", day), ("p", BOOL)])
    far = pa.array([2**31 - 1, 0], pa.int32()).cast(day)
    one = np.zeros(2, dtype=np.int64)
    rows = Elements(schema, (far, pa.array([False, True])), one, one + 1, one + 1)
    expr = ex.cast(Column("d", day), micros)
    with pytest.raises(ArithmeticOverflowError):
        evaluate(expr, rows)
    guarded = Call("if", (Column("p", BOOL), expr, Literal(None, micros)), micros)
    assert evaluate(guarded, rows).cast(INT).to_pylist() == [None, 0]


@pytest.mark.parametrize(
    ("a", "b", "expected"), [(7, 3, 1), (-7, 3, -1), (7, -3, 1), (-7, -3, -1), (LOWEST, -1, 0)]
)
def test_a_remainder_has_the_sign_of_the_dividend(a: int, b: int, expected: int) -> None:
    expr = arithmetic("%", Column("i", INT), Column("j", INT))
    rows = rows_of(SCHEMA, [(a, b, 0.0, 0.0, "", True)])
    assert evaluate(expr, rows).to_pylist() == [expected]


def test_doubles_overflow_to_infinity() -> None:
    expr = arithmetic("*", Column("x", FLOAT), Column("y", FLOAT))
    rows = rows_of(SCHEMA, [(0, 0, 1e300, 1e300, "", True), (0, 0, math.inf, 0.0, "", True)])
    first, second = evaluate(expr, rows).to_pylist()
    assert first == math.inf
    assert math.isnan(second)


@pytest.mark.parametrize("operator", ["+", "-", "*"])
def test_decimals_have_the_type_that_was_said(operator: str) -> None:
    kind = pa.decimal128(6, 2)
    schema = pa.schema([("a", kind)])
    column, one = Column("a", kind), Literal(Decimal("1.00"), kind)
    found = evaluate(arithmetic(operator, column, one), rows_of(schema, [(Decimal("2.50"),)]))
    assert found.type == kind
    assert found.to_pylist() == [{"+": 3.5, "-": 1.5, "*": 2.5}[operator]]
    big = Literal(Decimal("-9999.99" if operator == "-" else "9999.99"), kind)
    with pytest.raises(ArithmeticOverflowError):
        evaluate(arithmetic(operator, column, big), rows_of(schema, [(Decimal("9999.99"),)]))


REMAINDER = arithmetic("%", Column("i", INT), Column("j", INT))
IS_ZERO = compare("=", Column("j", INT), Literal(0, INT))
EVEN = compare("=", REMAINDER, Literal(0, INT))
ZERO_OR_NULL = Call("if", (IS_ZERO, Column("j", INT), Literal(None, INT)), INT)
GUARDED: list[tuple[Expr, Callable[[int, int], Any]]] = [
    (Call("if", (IS_ZERO, Literal(None, INT), REMAINDER), INT), lambda i, j: i % j if j else None),
    (Call("coalesce", (ZERO_OR_NULL, REMAINDER), INT), lambda i, j: i % j if j else 0),
    (Call("or", (IS_ZERO, EVEN), BOOL), lambda i, j: j == 0 or i % j == 0),
    (
        Call("and", (Call("not", (IS_ZERO,), BOOL), EVEN), BOOL),
        lambda i, j: j != 0 and i % j == 0,
    ),
]


@pytest.mark.parametrize(("expr", "expected"), GUARDED, ids=[str(e) for e, _ in GUARDED])
def test_what_is_guarded_against_is_not_evaluated(
    expr: Expr, expected: Callable[[int, int], Any]
) -> None:
    pairs = [(i, j) for i in range(4) for j in range(3)]
    rows = rows_of(SCHEMA, [(i, j, 0.0, 0.0, "", True) for i, j in pairs])
    assert evaluate(expr, rows).to_pylist() == [expected(i, j) for i, j in pairs]


def test_other_functions_are_for_spark() -> None:
    with pytest.raises(UnsupportedError, match=r"upper\(s\)"):
        evaluate(Call("upper", (Column("s", TEXT),), TEXT), rows_of(SCHEMA, []))


def test_no_rows_no_values() -> None:
    for kind in (INT, FLOAT, TEXT, BOOL):
        expr = random_expression(Random(5), SCHEMA, kind, 3)
        assert len(evaluate(expr, rows_of(SCHEMA, []))) == 0
    assert len(np.flatnonzero(evaluate_mask(EVEN, rows_of(SCHEMA, [])))) == 0
