"""Simple expressions give on Arrow what Spark gives for their SQL text, errors included."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from penstock.algebra import expr as ex
from penstock.algebra import plan as p
from penstock.algebra.evaluate import evaluate
from penstock.algebra.expr import Call, Column, Expr, Literal, arithmetic, cast
from penstock.element import Elements, hashable
from penstock.errors import ArithmeticOverflowError, DivisionByZeroError, PenstockError
from penstock.execution.analysis import SparkAnalyser
from penstock.execution.expressions import to_sql
from penstock.sql import parse
from penstock.sql.binding import Catalog, Relation, bind_query, types
from penstock.sql.statements import Query
from penstock.testing.random_expressions import random_expression

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INT, FLOAT, BOOL, DAY = pa.int64(), pa.float64(), pa.bool_(), pa.date32()
TEXT = pa.string()
LOCAL, INSTANT = pa.timestamp("us"), pa.timestamp("us", "UTC")
DAYS = [dt.date(1, 1, 1), dt.date(1582, 10, 15), dt.date(1969, 12, 31), dt.date(9999, 12, 31)]
TIMES = [
    dt.datetime(1, 1, 1),
    dt.datetime(1969, 12, 31, 23, 59, 59, 999999),
    dt.datetime(2024, 2, 29),
]
VALUES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "byte": (pa.int8(), [-127, 0, 127]),
    "short": (pa.int16(), [-(2**15) + 1, 0, 2**15 - 1]),
    "whole": (pa.int32(), [-(2**31) + 1, 0, 2**31 - 1]),
    "i": (INT, [0, 1, 2, -7]),
    "long": (INT, [2**63 - 1, -(2**63) + 1, 2**53 + 1, -(2**53) - 3]),
    "micros": (INT, [0, -1, 10**15, -(10**15)]),
    "single": (pa.float32(), [-math.inf, -0.0, 1e-45, 0.1, math.nan]),
    "x": (FLOAT, [math.nan, math.inf, -math.inf, -0.0, 1e-300, 1.5]),
    "y": (FLOAT, [1e300, -0.1, math.inf, 3.0, math.nan]),
    "price": (pa.decimal128(8, 2), [Decimal("999999.99"), Decimal("-0.01"), Decimal("7.50")]),
    "fine": (pa.decimal128(17, 9), [Decimal("-99999999.999999999"), Decimal("1.000000001")]),
    "s": (pa.string(), ["", "x", "y"]),
    "p": (BOOL, [False, True]),
    "day": (DAY, DAYS),
    "local": (LOCAL, TIMES),
    "instant": (INSTANT, [time.replace(tzinfo=dt.UTC) for time in TIMES]),
}
SCHEMA = pa.schema([(name, kind) for name, (kind, _) in VALUES.items()])


def column(name: str) -> Column:
    return Column(name, VALUES[name][0])


def call(function: str, name: str, kind: pa.DataType) -> Call:
    return Call(function, (column(name),), kind)


NUMBERS = ("byte", "short", "whole", "i", "long", "single", "x")
PATTERNS = ("yyyy-MM-dd", "HH:mm", "yyyyMMdd HH:mm:ss", "dd.MM.yyyy", "ss")
CASTS = [
    cast(column(name), kind)
    for name in VALUES
    for kind in (pa.int16(), pa.int32(), INT, FLOAT, INSTANT)
    if ex.is_simple(cast(column(name), kind)) and ex.widens(VALUES[name][0], kind)
]
TABLE: list[Expr] = [
    *CASTS,
    *(call(f, name, VALUES[name][0]) for f in ("negative", "abs") for name in NUMBERS),
    call("unix_micros", "instant", INT),
    call("timestamp_micros", "micros", INSTANT),
    call("unix_date", "day", pa.int32()),
    *(Call("date_format", (column("instant"), Literal(p, TEXT)), TEXT) for p in PATTERNS),
    *(
        Call("date_format", (call("timestamp_micros", name, INSTANT), Literal(p, TEXT)), TEXT)
        for name in ("micros", "long")
        for p in PATTERNS
    ),
    arithmetic("/", column("x"), column("y")),
    arithmetic("%", column("x"), column("y")),
    Call("unix_micros", (cast(column("day"), INSTANT),), INT),
    Call("unix_micros", (cast(column("local"), INSTANT),), INT),
    arithmetic("/", cast(column("long"), FLOAT), Literal(7.0, FLOAT)),
]


def random_rows(rng: Random, count: int) -> pa.Table:
    columns = [
        pa.array([rng.choice([*values, None]) for _ in range(count)], kind)
        for kind, values in VALUES.values()
    ]
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def elements(table: pa.Table) -> Elements:
    columns = tuple(column.combine_chunks() for column in table.columns)
    zero = np.zeros(len(table), dtype=np.int64)
    return Elements(table.schema, columns, zero, zero + 1, zero + 1)


def in_spark(spark: SparkSession, exprs: list[Expr], table: pa.Table) -> list[list[Any]]:
    texts = [f"{to_sql(expr)} AS c{i}" for i, expr in enumerate(exprs)]
    found = spark.createDataFrame(table).selectExpr(*texts).toArrow()
    for expr, field in zip(exprs, found.schema, strict=True):
        assert field.type == expr.type, str(expr)
    return [found.column(i).to_pylist() for i in range(len(exprs))]


@pytest.mark.spark
def test_differential_table(spark: SparkSession) -> None:
    assert len(CASTS) == 15
    assert all(map(ex.is_simple, TABLE))
    table = random_rows(Random(1), 200)
    for expr, expected in zip(TABLE, in_spark(spark, TABLE, table), strict=True):
        found = evaluate(expr, elements(table)).to_pylist()
        assert hashable(found) == hashable(expected), str(expr)


@pytest.mark.spark
def test_differential_random_expressions(spark: SparkSession) -> None:
    rng = Random(1)
    readable = pa.schema([SCHEMA.field(name) for name in ("i", "x", "s", "p")])
    exprs = [
        random_expression(rng, readable, kind, 3)
        for kind in (INT, FLOAT, pa.string(), BOOL)
        for _ in range(40)
    ]
    table = random_rows(rng, 100)
    for expr, expected in zip(exprs, in_spark(spark, exprs, table), strict=True):
        found = evaluate(expr, elements(table)).to_pylist()
        assert hashable(found) == hashable(expected), str(expr)


@pytest.mark.spark
def test_differential_decimals(spark: SparkSession) -> None:
    """Decimals, beside each other and beside whole numbers and constants, as Spark types them."""
    sides: dict[str, Expr] = {name: column(name) for name in ("price", "fine", *NUMBERS[:5])}
    sides |= {str(n): Literal(n, pa.int32()) for n in (0, 7, 2147483647)}
    sides["0.908"] = Literal(Decimal("0.908"), pa.decimal128(3, 3))
    texts, exprs = [], []
    for operator, a, b in product("+-*%", sides, sides):
        expr = types.arithmetic(operator, sides[a], sides[b])
        if expr is not None and pa.types.is_decimal(expr.type):
            texts.append(f"{a} {operator} {b}")
            exprs.append(expr)
    assert len(texts) > 100
    assert all(map(ex.is_simple, exprs))
    table = random_rows(Random(1), 100)
    found = spark.createDataFrame(table).selectExpr(*texts).toArrow()
    for text, expr, values in zip(texts, exprs, found.columns, strict=True):
        assert (values.type, values.to_pylist()) == (
            expr.type,
            evaluate(expr, elements(table)).to_pylist(),
        ), text
    assert [row[:9] for row in in_spark(spark, exprs, table)] == [
        column.to_pylist()[:9] for column in found.columns
    ]


@pytest.mark.parametrize("operator", ["+", "-", "*", "%"])
def test_decimals_that_may_not_fit_are_left_to_spark(operator: str) -> None:
    widest = Column("widest", pa.decimal128(38, 2))
    assert types.arithmetic(operator, widest, column("price")) is None
    assert types.arithmetic(operator, column("x"), column("price")) is None


@pytest.mark.spark
def test_decimals_of_queries_are_typed_as_by_spark(spark: SparkSession) -> None:
    """A constant has the digits it needs only where it is written as one."""
    texts = ["-5 * d", "(2 * 3) * d", "d * CAST(3 AS INT)", "d - -0.5", "d + 1 + 1", "(7) - d"]
    columns = pa.schema([("d", pa.decimal128(8, 2)), ("t", INT)])
    scan = p.Scan("s", columns, append_only=True, time="t")
    catalog = Catalog({"s": Relation("source", scan, "t")}, INT)
    (query,) = parse(f"SELECT {', '.join(f'{e} AS c{i}' for i, e in enumerate(texts))} FROM s")
    assert isinstance(query, Query)
    plan = bind_query(query, catalog, SparkAnalyser(spark)).plan
    expected = spark.createDataFrame([], "d DECIMAL(8, 2)").selectExpr(*texts).toArrow().schema
    assert plan.schema.types == expected.types


LOWEST = Literal(-(2**63), INT)
ERRORS: list[tuple[Expr, type[PenstockError]]] = [
    (arithmetic("%", column("i"), Literal(0, INT)), DivisionByZeroError),
    (arithmetic("%", column("y"), Literal(0.0, FLOAT)), DivisionByZeroError),
    (arithmetic("/", column("y"), Literal(-0.0, FLOAT)), DivisionByZeroError),
    (Call("negative", (LOWEST,), INT), ArithmeticOverflowError),
    (Call("abs", (LOWEST,), INT), ArithmeticOverflowError),
    (arithmetic("-", LOWEST, Literal(1, INT)), ArithmeticOverflowError),
]


@pytest.mark.spark
@pytest.mark.parametrize(("expr", "error"), ERRORS, ids=[str(expr) for expr, _ in ERRORS])
def test_differential_errors(expr: Expr, error: type[PenstockError], spark: SparkSession) -> None:
    from pyspark.errors import PySparkException

    table = random_rows(Random(1), 20)
    with pytest.raises(error):
        evaluate(expr, elements(table))
    with pytest.raises(PySparkException) as raised:
        in_spark(spark, [expr], table)
    assert raised.value.getSqlState() == error.sqlstate
