"""The definition that a CREATE SOURCE or REGISTER SOURCE stands for; nothing is created."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pyarrow as pa

from penstock.algebra.settings import ZONE, Settings, is_utc, zone_of
from penstock.errors import UnsupportedError
from penstock.ingest.connectors import Feed, PortFeed, StreamFeed
from penstock.ingest.file_sources.options import check_needed
from penstock.ingest.sources import SourceDefinition, stamped_on_arrival
from penstock.sql import statements as s
from penstock.sql.binding import Analyser, AnalysisError
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.sources import promised
from penstock.sql.binding.types import is_time, shown
from penstock.sql.text import Name


def source_of(statement: s.CreateSource | s.RegisterSource, analyser: Analyser) -> SourceDefinition:
    name, schema = statement.name.text, schema_of_columns(statement.columns, statement, analyser)
    if isinstance(statement, s.RegisterSource):
        return stamped_on_arrival(name, schema, feed=PortFeed(statement.port))
    time, delay, kind = None, 0, None
    if statement.event_time is not None:
        column = statement.event_time.column
        time = column_of(column, schema, statement)
        kind = schema.field(time).type
        _check_time(statement, column, kind)
        delay = _delay(statement, kind)
    feed = None
    if statement.format is not None:
        feed = feed_of(statement.format, zone_of(analyser.settings()))
    checks = [check for column in statement.columns for check in column.checks]
    return source_definition(
        name,
        schema,
        time,
        delay,
        late=statement.late.value.lower(),
        on_error=statement.on_error.value.lower(),
        feed=feed,
        promised=promised(checks, schema, analyser, Diagnostics(statement)),
        never_null=tuple(c.name.text for c in statement.columns if not c.nullable),
        rate=_rate(statement, kind),
    )


def source_definition(
    name: str,
    schema: pa.Schema,
    time: str | None,
    delay: int,
    *,
    late: Any,
    feed: Feed | None,
    **promises: Any,
) -> SourceDefinition:
    """A source with a column for the event time, or without one, stamped on arrival."""
    if time is None:
        found = stamped_on_arrival(name, schema, late, feed)
    else:
        found = SourceDefinition(name, schema, time, delay, late, feed=feed)
    return replace(found, **promises)


def schema_of_columns(
    columns: tuple[s.ColumnDefinition, ...], statement: Any, analyser: Analyser
) -> pa.Schema:
    fields = []
    for column in columns:
        try:
            fields.append((column.name.text, analyser.named_type(column.type)))
        except AnalysisError as error:
            Diagnostics(statement).wrong(str(error), column.name)
    return pa.schema(fields)


def column_of(name: Name, schema: pa.Schema, statement: Any) -> str:
    """The column of this name, as it is called in the schema."""
    for known in schema.names:
        if known.lower() == name.text.lower():
            return str(known)
    Diagnostics(statement).unknown("column", name.text, schema.names, name)


def _rate(statement: s.CreateSource, kind: pa.DataType | None) -> tuple[int, int] | None:
    if statement.rate is None:
        return None
    span, integer = statement.rate.span, kind is not None and pa.types.is_integer(kind)
    if span.ticks != integer:
        unit = "a plain number: RATE 5 PER 10" if integer else "of time: RATE 100 PER SECOND"
        Diagnostics(statement).wrong(f"The span of the rate is {unit}.", statement.name)
    return statement.rate.rows, span.length


def _check_time(statement: s.CreateSource, column: Name, kind: pa.DataType) -> None:
    if not (is_time(kind) or pa.types.is_integer(kind)):
        Diagnostics(statement).wrong(
            f"Event time is a TIMESTAMP, a DATE or an integer, and {column} is {shown(kind)}.",
            column,
        )


def _delay(statement: s.CreateSource, kind: pa.DataType) -> int:
    assert statement.event_time is not None
    delay, column = statement.event_time.delay, statement.event_time.column
    integer = pa.types.is_integer(kind)
    if delay.length and delay.ticks != integer:
        unit = "a plain number: DELAY 5" if integer else "an interval: DELAY INTERVAL 5 SECONDS"
        Diagnostics(statement).wrong(
            f"Event time {column} is {shown(kind)}, so the delay is {unit}.", column
        )
    return delay.length


def feed_of(format: s.Format, zone: str) -> StreamFeed:
    """Texts of times without a zone are of the zone that the source was created under."""
    check_needed(format.name, format.options)
    given = {key.lower() for key, _ in format.options}
    texts = format.name.lower() in ("csv", "json", "xml") and "timezone" not in given
    return StreamFeed(format.name, (*format.options, *([("timeZone", zone)] if texts else [])))


def check_event_time(source: SourceDefinition, now: Callable[[], Settings]) -> None:
    """Refuse times that are points in time in UTC only: elsewhere a clock may show one twice."""
    if source.time is None:
        return
    kind = source.schema.field(source.time).type
    if pa.types.is_date(kind) or (pa.types.is_timestamp(kind) and kind.tz is None):
        zone = zone_of(now())
        if not is_utc(zone):
            name = "DATE" if pa.types.is_date(kind) else "TIMESTAMP_NTZ"
            raise UnsupportedError(
                f"source {source.name}: event time {source.time!r} is a {name}, which tells a "
                f"point in time in UTC only, and the session's zone is {zone}. Declare it a "
                f"TIMESTAMP, or set {ZONE} to UTC before the source is created."
            )
