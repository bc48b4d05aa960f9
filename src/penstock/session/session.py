"""A session on a state directory, its sources and its views."""

from __future__ import annotations

import atexit
import logging
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.algebra.expr import Expr
from penstock.algebra.plan import Node, Scan
from penstock.boundary import check_options, public
from penstock.errors import PlanError
from penstock.execution.analysis import SparkAnalyser
from penstock.ingest.connectors import Feed, StreamFeed
from penstock.ingest.fitting import ErrorPolicy
from penstock.ingest.rows import arrow_schema, fitted, read_parquet, schema_of
from penstock.ingest.sources import LatePolicy, SourceDefinition
from penstock.ingest.times import Time, ticks, time_of, time_types
from penstock.output.datasource import register
from penstock.output.definitions import ViewDefinition
from penstock.output.readers import no_view
from penstock.output.sinks import Sink, Sinks
from penstock.physical.expiry import Strategy, check
from penstock.punctuation import Punctuation
from penstock.punctuation.schemes import Punctuated
from penstock.runtime.engine import Engine
from penstock.runtime.jobs import SparkJobs
from penstock.runtime.options import Options
from penstock.runtime.places import check_shared, rows_file, state_directory
from penstock.runtime.runner import Runner
from penstock.runtime.spark import answering, start_spark
from penstock.session.attachments import Attachments
from penstock.session.catalog import catalog_of, check_unread, check_unused, scan_of
from penstock.session.changes import PipelinePlan
from penstock.session.commands import Commands
from penstock.session.failures import check_sources, failed_sources, failed_views
from penstock.session.memory_policy import check_memory
from penstock.session.pipeline import InFile
from penstock.session.punctuations import in_python
from penstock.session.query import Query
from penstock.session.results import Result
from penstock.session.rollout import Rollout
from penstock.session.sharing import SharedViews
from penstock.session.source import Source
from penstock.session.source_statement import check_event_time, source_definition
from penstock.session.views import Answer, View
from penstock.sql import parse
from penstock.sql.binding.catalog import is_constant
from penstock.state.manifest import SourceState

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.ingest.rows import Rows, Schema


_STEPS_TO_GARBAGE = 20
_SECONDS_OF_THE_CLOCK = 1.0


logger = logging.getLogger("penstock")


@public
def connect(
    path: str | Path | None = None, spark: SparkSession | None = None, **options: Any
) -> Session:
    """Open a state directory; where no path is given, a new one that is deleted in the end.

    Without a SparkSession a local one is started; a given one is used as it is. Options: `tasks`,
    how many tasks a step has; `retention`, for how long in event time changes are kept; `grace`,
    for how many seconds unnamed files stay; `keep_input`, whether rows are kept so that views can
    be created after they came; `unbounded`, whether a view that needs ever more memory makes a
    line in the log (`warn`), is refused (`refuse`) or is as good as any (`allow`); `expiry`, how
    operators notice what has left its window (`auto`, `piggyback`, `negative`,
    `negative+messages` or `input`); `sharing`, whether a view runs on what others run already;
    `rules_off`, the names of rules that queries are not rewritten by.
    """
    check_options("connect", Options, options)
    directory = state_directory(path) if path is not None else _temporary()
    spark = start_spark() if spark is None else answering(spark)
    check_shared(spark, directory)
    register(spark)
    engine = Engine(directory, SparkJobs(spark), Options(**options))
    return Session(engine, spark, temporary=path is None)


def _temporary() -> Path:
    directory = tempfile.mkdtemp(prefix="penstock-")
    atexit.register(shutil.rmtree, directory, ignore_errors=True)
    return Path(directory)


