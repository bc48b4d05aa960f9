"""The catalog: what the definitions of a state directory are to queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from penstock.algebra.plan import Node, Scan
from penstock.errors import PlanError
from penstock.ingest.schemes import columns_of_marks
from penstock.ingest.sources import SourceDefinition
from penstock.output.definitions import ViewDefinition
from penstock.sql.binding import Catalog, Entry, Relation
from penstock.sql.binding.catalog import is_constant
from penstock.sql.binding.sources import tagged
from penstock.sql.definitions import ClockView, StreamDefinition
from penstock.state.names import check_name


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
