"""A source in Python: rows in, heartbeats, and what was not accepted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from penstock.boundary import public
from penstock.element import INF
from penstock.ingest.fitting import rejected_state_table
from penstock.ingest.rows import columns_of, table_of
from penstock.ingest.sources import IngestReport, late_state_table
from penstock.ingest.times import Time, ticks, time_of
from penstock.output.readers import Reading, read_view
from penstock.runtime.engine import Engine
from penstock.runtime.places import rows_file
from penstock.runtime.runner import Runner
from penstock.session.text_rows import TextForm, rows_in
from penstock.state.producers import BatchId

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from penstock.ingest.rows import Rows
    from penstock.session.session import Session

Aside: TypeAlias = Literal["late", "rejected"]


@public
class Source:
    """A source of a session: where rows, heartbeats and streams go in."""

    def __init__(self, session: Session, engine: Engine, runner: Runner, name: str) -> None:
        self._session = session
        self._engine = engine
        self._runner = runner
        self.name = name

    def append(self, rows: Rows, batch: str | None = None) -> dict[str, Any]:
        """One batch: dicts, tuples, an Arrow table, a pandas or Spark DataFrame, a Parquet file.

        `batch` names it, as a producer and a number: `loader-1/17`. A batch of a name that was
        received before is not received again, whatever crashed in between.

        Of a file, given by its path, only the columns are read that views need. Where steps are
        made in the background and fall behind, this waits for the one under way.
        """
        self._runner.check()
        report = self._received(rows, None if batch is None else BatchId.parse(batch))
        return self._told(report)

    def append_text(self, data: bytes, form: TextForm, batch: str | None = None) -> dict[str, Any]:
        """One batch as a text: a line of JSON each, a document of JSON, or CSV with a header.

        Records that cannot be read are rejected one by one, as those of files are.
        """
        self._runner.check()
        known = None if batch is None else BatchId.parse(batch)
        rows, rejected = rows_in(data, form, self._engine.source(self.name).given, batch or "text")
        return self._told(self._engine.receive_table(self.name, rows, known, rejected))

    def _told(self, report: IngestReport) -> dict[str, Any]:
        if report.duplicate:
            return {"accepted": 0, "late": 0, "duplicate": 1}
        self._runner.wake(report.accepted)
        counts: dict[str, Any] = {"accepted": report.accepted, "late": report.late}
        if report.broken:
            counts["ungrammatical"] = report.broken
        if report.rejected:
            counts |= {"rejected": report.rejected, "reasons": report.reasons}
        return counts

    def _received(self, rows: Rows, batch: BatchId | None) -> IngestReport:
        from pyspark.sql import DataFrame

        if isinstance(rows, str | Path):
            return self._engine.receive_file(self.name, rows_file(rows), batch)
        given = self._engine.source(self.name).given
        if isinstance(rows, DataFrame):
            return self._engine.receive_rows(self.name, columns_of(rows, given), batch)
        table, rejected = table_of(rows, given)
        return self._engine.receive_table(self.name, table, batch, rejected)

    def attach(self, rows: DataFrame, **trigger: Any) -> StreamingQuery:
        """Receive a Structured Streaming DataFrame, batch by batch, each exactly once."""
        source = self._engine.source(self.name)
        return self._session.attachments.attach(source, rows, trigger)

    def advance(self, to: Time) -> None:
        """A heartbeat: no more rows before `to`."""
        self._engine.advance_watermark(self.name, ticks(to))
        self._runner.wake()

    def end(self) -> None:
        """The stream is over."""
        self._engine.advance_watermark(self.name, INF)
        self._runner.wake()

    def idle(self) -> None:
        """Hold nobody back until the next batch comes."""
        self._engine.set_idle(self.name)
        self._runner.wake()

    def late(self) -> DataFrame:
        """The rows that came too late or without a time, where the source keeps them."""
        return self._kept_aside("late")

    def rejected(self) -> DataFrame:
        """The records that could not be taken: text, file, position, reason, and when that was."""
        return self._kept_aside("rejected")

    def _kept_aside(self, what: Aside) -> DataFrame:
        return read_view(self._session.spark, self.aside(what), self._engine.tasks)

    def aside(self, what: Aside) -> Reading:
        """What is to be read to have all rows that were not accepted."""
        definition = self._engine.source(self.name)
        state_table = (
            late_state_table(definition) if what == "late" else rejected_state_table(self.name)
        )
        refs = self._engine.manifest.state_table(state_table.name).refs
        return Reading("rows", state_table, refs, self._engine.runs, time_of([definition]))
