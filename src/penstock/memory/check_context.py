"""What a query is judged against: the objects it can read, and what their sources promise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

import pyarrow as pa

from penstock.algebra.expr import Expr, promise
from penstock.algebra.plan import Node, Scan
from penstock.algebra.times import TIMESTAMP
from penstock.errors import UnsupportedError
from penstock.memory.values import Declared
from penstock.rewrite import rewrite
from penstock.sql import statements as s
from penstock.sql.binding import Analyser, Catalog, Entry, Relation, bind_points, bind_query
from penstock.sql.binding.analyser import AnalysisError
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.sources import check_sequence, domains, promised, tagged
from penstock.sql.text import Name


@dataclass(frozen=True)
class CheckContext:
    """The catalog, the types and the promises that a query is judged with."""

    catalog: Catalog
    analyser: Analyser
    declared: Declared = field(default_factory=Declared)

    def plan(self, statement: s.Query | s.CreateView) -> Node | None:
        """The plan of a query as it would run; None for points of the clock, which need none."""
        query = statement if isinstance(statement, s.Query) else statement.query
        columns = () if isinstance(statement, s.Query) else statement.columns
        if bind_points(query, self.catalog, self.analyser) is not None:
            return None
        unique = isinstance(statement, s.CreateView)
        bound = bind_query(query, self.catalog, self.analyser, columns, unique=unique)
        return rewrite(bound.plan)

    def after(self, statements: Iterable[s.Statement]) -> CheckContext:
        """The context when these have been carried out."""
        context = self
        for statement in statements:
            context = context._after(statement)
        return context

    def _after(self, statement: s.Statement) -> CheckContext:
        match statement:
            case s.CreateSource():
                return self._with_source(statement)
            case s.RegisterSource(name, columns):
                schema = self._schema(columns, statement).append(pa.field("ts", TIMESTAMP))
                return self._with(name, _stream(name.text, schema, "ts", hidden=True))
            case s.CreateTable(name, columns) if columns:
                scan = Scan(name.text, self._schema(columns, statement), append_only=True)
                return self._with(name, Relation("table", scan))
            case s.CreateStream():
                return self._with_stream(statement)
            case s.CreateView(name, query):
                points = bind_points(query, self.catalog, self.analyser)
                if points is not None:
                    return self._with(name, points)
                plan = self.plan(statement)
                assert plan is not None
                return self._with(name, Relation("view", plan))
        raise UnsupportedError(
            "Only definitions can stand before the query that is asked about.",
            context=statement.context(),
        )

    def _with(self, name: Name, entry: Entry, time: pa.DataType | None = None) -> CheckContext:
        entries = {**self.catalog.entries, name.text: entry}
        return replace(self, catalog=Catalog(entries, time or self.catalog.time))

    def _with_source(self, statement: s.CreateSource) -> CheckContext:
        schema, hidden = self._schema(statement.columns, statement), False
        if statement.event_time is None:
            schema, time, hidden = schema.append(pa.field("ts", TIMESTAMP)), "ts", True
        else:
            time = self._column(statement.event_time.column, schema.names, statement)
        name = statement.name.text
        checks = [check for column in statement.columns for check in column.checks]
        condition = promised(checks, schema, self.analyser, Diagnostics(statement))
        never_null = [c.name.text for c in statement.columns if not c.nullable]
        relation = _stream(name, schema, time, hidden, promise(condition, schema, never_null))
        rate = None if statement.rate is None else (statement.rate.rows, statement.rate.span.length)
        context = self._with(statement.name, relation, schema.field(time).type)
        return replace(context, declared=self.declared.coming(name, rate))

    def _with_stream(self, statement: s.CreateStream) -> CheckContext:
        found = self.catalog.find(statement.source.text)
        source = found[1] if found else None
        if found is None or not isinstance(source, Relation) or source.kind != "source":
            known = [n for n, r in self.catalog.entries.items() if _is_source(r)]
            Diagnostics(statement).unknown("source", statement.source.text, known, statement.source)
        names = source.plan.schema.names
        key = tuple(self._column(name, names, statement) for name in statement.key)
        operation = None
        if statement.operation is not None:
            operation = self._column(statement.operation, names, statement)
        for scheme in statement.punctuated:
            for column in scheme.columns if isinstance(scheme, s.ByOrder) else ():
                self._column(column, names, statement)
        marks = [x.column for x in statement.punctuated if isinstance(x, s.ByColumn)]
        hidden = [operation, *(self._column(mark, names, statement) for mark in marks)]
        check_sequence(statement)
        sequence = None
        if statement.sequence is not None:
            sequence = self._column(statement.sequence, names, statement)
        plan = tagged(source.plan, key, operation, hidden, sequence)
        context = self._with(statement.name, Relation("stream", plan, source.time, source.hidden))
        schema, diagnostics = source.plan.schema, Diagnostics(statement)
        condition = promised(domains(statement), schema, self.analyser, diagnostics)
        declared = self.declared.matching(found[0], condition)
        closing = closed_columns(statement, names)
        return replace(context, declared=declared.punctuated(found[0], closing))

    def _schema(self, columns: tuple[s.ColumnDefinition, ...], statement: s.Statement) -> pa.Schema:
        fields = []
        for column in columns:
            try:
                fields.append((column.name.text, self.analyser.named_type(column.type)))
            except AnalysisError as error:
                Diagnostics(statement).wrong(str(error), column.name)
        return pa.schema(fields)

    def _column(self, name: Name, names: list[str], statement: s.Statement) -> str:
        for known in names:
            if known.lower() == name.text.lower():
                return known
        Diagnostics(statement).unknown("column", name.text, names, name)


def closed_columns(statement: s.CreateStream, names: Iterable[str]) -> Iterator[str]:
    """The columns that the punctuations of a stream close: any, where they are in its rows."""
    for scheme in statement.punctuated:
        match scheme:
            case s.ByOrder(columns):
                yield next(name for name in names if name.lower() == columns[0].text.lower())
            case s.ByColumn(column):
                yield from (name for name in names if name.lower() != column.text.lower())


def _stream(
    name: str, schema: pa.Schema, time: str, hidden: bool, promised: Expr | None = None
) -> Relation:
    scan = Scan(name, schema, True, time, promised)
    return Relation("source", scan, time, frozenset({time} if hidden else ()))


def _is_source(entry: Entry) -> bool:
    return isinstance(entry, Relation) and entry.kind == "source"
