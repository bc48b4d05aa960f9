"""What a pipeline file declares, compared with what a state directory has.

Law: the file is to be one that runs from the beginning: a statement sees what stands before it, and
what of the directory is no matter of the file. Two statements are the same if they say the same:
layout, comments, the case of names and how a query is put make no difference.

Of what the file does not have, only what an earlier form of it made is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeAlias

from penstock.algebra.plan import Node
from penstock.errors import PenstockError
from penstock.ingest.schemes import columns_of_marks, schemes_of
from penstock.ingest.sources import SourceDefinition
from penstock.ingest.times import time_types
from penstock.memory.check_context import CheckContext
from penstock.output.definitions import ViewDefinition, of_kind
from penstock.reasoning.identity import Identities
from penstock.rewrite import rewrite
from penstock.runtime.domains import standing
from penstock.session.catalog import (
    Reads,
    all_dependents_on,
    catalog_of,
    columns_read,
    dependents_on,
    restricted,
)
from penstock.session.changes import (
    Alter,
    Change,
    Create,
    Drop,
    PipelinePlan,
    Refused,
    Replace,
    Unchanged,
)
from penstock.session.source_changes import alterations_of, differences
from penstock.session.source_statement import schema_of_columns, source_of
from penstock.sql import parse, to_sql
from penstock.sql import statements as s
from penstock.sql.binding import (
    Analyser,
    AnalysisError,
    Catalog,
    Entry,
    Relation,
    bind_points,
    bind_query,
)
from penstock.sql.binding.catalog import is_constant
from penstock.sql.binding.diagnostics import Diagnostics, in_statement
from penstock.sql.changes import columns_of_star, reads_column
from penstock.sql.definitions import ClockView, StreamDefinition
from penstock.sql.dialect import quote
from penstock.sql.names import names_read
from penstock.sql.text import Name, one_of
from penstock.state.manifest import Manifest, SourceState

Creation: TypeAlias = (
    s.CreateSource | s.RegisterSource | s.CreateTable | s.CreateStream | s.CreateView
)
Question: TypeAlias = s.Query | s.Show | s.ShowAside | s.ShowColumns | s.Describe | s.Explain
Columns: TypeAlias = Callable[[s.CreateTable], tuple[s.ColumnDefinition, ...]]
"""The columns of a table whose statement does not name them."""


@dataclass(frozen=True)
class InFile:
    """A statement, and the name of the file that it is in."""

    file: str
    statement: s.Statement


@dataclass(frozen=True)
class Step:
    """What is to be done: a change, with the statement of the file that asks for it, or else the
    statement itself."""

    file: str
    statement: s.Statement | None
    change: Change | None = None


@dataclass(frozen=True)
class _Verdict:
    """What becomes of a declared definition; `anew`: it is dropped, and then created.

    A view `follows` where what it reads is replaced, and it is with it.
    """

    name: str
    by: InFile
    change: type[Change]
    reason: str = ""
    alterations: tuple[tuple[str, str], ...] = ()
    anew: bool = False
    follows: bool = False


def plan_of(steps: Sequence[Step]) -> PipelinePlan:
    return PipelinePlan(tuple(step.change for step in steps if step.change is not None))


def steps_of(
    statements: Sequence[InFile],
    manifest: Manifest,
    definitions: Mapping[str, Any],
    analyser: Analyser,
    columns: Columns,
) -> list[Step]:
    """What is to be done so that a directory is what the statements say."""
    return _Comparison(statements, manifest, definitions, analyser, columns).steps()


class _Comparison:
    def __init__(
        self,
        statements: Sequence[InFile],
        manifest: Manifest,
        definitions: Mapping[str, Any],
        analyser: Analyser,
        columns: Columns,
    ) -> None:
        self._statements = statements
        self._manifest = manifest
        self._definitions = {n: d for n, d in definitions.items() if not is_constant(n)}
        self._views = of_kind(ViewDefinition, self._definitions)
        self._analyser = analyser
        self._columns = columns
        self._names = {name.lower(): name for name in self._definitions}
        self._declared = _declared(statements)
        files = {one.file for one in statements}
        self._gone = [
            name
            for name in self._definitions
            if name.lower() not in self._declared
            and name in manifest.declared
            and manifest.declared[name].file in files
        ]
        sources = [d for d in definitions.values() if isinstance(d, SourceDefinition)]
        known = catalog_of(definitions, next(iter(time_types(sources)), None))
        self._stored, self._time = known.entries, known.time
        self._entries: dict[str, Entry] = {
            name: entry
            for name, entry in known.entries.items()
            if name.lower() not in self._declared and name not in self._gone
        }

    def steps(self) -> list[Step]:
        verdicts: dict[str, _Verdict] = {}
        for one in self._statements:
            if isinstance(one.statement, Creation):
                found = self._verdict(one, one.statement, verdicts)
                verdicts[found.name.lower()] = found
        first, refused = self._spread(verdicts)
        return [*self._ordered(verdicts, first, refused)]

    # --- one statement --------------------------------------------------------------------------

    def _verdict(
        self, one: InFile, statement: Creation, before: Mapping[str, _Verdict]
    ) -> _Verdict:
        """What becomes of a definition; from then on statements can read what it will be."""
        name = statement.name.text
        stored = self._names.get(name.lower())
        if stored is not None and getattr(statement, "if_not_exists", False):
            self._take(stored)
            return _Verdict(stored, one, Unchanged)
        definition = None if stored is None else self._definitions[stored]
        with in_statement(statement):
            match statement:
                case s.CreateSource() | s.RegisterSource():
                    found = self._source(one, statement, definition)
                case s.CreateTable():
                    found = self._table(one, statement, definition)
                case s.CreateStream():
                    found = self._stream(one, statement, definition)
                case s.CreateView():
                    found = self._view(one, statement, definition, before)
        if stored is None:
            return replace(found, name=name, change=Create, reason="", anew=False)
        return replace(found, name=stored)

    def _called(self, name: Name) -> str:
        """The spelling that a definition has, if there is one."""
        return self._names.get(name.text.lower(), name.text)

    def _take(self, name: str) -> None:
        """Statements read the definition as it is."""
        self._entries[name] = self._stored[name]

    def _put(self, name: str, definition: SourceDefinition) -> None:
        self._entries |= catalog_of({name: definition}, None).entries
        kinds = time_types([definition])
        self._time = next(iter(kinds), self._time)

    @property
    def _catalog(self) -> Catalog:
        return Catalog(self._entries, self._time)

    def _source(
        self, one: InFile, statement: s.CreateSource | s.RegisterSource, old: Any
    ) -> _Verdict:
        new = source_of(statement, self._analyser)
        if not isinstance(old, SourceDefinition) or old.is_table:
            self._put(new.name, new)
            return _anew(one, old, "source")
        marked = bool(columns_of_marks(schemes_of(old.name, self._definitions)))
        reasons = differences(old, new, statement, marked)
        if reasons:
            self._put(new.name, new)
            return _Verdict(old.name, one, Create, _listed(reasons), anew=True)
        alterations, schema = alterations_of(old, new, statement)
        self._put(old.name, replace(old, schema=schema))
        if not alterations:
            return _Verdict(old.name, one, Unchanged)
        return _Verdict(old.name, one, Alter, alterations=alterations)

    def _table(self, one: InFile, statement: s.CreateTable, old: Any) -> _Verdict:
        """Rows of a table are those that were read when it was created."""
        name = statement.name.text
        if isinstance(old, SourceDefinition) and old.is_table:
            known = self._manifest.declared.get(old.name)
            if known is None:
                columns = schema_of_columns(statement.columns, statement, self._analyser)
                same = not statement.columns or columns == old.schema
            else:
                same = _alike(_parsed(known.statement), statement)
            if same:
                self._take(old.name)
                return _Verdict(old.name, one, Unchanged)
        written = statement.columns or self._columns(statement)
        schema = schema_of_columns(written, statement, self._analyser)
        self._put(name, SourceDefinition(name, schema, None))
        found = _anew(one, old, "table")
        return found if found.reason else replace(found, reason="its statement is another one")

    def _stream(self, one: InFile, statement: s.CreateStream, old: Any) -> _Verdict:
        scene, name = CheckContext(self._catalog, self._analyser), self._called(statement.name)
        found = scene.after([statement]).catalog.entries[statement.name.text]
        self._entries[name] = found
        if isinstance(old, StreamDefinition) and _alike(_parsed(old.text), statement):
            return _Verdict(name, one, Unchanged)
        anew = _anew(one, old, "stream")
        return anew if anew.reason else replace(anew, reason="its statement is another one")

    def _view(
        self, one: InFile, statement: s.CreateView, old: Any, before: Mapping[str, _Verdict]
    ) -> _Verdict:
        name, query = self._called(statement.name), statement.query
        points, then = bind_points(query, self._catalog, self._analyser), self._as_it_is(old)
        if points is not None:
            self._entries[name] = points
            if isinstance(old, ClockView) and old.points == points:
                return _Verdict(name, one, Unchanged)
        else:
            new = self._bound(statement)
            self._entries |= catalog_of({name: ViewDefinition(new)}, None).entries
        if not isinstance(old, ViewDefinition | ClockView):
            return _anew(one, old, "view")
        written = _parsed(old.text) if old.text else statement
        if then is None and (hindering := _replaced(written, before)):
            return _Verdict(name, one, Create, _reads(hindering), anew=True)
        if points is not None or isinstance(old, ClockView):
            return _Verdict(name, one, Replace, "its points in time are others")
        moved = _replaced(statement, before)
        same = then is not None and _say_the_same(then, new)
        if not same or _options(written) != _options(statement):
            return _Verdict(name, one, Replace, "it says something else")
        if moved and not _say_the_same(old.meaning, new):
            return _Verdict(name, one, Replace, _reads(moved), follows=True)
        return _Verdict(name, one, Unchanged)

    def _bound(self, statement: s.CreateView, reads: Reads = ()) -> Node:
        catalog = restricted(self._catalog, reads)
        return bind_query(statement.query, catalog, self._analyser, statement.columns).plan

    def _as_it_is(self, old: Any) -> Node | None:
        """What an existing view says when what it reads is changed, by the columns that there were
        when it was created; None where it says nothing any more."""
        if not isinstance(old, ViewDefinition):
            return None
        if not old.text:  # made from a plan, in Python
            return old.meaning
        statement = _parsed(old.text)
        assert isinstance(statement, s.CreateView)
        query = statement.query
        reads = old.reads or columns_read(query, Catalog(self._stored, self._time))
        for name, columns in reads:
            entry = self._entries.get(name)
            there = entry.plan.schema.names if isinstance(entry, Relation) else columns
            gone = {c.lower() for c in columns} - {c.lower() for c in there}
            if gone and columns_of_star(query, name):
                return None
            if any(reads_column(query, name, column) for column in gone):
                return None
        try:
            return self._bound(statement, reads)
        except (PenstockError, AnalysisError):
            return None

    # --- all of them ----------------------------------------------------------------------------

    def _spread(self, verdicts: dict[str, _Verdict]) -> tuple[set[str], dict[str, str]]:
        """What reads a definition that is made anew is made anew, too.

        All that has to make room, and what cannot, with the reason.
        """
        refused: dict[str, str] = {}
        waiting = [v.name for v in verdicts.values() if v.anew]
        waiting += [name for name in self._gone if self._relied_on(name)]
        waiting += self._in_the_way(verdicts)
        seen = set(waiting)
        while waiting:
            name = waiting.pop()
            for reader in self._readers(name):
                verdict = verdicts.get(reader.lower())
                if verdict is not None:
                    if not verdict.anew:
                        reason = f"it reads {name}, which is made anew"
                        verdicts[reader.lower()] = replace(
                            verdict, change=Create, reason=reason, alterations=(), anew=True
                        )
                elif reader not in self._gone:
                    refused[name] = self._foreign(name, reader)
                if reader not in seen and (verdict is not None or reader in self._gone):
                    seen.add(reader)
                    waiting.append(reader)
        for name in self._gone:
            for reader in self._readers(name):
                verdict = verdicts.get(reader.lower())
                stays = verdict is None or verdict.change is Unchanged
                if stays and reader not in self._gone:
                    refused[name] = self._foreign(name, reader)
        return seen, refused

    def _readers(self, name: str) -> list[str]:
        """What cannot be there without a definition; views from plans have no text to tell."""
        plans = [n for n, d in self._views.items() if not d.text and name in d.sources]
        return [*dependents_on(name, self._definitions), *plans, *self._relied_on(name)]

    def _in_the_way(self, verdicts: Mapping[str, _Verdict]) -> list[str]:
        """What is dropped anyway, before what it reads is replaced: nobody should build it anew.

        Where something else still reads it, that is to be replaced first, if that can be.
        """
        moving = [v.name for v in verdicts.values() if v.change in (Replace, Alter)]
        readers = [n for n in all_dependents_on(moving, self._definitions) if n in self._gone]
        found = []
        for name in readers:
            others = set(all_dependents_on([name], self._definitions)).difference(self._gone)
            if not others or self._as_it_is(self._definitions[name]) is None:
                found.append(name)
        return found

    def _relied_on(self, name: str) -> list[str]:
        """The views that may rely on what a stream says its source never sends."""
        definition = self._definitions[name]
        if not isinstance(definition, StreamDefinition) or not standing(definition):
            return []
        return [view for view, d in self._views.items() if definition.source in d.sources]

    def _foreign(self, name: str, reader: str) -> str:
        mark = self._manifest.declared.get(reader)
        whose = f"is from {mark.file}" if mark else "is from no pipeline file"
        kind = kind_of_definition(self._definitions[reader]).value
        return (
            f"it would have to be dropped, and {reader}, which {whose}, reads it. "
            f"DROP {kind} {quote(reader)} first, or leave {name} as it is"
        )

    def _ordered(
        self, verdicts: Mapping[str, _Verdict], first: set[str], refused: Mapping[str, str]
    ) -> Iterator[Step]:
        """First what has to make room goes, its readers before it; then the file, from top to
        bottom; then what it does not have any more."""
        files = {v.name: v.by.file for v in verdicts.values()}
        files |= {name: self._manifest.declared[name].file for name in self._gone}
        anew = {v.name: v.reason for v in verdicts.values() if v.anew}
        for name in reversed(self._definitions):
            if name in first:
                yield self._dropping(name, files[name], anew.get(name), refused)
        for one in self._statements:
            if isinstance(one.statement, Creation):
                yield from _changing(verdicts[one.statement.name.text.lower()], one)
            else:
                yield Step(one.file, one.statement)
        for name in reversed(self._definitions):
            if name in self._gone and name not in first:
                yield self._dropping(name, files[name], None, refused)

    def _dropping(self, name: str, file: str, anew: str | None, refused: Mapping[str, str]) -> Step:
        kind = kind_of_definition(self._definitions[name])
        text = f"DROP {kind.value} {quote(name)}"
        lower = kind.value.lower()
        if name in refused:
            return Step(file, None, Refused(lower, name, refused[name], text))
        reason = f"{file} does not have it any more" if anew is None else anew
        return Step(file, None, Drop(lower, name, reason, text, self._lost(name, anew is not None)))

    def _lost(self, name: str, anew: bool) -> str:
        """What cannot be had again when a definition was dropped."""
        definition, m = self._definitions[name], self._manifest
        lost: list[str] = []
        if isinstance(definition, SourceDefinition):
            rows = m.sources.get(name, SourceState()).accepted
            if rows and not (anew and definition.is_table):
                lost.append(f"{rows:,} row{'s' if rows > 1 else ''}")
        if isinstance(definition, ViewDefinition):
            sinks = [sink for sink, state in m.sinks.items() if state.view == name]
            if sinks:
                lost.append(f"how far {_listed(sinks)} was served")
            states = [m.sources.get(source, SourceState()) for source in definition.sources]
            if anew and any(state.accepted and not state.kept for state in states):
                lost.append("its rows so far, as those of its sources were not kept")
        return _listed(lost)


# --- statements -----------------------------------------------------------------------------------


def _declared(statements: Sequence[InFile]) -> dict[str, InFile]:
    """What is declared, each once; an error where a statement is neither that nor a question."""
    found: dict[str, InFile] = {}
    for one in statements:
        statement = one.statement
        if isinstance(statement, Creation):
            name = statement.name
            if name.text.lower() in found:
                Diagnostics(statement).wrong(f"{name} is declared twice. Leave one out.", name)
            found[name.text.lower()] = one
        elif not isinstance(statement, Question | s.Punctuate):
            words = " ".join(statement.text.split()[:2]).upper()
            Diagnostics(statement).unsupported(
                f"A pipeline file says what there is, and {words} says what to do, each time "
                "that the file is run.",
                "Leave it out, and change the CREATE: what the file does not have any more is "
                "dropped, and what it has in another form is replaced. Single statements are for "
                "penstock shell --path DIR.",
            )
    return found


def _changing(verdict: _Verdict, one: InFile) -> Iterator[Step]:
    statement = one.statement
    assert isinstance(statement, Creation)
    kind, text = _kind(statement), statement.text
    match verdict.change:
        case kind_of_change if kind_of_change is Alter:
            for reason, alteration in verdict.alterations:
                yield Step(one.file, statement, Alter(kind, verdict.name, reason, alteration))
        case kind_of_change if kind_of_change is Replace:
            change = Replace(kind, verdict.name, verdict.reason, replacing(statement))
            yield Step(one.file, None if verdict.follows else statement, change)
        case kind_of_change if kind_of_change is Unchanged:
            yield Step(one.file, statement, Unchanged(kind, verdict.name, "", text))
        case _:
            yield Step(one.file, statement, Create(kind, verdict.name, "", text))


def replacing(statement: Creation) -> str:
    """The statement that gives an existing view another meaning."""
    assert isinstance(statement, s.CreateView)
    return to_sql(replace(statement, if_not_exists=False, replace=True))


def _kind(statement: Creation) -> str:
    match statement:
        case s.CreateTable():
            return "table"
        case s.CreateStream():
            return "stream"
        case s.CreateView():
            return "view"
    return "source"


def kind_of_definition(definition: Any) -> s.Kind:
    match definition:
        case SourceDefinition(time=None):
            return s.Kind.TABLE
        case SourceDefinition():
            return s.Kind.SOURCE
        case StreamDefinition():
            return s.Kind.STREAM
    return s.Kind.VIEW


def _parsed(text: str) -> s.Statement:
    (statement,) = parse(text)
    return statement


def _anew(one: InFile, old: Any, kind: str) -> _Verdict:
    """A definition takes the place of one of another kind, if there is one."""
    reason = ""
    if old is not None and kind_of_definition(old).value.lower() != kind:
        reason = f"it was a {kind_of_definition(old).value.lower()} and is a {kind}"
    return _Verdict("", one, Create, reason, anew=old is not None)


def _replaced(statement: Any, verdicts: Mapping[str, _Verdict]) -> list[_Verdict]:
    """What a view reads that is replaced before it."""
    read = [verdicts.get(name.lower()) for name in names_read(statement.query)]
    return [verdict for verdict in read if verdict is not None and verdict.change is Replace]


def _reads(moved: Sequence[_Verdict]) -> str:
    return f"it reads {_listed([v.name for v in moved])}, which says something else"


def _say_the_same(one: Node, other: Node) -> bool:
    """However two queries were put."""
    if one == other:
        return True
    identities = Identities()
    return identities.of(rewrite(one)) == identities.of(rewrite(other))


def _options(statement: Any) -> Any:
    options = {key.lower(): value.lower() for key, value in statement.options}
    return options, statement.from_now


def _alike(one: Any, other: Any) -> bool:
    """Whether two statements say the same; names that differ by case are one."""
    if type(one) is not type(other):
        return False
    if isinstance(one, Name):
        return one.text.lower() == other.text.lower()
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(_alike, one, other))
    if is_dataclass(one) and not isinstance(one, type):
        names = [f.name for f in fields(one) if f.compare and f.name != "if_not_exists"]
        return all(_alike(getattr(one, name), getattr(other, name)) for name in names)
    return bool(one == other)


def _listed(words: Sequence[str]) -> str:
    return one_of(words).replace(" or ", " and ") if words else ""
