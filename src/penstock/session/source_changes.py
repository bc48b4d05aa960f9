"""What becomes of a source whose statement is another one: it is altered, or it cannot go on."""

from __future__ import annotations

from typing import Any, TypeAlias

import pyarrow as pa

from penstock.ingest.connectors import StreamFeed
from penstock.ingest.sources import SourceDefinition
from penstock.ingest.widening import is_wider
from penstock.sql import statements as s
from penstock.sql.binding.types import shown
from penstock.sql.dialect import quote

_FIELDS = {
    "delay": "its delay",
    "late": "what becomes of late rows",
    "on_error": "what becomes of rows with errors",
    "rate": "its rate",
    "promised": "what is promised of its rows",
    "never_null": "which columns are never NULL",
}


Statement: TypeAlias = s.CreateSource | s.RegisterSource


def differences(
    old: SourceDefinition, new: SourceDefinition, statement: Statement, marked: bool
) -> list[str]:
    """Why the rows of a source cannot go on under its new statement.

    With punctuations in its rows it is `marked`.
    """
    found = []
    if (old.arrival, (old.time or "").lower()) != (new.arrival, (new.time or "").lower()):
        found.append("its event time is another column")
    found += [
        f"{words} is changed"
        for name, words in _FIELDS.items()
        if getattr(old, name) != getattr(new, name)
    ]
    if _feed(old, statement) != _feed(new, statement):
        found.append("its rows come from elsewhere")
    left = {n.lower() for n in old.schema.names} - {n.lower() for n in new.schema.names}
    found += [f"column {name} is left out" for name in old.schema.names if name.lower() in left]
    fields = {field.name.lower(): field for field in old.schema}
    for field in new.schema:
        before = fields.get(field.name.lower())
        if before is None:
            if marked:
                found.append(f"column {field.name} is new, and its rows hold punctuations")
        elif before.type != field.type and not _widens(old, before, field.type):
            found.append(f"column {field.name} was {shown(before.type)}, is {shown(field.type)}")
    return found


def _widens(source: SourceDefinition, column: pa.Field, kind: pa.DataType) -> bool:
    """Whether a column can have another type, and the rows so far be as they are."""
    times = (source.time, source.until, source.weight)
    return is_wider(column.type, kind) and column.name not in times and source.promised is None


def _feed(source: SourceDefinition, statement: Statement) -> Any:
    """Where rows come from. A zone of texts that the statement does not name is the one that the
    source was created under."""
    if not isinstance(source.feed, StreamFeed):
        return source.feed
    options = {key.lower(): value for key, value in source.feed.options}
    if isinstance(statement, s.CreateSource) and statement.format is not None:
        named = {key.lower() for key, _ in statement.format.options}
        options |= {} if "timezone" in named else {"timezone": ""}
    return source.feed.format.lower(), options


def alterations_of(
    old: SourceDefinition, new: SourceDefinition, statement: Statement
) -> tuple[tuple[tuple[str, str], ...], pa.Schema]:
    """The reasons and statements that bring a source from its old columns to the new ones."""
    found: list[tuple[str, str]] = []
    table, schema = quote(old.name), old.schema
    written = {c.name.text.lower(): c for c in statement.columns}
    places = {name.lower(): place for place, name in enumerate(schema.names)}
    for field in new.schema:
        column = written.get(field.name.lower())
        if column is None:  # the time of arrival
            continue
        place = places.get(field.name.lower())
        if place is None:
            found.append(
                (
                    f"column {field.name} {column.type} is new",
                    f"ALTER SOURCE {table} ADD COLUMN {quote(column.name)} {column.type}",
                )
            )
            end = len(schema)
            if old.arrival and old.time is not None:
                end = schema.get_field_index(old.time)
            schema = schema.insert(end, field)
        elif schema.field(place).type != field.type:
            was = schema.field(place)
            found.append(
                (
                    f"column {was.name} was {shown(was.type)} and is {column.type}",
                    f"ALTER SOURCE {table} ALTER COLUMN {quote(was.name)} TYPE {column.type}",
                )
            )
            schema = schema.set(place, was.with_type(field.type))
    return tuple(found), schema
