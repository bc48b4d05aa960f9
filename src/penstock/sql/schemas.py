"""Columns of a source as a text: `a INT, b STRING NOT NULL, c INT CHECK (c BETWEEN 0 AND 9)`."""

from __future__ import annotations

from dataclasses import dataclass

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from penstock.errors import ParseError, SqlContext
from penstock.sql.dialect import Penstock


@dataclass(frozen=True)
class SchemaColumn:
    """A column, its type as written, and the conditions that its values meet."""

    name: str
    type: str
    nullable: bool
    checks: tuple[exp.Expr, ...]


def parse_schema(text: str) -> tuple[SchemaColumn, ...]:
    advice = "Write columns and their types: a INT, b STRING CHECK (b IN ('x', 'y'))."
    try:
        tree = sqlglot.parse_one(f"CREATE TABLE t ({text})", dialect="spark")
    except SqlglotError:
        tree = exp.Null()
    columns = tree.this.expressions if isinstance(tree, exp.Create) else []
    if not columns or not all(isinstance(c, exp.ColumnDef) and c.kind for c in columns):
        context = SqlContext(text, 0, len(text))
        raise ParseError(f"These are not columns of a source. {advice}", context=context)
    return tuple(map(_column, columns))


def _column(tree: exp.ColumnDef) -> SchemaColumn:
    kinds = [constraint.kind for constraint in tree.constraints]
    checks = tuple(kind.this for kind in kinds if isinstance(kind, exp.CheckColumnConstraint))
    required = any(
        isinstance(kind, exp.NotNullColumnConstraint) and not kind.args.get("allow_null")
        for kind in kinds
    )
    kind = tree.kind.sql(Penstock) if tree.kind is not None else ""
    return SchemaColumn(tree.name, kind, not required, checks)
