"""Expressions as Spark SQL, for Spark to evaluate what is not simple, each under the settings that
it was written under.

Spark analyses the expressions of one SELECT under one set of settings, and those analysed keep it.
So an expression is cut where settings change: each part becomes a column, under its own settings,
and the next stage reads it. What an IF, AND, OR or COALESCE does not look at is not evaluated.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.algebra.expr import ARITHMETIC, COMPARISONS, Call, Column, Expr, Literal
from penstock.algebra.settings import PLAIN, Settings, is_neutral, settings_of
from penstock.execution.settings import applied, session_for

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


_INSTANT = re.compile(r"\btimestamp\b(?![_:])")


def to_sql(expr: Expr, prefix: str = "", beside: Collection[str] = ()) -> str:
    """The SQL text of an expression over the columns of a row, or of a struct in it and some
    columns beside it.

    The name of a function may be a template in which `{0}`, `{1}`, ... stand for its arguments;
    with no argument it is a text with parentheses.
    """
    match expr:
        case Column(name):
            return f"{'' if name in beside else prefix}{_quoted(name)}"
        case Literal(value, kind):
            return _literal(value, kind)
    assert isinstance(expr, Call), f"{expr} is not Spark's to compute"
    call = expr
    args = [to_sql(arg, prefix, beside) for arg in call.args]
    match call.function:
        case "and" | "or" as word:
            return "(" + f" {word.upper()} ".join(args) + ")"
        case "not":
            return f"(NOT {args[0]})"
        case "is null":
            return f"({args[0]} IS NULL)"
        case "cast":
            return f"CAST({args[0]} AS {sql_type(call.type)})"
        case operator if operator in (*COMPARISONS, *ARITHMETIC):
            return f"({args[0]} {operator} {args[1]})"
        case template if "{" in template or "(" in template:
            return f"({template.format(*args)})"
    return f"{call.function}({', '.join(args)})"


def text(value: str) -> Literal:
    return Literal(value, pa.string())


def sql_type(kind: pa.DataType) -> str:
    """The name of a type, whatever a session calls a TIMESTAMP."""
    from pyspark.sql.pandas.types import from_arrow_type

    return _INSTANT.sub("timestamp_ltz", from_arrow_type(kind).simpleString())


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _literal(value: Any, kind: pa.DataType) -> str:
    """A literal of just this type."""
    match value:
        case None:
            return f"CAST(NULL AS {sql_type(kind)})"
        case bool():
            return str(value).upper()
        case str():
            escaped = value.replace("\\", "\\\\").replace("'", "\\'")
            return f"CAST('{escaped}' AS {sql_type(kind)})"
        case bytes():
            return f"X'{value.hex()}'"
        case date() | int() | float() | Decimal():
            return f"CAST('{value}' AS {sql_type(kind)})"
    raise TypeError(f"{value!r} has no literal of type {kind}")


_BOOL = pa.bool_()


@dataclass(frozen=True)
class Stage:
    """Columns to add, all under the same settings."""

    settings: Settings
    columns: dict[str, Expr] = field(default_factory=dict)


def staged(exprs: Mapping[str, Expr], prefix: str = "__s") -> tuple[list[Stage], dict[str, Expr]]:
    """The stages that expressions take, and what is left of them under the plain settings.

    The names of the columns that stages add begin with the prefix.
    """
    cutting = _Cutting(prefix)
    left = {name: cutting.plain(expr) for name, expr in exprs.items()}
    return [stage for _, stage in sorted(cutting.stages.items(), key=lambda s: s[0])], left


@dataclass(frozen=True)
class _Part:
    """An expression under one set of settings, or any if None, after so many stages."""

    expr: Expr
    settings: Settings | None = None
    level: int = 0


@dataclass
class _Cutting:
    prefix: str
    stages: dict[tuple[int, Settings], Stage] = field(default_factory=dict)
    _names: dict[Expr, _Part] = field(default_factory=dict)

    def plain(self, expr: Expr) -> Expr:
        part = self._part(expr)
        return part.expr if part.settings in (None, PLAIN) else self._cut(part).expr

    def _cut(self, part: _Part) -> _Part:
        """A part as a column of a stage of its own."""
        if isinstance(part.expr, Column | Literal):
            return part
        known = self._names.get(part.expr)
        if known is None:
            name = f"{self.prefix}{len(self._names)}"
            settings = part.settings or PLAIN
            stage = self.stages.setdefault((part.level, settings), Stage(settings))
            stage.columns[name] = part.expr
            known = _Part(Column(name, part.expr.type), None, part.level + 1)
            self._names[part.expr] = known
        return known

    def _part(self, expr: Expr) -> _Part:
        if not isinstance(expr, Call):
            return _Part(expr)
        own = None if is_neutral(expr) else settings_of(expr.function)
        args = [self._part(arg) for arg in expr.args]
        kinds = {each.settings for each in args} | {own}
        if len(kinds - {None}) > 1:
            if expr.function in ("if", "and", "or", "coalesce"):
                args = list(self._in_turn(expr, args))
            args = [self._cut(a) if a.settings not in (None, own) else a for a in args]
        settings = next((each.settings for each in args if each.settings is not None), own)
        level = max((each.level for each in args), default=0)
        parts = tuple(each.expr for each in args)
        return _Part(Call(expr.function, parts, expr.type), settings, level)

    def _in_turn(self, call: Call, args: list[_Part]) -> Iterator[_Part]:
        """The arguments as columns, each evaluated only where the call looks at it."""
        if call.function == "if":
            test, then, otherwise = (*map(self._cut, args[:1]), *args[1:])
            yield test
            yield self._guarded(test, then, holds=True)
            yield self._guarded(test, otherwise, holds=False)
            return
        open_: _Part | None = None
        for arg in args:
            value = self._cut(arg if open_ is None else self._only(open_, arg, holds=True))
            yield value
            undecided = _undecided(call.function, value.expr)
            both = undecided if open_ is None else Call("and", (open_.expr, undecided), _BOOL)
            level = max(value.level, open_.level if open_ is not None else 0)
            open_ = self._cut(_Part(both, None, level))

    def _guarded(self, test: _Part, value: _Part, holds: bool) -> _Part:
        return self._cut(self._only(test, value, holds))

    def _only(self, test: _Part, value: _Part, holds: bool) -> _Part:
        """A value where a test holds, or does not; NULL elsewhere."""
        nothing = Literal(None, value.expr.type)
        branches = (value.expr, nothing) if holds else (nothing, value.expr)
        guarded = Call("if", (test.expr, *branches), value.expr.type)
        return _Part(guarded, value.settings, max(test.level, value.level))


def _undecided(function: str, value: Expr) -> Expr:
    """Whether the next argument matters after this one."""
    if function == "coalesce":
        return Call("is null", (value,), _BOOL)
    decisive = Literal(function == "or", _BOOL)
    return Call("not", (Call("<=>", (value, decisive), _BOOL),), _BOOL)


def with_columns(
    rows: DataFrame,
    computed: Mapping[str, Expr],
    spark: SparkSession | None = None,
    here: str | None = None,
) -> DataFrame:
    """Rows with more columns, NULL where they are not `here`.

    Where the rows are not of a session of our own, they may move to one.
    """
    if not computed:
        return rows
    if spark is None:
        spark = session_for(rows.sparkSession, computed.values())
        rows = _moved(rows, spark)
    stages, left = staged(computed)
    rows = with_stages(spark, rows, stages, here=here)
    texts = {name: _only(to_sql(expr), here) for name, expr in left.items()}
    found = rows.selectExpr("*", *(f"{text} AS {name}" for name, text in texts.items()))
    added = [name for stage in stages for name in stage.columns]
    return found.drop(*added) if added else found


def with_stages(
    spark: SparkSession,
    rows: DataFrame,
    stages: Iterable[Stage],
    prefix: str = "",
    here: str | None = None,
) -> DataFrame:
    """Rows of a session of our own with the columns that stages add, NULL where they are not
    `here`. The expressions read the columns of a struct with the prefix, and those added before."""
    beside: list[str] = []
    for stage in stages:
        texts = {name: to_sql(expr, prefix, beside) for name, expr in stage.columns.items()}
        texts = {name: _only(text, here) for name, text in texts.items()}
        with applied(spark, stage.settings):
            rows = rows.selectExpr("*", *(f"{text} AS {name}" for name, text in texts.items()))
        beside += stage.columns
    return rows


def _only(text: str, here: str | None) -> str:
    return text if here is None else f"CASE WHEN {here} THEN {text} END"


def _moved(rows: DataFrame, spark: SparkSession) -> DataFrame:
    """The same rows, for another session to go on with."""
    from pyspark.sql import DataFrame

    if rows.sparkSession is spark:
        return rows
    jvm = spark.sparkContext._jvm
    assert jvm is not None
    datasets = jvm.org.apache.spark.sql.classic.Dataset
    plan = rows._jdf.queryExecution().analyzed()
    return DataFrame(datasets.ofRows(spark._jsparkSession, plan), spark)
