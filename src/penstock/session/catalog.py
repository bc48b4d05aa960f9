"""The catalog: what the definitions of a state directory are to queries, and which read which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import pyarrow as pa

from penstock.algebra.plan import Node, Scan, project
from penstock.errors import PlanError
from penstock.ingest.schemes import columns_of_marks
from penstock.ingest.sources import SourceDefinition
from penstock.output.definitions import ViewDefinition
from penstock.sql import parse
from penstock.sql import statements as s
from penstock.sql.binding import Catalog, Entry, Relation
from penstock.sql.binding.catalog import is_constant
from penstock.sql.binding.sources import tagged
from penstock.sql.definitions import ClockView, StreamDefinition
from penstock.sql.names import names_read
from penstock.sql.statements import CreateView
from penstock.state.names import check_name

Reads: TypeAlias = tuple[tuple[str, tuple[str, ...]], ...]
"""Names that a view reads, each with the columns that there were when it was bound."""


def check_unused(name: str) -> str:
    """A name that users may give; an error if it can be none, or stands for rows of queries."""
    if is_constant(check_name(name)):
        raise PlanError(f"{name[:60]!r} names constant rows of queries; choose another name")
    return name


def catalog_of(definitions: Mapping[str, Any], time: pa.DataType | None) -> Catalog:
    entries: dict[str, Entry] = {}
    for name, definition in definitions.items():
        entry = _entry(name, definition, definitions)
        if entry is not None:
            entries[name] = entry
    return Catalog(entries, time)


def _entry(name: str, definition: Any, definitions: Mapping[str, Any]) -> Entry | None:
    match definition:
        case SourceDefinition(time=None):
            return Relation("table", scan_of(definition))
        case SourceDefinition():
            return _stream(scan_of(definition), definition, "source")
        case StreamDefinition():
            source = definitions[definition.source]
            hidden = [definition.operation, *columns_of_marks(definition.schemes)]
            key, operation, sequence = definition.key, definition.operation, definition.sequence
            plan = tagged(scan_of(source), key, operation, hidden, sequence)
            return _stream(plan, source, "stream")
        case ViewDefinition():
            return Relation("view", definition.meaning)
        case ClockView():
            return definition.points
    return None


def _stream(plan: Node, source: SourceDefinition, kind: str) -> Relation:
    hidden = frozenset({source.time} if source.arrival and source.time else ())
    return Relation(kind, plan, source.time, hidden)


def scan_of(source: SourceDefinition) -> Scan:
    """A source as the append-only stream of its rows; a table never changes."""
    return Scan(source.name, source.schema, True, source.time, source.promise)


def dependents_on(name: str, definitions: Mapping[str, Any]) -> list[str]:
    """The definitions whose statements read this one."""
    return [
        other
        for other, definition in definitions.items()
        if name.lower() in [read.lower() for read in _read_by(definition)]
    ]


def all_dependents_on(names: Iterable[str], definitions: Mapping[str, Any]) -> list[str]:
    """The definitions that read some, by way of others too; each after those that it reads."""
    found = {name.lower() for name in names}
    dependents = []
    for other, definition in definitions.items():  # each was created after what it reads
        if other.lower() not in found and found & {read.lower() for read in _read_by(definition)}:
            found.add(other.lower())
            dependents.append(other)
    return dependents


def check_unread(name: str, definitions: Mapping[str, Any]) -> None:
    if dependents := dependents_on(name, definitions):
        raise PlanError(f"{name!r} is read by {', '.join(dependents)}; drop those first")


def _read_by(definition: Any) -> list[str]:
    if isinstance(definition, StreamDefinition):
        return [definition.source]
    if isinstance(definition, ViewDefinition | ClockView) and definition.text:
        (statement,) = parse(definition.text)
        return names_read(statement.query) if isinstance(statement, CreateView) else []
    return []


def columns_read(query: s.Query, catalog: Catalog) -> Reads:
    """The columns that what a query reads has now."""
    found = {}
    for name in names_read(query):
        known = catalog.find(name)
        if known is not None and isinstance(known[1], Relation):
            found[known[0]] = tuple(known[1].plan.schema.names)
    return tuple(found.items())


def restricted(catalog: Catalog, reads: Reads) -> Catalog:
    """The catalog in which what is read has no more columns than it had."""
    entries = dict(catalog.entries)
    for name, columns in reads:
        entry = entries.get(name)
        if isinstance(entry, Relation):
            wanted = {column.lower() for column in columns}
            names = [n for n in entry.plan.schema.names if n.lower() in wanted]
            if len(names) < len(entry.plan.schema):
                entries[name] = replace(entry, plan=project(entry.plan, names))
    return replace(catalog, entries=entries)
