"""The catalog: what the definitions of a state directory are to queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from penstock.algebra.expr import Call, Column, Expr, Literal, compare
from penstock.algebra.plan import Node, Scan, Upsert, project
from penstock.runtime.definitions import ViewDefinition
from penstock.runtime.sources import SourceDefinition
from penstock.sql.binding import Catalog, Entry, Relation
from penstock.sql.definitions import ClockView, StreamDefinition

DELETES = ("-", "d", "D")


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
            return _stream(tagged(source, definition), source, "stream")
        case ViewDefinition():
            return Relation("view", definition.plan)
        case ClockView():
            return definition.points
    return None


def _stream(plan: Node, source: SourceDefinition, kind: str) -> Relation:
    hidden = frozenset({source.time} if source.arrival and source.time else ())
    return Relation(kind, plan, source.time, hidden)


def scan_of(source: SourceDefinition) -> Scan:
    """A source as the append-only stream of its rows; a table never changes."""
    return Scan(source.name, source.schema, append_only=True, time=source.time)


def tagged(source: SourceDefinition, stream: StreamDefinition) -> Node:
    """The Tagger: a row replaces the last one of its key, or takes it away."""
    plan: Node = scan_of(source)
    if stream.key:
        plan = Upsert(plan, stream.key, deleted=_deleted(source, stream))
    if stream.operation is not None:
        rest = [name for name in source.schema.names if name != stream.operation]
        plan = project(plan, rest)
    return plan


def _deleted(source: SourceDefinition, stream: StreamDefinition) -> Expr | None:
    if stream.operation is None:
        return None
    operation = Column(stream.operation, source.schema.field(stream.operation).type)
    tests = tuple(compare("=", operation, Literal(text, pa.string())) for text in DELETES)
    return Call("or", tests, pa.bool_())
