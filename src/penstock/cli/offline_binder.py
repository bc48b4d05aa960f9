"""Questions about a file that need no run of it, and Spark only where types are known to it alone.

The statements are bound one after the other. A source only exists: asking about a file opens no
port and reads no stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import pyarrow as pa

from penstock.algebra.expr import Expr, Literal
from penstock.algebra.plan import Node
from penstock.algebra.settings import Settings
from penstock.errors import PenstockError, PlanError
from penstock.memory.check_context import CheckContext
from penstock.sql import statements as s
from penstock.sql.binding import Analyser, AnalysisError, Catalog
from penstock.sql.binding.local_analyser import LocalAnalyser
from penstock.sql.changes import as_altered
from penstock.sql.names import names_read
from penstock.sql.text import Name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.session import Session

Start: TypeAlias = Callable[[], AbstractContextManager["Session"]]
Columns: TypeAlias = tuple[s.ColumnDefinition, ...]
ColumnsOf: TypeAlias = Callable[[s.CreateTable], Columns]
T = TypeVar("T")


@dataclass(frozen=True)
class Asked:
    """A view or query of a file, its plan, and what there is when it is reached."""

    name: str
    statement: s.Query | s.CreateView
    plan: Node
    scene: CheckContext
    views: tuple[s.CreateView, ...]

    @property
    def views_below(self) -> tuple[s.CreateView, ...]:
        """The views that it reads, and those that they read, in the order of the file."""
        own = self.statement
        waiting = names_read(own if isinstance(own, s.Query) else own.query)
        needed: set[str] = set()
        while waiting:
            name = waiting.pop().lower()
            for view in self.views:
                if view.name.text.lower() == name and name not in needed:
                    needed.add(name)
                    waiting += names_read(view.query)
        return tuple(view for view in self.views if view.name.text.lower() in needed)


def questions(statements: Sequence[s.Statement], start: Start) -> list[Asked]:
    """The views and queries of a file; `start` starts Spark, where that is needed.

    One whose plan is that of an earlier one is left out: `SELECT * FROM v` after CREATE VIEW v.
    """
    return answered(lambda analyser, columns: _asked(statements, analyser, columns), start)


def answered(ask: Callable[[Analyser, ColumnsOf], T], start: Start) -> T:
    """What is found with the types that are known without Spark, or else with Spark."""
    local = _Doubtful()
    try:
        found = ask(local, local.columns)
    except (PenstockError, AnalysisError):
        if not local.doubts:
            raise
    else:
        if not local.doubts:
            return found
    with start() as db:
        spark = db.spark
        return ask(db.analyser, lambda table: _columns(table, spark))


def _asked(
    statements: Sequence[s.Statement],
    analyser: Analyser,
    columns: ColumnsOf,
) -> list[Asked]:
    scene, queries = CheckContext(Catalog({}, None), analyser), 0
    found: list[Asked] = []
    views: tuple[s.CreateView, ...] = ()
    for statement in as_altered(statements):
        try:
            match statement:
                case s.Query() | s.CreateView():
                    queries += isinstance(statement, s.Query)
                    name = (
                        f"query {queries}"
                        if isinstance(statement, s.Query)
                        else f"view {statement.name}"
                    )
                    plan = scene.plan(statement)
                    if plan is not None and plan not in [asked.plan for asked in found]:
                        found.append(Asked(name, statement, plan, scene, views))
                    if isinstance(statement, s.CreateView):
                        scene, views = scene.after([statement]), (*views, statement)
                case s.CreateTable():
                    if not statement.columns:
                        statement = replace(statement, columns=columns(statement))
                    scene = scene.after([statement])
                case s.CreateSource() | s.RegisterSource() | s.CreateStream():
                    scene = scene.after([statement])
        except AnalysisError as error:
            raise PlanError(str(error), context=statement.context()) from error
    return found


class _Doubtful:
    """The analyser without Spark, which remembers whether it was asked for more than it knows."""

    def __init__(self) -> None:
        self.doubts = False
        self._known = LocalAnalyser()

    def settings(self) -> Settings:
        return self._known.settings()

    def type_of(self, sql: str, columns: pa.Schema) -> pa.DataType:
        return self._answered(lambda: self._known.type_of(sql, columns))

    def constant(self, sql: str) -> Literal:
        found: Literal = self._answered(lambda: self._known.constant(sql))
        return found

    def value(self, expr: Expr) -> Literal | None:
        return self._known.value(expr)

    def named_type(self, sql: str) -> pa.DataType:
        return self._answered(lambda: self._known.named_type(sql))

    def columns(self, table: s.CreateTable) -> Columns:
        self.doubts = True
        raise AnalysisError(f"The columns of {table.name} are known to Spark alone.")

    def _answered(self, ask: Callable[[], pa.DataType]) -> pa.DataType:
        try:
            return ask()
        except AnalysisError:
            self.doubts = True
            raise


def _columns(table: s.CreateTable, spark: SparkSession) -> Columns:
    """The columns that the files of a table have."""
    if table.format is None:
        raise PlanError(
            "A table needs rows. Write USING parquet OPTIONS (path '...').",
            context=table.context(table.name.span),
        )
    from pyspark.errors import PySparkException

    from penstock.execution.spark_errors import objection

    try:
        rows = spark.read.format(table.format.name).options(**dict(table.format.options)).load()
        fields = rows.schema.fields
    except PySparkException as error:
        raise objection(error) from error
    return tuple(s.ColumnDefinition(Name(f.name), f.dataType.simpleString()) for f in fields)
