"""A program over rows that came before it.

The rows of sources are kept, and so is what views gave. A new program gets them all again, in input
buffers of its own, and makes one step from the beginning of time.
Law: batches never show. So the step leaves what a program that was there from the start would have
by now; an operator that runs already has the same state, and keeps it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from penstock.algebra.arrival import SEQUENCE
from penstock.element import BEGIN
from penstock.execution.problems import check
from penstock.execution.task import StepSpec
from penstock.ingest.sources import Ingest, SourceDefinition, input_state_table
from penstock.output.readers import Reading
from penstock.physical.kernel import Kernel
from penstock.physical.program import InputBuffer, Program
from penstock.runtime.jobs import Jobs
from penstock.runtime.step_commit import StepCommit
from penstock.state.manifest import Manifest, StateTableRuns
from penstock.state.run import StateTableSpec
from penstock.state.store import RunReference

_TICKS = pa.int64()


@dataclass(frozen=True)
class BackfillInput:
    """What a running view gave so far, as rows of a source; and where rows wait that it will give,
    where that is what the sources gave."""

    source: SourceDefinition
    state_table: StateTableSpec
    refs: tuple[RunReference, ...]
    base: tuple[RunReference, ...]
    waiting: StateTableSpec | None


class Backfill:
    """What the rows received before a view was created would have brought to its program."""

    def __init__(
        self,
        program: Program,
        sources: Iterable[SourceDefinition],
        jobs: Jobs,
        directory: Path,
        tasks: int,
        inputs: Iterable[BackfillInput] = (),
        begin: Mapping[str, StateTableRuns] | None = None,
        rows: Callable[[str], str] | None = None,
    ) -> None:
        """`begin` is the state it begins with, and `rows` tells the state table of a source's
        rows."""
        self._program = program
        self._sources = list(sources)
        self._inputs = list(inputs)
        self._jobs = jobs
        self._directory = directory
        self._tasks = tasks
        self._begin = begin or {}
        self._rows = rows
        self._seen: set[str] = set()
        self._filled: defaultdict[str, list[RunReference]] = defaultdict(list)

    def after(
        self, begin: Mapping[str, StateTableRuns], inputs: Iterable[BackfillInput]
    ) -> Backfill:
        """What goes on from a state, with what has not been seen yet."""
        found = Backfill(
            self._program,
            self._sources,
            self._jobs,
            self._directory,
            self._tasks,
            inputs,
            begin,
            self._rows,
        )
        found._seen = self._seen
        return found

    def fill(
        self, manifest: Manifest, input_buffers: Iterable[InputBuffer], waiting: bool = True
    ) -> None:
        """Bring what is kept and has not been seen yet into input buffers.

        What running views will give counts as well, unless there are steps to come in between.
        """
        input_buffers = list(input_buffers)
        for source in self._sources:
            state_table = input_state_table(source)
            name = state_table.name if self._rows is None else self._rows(source.name)
            unseen = self._unseen(manifest.state_table(name).refs)
            self.bring(
                source, input_buffers, Reading("rows", state_table, unseen, self._directory, _TICKS)
            )
        for one in self._inputs:
            found = [self._reading(one.state_table, self._unseen(one.refs), self._unseen(one.base))]
            if waiting and one.waiting is not None:
                refs = self._unseen(manifest.state_table(one.waiting.name).refs)
                found.append(self._reading(one.waiting, refs, since=manifest.frontier))
            for reading in found:
                self.bring(one.source, input_buffers, reading)

    def _reading(
        self,
        state_table: StateTableSpec,
        refs: tuple[RunReference, ...],
        base: tuple[RunReference, ...] = (),
        since: int = BEGIN,
    ) -> Reading:
        return Reading("elements", state_table, refs, self._directory, _TICKS, since, base=base)

    def _unseen(self, refs: Iterable[RunReference]) -> tuple[RunReference, ...]:
        unseen = tuple(ref for ref in refs if ref.name not in self._seen)
        self._seen.update(ref.name for ref in unseen)
        return unseen

    def bring(
        self, source: SourceDefinition, input_buffers: Iterable[InputBuffer], reading: Reading
    ) -> None:
        """Rows of a source, as they are read, into the input buffers that want them."""
        mine = tuple(
            input_buffer for input_buffer in input_buffers if source.name in input_buffer.sources
        )
        if mine and reading.runs:
            rows = self._jobs.rows(reading, self._tasks)
            numbered = SEQUENCE in reading.schema.names
            ingest = Ingest(source, mine, BEGIN, self._tasks, numbered=numbered)
            report = self._jobs.ingest(rows, ingest, self._directory)
            check(report.failures)
            for name, refs in report.state_tables.items():
                self._filled[name] += refs

    def input_buffer(self, name: str) -> StateTableRuns:
        """What the state table of a name holds so far; nothing where there is none."""
        begin = self._begin.get(name, StateTableRuns())
        return StateTableRuns((*begin.refs, *self._filled.get(name, ())), begin.frontier)

    def run(
        self,
        w1: int,
        kernels: Mapping[int, Kernel],
        w0: int = BEGIN,
        closing: Mapping[str, StateTableSpec] | None = None,
    ) -> StepCommit:
        """One step over all that the input buffers hold, by kernels that are bound to
        punctuations."""
        state_tables = {
            name: self.input_buffer(name) for name in {*self._program.input_buffers, *self._begin}
        }
        spec = StepSpec(
            self._program,
            self._directory,
            w0,
            w1,
            self._tasks,
            state_tables,
            compactions={},
            bound=kernels,
            closing=closing or {},
        )
        reports = self._jobs.step(spec)
        for report in reports:
            check(report.failures)
        return StepCommit(self._program, reports, w0, w1)