@public
class Session:
    """A state directory that is open: where statements are carried out and steps are made.

    `connect` opens one. Used as a context manager, it is closed at the end of the block.
    """

    def __init__(self, engine: Engine, spark: SparkSession, temporary: bool = False) -> None:
        self.spark = spark
        self._engine = engine
        self._temporary = temporary
        self._sinks = Sinks(engine, spark, lambda name: self.view(name).committed())
        self._steps = 0
        self._progress: deque[dict[str, Any]] = deque(maxlen=100)
        self._runner = Runner(self.step, self._pause)
        self._stepping = threading.Lock()
        self.attachments = Attachments(engine, spark, self._runner)

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop what runs in the background and let go of the directory."""
        try:
            self.attachments.close()
            self.stop()
        finally:
            self._engine.close()
            if self._temporary:
                shutil.rmtree(self.path, ignore_errors=True)

    @property
    def path(self) -> Path:
        """The state directory."""
        return self._engine.directory

    # --- SQL ------------------------------------------------------------------------------------

    def sql(self, text: str) -> Result:
        """Carry out statements, separated by semicolons; the result is that of the last one."""
        commands, result = Commands(self), Result("")
        statements = parse(text)
        while statements:
            together = commands.views_together(statements)
            with self.shared_views.together(together):
                for statement in statements[: max(len(together), 1)]:
                    result = commands.run(statement)
            statements = statements[max(len(together), 1) :]
        return result

    def plan(self, text: str, file: str = "") -> PipelinePlan:
        """What running a pipeline file with these statements would change; nothing is changed.

        `file` is the name of the file: what runs of it have created and the text does not have is
        dropped.
        """
        return Rollout(self, [InFile(file, statement) for statement in parse(text)]).plan

    def table(self, name: str) -> Query:
        """A source, stream, table or view as the beginning of a query put together by methods."""
        if catalog_of(self._engine.definitions, None).find(name) is None:
            known = ", ".join(n for n in self._engine.definitions if not is_constant(n)) or "none"
            raise PlanError(f"no source, stream, table or view {name!r}; there are: {known}")
        return Query(self, name, name)

    @cached_property
    def analyser(self) -> SparkAnalyser:
        """What tells the types of expressions: Spark."""
        return SparkAnalyser(self.spark)

    @cached_property
    def shared_views(self) -> SharedViews:
        """The views that queries may be answered from."""
        return SharedViews(self._engine)

    @property
    def engine(self) -> Engine:
        """What runs the pipeline; for the modules of Penstock."""
        return self._engine

    # --- sources and views ----------------------------------------------------------------------

    def create_source(
        self,
        name: str,
        schema: Schema,
        time: str | None = None,
        delay: int = 0,
        late: LatePolicy = "keep",
        feed: Feed | None = None,
        promised: Expr | None = None,
        never_null: Sequence[str] = (),
        rate: tuple[int, int] | None = None,
        on_error: ErrorPolicy = "keep",
    ) -> Source:
        """A source with these columns, one of which is the event time.

        Without one, rows are stamped on arrival: a batch gets the current time, in a column `ts`.
        The delay is in microseconds, or in ticks for integers. A feed brings rows by itself.

        What is promised tells how much memory a view needs: a condition that is met, or NULL;
        columns that are not NULL; a number of rows, and the span in which no more come.
        """
        definition = source_definition(
            name,
            arrow_schema(schema),
            time,
            delay,
            late=late,
            feed=feed,
            promised=promised,
            never_null=tuple(never_null),
            rate=rate,
            on_error=on_error,
        )
        return self.define_source(definition)

    def define_source(self, definition: SourceDefinition) -> Source:
        """Add a source; a port is listened on from then on."""
        name, feed = check_unused(definition.name), definition.feed
        check_event_time(definition, lambda: self.analyser.settings())
        kind, kinds = time_of([definition]), time_types(self._engine.sources.values())
        if kinds and kind not in kinds:
            how = "is stamped on arrival with" if definition.arrival else "has"
            raise PlanError(
                f"All sources of a pipeline share one kind of time. {name} {how} "
                f"{_kind_of_time(kind)}, the others have {_kind_of_time(kinds.pop())}."
            )
        if isinstance(feed, StreamFeed):
            feed.rows(self.spark, definition.given)
        listener = self.attachments.listener(definition)
        self._engine.define(name, definition)
        self.attachments.listen(listener, name)
        return self.source(name)

    def create_table(self, name: str, rows: Rows, schema: Schema | None = None) -> Scan:
        """A finite relation that is valid for all time, with its rows; the plan that reads it."""
        check_unused(name)
        rows = read_parquet(rows_file(rows)) if isinstance(rows, str | Path) else rows
        columns = schema_of(rows) if schema is None else arrow_schema(schema)
        self._engine.define_table(name, columns, fitted(rows, columns))
        return self.scan(name)

    def create_view(
        self,
        name: str,
        plan: Node,
        key: Sequence[str] | None = None,
        expiry: Strategy | None = None,
        from_now: bool = False,
    ) -> View:
        """A view that is always the plan's answer on the input so far.

        `key` names columns that no two records of the view share at any time: with it, changes
        show an update where a record takes another's place. `expiry` is how its operators notice
        what has left its window; without one, as the session says. `from_now`: the input is what
        comes from now on, and tables.
        """
        check_unused(name)
        known = None if key is None else tuple(key)
        chosen = check(expiry or self._engine.options.expiry)
        check_memory(name, plan, self._engine, lambda: self.analyser)
        apart = from_now or self.shared_views.are_off(chosen)
        shared = None if apart else self.shared_views.share(plan)
        run = shared.plan if shared is not None and shared.views else plan
        said = None if run is plan else plan
        definition = ViewDefinition(run, known, "", chosen, said, apart)
        self._engine.define(name, definition, from_now)
        return self.view(name)

    def scan(self, source: str) -> Scan:
        """The plan that reads a source: an append-only stream of its rows."""
        return scan_of(self._engine.source(source))

    def punctuate(self, stream: str, /, **columns: Any) -> None:
        """No more rows of a source or stream come that match: `auction=[1001, 2004]`.

        A column is given a value, a list of values, or a range as by `penstock.between(0, 3)`.
        """
        definition = self._engine.definitions.get(stream)
        source = definition.source if isinstance(definition, Punctuated) else stream
        found = in_python(columns, self._engine.source(source).schema)
        self.receive_punctuation(source, found)

    def receive_punctuation(self, source: str, punctuation: Punctuation) -> None:
        """Take a punctuation of a source, and let a step follow in the background."""
        self._engine.punctuate(source, [punctuation])
        self._runner.wake()

    def source(self, name: str) -> Source:
        """The source of this name, to give rows to."""
        return Source(self, self._engine, self._runner, self._engine.source(name).name)

    def view(self, name: str) -> View:
        """The view of this name, to read."""
        if name not in self._engine.views:
            raise no_view(name, self._engine.views)
        return View(self, self._engine, name)

    def drop(self, name: str) -> None:
        """Remove a view with its sinks, a source or a table, and what was kept for it."""
        check_unread(name, self._engine.definitions)
        with self._stepping:
            self._engine.drop(name)
        self._sinks.forget(name)
        self.attachments.forget(name)

    def rename(self, view: str, to: str, readers: Mapping[str, Any]) -> None:
        """A view has another name; its sinks follow. `readers` are it and those that read it."""
        self._engine.rename(view, to, readers)
        self._sinks.rename(view, to)

    def serve_sinks(self) -> None:
        """Deliver to sinks what they have not had yet."""
        self._sinks.serve()

    def answer(self, plan: Node, key: Sequence[str] | None = None, at: int | None = None) -> Answer:
        """The answer to a query as of a time, or as of the frontier; before the first step it is
        over all rows received so far, to the end of time."""
        self.attachments.pull()
        return Answer(self.spark, self._engine.tasks, self._engine.answer(plan, key, at))

    # --- running --------------------------------------------------------------------------------

    def step(self) -> dict[str, Any] | None:
        """Move everything as far as the frontiers allow; what happened, or None if nothing."""
        if not self._runner.running:
            self.attachments.pull()
        with self._stepping:
            progress = self._engine.step()
        if progress is not None:
            self._progress.append(progress)
            self._steps += 1
            if self._steps % _STEPS_TO_GARBAGE == 0:
                self._engine.collect_garbage()
        self._sinks.serve()
        return progress

    def _pause(self) -> float | None:
        """For how long the background may sleep: where the clock moves time, not for long."""
        by_clock = any(source.arrival for source in self._engine.sources.values())
        return _SECONDS_OF_THE_CLOCK if by_clock else None

    def start(self) -> None:
        """Step in the background whenever rows or heartbeats come; what has failed begins again."""
        self._sinks.start()
        self._runner.start()
        self.attachments.start()

    def stop(self) -> None:
        """Finish the step under way and stop stepping; raises what went wrong in the background."""
        try:
            self._runner.stop()
        finally:
            self._sinks.stop()

    @property
    def is_running(self) -> bool:
        """Whether steps are made in the background."""
        return self._runner.running

    def failures(self) -> dict[str, str]:
        """What does not go on, and why: views, sinks, sources with a feed, steps."""
        found = failed_views(self._engine) | failed_sources(self.attachments.queries)
        found |= {f"sink {name}": reason for name, reason in self._sinks.failures.items()}
        return found | ({"steps": self._runner.failure} if self._runner.failure else {})

    def await_frontier(self, t: Time, timeout: float | None = None) -> bool:
        """Wait until everything before `t` is out; False where that takes longer than `timeout`."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._engine.manifest.frontier < ticks(t):
            self._runner.check()
            check_sources(self._engine, failed_sources(self.attachments.queries), ticks(t))
            if deadline is not None and time.monotonic() > deadline:
                return False
            time.sleep(0.01)
        return True

    @property
    def frontier(self) -> int:
        """Everything before this time is complete and final."""
        return self._engine.manifest.frontier

    @property
    def last_progress(self) -> dict[str, Any] | None:
        """What the latest step did, as `step` returns it; None before the first."""
        return self._progress[-1] if self._progress else None

    @property
    def recent_progress(self) -> list[dict[str, Any]]:
        """What the latest hundred steps did, the oldest first."""
        return list(self._progress)

    def metrics(self) -> dict[str, Any]:
        """Rows received and late per source, tuples through operators, delays of views, and the
        latest progress."""
        metrics = self._engine.metrics
        states = {name: self._engine.source_state(name) for name in self._engine.sources}
        return {
            "frontier": self.frontier,
            "sources": {name: counts_of(s) for name, s in states.items()},
            "operators": metrics.operators(),
            "views": {
                name: {"expiry": view.expiry, "delay": metrics.delay(name)}
                for name, view in self._engine.views.items()
            },
            "last_step": self.last_progress,
            "failed": self.failures(),
        }

    def add_sink(self, sink: Sink) -> None:
        """Serve a sink what it has not had yet, and from now on each publication."""
        self._sinks.add(sink)


def counts_of(state: SourceState) -> dict[str, int]:
    counts = {"accepted": state.accepted, "late": state.late, "frontier": state.frontier}
    return {**counts, "rejected": state.rejected} if state.rejected else counts


def _kind_of_time(kind: pa.DataType) -> str:
    return "integers" if pa.types.is_integer(kind) else "timestamps"
