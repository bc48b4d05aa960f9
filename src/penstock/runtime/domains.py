"""What streams declare that a source can never send: checked when declared, lifted when dropped.

Law: an answer may rely on a declaration, so it is true of every row that was accepted, those before
it included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from penstock.element import BEGIN
from penstock.errors import PlanError
from penstock.ingest.sources import Ingest, SourceDefinition, input_state_table
from penstock.output.readers import Reading
from penstock.punctuation.closings import Closings, Entry
from penstock.punctuation.schemes import Never, Punctuated
from penstock.runtime.jobs import Jobs
from penstock.state.manifest import Action, Manifest, SourceState
from penstock.state.manifest import Punctuated as PunctuationsAdded


def standing(definition: Any) -> tuple[Entry, ...]:
    """What the schemes of a stream say from the beginning of time on."""
    if not isinstance(definition, Punctuated):
        return ()
    never = [scheme for scheme in definition.schemes if isinstance(scheme, Never)]
    return tuple((words, BEGIN) for scheme in never for words in scheme.punctuations)


def check_obeyed(
    stream: str,
    entries: tuple[Entry, ...],
    source: SourceDefinition,
    manifest: Manifest,
    jobs: Jobs,
    directory: Path,
    tasks: int,
) -> None:
    """An error where rows that were accepted before break what a stream now declares."""
    state = manifest.sources.get(source.name, SourceState())
    if not state.accepted:
        return
    if not state.kept:
        raise PlanError(
            f"stream {stream!r}: {source.name} has received {state.accepted} rows that were not "
            "kept, so whether they match its BY DOMAIN or BY ALL cannot be told; create the stream "
            "before rows come, or connect with keep_input=True"
        )
    state_table, closed = input_state_table(source), Closings(source.schema).read(entries)
    kept = Reading(
        "rows", state_table, manifest.state_table(state_table.name).refs, directory, pa.int64()
    )
    quiet = replace(source, late="drop")
    counting = Ingest(quiet, (), BEGIN, tasks, closed=closed.times, numbered=True)
    report = jobs.ingest(jobs.rows(kept, tasks), counting, directory)
    if report.broken:
        raise PlanError(
            f"stream {stream!r}: {report.broken} of the {state.accepted} rows that {source.name} "
            "has received do not match its BY DOMAIN or BY ALL; declare what they match too, or "
            "create the stream before rows come"
        )


def lifted(name: str, definitions: Mapping[str, Any], manifest: Manifest) -> list[Action]:
    """What only this stream declares goes with it. An error where a view may have relied on it."""
    stream = definitions[name]
    if not isinstance(stream, Punctuated):
        return []
    others = [d for other, d in definitions.items() if other != name]
    kept = [d for d in others if isinstance(d, Punctuated) and d.source == stream.source]
    gone = set(standing(stream)).difference(*map(standing, kept))
    if not gone:
        return []
    source = stream.source
    readers = [n for n, d in definitions.items() if source in getattr(d, "sources", ())]
    if readers:
        raise PlanError(
            f"{name!r} says what {source} can never send, and {', '.join(readers)} may have relied "
            "on it; drop those first"
        )
    entries = tuple(entry for entry in manifest.punctuations.get(source, ()) if entry not in gone)
    return [PunctuationsAdded(source, entries, anew=True)]
