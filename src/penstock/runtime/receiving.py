"""What becomes of a batch: when its rows come, what punctuations it brings, what it leaves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from penstock.element import BEGIN, INF
from penstock.errors import LateRowError, UngrammaticalRowError
from penstock.punctuation.schemes import Scheme
from penstock.runtime.reading import time_of
from penstock.runtime.schemes import Marks, marks_in
from penstock.runtime.sources import IngestReport, SourceDefinition
from penstock.runtime.times import now, shown
from penstock.state.manifest import SourceState

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def moment(frontier: int) -> int:
    """When rows arrive: now, and never before what is complete, unless all of time is."""
    return now() if frontier == INF else max(now(), frontier)


def timed_marks(
    rows: pa.Table | DataFrame | None,
    schemes: tuple[Scheme, ...],
    source: SourceDefinition,
    arrived: int | None,
    state: SourceState,
    earliest: int,
) -> Marks:
    """The punctuations of a batch; one holds after the time of its row, and after all before it."""
    found = marks_in(rows, schemes, source.schema, source.time, arrived, state)
    return replace(found, at=np.maximum(found.at + 1, earliest))


def check_batch(source: SourceDefinition, report: IngestReport, late_before: int) -> None:
    """An error where the source is to stop at rows that it cannot take."""
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


def after_batch(
    source: SourceDefinition,
    state: SourceState,
    report: IngestReport,
    batch: int | None,
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
        batch=state.batch if batch is None else batch,
        accepted=state.accepted + report.accepted,
        late=state.late + report.late,
        kept=keep or (state.kept and not report.accepted),
        broken=state.broken + report.broken,
    )
