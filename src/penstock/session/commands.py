"""Statements carried out: each one becomes calls on the session, and a result."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from penstock.algebra import operations
from penstock.algebra.plan import Node, SortKey
from penstock.algebra.settings import zone_of
from penstock.errors import PenstockError, PlanError, UnsupportedError
from penstock.execution.spark_errors import objection, unreadable
from penstock.ingest.file_sources.batch import FileBatch
from penstock.ingest.rows import arrow_schema, fitted, schema_of
from penstock.ingest.sources import SourceDefinition
from penstock.ingest.times import time_types
from penstock.memory.api import verdict
from penstock.memory.check_context import CheckContext
from penstock.memory.repairs import MOST_REPAIRS
from penstock.memory.report import MemoryVerdict
from penstock.output.definitions import ViewDefinition
from penstock.physical.expiry import Strategy, check
from penstock.punctuation import text
from penstock.rewrite import Rewritten, trace
from penstock.session.catalog import catalog_of, check_unused, columns_read, dependents_on
from penstock.session.descriptions import columns_of, described, explained, explained_rules
from penstock.session.memory_policy import check_memory as check_memory_of
from penstock.session.memory_policy import declared_by
from penstock.session.punctuations import in_sql, schemes_of, waits_for
from penstock.session.redefinition import Changes
from penstock.session.results import Result
from penstock.session.sharing import explained_sharing, names_in
from penstock.session.source_statement import column_of, feed_of, source_of
from penstock.session.statistics import in_order
from penstock.sql import parse
from penstock.sql import statements as s
from penstock.sql.binding import BoundView, Catalog, Entry, bind_points, bind_query
from penstock.sql.binding.as_of import asked
from penstock.sql.binding.catalog import CLOCKS, is_constant
from penstock.sql.binding.diagnostics import Diagnostics, in_statement
from penstock.sql.binding.order import order_of
from penstock.sql.binding.sources import check_sequence
from penstock.sql.binding.types import shown
from penstock.sql.changes import as_created
from penstock.sql.definitions import ClockView, StreamDefinition
from penstock.sql.names import names_read
from penstock.sql.text import Name, one_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from penstock.session.session import Session

logger = logging.getLogger("penstock")


class Commands:
    """Carries out statements in a session."""

    def __init__(self, session: Session) -> None:
        self._session = self.session = session
        self._engine = session.engine
        self._analyser = session.analyser

    def run(self, statement: s.Statement) -> Result:
        with in_statement(statement):
            return self._run(statement)

    def _run(self, statement: s.Statement) -> Result:
        match statement:
            case s.CreateSource() | s.RegisterSource():
                return self._create(statement, self._create_source)
            case s.CreateTable():
                return self._create(statement, self._create_table)
            case s.CreateStream():
                return self._create(statement, self._create_stream)
            case s.CreateView(replace=True):
                return Changes(self).replace_view(statement)
            case s.CreateView():
                return self._create(statement, self._create_view)
            case s.Query():
                return self._query(statement)
            case s.Punctuate():
                return self._punctuate(statement)
            case s.Drop():
                return self._drop(statement)
            case s.Resume():
                return self._resume(statement)
            case s.RenameView():
                return Changes(self).rename_view(statement)
            case s.AddColumn():
                return Changes(self).add_column(statement)
            case s.ChangeType():
                return Changes(self).change_type(statement)
            case s.Show():
                return self._show(statement)
            case s.ShowAside():
                return self._show_aside(statement)
            case s.ShowColumns():
                columns = columns_of(self._object(statement)[1])
                return Result(rows=pa.table({"column": pa.array(columns, pa.string())}))
            case s.Describe():
                return self._describe(statement)
            case s.Explain():
                return self._explain(statement)
        raise UnsupportedError(
            f"{type(statement).__name__.upper()} is not carried out yet.",
            context=statement.context(),
        )

    def views_together(self, statements: Sequence[s.Statement]) -> dict[str, Node]:
        """The views that the first statements create one after the other, by what they say.

        Only those that read what is there already, at some points in time, are worth a look.
        """
        found: dict[str, Node] = {}
        if len(statements) < 2:
            return found
        for statement in statements:
            if not isinstance(statement, s.CreateView) or not _has_points(statement.query):
                break
            if statement.replace:  # which looks for what it shares by itself
                break
            try:
                found[statement.name.text] = self._bound(statement.query).plan
            except PenstockError:
                break
        return found if len(found) > 1 else {}

    def plan(self, query: s.Query) -> Node:
        """What a query says; it is not run."""
        return self._bound(query).plan

    # --- definitions ----------------------------------------------------------------------------

    def _create(self, statement: Any, create: Callable[[Any], str]) -> Result:
        """Carry out a CREATE, unless the object is there and need not be created."""
        if statement.name.text.lower() in CLOCKS:
            Diagnostics(statement).wrong(
                f"{statement.name} is the name of the clock. Choose another.", statement.name
            )
        known = self._find(check_unused(statement.name.text))
        if known is not None:
            if getattr(statement, "if_not_exists", False):
                return Result(f"{known} exists already.")
            Diagnostics(statement).wrong(
                f"{known} exists already. DROP it first, or choose another name.", statement.name
            )
        return Result(create(statement))

    def _create_source(self, statement: s.CreateSource | s.RegisterSource) -> str:
        self._session.define_source(source_of(statement, self._analyser))
        if isinstance(statement, s.RegisterSource):
            return f"Source {statement.name} listens on port {statement.port} of this machine."
        return f"Source {statement.name} is created."

    def _create_table(self, statement: s.CreateTable) -> str:
        name, rows = statement.name.text, self.rows_of(statement)
        feed = None
        if statement.format is not None and statement.columns:
            feed = feed_of(statement.format, zone_of(self._analyser.settings()))
        if feed is not None and (format := feed.files()) is not None:
            schema = arrow_schema(rows.schema)
            files = FileBatch.of(format, schema, rows.inputFiles())
            self._session.create_table(name, files, schema)
        else:
            self._session.create_table(name, rows)
        return f"Table {statement.name} is created."

    def rows_of(self, statement: s.CreateTable) -> DataFrame:
        """The rows that a table is created with."""
        diagnostics = Diagnostics(statement)
        if statement.format is None:
            diagnostics.unsupported(
                "A table needs rows.",
                "Write USING parquet OPTIONS (path '...'), or use db.create_table(name, rows).",
                statement.name,
            )
        reader = self._session.spark.read.format(statement.format.name)
        if statement.columns:
            reader = reader.schema(", ".join(f"`{c.name}` {c.type}" for c in statement.columns))
        try:
            return reader.options(**dict(statement.format.options)).load()
        except PySparkException as error:
            diagnostics.objection(objection(error), statement.name)
        except Py4JJavaError as error:
            diagnostics.objection(unreadable(statement.format.name, error), statement.name)

    def _create_stream(self, statement: s.CreateStream) -> str:
        diagnostics = Diagnostics(statement)
        found = self._catalog.find(statement.source.text)
        source = self._engine.sources.get(found[0]) if found else None
        if found is not None and (source is None or source.time is None):
            kind = _kind_and_text(self._engine.definitions[found[0]])[0].value.lower()
            diagnostics.wrong(
                f"A stream is over a source, and {found[0]} is a {kind}. Queries read it as it is.",
                statement.source,
            )
        if source is None:
            streams = [n for n, d in self._engine.sources.items() if d.time is not None]
            diagnostics.unknown("source", statement.source.text, streams, statement.source)
        key = tuple(column_of(name, source.schema, statement) for name in statement.key)
        operation = None
        if statement.operation is not None:
            operation = column_of(statement.operation, source.schema, statement)
            if not key:
                diagnostics.unsupported(
                    "OP says what becomes of the row of a key, and this stream has none.",
                    "Write KEY (id) OP op.",
                    statement.operation,
                )
            if source.schema.field(operation).type != pa.string():
                diagnostics.wrong(
                    f"The column of OP is a STRING: {operations.WRITTEN}.", statement.operation
                )
        sequence = self._sequence(statement, source.schema)
        schemes = schemes_of(
            statement,
            source.schema,
            lambda name: column_of(name, source.schema, statement),
            lambda table, column: self._values(table, column, statement),
        )
        definition = StreamDefinition(
            source.name, schemes, key, operation, statement.text, sequence
        )
        self._engine.define(statement.name.text, definition)
        return f"Stream {statement.name} is created."

    def _sequence(self, statement: s.CreateStream, schema: pa.Schema) -> str | None:
        if statement.sequence is None:
            return None
        column = column_of(statement.sequence, schema, statement)
        check_sequence(statement, schema.field(column).type)
        return column

    def _values(self, table: Name, column: str, statement: s.CreateStream) -> list[Any]:
        """The different values of a column of a table."""
        tables = {n: d for n, d in self._engine.sources.items() if d.is_table}
        name = next((n for n in tables if n.lower() == table.text.lower()), None)
        if name is None:
            Diagnostics(statement).unknown("table", table.text, tables, table)
        column_of(Name(column, table.span), tables[name].schema, statement)
        values = self._session.sql(f"SELECT DISTINCT `{column}` AS v FROM `{name}`").to_arrow()
        return sorted(value for value in values.column("v").to_pylist() if value is not None)

    def _punctuate(self, statement: s.Punctuate) -> Result:
        source = self._punctuated_source(statement)
        schema = self._engine.source(source).schema
        found = in_sql(
            statement.patterns,
            schema,
            lambda name: column_of(name, schema, statement),
            Diagnostics(statement),
        )
        self._session.receive_punctuation(source, found)
        return Result(f"No more rows of {source} that match {text.write(found)}.")

    def _punctuated_source(self, statement: s.Punctuate) -> str:
        """The source of what a statement names: itself, or that of a stream."""
        name = self._find(statement.stream.text)
        definition = self._engine.definitions.get(name) if name is not None else None
        if isinstance(definition, StreamDefinition):
            return definition.source
        if name is None or not isinstance(definition, SourceDefinition) or definition.is_table:
            known = [n for n, d in self._engine.definitions.items() if _takes_punctuations(d)]
            Diagnostics(statement).unknown(
                "source or stream", statement.stream.text, known, statement.stream
            )
        return name

    def _create_view(self, statement: s.CreateView) -> str:
        name, query = statement.name.text, statement.query
        if name.lower() in [read.lower() for read in names_read(query)]:
            Diagnostics(statement).wrong(
                f"View {name} would read itself. A view reads what was created before it.",
                statement.name,
            )
        points = bind_points(query, self._catalog, self._analyser)
        if points is not None:
            self._engine.define(name, ClockView(points, as_created(statement)))
            return f"View {name} is created."
        bound = bind_query(query, self._catalog, self._analyser, statement.columns)
        self.define_constants(bound)
        ordered = in_order(bound.plan, self._engine)
        alone = self.rewritten(ordered)
        plan = alone.plan
        expiry = self.expiry(statement)
        apart = statement.from_now or self._session.shared_views.are_off(expiry)
        if not apart:
            plan = self._session.shared_views.share(ordered, alone).plan
        self.check_memory(statement, alone.plan)
        reads = columns_read(query, self._catalog)
        written = as_created(statement)
        definition = ViewDefinition(plan, bound.key, written, expiry, ordered, apart, reads)
        self._engine.define(name, definition, statement.from_now)
        return " ".join([f"View {name} is created.", *waits_for(alone.plan)])

    def rewritten(self, plan: Node) -> Rewritten:
        return trace(plan, self._engine.options.rules_off)

    def expiry(self, of: s.Query | s.CreateView) -> Strategy:
        """How a view is to expire tuples: by its options, or by the session's."""
        options = of.options if isinstance(of, s.CreateView) else ()
        for key, _ in options:
            if key.lower() != "expiry":
                raise PlanError(f"A view has no option {key}. There is expiry.")
        return check(next((value for _, value in options), self._engine.options.expiry))

    def define_constants(self, bound: BoundView) -> None:
        for name, rows in bound.constants.items():
            if name not in self._engine.definitions:
                columns = schema_of(rows)
                self._engine.define_table(name, columns, fitted(rows, columns))

    def _find(self, name: str) -> str | None:
        for known in self._engine.definitions:
            if known.lower() == name.lower():
                return str(known)
        return None

    # --- questions ------------------------------------------------------------------------------

    def _query(self, statement: s.Query) -> Result:
        """The answer as of the time that the query names, or of the frontier."""
        question = asked(statement, self._catalog, self._analyser)
        bound = self._bound(question.query)
        self.define_constants(bound)
        answer = self._session.answer(bound.plan, bound.key, question.at)
        plan = explained(bound.plan)
        if statement.output in (None, s.Output.COMPLETE):
            keys = order_of(statement, bound.plan.schema.names)
            return Result("", lambda: _ordered(answer.snapshot(), keys), plan)
        return Result("", answer.changes, plan, changes=True, key=bound.key)

    def _bound(self, query: s.Query) -> BoundView:
        points = bind_points(query, self._catalog, self._analyser)
        if points is not None:
            Diagnostics(query).unsupported(
                "The clock has no end, and its ticks are never stored.",
                "Make a view of this, CREATE VIEW sync2 AS ..., and synchronize streams by it.",
            )
        return bind_query(query, self._catalog, self._analyser, unique=False)

    def _resume(self, statement: s.Resume) -> Result:
        name = self._find(statement.name.text)
        if name is None or name not in self._engine.views:
            views = list(self._engine.views)
            Diagnostics(statement).unknown("view", statement.name.text, views, statement.name)
        self._session.view(name).resume()
        return Result(f"View {name} goes on.")

    def _show(self, statement: s.Show) -> Result:
        rows, failures = [], self._session.failures()
        for name, definition in self._engine.definitions.items():
            kind, text = _kind_and_text(definition)
            if kind is statement.kind and not is_constant(name):
                reason = failures.get(f"{kind.value.lower()} {name}")
                state = "running" if reason is None else "failed"
                progress = self._engine.replacing
                if progress is not None and name in progress.names:
                    state, reason = "replacing", str(progress)
                found = {"name": name, "state": state, "reason": reason}
                rows.append({**found, "statement": " ".join(text.split())})
        names = ["name", "state", "reason", "statement"]
        if statement.kind in (s.Kind.STREAM, s.Kind.TABLE):  # which nothing runs for
            names = ["name", "statement"]
        schema = pa.schema([(name, pa.string()) for name in names])
        return Result(rows=pa.Table.from_pylist(rows, schema=schema))

    def _show_aside(self, statement: s.ShowAside) -> Result:
        name = self._find(statement.source.text)
        definition = self._engine.sources.get(name) if name is not None else None
        if name is None or definition is None or definition.is_table:
            known = [n for n, d in self._engine.sources.items() if not d.is_table]
            Diagnostics(statement).unknown("source", statement.source.text, known, statement.source)
        source = self._session.source(name)
        rows = source.late() if statement.aside is s.Aside.LATE else source.rejected()
        return Result(rows=rows.toArrow())

    def _object(self, statement: s.Describe | s.ShowColumns) -> tuple[str, Entry]:
        """What a name of a statement is, as it was defined."""
        found = self._catalog.find(statement.name.text)
        if found is None:
            known = [name for name in self._catalog.entries if not is_constant(name)]
            Diagnostics(statement).unknown(
                "source, stream, table or view", statement.name.text, known, statement.name
            )
        return found

    def _describe(self, statement: s.Describe) -> Result:
        name, entry = self._object(statement)
        definition = self._engine.definitions[name]
        key = definition.key if isinstance(definition, ViewDefinition | StreamDefinition) else None
        return Result(rows=described(entry, key or (), self._catalog.integer_time))

    def _explain(self, statement: s.Explain) -> Result:
        query = statement.of if isinstance(statement.of, s.Query) else statement.of.query
        if isinstance(statement.of, s.Query):
            query = asked(query, self._catalog, self._analyser).query
            statement = replace(statement, of=query)
        if statement.aspect is s.Aspect.MEMORY:
            return Result(str(self._memory(statement.of)))
        plan = in_order(self._bound(query).plan, self._engine)
        options = self._engine.options
        if statement.aspect is s.Aspect.SHARING:
            shared = self._session.shared_views.share(plan)
            return Result(explained_sharing(shared, names_in(self._catalog), options.sharing))
        expiry = self.expiry(statement.of)
        return Result(explained_rules(plan, options.rules_off, expiry, self._engine.expiry))

    # --- memory ---------------------------------------------------------------------------------

    def _memory(
        self, of: s.Query | s.CreateView, most_repairs: int = MOST_REPAIRS
    ) -> MemoryVerdict:
        query = of if isinstance(of, s.Query) else of.query
        scene = CheckContext(
            self._catalog, self._analyser, declared_by(self._engine, lambda: self._analyser)
        )
        return verdict((of,), scene, tuple(self._views_below(query)), most_repairs)

    def _views_below(self, query: s.Query) -> list[s.CreateView]:
        """The views that a query reads, and those that they read, in the order of their making."""
        found: dict[str, s.CreateView] = {}
        waiting = names_read(query)
        while waiting:
            name = self._find(waiting.pop())
            definition = self._engine.definitions.get(name) if name is not None else None
            if isinstance(definition, ViewDefinition) and definition.text and name not in found:
                (statement,) = parse(definition.text)
                assert isinstance(statement, s.CreateView)
                found[str(name)] = statement
                waiting += names_read(statement.query)
        return [found[name] for name in self._engine.definitions if name in found]

    def check_memory(self, statement: s.CreateView, plan: Node) -> None:
        check_memory_of(
            statement.name.text,
            plan,
            self._engine,
            lambda: self._analyser,
            lambda: self._memory(statement, most_repairs=1).repairs,
            statement.context(statement.name.span),
        )

    # --- dropping -------------------------------------------------------------------------------

    def _drop(self, statement: s.Drop) -> Result:
        diagnostics = Diagnostics(statement)
        name = self._find(statement.name.text)
        kinds = {n: _kind_and_text(d)[0] for n, d in self._engine.definitions.items()}
        if name is None:
            if statement.if_exists:
                return Result(f"There is no {statement.name}.")
            known = [n for n, kind in kinds.items() if kind is statement.kind]
            diagnostics.unknown(
                statement.kind.value.lower(), statement.name.text, known, statement.name
            )
        if kinds[name] is not statement.kind:
            diagnostics.wrong(
                f"{name} is a {kinds[name].value.lower()}: write DROP {kinds[name].value} {name}.",
                statement.name,
            )
        dependents = dependents_on(name, self._engine.definitions)
        if dependents:
            diagnostics.wrong(
                f"{name} is read by {one_of(dependents).replace(' or ', ' and ')}. "
                f"Drop {'it' if len(dependents) == 1 else 'them'} first.",
                statement.name,
            )
        self._session.drop(name)
        return Result(f"{statement.kind.value.title()} {name} is dropped.")

    @property
    def _catalog(self) -> Catalog:
        kinds = time_types(self._engine.sources.values())
        return catalog_of(self._engine.definitions, next(iter(kinds), None))


def _has_points(query: s.Query) -> bool:
    """Whether a query looks at what it reads at some points in time only."""
    words = query.text.upper()
    return "SLIDE" in words or "SYNC" in words or "R[" in words


def _kind_and_text(definition: Any) -> tuple[s.Kind, str]:
    match definition:
        case SourceDefinition(time=None):
            return s.Kind.TABLE, _columns(definition.schema)
        case SourceDefinition():
            return s.Kind.SOURCE, _columns(definition.schema)
        case StreamDefinition(text=text):
            return s.Kind.STREAM, text
    return s.Kind.VIEW, definition.text


def _takes_punctuations(definition: Any) -> bool:
    if isinstance(definition, SourceDefinition):
        return not definition.is_table
    return isinstance(definition, StreamDefinition)


def _columns(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {shown(field.type)}" for field in schema)


def _ordered(rows: Any, keys: Sequence[tuple[str, SortKey]]) -> Any:
    from pyspark.sql import functions as f

    columns = []
    for key, way in keys:
        direction = "desc" if way.descending else "asc"
        first = "first" if way.nulls_first else "last"
        columns.append(getattr(f.expr(key), f"{direction}_nulls_{first}")())
    return rows.orderBy(*columns) if columns else rows
