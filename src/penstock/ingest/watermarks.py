"""How far the time of a source has come, which rows are late, and where a batch leaves it.

The watermark of a source is a time before which no more of its rows come: the latest event time so
far less the delay, or what a heartbeat or a punctuation said. A row is late that comes before the
watermark of its source, or before the target of the pipeline's steps.
"""

from __future__ import annotations

from dataclasses import replace

from penstock.element import BEGIN, INF
from penstock.errors import LateRowError, PlanError, RejectedRowError, UngrammaticalRowError
from penstock.ingest.sources import IngestReport, SourceDefinition
from penstock.ingest.times import now, shown, time_of
from penstock.state.manifest import Manifest, SourceState
from penstock.state.producers import BatchId, BatchNumbers


def lateness(state: SourceState, target: int) -> int:
    """Rows before this time are late: it is complete, or a step is about to complete it."""
    return max(state.frontier, target)


def open_from(state: SourceState, target: int) -> int:
    """From when on a punctuation that comes now can hold: after all that has come."""
    return max(state.largest + 1, state.frontier, target)


def advanced(state: SourceState, frontier: int, target: int) -> SourceState:
    """The source with a watermark, unless it is beyond it already; at the end of time it ends."""
    if frontier <= state.frontier:
        return state
    ended = open_from(state, target) if frontier == INF else None
    return replace(state, frontier=frontier, ended=ended)


def watermark_of(source: SourceDefinition, state: SourceState) -> int:
    """Rows that are stamped on arrival come no earlier than now."""
    return max(state.frontier, now()) if source.arrival else state.frontier


def end_of(source: SourceDefinition, state: SourceState) -> int:
    """When a source would be over if nothing more came."""
    if source.is_table:
        return BEGIN
    return state.ended if state.ended is not None else max(state.largest + 1, state.frontier)


def moment(frontier: int) -> int:
    """When rows arrive: now, and never before what is complete, unless all of time is."""
    return now() if frontier == INF else max(now(), frontier)


def is_duplicate(manifest: Manifest, source: str, batch: int | BatchId | None) -> bool:
    """Whether a batch was received before: one of an attached stream, or of a producer."""
    if isinstance(batch, int):
        return batch <= manifest.sources.get(source, SourceState()).batch
    if batch is None:
        return False
    numbers = manifest.producers.get(source, {}).get(batch.producer, BatchNumbers())
    known = numbers.has(batch.number)
    if known is None:
        raise PlanError(
            f"source {source}: batch '{batch}' is older than what is remembered of this producer, "
            f"so it may have been received; batches from {numbers.since} on can be sent again"
        )
    return known


def check_batch(source: SourceDefinition, report: IngestReport, late_before: int) -> None:
    """An error where the source is to stop at rows that it cannot take."""
    if report.rejected and source.on_error == "fail":
        raise RejectedRowError(
            f"source {source.name}: {report.rejected} records cannot be taken, "
            f"{told(report)}. None of the batch was taken. Correct them, or declare the source ON "
            "ERROR KEEP or ON ERROR DROP"
        )
    if source.late != "fail":
        return
    if report.broken:
        raise UngrammaticalRowError(
            f"source {source.name}: {report.broken} rows were ruled out by a punctuation, a CHECK "
            "or NOT NULL, or hold a text that is no punctuation; none of the batch was taken. "
            "Punctuate later, promise less, or declare the source LATE KEEP or LATE DROP"
        )
    if report.late:
        complete = shown(late_before, time_of([source]))
        raise LateRowError(
            f"source {source.name}: {report.late} rows are earlier than {complete} or have no "
            "time; none of the batch was taken. Give the source a longer DELAY, or LATE KEEP or "
            "LATE DROP"
        )


def told(report: IngestReport) -> str:
    """Why records were rejected, and where the first of them was."""
    reasons = "; ".join(report.reasons)
    return f"{reasons} (the first is in {report.place})" if report.place else reasons


def after_batch(
    source: SourceDefinition,
    state: SourceState,
    report: IngestReport,
    batch: int | BatchId | None,
    keep: bool,
) -> SourceState:
    """How far a source has come with a batch."""
    largest = max(state.largest, report.largest)
    known = largest - source.delay if largest > BEGIN + source.delay else BEGIN
    return replace(
        state,
        idle=False,
        frontier=max(state.frontier, known),
        largest=largest,
        batch=batch if isinstance(batch, int) else state.batch,
        accepted=state.accepted + report.accepted,
        late=state.late + report.late,
        kept=keep or (state.kept and not report.accepted),
        broken=state.broken + report.broken,
        sequence=max(state.sequence, report.sequence),
        rejected=state.rejected + report.rejected,
    )
