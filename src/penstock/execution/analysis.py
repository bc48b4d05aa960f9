"""Spark's analyser, for the binder: types of expressions, values of constants, types by name."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC
from functools import cached_property
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError

from penstock.algebra.evaluate import evaluate
from penstock.algebra.expr import Expr, Literal
from penstock.algebra.settings import PLAIN, Settings
from penstock.algebra.times import TIMESTAMP
from penstock.boundary import TOO_MANY_TERMS, is_overflow
from penstock.element import Elements
from penstock.errors import ArithmeticOverflowError, DivisionByZeroError
from penstock.execution.expressions import sql_type
from penstock.execution.settings import current
from penstock.execution.spark_errors import objection
from penstock.sql.binding.analyser import AnalysisError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

UNTYPED = (
    "Spark knows no type of what is in this, so that nothing can hold it. Name one, as in "
    "CAST(array() AS ARRAY<INT>)."
)


class SparkAnalyser:
    """Answers are remembered: most expressions are asked about again and again."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._settings = PLAIN
        self._types: dict[tuple[str, str], pa.DataType] = {}
        self._constants: dict[str, Literal] = {}

    def settings(self) -> Settings:
        """The session's settings now; answers under others are forgotten."""
        found = current(self._spark)
        if found != self._settings:
            self._settings = found
            self._types.clear()
            self._constants.clear()
        return found

    def type_of(self, sql: str, columns: pa.Schema) -> pa.DataType:
        """The type of an expression. In a struct, beside a column: no aggregates, no generators."""
        nulls = [f"CAST(NULL AS {sql_type(f.type)}) AS {_quoted(f.name)}" for f in columns]
        row = ", ".join([*nulls, "1 AS `one row`"])
        question = f"SELECT struct({sql}), `one row` FROM (SELECT {row})"
        key = (sql, row)
        if key not in self._types:
            self._types[key] = self._schema(question).field(0).type.field(0).type
        return self._types[key]

    def constant(self, sql: str) -> Literal:
        if sql not in self._constants:
            self._constants[sql] = self._asked(lambda: self._value(sql))
        return self._constants[sql]

    def value(self, expr: Expr) -> Literal | None:
        """What simple functions give, unless it is an error, which Spark has better words for."""
        one_row = Elements.of(pa.schema([("one", pa.int32())]), [((1,), 0, 1, 1)])
        try:
            return Literal(evaluate(expr, one_row)[0].as_py(), expr.type)
        except (ArithmeticOverflowError, DivisionByZeroError):
            return None

    def _value(self, sql: str) -> Literal:
        """Spark folds constants over rows that it has at hand; to collect them takes no job."""
        answer = self._spark.sql(f"SELECT struct({sql}), one FROM VALUES (1) AS rows(one)")
        kind = _arrow_schema(answer.schema).field(0).type.field(0).type
        if _same_in_python(kind):
            return Literal(answer.collect()[0][0][0], kind)
        (value,) = answer.toArrow().column(0)[0].as_py().values()
        return Literal(value.astimezone(UTC) if kind == TIMESTAMP and value else value, kind)

    def named_type(self, sql: str) -> pa.DataType:
        return self.type_of(f"CAST(NULL AS {sql})", pa.schema([]))

    def _schema(self, question: str) -> pa.Schema:
        return self._asked(lambda: _arrow_schema(self._spark.sql(question).schema))

    def _asked(self, ask: Any) -> Any:
        from pyspark.errors import PySparkException

        try:
            with unlogged():
                return ask()
        except PySparkException as error:
            raise objection(error, lambda: self._functions) from error
        except Py4JJavaError as error:
            if is_overflow(error):
                raise AnalysisError(TOO_MANY_TERMS, unsupported=True) from None
            raise
        except ValueError as error:  # Arrow has no such type
            raise AnalysisError(UNTYPED, unsupported=True) from error

    @cached_property
    def _functions(self) -> list[str]:
        return [row.function for row in self._spark.sql("SHOW FUNCTIONS").collect()]


def _arrow_schema(schema: StructType) -> pa.Schema:
    """The types in Arrow. Parts of values may be NULL: an expression that says more of its own
    would have another type than a column with the same values."""
    from pyspark.sql.pandas.types import to_arrow_schema

    return to_arrow_schema(schema._as_nullable(), timezone="UTC")


def _same_in_python(kind: pa.DataType) -> bool:
    """Whether Spark and Arrow make the same Python value of what has this type."""
    t = pa.types
    tests = (t.is_boolean, t.is_integer, t.is_floating, t.is_string, t.is_decimal, t.is_date)
    return any(test(kind) for test in tests)


@contextmanager
def unlogged() -> Iterator[None]:
    """Spark writes the errors that it raises to stderr as well; not those of this block."""
    from pyspark.logger import PySparkLogger

    loggers = [
        PySparkLogger.getLogger(f"{kind}QueryContextLogger") for kind in ("SQL", "DataFrame")
    ]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        yield
    finally:
        for logger, disabled in zip(loggers, before, strict=True):
            logger.disabled = disabled


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
