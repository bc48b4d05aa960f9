"""Sources and the streams over them, as what a query reads."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import sqlglot
from sqlglot import exp

from penstock.algebra import operations
from penstock.algebra.arrival import in_arrival_order
from penstock.algebra.expr import Call, Column, Expr, Literal, compare, conjunction, promise
from penstock.algebra.plan import Filter, Node, Scan, Upsert, project
from penstock.algebra.times import TIMESTAMP
from penstock.errors import PlanError, SqlContext
from penstock.sql.binding.analyser import Analyser, AnalysisError
from penstock.sql.binding.catalog import Relation
from penstock.sql.binding.clauses import check_read
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.scalars import Scalars
from penstock.sql.binding.scopes import TIME, Item, Names, Scope
from penstock.sql.binding.types import shown
from penstock.sql.dialect import Penstock
from penstock.sql.rendering import patterns_sql
from penstock.sql.schemas import SchemaColumn, parse_schema
from penstock.sql.statements import ByDomain, CreateStream
from penstock.sql.text import Span


def described(
    name: str,
    text: str,
    analyser: Analyser,
    integer_time: bool = False,
    allowed: Mapping[str, object] | None = None,
) -> Relation:
    """A source of columns written as a text; without a column `ts`, it gets one for its time.

    `allowed` has the values of columns: (low, high), or a list or set of them all.
    """
    columns = parse_schema(text)
    fields = [pa.field(column.name, _type(column, analyser)) for column in columns]
    own_time = any(column.name.lower() == TIME for column in columns)
    if not own_time:
        fields.append(pa.field(TIME, pa.int64() if integer_time else TIMESTAMP))
    schema = pa.schema(fields)
    time = next(f.name for f in fields if f.name.lower() == TIME)
    hidden = frozenset() if own_time else frozenset({time})
    checks = [check for column in columns for check in column.checks]
    written = promised(checks, schema, analyser, Diagnostics(_Check(columns)))
    conditions = [
        *([] if written is None else [written]),
        *(_allowed(schema, column, values) for column, values in (allowed or {}).items()),
    ]
    condition = conjunction(tuple(conditions)) if conditions else None
    never_null = [column.name for column in columns if not column.nullable]
    scan = Scan(name, schema, True, time, promise(condition, schema, never_null))
    return Relation("source", scan, time, hidden)


@dataclass(frozen=True)
class _Check:
    """The text that an error about a CHECK points to."""

    columns: tuple[SchemaColumn, ...]

    def context(self, span: Span | None = None) -> SqlContext:
        text = ", ".join(check.sql() for column in self.columns for check in column.checks)
        return SqlContext(text, 0, len(text))


def promised(
    checks: Iterable[exp.Expr], schema: pa.Schema, analyser: Analyser, diagnostics: Diagnostics
) -> Expr | None:
    """Conditions on the columns of a source, as one."""
    checks = list(checks)
    for check in checks:
        check_read(check, diagnostics)
    scalars = Scalars(analyser, diagnostics)
    names = Names(diagnostics, scalars.exact)
    scope = Scope(tuple(Item(name, name) for name in schema.names))
    found = [scalars.predicate(names.resolve(check, scope), schema) for check in checks]
    return conjunction(tuple(found)) if found else None


def domains(statement: CreateStream) -> tuple[exp.Expr, ...]:
    """What the rows of a stream match, all of them, by its own word."""
    texts = (patterns_sql(s.patterns) for s in statement.punctuated if isinstance(s, ByDomain))
    return tuple(sqlglot.parse_one(text, dialect=Penstock) for text in texts)


def tagged(
    scan: Node,
    key: tuple[str, ...],
    operation: str | None,
    hidden: Collection[str | None] = (),
    sequence: str | None = None,
) -> Node:
    """The Tagger: a row replaces the last one of its key, or takes it away.

    The columns that say how are hidden. Of rows of one time the last one is that with the largest
    sequence; without one, or where it is equal, that which arrived last.
    """
    shown = [name for name in scan.schema.names if name not in hidden]
    if not key:
        return scan if shown == scan.schema.names else project(scan, shown)
    order = () if sequence is None else (sequence,)
    rows, deleted = scan, None
    if operation is not None:
        rows = Filter(scan, operations.among(operation, operations.UPSERTS + operations.DELETES))
        deleted = operations.among(operation, operations.DELETES)
    plan = Upsert(rows, key, order, deleted, arrival=in_arrival_order(rows))
    return plan if shown == scan.schema.names else project(plan, shown)


def check_sequence(statement: CreateStream, kind: pa.DataType | None = None) -> None:
    """An error where rows have no use for their sequence, or it is of a type without an order."""
    if statement.sequence is not None and not statement.key:
        Diagnostics(statement).unsupported(
            "SEQUENCE BY says which row of a key is the last one, and this stream has none.",
            f"Write KEY (id) SEQUENCE BY {statement.sequence}.",
            statement.sequence,
        )
    if statement.sequence is not None and kind is not None and pa.types.is_nested(kind):
        Diagnostics(statement).wrong(
            f"{statement.sequence} is {shown(kind)}, which has no order; a sequence is a number, "
            "a time or a text.",
            statement.sequence,
        )


def _type(column: SchemaColumn, analyser: Analyser) -> pa.DataType:
    try:
        return analyser.named_type(column.type)
    except AnalysisError as error:
        raise PlanError(f"column {column.name}: {error}") from None


def _allowed(schema: pa.Schema, column: str, values: object) -> Expr:
    if column not in schema.names:
        raise PlanError(f"domains: there is no column {column}; there are {schema.names}")
    own = Column(column, schema.field(column).type)
    match values:
        case (low, high):
            bounds = (
                compare(">=", own, Literal(low, own.type)),
                compare("<=", own, Literal(high, own.type)),
            )
            return Call("and", bounds, pa.bool_())
        case list() | set() | frozenset():
            tests = tuple(compare("=", own, Literal(value, own.type)) for value in values)
            return Call("or", tests, pa.bool_())
    raise PlanError(f"domains: {column} has {values!r}; write (low, high), or a list of all values")
