"""Statements that change what is defined: what becomes of views, and of those that read them.

Law: what a view reads is bound when it is created. Columns that come later are not among those of
its `*`, and where a column goes that a view reads, the change is refused, with the view's name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.element import BEGIN
from penstock.errors import PenstockError, PlanError, UnsupportedError
from penstock.ingest.connectors import StreamFeed
from penstock.ingest.schemes import columns_of_marks, schemes_of
from penstock.ingest.sources import SourceDefinition
from penstock.ingest.times import time_types
from penstock.output.definitions import ViewDefinition
from penstock.punctuation import text
from penstock.punctuation.closings import Entry
from penstock.punctuation.schemes import Never, Scheme
from penstock.rewrite import Rewritten
from penstock.runtime.replacement import Replacement, redefined
from penstock.session.catalog import (
    Reads,
    all_dependents_on,
    catalog_of,
    check_unused,
    columns_read,
    dependents_on,
    restricted,
)
from penstock.session.results import Result
from penstock.session.source_changes import WIDER, is_wider
from penstock.session.statistics import in_order
from penstock.sql import parse
from penstock.sql import statements as s
from penstock.sql.binding import AnalysisError, Catalog, Relation, bind_points, bind_query
from penstock.sql.binding.catalog import CLOCKS
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.types import shown
from penstock.sql.changes import as_created, columns_of_star, reads_column, renamed
from penstock.sql.definitions import ClockView, StreamDefinition
from penstock.sql.names import names_read
from penstock.sql.text import Name, one_of

if TYPE_CHECKING:
    from penstock.session.commands import Commands


@dataclass(frozen=True)
class _Bound:
    """A view as it is bound: its definition, and what it says by itself, rewritten."""

    definition: ViewDefinition | ClockView
    alone: Rewritten | None = None

    def says(self, other: _Bound) -> bool:
        """Whether it says the same as another one, whatever it was written as."""
        mine, theirs = self.definition, other.definition
        if isinstance(mine, ClockView) or isinstance(theirs, ClockView):
            same_kind = isinstance(mine, ClockView) and isinstance(theirs, ClockView)
            return same_kind and mine.points == theirs.points  # type: ignore[union-attr]
        if self.alone is None or other.alone is None:
            return self.alone is other.alone
        one, another = self.alone.plan, other.alone.plan
        return (one, mine.key, mine.expiry) == (another, theirs.key, theirs.expiry)


class Changes:
    """Replaces, renames and alters what is defined, with all that reads it."""

    def __init__(self, commands: Commands) -> None:
        self._commands = commands
        self._session = commands.session
        self._engine = commands.session.engine

    # --- CREATE OR REPLACE VIEW -----------------------------------------------------------------

    def replace_view(self, statement: s.CreateView) -> Result:
        """Let a view take the place of the one of its name, and build anew what reads it."""
        diagnostics, name = Diagnostics(statement), self._named(statement.name)
        if name is None:
            created = replace(statement, replace=False)
            return self._commands.run(created)
        old = self._engine.definitions[name]
        if not isinstance(old, ViewDefinition | ClockView):
            kind = "source, stream or table"
            diagnostics.wrong(
                f"{name} is there, and is a {kind}, not a view. Choose another name.",
                statement.name,
            )
        definitions = self._engine.definitions
        readers = all_dependents_on([name], definitions)
        self._check_no_circle(statement, name, readers)
        found = self.bound(statement, name, definitions, ())
        started = statement.from_now == _starts_now(old)
        if started and found.says(self._as_it_is(name, old)):
            return Result(f"View {name} says this already; nothing is to be done.")
        self._check_sinks(name, old, found.definition, diagnostics)
        if found.alone is not None:
            self._commands.check_memory(statement, found.alone.plan)
        change = self._change(name, readers, found, statement.from_now, [name, *readers])
        try:
            self._engine.replace(name, change)
        except UnsupportedError as error:  # by itself it cannot be made; of what it replaces it may
            change = self._change(name, readers, found, statement.from_now, [])
            try:
                self._engine.replace(name, change)
            except UnsupportedError:
                raise error from None
        self._session.serve_sinks()
        others = [reader for reader in readers if reader in change.built]
        return Result(f"View {name} is replaced.{_with_it(others)}")

    def _change(
        self, name: str, readers: list[str], found: _Bound, from_now: bool, hidden: list[str]
    ) -> Replacement:
        """The definitions that take the place of others; those hidden are not read any more."""
        with self._session.shared_views.replacing(hidden) as add:
            one = self._shared(found, from_now)
            new: dict[str, Any] = {name: one}
            built = {name}
            if isinstance(one, ViewDefinition):
                add(name, one)
            built |= self._rebound_all(readers, name, new, add)
        return Replacement(new, frozenset(built), frozenset({name} if from_now else ()))

    def _rebound_all(
        self,
        readers: list[str],
        name: str,
        new: dict[str, Any],
        add: Callable[[str, ViewDefinition], None],
    ) -> set[str]:
        """Add the definitions of what reads others that change; which have to be built anew."""
        built = set()
        for reader in readers:
            new[reader], rebuilt = self._rebound(reader, name, new)
            built |= {reader} if rebuilt else set()
            if isinstance(new[reader], ViewDefinition):
                add(reader, new[reader])
        return built

    def _named(self, name: Name) -> str | None:
        for known in self._engine.definitions:
            if known.lower() == name.text.lower():
                return str(known)
        return None

    def _check_no_circle(self, statement: s.CreateView, name: str, readers: list[str]) -> None:
        """A view reads neither itself nor what reads it."""
        lowered = {reader.lower(): reader for reader in readers}
        for read in names_read(statement.query):
            way = lowered.get(read.lower())
            if read.lower() == name.lower() or way is not None:
                through = f" by way of {way}" if way is not None else ""
                Diagnostics(statement).wrong(
                    f"View {name} would read itself{through}. A view reads what was created "
                    "before it.",
                    statement.name,
                )

    def _check_sinks(self, name: str, old: Any, new: Any, diagnostics: Diagnostics) -> None:
        """A view of the clock has no changes that a sink could have."""
        sinks = [n for n, sink in self._engine.manifest.sinks.items() if sink.view == name]
        if sinks and isinstance(old, ViewDefinition) and isinstance(new, ClockView):
            diagnostics.wrong(
                f"View {name} has the sink {sinks[0]}, and a view of points in time has no "
                f"changes to deliver. DROP VIEW {name} first, which ends its sinks."
            )

    def bound(
        self, statement: s.CreateView, name: str, definitions: Mapping[str, Any], reads: Reads
    ) -> _Bound:
        """A view as it says, over these definitions, of which it `reads` only some columns."""
        catalog = restricted(self._catalog(definitions), reads)
        analyser = self._session.analyser
        points = bind_points(statement.query, catalog, analyser)
        written = as_created(statement)
        if points is not None:
            return _Bound(ClockView(points, written))
        bound = bind_query(statement.query, catalog, analyser, statement.columns)
        self._commands.define_constants(bound)
        ordered = in_order(bound.plan, self._engine)
        alone = self._commands.rewritten(ordered)
        expiry = self._commands.expiry(statement)
        known = reads or columns_read(statement.query, catalog)
        definition = ViewDefinition(alone.plan, bound.key, written, expiry, ordered, False, known)
        return _Bound(definition, alone)

    def _shared(self, found: _Bound, from_now: bool) -> ViewDefinition | ClockView:
        """The definition with the plan that has most in common with what runs."""
        one = found.definition
        if isinstance(one, ClockView):
            return one
        assert one.said is not None
        shared = self._session.shared_views
        apart = from_now or shared.are_off(one.expiry)
        plan = one.plan if apart else shared.share(one.said, found.alone).plan
        return replace(one, plan=plan, apart=apart)

    def _as_it_is(self, name: str, old: ViewDefinition | ClockView) -> _Bound:
        """A view that is there, bound as it would be now."""
        if isinstance(old, ClockView):
            return _Bound(old)
        if not old.text:
            return _Bound(old, self._commands.rewritten(old.meaning))
        try:
            return self.bound(_statement(old), name, self._engine.definitions, old.reads)
        except PenstockError:  # it would not be what it was
            return _Bound(old, self._commands.rewritten(old.meaning))

    def _rebound(self, reader: str, name: str, new: Mapping[str, Any]) -> tuple[Any, bool]:
        """A view that reads what is replaced, and whether it has to be built anew."""
        old = self._engine.definitions[reader]
        statement = _statement(old)
        definitions = redefined(self._engine.definitions, new)
        before, after = self._catalog(self._engine.definitions), self._catalog(definitions)
        reads = (old.reads if isinstance(old, ViewDefinition) else ()) or columns_read(
            statement.query, before
        )
        for changed, columns in reads:
            if changed in new:
                self._check_columns(statement, reader, changed, columns, after)
        try:
            found = self.bound(statement, reader, definitions, reads)
        except (AnalysisError, PenstockError) as error:
            problem = error.getMessage() if isinstance(error, PenstockError) else str(error)
            raise UnsupportedError(
                f"View {reader} cannot read the new {name}: {problem} Let {name} have what "
                f"{reader} reads, or DROP VIEW {reader} first and create it again afterwards."
            ) from error
        if isinstance(found.definition, ClockView) or isinstance(old, ClockView):
            return found.definition, not found.says(_Bound(old))
        if found.says(self._as_it_is(reader, old)):
            return replace(found.definition, plan=old.plan, apart=old.apart), False
        if _starts_now(old):
            raise UnsupportedError(
                f"View {reader} reads {name} and was created with START NOW, so what it has read "
                f"is not known any more. DROP VIEW {reader} first and create it again afterwards."
            )
        return self._shared(found, False), True

    def _check_columns(
        self,
        statement: s.CreateView,
        reader: str,
        name: str,
        columns: tuple[str, ...],
        catalog: Catalog,
    ) -> None:
        """What a view reads of another one is there."""
        entry = catalog.entries.get(name)
        if not isinstance(entry, Relation):
            return
        there = {column.lower() for column in entry.plan.schema.names}
        gone = [column for column in columns if column.lower() not in there]
        whole = bool(gone) and columns_of_star(statement.query, name)
        for column in gone:
            if whole or reads_column(statement.query, name, column):
                raise UnsupportedError(
                    f"View {reader} reads {name}.{column}, which the new {name} does not have. "
                    f"Keep the column in {name}, or replace {reader} first by a query that does "
                    f"without it, or DROP VIEW {reader}."
                )

    def _catalog(self, definitions: Mapping[str, Any]) -> Catalog:
        sources = [d for d in definitions.values() if isinstance(d, SourceDefinition)]
        return catalog_of(definitions, next(iter(time_types(sources)), None))

    # --- ALTER VIEW ... RENAME ------------------------------------------------------------------

    def rename_view(self, statement: s.RenameView) -> Result:
        """Let a view have another name, in the texts of those that read it, too."""
        diagnostics, name, to = (
            Diagnostics(statement),
            self._named(statement.name),
            statement.to.text,
        )
        definitions = self._engine.definitions
        views = [n for n, d in definitions.items() if isinstance(d, ViewDefinition | ClockView)]
        if name is None or name not in views:
            diagnostics.unknown("view", statement.name.text, views, statement.name)
        if to.lower() in CLOCKS:
            diagnostics.wrong(f"{to} is the name of the clock. Choose another.", statement.to)
        known = self._named(Name(check_unused(to)))
        if known is not None and known != name:
            diagnostics.wrong(f"{known} exists already. Choose another name.", statement.to)
        if to == name:
            return Result(f"View {name} is called so already; nothing is to be done.")
        changed: dict[str, Any] = {}
        for reader in (name, *dependents_on(name, definitions)):
            changed[reader] = self._renamed(reader, name, to)
        now = {to if n == name else n: changed.get(n, d) for n, d in definitions.items()}
        for reader, definition in changed.items():
            if definition is None or not self._reads_as_before(reader, definition, now):
                diagnostics.unsupported(
                    f"The query of view {reader} uses {name} or {to} as a name of its own as well.",
                    f"Write it with other names: CREATE OR REPLACE VIEW {reader} AS ..., or choose "
                    "another name.",
                    statement.to,
                )
        self._session.rename(name, to, changed)
        return Result(f"View {name} is now called {to}.")

    def _reads_as_before(self, reader: str, new: Any, definitions: Mapping[str, Any]) -> bool:
        """Whether a view with names that are others can be bound, with the columns it has."""
        if not new.text:
            return True
        reads = new.reads if isinstance(new, ViewDefinition) else ()
        try:
            found = self.bound(_statement(new), reader, definitions, reads).definition
        except PenstockError:
            return False
        if isinstance(found, ClockView) or isinstance(new, ClockView):
            return type(found) is type(new)
        return (found.plan.schema, found.key) == (new.plan.schema, new.key)

    def _renamed(self, reader: str, name: str, to: str) -> Any:
        """The definition with the new name; None where its text cannot have it."""
        old = self._engine.definitions[reader]
        if not old.text:
            return old
        found = renamed(_statement(old), name, to)
        if found is None:
            return None
        if isinstance(old, ClockView):
            return replace(old, text=found)
        reads = tuple((to if read == name else read, columns) for read, columns in old.reads)
        return replace(old, text=found, reads=reads)

    # --- ALTER SOURCE ---------------------------------------------------------------------------

    def add_column(self, statement: s.AddColumn) -> Result:
        """Let a source have one more column, which is NULL in the rows so far."""
        diagnostics, source = Diagnostics(statement), self._source(statement, statement.source)
        column = statement.column.name
        known = next((n for n in source.schema.names if n.lower() == column.text.lower()), None)
        if known is not None:
            if statement.if_not_exists:
                return Result(f"Source {source.name} has a column {known} already.")
            diagnostics.wrong(f"Source {source.name} has a column {known} already.", column)
        if columns_of_marks(schemes_of(source.name, self._engine.definitions)):
            diagnostics.unsupported(
                f"The rows of {source.name} hold punctuations, which have a place for each of its "
                "columns.",
                "Create another source with the column, and a view that is the UNION ALL of both.",
                column,
            )
        field = pa.field(column.text, self._type(statement.column.type, statement, column))
        place = len(source.schema)
        if source.arrival and source.time is not None:  # rows come without their time
            place = source.schema.get_field_index(source.time)
        schema = source.schema.insert(place, field)
        wider = replace(source, schema=schema, added=(*source.added, column.text))
        self._check_feed(wider, diagnostics, column)
        before = self._engine.manifest.punctuations.get(source.name, ())
        entries = tuple(_wider(before, source, wider))
        others = {**self._knowing(), **self._wider_streams(source, wider)}
        self._engine.alter(wider, others, entries)
        self._session.attachments.altered(source.name)
        return Result(f"Source {source.name} has a column {column}. It is NULL in the rows so far.")

    def _wider_streams(
        self, source: SourceDefinition, wider: SourceDefinition
    ) -> dict[str, StreamDefinition]:
        """The streams that say what a source can never send, in the columns that it has."""
        found = {}
        for name, stream in self._engine.definitions.items():
            if isinstance(stream, StreamDefinition) and stream.source == source.name:
                schemes = tuple(_wider_scheme(one, source, wider) for one in stream.schemes)
                if schemes != stream.schemes:
                    found[name] = replace(stream, schemes=schemes)
        return found

    def _knowing(self) -> dict[str, ViewDefinition]:
        """The views that do not know yet which columns there were when they were bound, told."""
        catalog = self._catalog(self._engine.definitions)
        found = {}
        for name, view in self._engine.views.items():
            if view.text and not view.reads:
                reads = columns_read(_statement(view).query, catalog)
                found[name] = replace(view, reads=reads)
        return found

    def change_type(self, statement: s.ChangeType) -> Result:
        """Let a column of a source have a wider type, and build anew the views that read it."""
        diagnostics, source = Diagnostics(statement), self._source(statement, statement.source)
        names = source.schema.names
        name = next((n for n in names if n.lower() == statement.column.text.lower()), None)
        if name is None:
            diagnostics.unknown("column", statement.column.text, names, statement.column)
        before = source.schema.field(name).type
        after = self._type(statement.type, statement, statement.column)
        if before == after:
            return Result(f"Column {name} of {source.name} is {shown(after)} already.")
        if name in (source.time, source.until, source.weight):
            diagnostics.unsupported(
                f"{name} says when or how often a row of {source.name} counts, and its type is "
                "that of the time of all views.",
                "Create another source, and a view that is the UNION ALL of both.",
                statement.column,
            )
        if not is_wider(before, after):
            diagnostics.unsupported(
                f"{shown(before)} does not widen to {shown(after)}: not every value stays what it "
                f"is. {WIDER}",
                f"To have it otherwise, add a column, or let a view CAST({name} AS "
                f"{statement.type}).",
                statement.column,
            )
        if source.promised is not None:
            diagnostics.unsupported(
                f"Source {source.name} was created with a CHECK, which is of the types it has.",
                "Create another source, and a view that is the UNION ALL of both.",
                statement.column,
            )
        field = pa.field(name, after)
        schema = source.schema.set(source.schema.get_field_index(name), field)
        wider = replace(source, schema=schema)
        self._check_feed(wider, diagnostics, statement.column)
        readers = self._retyped(wider, diagnostics, statement)
        self._session.attachments.altered(source.name)
        now = f"Column {name} of {source.name} is now {shown(after)}."
        return Result(now + _with_it(readers))

    def _retyped(
        self, source: SourceDefinition, diagnostics: Diagnostics, statement: s.ChangeType
    ) -> list[str]:
        """Define a source with other types, with all that reads it; which views are built anew."""
        definitions = self._engine.definitions
        readers = [
            name
            for name in all_dependents_on([source.name], definitions)
            if not isinstance(definitions[name], StreamDefinition)
        ]
        for name, view in self._engine.views.items():
            if source.name in view.sources and name not in readers:
                diagnostics.unsupported(
                    f"View {name} was made from a plan in Python, which is of the types that "
                    f"{source.name} has.",
                    f"Drop it first, db.drop({name!r}), and create it again afterwards.",
                    statement.source,
                )
        new: dict[str, Any] = {source.name: source}
        with self._session.shared_views.replacing(readers) as add:
            built = self._rebound_all(readers, source.name, new, add)
        self._engine.replace(source.name, Replacement(new, frozenset(built)))
        self._session.serve_sinks()
        return [reader for reader in readers if reader in built]

    def _check_feed(self, source: SourceDefinition, diagnostics: Diagnostics, at: Name) -> None:
        """What feeds a source can have its columns; else nothing would come any more."""
        if isinstance(source.feed, StreamFeed):
            try:
                source.feed.check(self._session.spark, source.given)
            except PlanError as error:
                diagnostics.wrong(error.sentence, at)

    def _source(self, statement: s.AddColumn | s.ChangeType, name: Name) -> SourceDefinition:
        found = self._named(name)
        sources = {n: d for n, d in self._engine.sources.items() if not d.is_table}
        if found is None or found not in sources:
            Diagnostics(statement).unknown("source", name.text, sources, name)
        return sources[found]

    def _type(self, kind: str, statement: Any, at: Name) -> pa.DataType:
        try:
            return self._session.analyser.named_type(kind)
        except AnalysisError as error:
            Diagnostics(statement).wrong(str(error), at)


def _wider(
    entries: Iterable[Entry], source: SourceDefinition, wider: SourceDefinition
) -> Iterable[Entry]:
    """What punctuations said of rows, said of rows with more columns."""
    for words, at in entries:
        yield text.write(text.parse(words, source.schema).extend(wider.schema)), at


def _wider_scheme(scheme: Scheme, source: SourceDefinition, wider: SourceDefinition) -> Scheme:
    if not isinstance(scheme, Never):
        return scheme
    entries = _wider(((words, BEGIN) for words in scheme.punctuations), source, wider)
    return replace(scheme, punctuations=tuple(words for words, _ in entries))


def _statement(definition: ViewDefinition | ClockView) -> s.CreateView:
    (statement,) = parse(definition.text)
    assert isinstance(statement, s.CreateView)
    return statement


def _starts_now(definition: ViewDefinition | ClockView) -> bool:
    return bool(definition.text) and _statement(definition).from_now


def _with_it(names: list[str]) -> str:
    """A sentence on the views that were built anew as well."""
    if not names:
        return ""
    listed = one_of(names).replace(" or ", " and ")
    return f" Built anew with it: {listed}."
