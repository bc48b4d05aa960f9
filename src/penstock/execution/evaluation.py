"""Expressions evaluated by Spark, each under the settings it was written under."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from penstock.algebra.expr import Expr
from penstock.execution.expressions import to_sql
from penstock.execution.settings import applied, session_for
from penstock.execution.staging import Stage, staged

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
