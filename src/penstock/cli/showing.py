"""`penstock show`: a state directory as its log tells it, without Spark and without its lock."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from penstock.cli.printing import print_json, print_result
from penstock.ingest.sources import SourceDefinition
from penstock.ingest.times import parsed, shown, time_of
from penstock.output.definitions import ViewDefinition, decoded, of_kind
from penstock.output.readers import Reading, committed_view
from penstock.session.results import Result
from penstock.sql.binding.catalog import is_constant
from penstock.sql.definitions import ClockView, StreamDefinition
from penstock.state.log import read_manifest
from penstock.state.manifest import Manifest, SourceState
from penstock.state.store import ALL_HASHES, FileStore, RunReference


def show_directory(directory: Path, as_json: bool) -> None:
    found = summary(read_manifest(directory / "log"), directory)
    if as_json:
        print_json(found)
        return
    click.echo(f"{directory}: version {found['version']}, complete before {found['frontier']}")
    for title in ("sources", "streams", "views", "state"):
        if found[title]:
            click.echo(f"\n{title}")
            print_result(Result(rows=pa.Table.from_pylist(found[title])))


def summary(manifest: Manifest, directory: Path) -> dict[str, Any]:
    known = {n: d for n, d in decoded(manifest).items() if not is_constant(n)}
    sources = of_kind(SourceDefinition, known)
    time = time_of(sources.values())
    views = of_kind(ViewDefinition, known)
    return {
        "directory": str(directory),
        "version": manifest.version,
        "frontier": shown(manifest.frontier, time),
        "sources": [
            _source(definition, manifest.sources.get(name, SourceState()), time)
            for name, definition in sources.items()
        ],
        "streams": [
            {"name": name, "over": stream.source, "key": ", ".join(stream.key) or "none"}
            for name, stream in of_kind(StreamDefinition, known).items()
        ],
        "views": [
            *(_view(name, view, manifest, directory) for name, view in views.items()),
            *(
                {"name": name, "columns": "points in time", "key": "", "rows": 0, "changes kept": 0}
                for name in of_kind(ClockView, known)
            ),
        ],
        "state": _state(manifest),
    }


def _source(definition: SourceDefinition, state: SourceState, time: pa.DataType) -> dict[str, Any]:
    return {
        "name": definition.name,
        "kind": "table" if definition.is_table else "source",
        "rows": state.accepted,
        "late": state.late,
        "complete before": shown(state.frontier, time),
    }


def _view(name: str, view: ViewDefinition, manifest: Manifest, directory: Path) -> dict[str, Any]:
    kept = [ref for entry in manifest.changelogs.get(name, ()) for ref in entry.refs]
    return {
        "name": name,
        "columns": ", ".join(view.plan.schema.names),
        "key": ", ".join(view.key or ()),
        "rows": rows_of(committed_view(manifest, directory, name).snapshot()).num_rows,
        "changes kept": _size(kept)["rows"],
    }


def _state(manifest: Manifest) -> list[dict[str, Any]]:
    """What each operator keeps, and what is kept of sources and views; their state tables
    together."""
    refs: dict[str, list[RunReference]] = {}
    for name, state_table in sorted(manifest.state_tables.items()):
        if state_table.refs:
            refs.setdefault(name.split("/")[0], []).extend(state_table.refs)
    return [{"of": name, **_size(kept)} for name, kept in refs.items()]


def _size(refs: Iterable[RunReference]) -> dict[str, int]:
    refs = list(refs)
    return {
        "rows": sum(ref.statistics.rows for ref in refs),
        "bytes": sum(ref.statistics.bytes for ref in refs),
        "files": len({ref.segment for ref in refs}),
    }


def show_view(directory: Path, name: str, at: str | None, as_json: bool) -> None:
    manifest = read_manifest(directory / "log")
    view = committed_view(manifest, directory, name)
    time = None if at is None else parsed(at, view.time)
    reading = view.snapshot(time)
    rows = rows_of(reading)
    rows = rows.sort_by([(column, "ascending") for column in _sortable(rows.schema)])
    when = f"at {at}" if at else f"just before {shown(manifest.frontier, view.time)}"
    if as_json:
        print_json({"view": name, "when": when, "rows": rows.to_pylist()})
    else:
        click.echo(f"{name} {when}")
        print_result(Result(rows=rows))


def rows_of(reading: Reading) -> pa.Table:
    batches = list(reading.read(*ALL_HASHES, FileStore(reading.directory)))
    return pa.Table.from_batches(batches, schema=reading.schema)


def _sortable(schema: pa.Schema) -> list[str]:
    return [field.name for field in schema if not pa.types.is_nested(field.type)]
