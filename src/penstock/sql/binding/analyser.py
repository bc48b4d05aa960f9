"""What the binder asks of Spark: the types of expressions and the values of constants."""

from __future__ import annotations

from typing import Protocol

import pyarrow as pa

from penstock.algebra.expr import Expr, Literal
from penstock.algebra.settings import Settings


class Analyser(Protocol):
    """Spark's analyser, asked about pieces of SQL text; raises AnalysisError where it objects."""

    def settings(self) -> Settings:
        """The settings that expressions are bound under."""
        ...

    def type_of(self, sql: str, columns: pa.Schema) -> pa.DataType: ...
    def constant(self, sql: str) -> Literal: ...
    def value(self, expr: Expr) -> Literal | None:
        """The value of an expression without columns, where it is known without Spark."""
        ...

    def named_type(self, sql: str) -> pa.DataType: ...


class AnalysisError(Exception):
    """Spark's objection, or that what Spark could do is not supported here."""

    def __init__(self, message: str, unsupported: bool = False) -> None:
        super().__init__(message)
        self.unsupported = unsupported
