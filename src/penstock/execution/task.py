"""One stage of a step, in one task: a host for kernels over files.

A task owns a range of hashes. It opens the runs that hold rows of its range, runs the operators of
the stage, writes what they remember and publish into segments, and sends results on to other
tasks. It reports in one row which runs it wrote: until the driver commits them, they do not exist.

Runs of a state table are merged here, in this step or in several.
Law: at every commit a row is either in a part of what is being made or still in the run that it
came in, never in both. Rows go over in the order of their hashes; a run that is not yet through
keeps those from some hash on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from penstock import record, sorting
from penstock.element import INF, Elements, concat
from penstock.errors import PenstockError
from penstock.execution.problems import Problem, first_problem, problem_of
from penstock.physical.kernel import Kernel, Write
from penstock.physical.program import (
    Edge,
    FromEdge,
    FromInputBuffer,
    FromOperator,
    Origin,
    Program,
    ScheduledOperator,
    view_state_table,
)
from penstock.physical.transforms import Project, Select
from penstock.record import Hashes, Ints
from penstock.state import changelog, compaction
from penstock.state.changelog import Block
from penstock.state.compaction import Use, merge_in_parts, rest_of, size_of
from penstock.state.manifest import StateTableRuns
from penstock.state.run import Run, StateTableSpec, owned, place_of, sorted_run, split_runs
from penstock.state.state_table import StateTable
from penstock.state.store import ALL_HASHES, FileStore, RunReference, SegmentWriter, Writing

_MOST_TOLD = 32
EMPTY_KEY = int(record.hash_rows((), 1)[0])


def hash_range(task: int, tasks: int) -> tuple[int, int]:
    """The hashes that a task of so many owns: an equal share, in order."""
    end = ALL_HASHES[1]
    return -(-task * end // tasks), -(-(task + 1) * end // tasks)


def task_of(hashes: Hashes, tasks: int) -> Ints:
    """The task that owns each hash."""
    return (hashes.astype(np.int64) * tasks) >> 32


@dataclass(frozen=True)
class StepSpec:
    """All that tasks must know of a step."""

    program: Program
    directory: Path
    w0: int
    w1: int
    tasks: int
    state_tables: Mapping[str, StateTableRuns]
    compactions: Mapping[str, frozenset[str]]
    kept: Mapping[str, StateTableSpec] = field(default_factory=dict)
    """State tables that are compacted and not otherwise used."""
    bound: Mapping[int, Kernel] = field(default_factory=dict)
    """The kernels, by their places, that are bound to punctuations."""
    closing: Mapping[str, StateTableSpec] = field(default_factory=dict)
    """The state tables of which they close a part."""
    merging: int = 0
    """How many bytes a task merges, as far as what is to be merged can wait."""
    blocks: tuple[Block, ...] = ()
    """The publications that are merged."""

    def owners(self, task: int) -> tuple[int, int]:
        """The range of hashes that a task owns."""
        return hash_range(task, self.tasks)

    def task_of(self, hashes: Hashes) -> Ints:
        return task_of(hashes, self.tasks)


@dataclass
class Report:
    """What a task did in a stage, as told to the driver, and how long each part of it took."""

    state_tables: dict[str, list[RunReference]] = field(default_factory=dict)
    frontiers: dict[str, int] = field(default_factory=dict)
    uses: dict[str, Use] = field(default_factory=dict)
    """What came to state tables, but for what is merely merged, and what was looked up in them."""
    views: dict[str, list[RunReference]] = field(default_factory=dict)
    merged: dict[tuple[str, int], list[RunReference]] = field(default_factory=dict)
    """The runs of merged publications, by their view and version."""
    metrics: list[dict[str, Any]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    times: dict[str, list[int]] = field(default_factory=dict)
    """At which times views change: some of them, and last the first."""
    late: dict[str, list[int]] = field(default_factory=dict)
    """By how much operators noticed ends too late: some of it, and last the most."""
    failures: dict[str, Problem] = field(default_factory=dict)
    """The operators, by their identities, that have no result, and why."""

    def used(self, state_table: str, bytes: int, lookups: int = 0) -> None:
        known = self.uses.get(state_table, Use())
        self.uses[state_table] = Use(known.bytes + bytes, known.lookups + lookups)

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        started = perf_counter()
        yield
        self.seconds[what] = self.seconds.get(what, 0.0) + perf_counter() - started


def _some(values: Ints) -> list[int]:
    """Values at equal distances, few enough to be told in a report."""
    some: list[int] = values[:: len(values) // _MOST_TOLD + 1].tolist()
    return some


class StageTask:
    """The work of one task in one stage: it reads state and input, runs kernels, writes runs."""

    def __init__(self, spec: StepSpec, stage: int, task: int, store: FileStore) -> None:
        self._spec = spec
        self._program = spec.program
        self._stage = stage
        self._task, self._w1 = task, spec.w1
        self._low, self._high = spec.owners(task)
        self._store = store
        self._results: dict[int, Elements] = {}
        self._report = Report()
        self.lost: set[int] = set()
        """The operators, by their places, that failed in some task, and all that come after them.
        They do not run, and what other tasks had from them does not count."""

    def run(
        self, arrived: Mapping[int, list[Elements]], lost: Iterable[int] = ()
    ) -> tuple[Report, dict[int, dict[int, Elements]]]:
        """Run the stage over what arrived on edges; what is to be sent, by edge and task.

        `lost` are the places of operators that failed in earlier stages.
        A file is deleted when nothing in it is needed. So state that was just compacted, state that
        soon will be, and what is published, which live for different times, are separate files.
        """
        self._arrived = arrived
        self.lost.update(lost)
        with self._store.writing() as writing:
            if self._stage == 0:
                with self._report.timed("compact"):
                    self._compact(writing)
                    self._merge_changes(writing)
            with self._report.timed("operators"), writing.segment() as segment:
                for number, place in enumerate(self._program.places):
                    if place.stage == self._stage:
                        self._results[number] = self._result(number, place, segment)
            with self._report.timed("publish"), writing.segment() as published:
                self._publish(published)
            with self._report.timed("exchange"):
                edges = [edge for edge in self._program.edges if self._passes(edge)]
                sent = {edge.number: self._send(edge) for edge in edges}
            with self._report.timed("sync"):
                writing.finish()
        return self._report, sent

    # --- operators ------------------------------------------------------------------------------

    def _result(self, number: int, place: ScheduledOperator, segment: SegmentWriter) -> Elements:
        """What an operator gives; nothing where it fails, or one before it has."""
        if not any(map(self._is_lost, place.origins)):
            try:
                return self._run_place(number, place, segment)
            except PenstockError as error:
                problem = problem_of(error)
                if problem is None:
                    raise
                self._report.failures[place.identity] = replace(problem, row=self._row(place))
        self.lost.add(number)
        return Elements.empty(place.operator.schema)

    def _is_lost(self, origin: Origin) -> bool:
        match origin:
            case FromOperator(place):
                return place in self.lost
            case FromEdge(edge):
                return self._program.edges[edge].producer in self.lost
        return False

    def _row(self, place: ScheduledOperator) -> str:
        """The row that an operator fails on, where it looks at one at a time."""
        work = place.operator.work
        if not isinstance(work, Select | Project):
            return ""
        (child,) = place.operator.inputs
        return first_problem(work.apply, self._input(place.origins[0], child.schema))

    def _run_place(self, number: int, place: ScheduledOperator, segment: SegmentWriter) -> Elements:
        started = perf_counter()
        work = place.operator.work
        kernel = self._spec.bound.get(number, place.operator.kernel)
        sparks = self._made_by_spark(place)
        schemas = [child.schema for child in place.operator.inputs]
        if sparks:
            schemas = [place.operator.schema]
        passes = isinstance(work, Project) and work.passes
        origins = zip(place.origins, schemas, strict=True)
        inputs = [self._input(origin, schema, passes) for origin, schema in origins]
        if sparks:
            (out,) = inputs
        elif kernel is not None:
            out = self._run_kernel(place, kernel, inputs, segment)
        else:
            out = work.apply(*inputs)  # type: ignore[union-attr]
        self._report.metrics.append(
            {
                "operator": place.identity,
                "rows_in": sum(map(len, inputs)),
                "negative_in": sum(int(np.count_nonzero(x.n < 0)) for x in inputs),
                "ending": sum(self._ending(x) for x in inputs),
                "rows_out": len(out),
                "negative": int(np.count_nonzero(out.n < 0)),
                "seconds": perf_counter() - started,
            }
        )
        return out

    def _ending(self, x: Elements) -> int:
        """How many rows end at a time after the step."""
        return int(np.count_nonzero((x.te >= self._w1) & (x.te < INF)))

    def _made_by_spark(self, place: ScheduledOperator) -> bool:
        match place.origins:
            case (FromEdge(edge),):
                return self._program.edges[edge].mode == "spark"
        return False

    def _run_kernel(
        self,
        place: ScheduledOperator,
        kernel: Kernel,
        inputs: list[Elements],
        segment: SegmentWriter,
    ) -> Elements:
        if kernel.partition_by[0] == () and not self._low <= EMPTY_KEY < self._high:
            return Elements.empty(kernel.schema)
        state_tables = {
            a.name: self._open(place.state_table_name(a), a) for a in kernel.state_tables
        }
        result = kernel.step(state_tables, inputs, self._spec.w0, self._spec.w1)
        for state_table in state_tables.values():
            self._report.used(place.state_table_name(state_table.spec), 0, sum(state_table.lookups))
        for name, write in result.writes.items():
            self._write(
                place.state_table_name(state_tables[name].spec),
                state_tables[name].spec,
                write,
                segment,
            )
        if result.late is not None and len(result.late):
            name = f"{type(kernel).__name__} {place.identity}"
            self._report.late[name] = [*_some(result.late), int(result.late.max())]
        return result.out

    def _input(self, origin: Origin, schema: pa.Schema, picked: bool = False) -> Elements:
        """What comes from there; columns of picks where they will do."""
        match origin:
            case FromOperator(place):
                return self._results[place] if picked else self._results[place].plain()
            case FromEdge(edge):
                return concat(schema, self._arrived.get(edge, []))
            case FromInputBuffer(input_buffer, whole):
                state_table = self._open(
                    input_buffer, self._program.input_buffers[input_buffer].state_table, whole
                )
                return state_table.begun_between(state_table.frontier, self._spec.w1)

    # --- state ----------------------------------------------------------------------------------

    def _open(self, name: str, spec: StateTableSpec, whole: bool = False) -> StateTable:
        state = self._spec.state_tables.get(name, StateTableRuns())
        return StateTable(spec, self._runs(spec, state.refs, whole), state.frontier)

    def _runs(
        self, spec: StateTableSpec, refs: Iterable[RunReference], whole: bool = False
    ) -> tuple[Run, ...]:
        """The rows of runs that this task owns, or all of them."""
        return tuple(run for _, run in self._opened(spec, refs, whole))

    def _opened(
        self, spec: StateTableSpec, refs: Iterable[RunReference], whole: bool = False
    ) -> Iterator[tuple[RunReference, Run]]:
        low, high = ALL_HASHES if whole else (self._low, self._high)
        for ref in refs:
            first, last = ref.owners
            if first < high and low < last:
                run = self._store.open(spec, ref)
                inside = low <= first and last <= high
                yield ref, run if inside else owned(spec, run, low, high)

    def _write(self, name: str, spec: StateTableSpec, write: Write, segment: SegmentWriter) -> None:
        self._report.frontiers[name] = self._w1 if write.frontier is None else write.frontier
        if len(write.elements):
            run = sorted_run(spec, write.elements, write.keep)
            ref = segment.write(run, (self._low, self._high))
            self._report.state_tables.setdefault(name, []).append(ref)
            self._report.used(name, run.statistics.bytes)

    def _compact(self, writing: Writing) -> None:
        """Rewrite this task's part of the runs that the driver chose, what is small first.

        A file of state can be deleted at once when nothing in it is needed, one that others read
        can not: so these are separate files.
        """
        specs = {**self._program.specs(), **self._spec.kept, **self._spec.closing}
        merges = [
            merge
            for name, chosen in self._spec.compactions.items()
            for merge in self._merges(name, specs[name], chosen)
        ]
        most = self._spec.merging
        with writing.segment() as private, writing.segment() as read:
            for merge in sorted(merges, key=lambda merge: merge.size):
                segment = private if merge.state_table in self._program.private else read
                most -= self._merge(merge, segment, most)

    def _merges(self, name: str, spec: StateTableSpec, chosen: Collection[str]) -> Iterable[Merge]:
        """The chosen runs by what they are merged into; those chosen anew are merged together."""
        found: dict[str, list[tuple[RunReference, Run]]] = {}
        refs = (ref for ref in self._spec.state_tables[name].refs if ref.name in chosen)
        for ref, run in self._opened(spec, refs):
            found.setdefault(ref.into, []).append((ref, run))
        owners = (self._low, self._high)
        return (Merge(name, spec, tuple(opened), owners) for opened in found.values())

    def _merge(self, merge: Merge, segment: SegmentWriter, most: int) -> int:
        """Merge so many bytes, or all of them where that cannot wait; how many it were.

        Of input buffers, what this step takes out of them is left behind.
        """
        input_buffer = merge.state_table in self._program.input_buffers
        frontier = self._w1 if input_buffer else self._spec.state_tables[merge.state_table].frontier
        into, done, reached = merge.into or segment.name, 0, 0
        report = self._report.state_tables.setdefault(merge.state_table, [])
        if most > 0 or not merge.can_wait:
            for merged, bound in merge_in_parts(merge.spec, merge.runs, frontier):
                done, reached = done + min(merge.size, compaction.PART), bound
                if len(merged):
                    packed = merge.spec.order == "time"  # it is read once, and nothing looked up
                    report.append(segment.write(merged, merge.owners, packed, into))
                del merged  # before there is another
                if done >= most and merge.can_wait:
                    break
        if merge.can_wait:
            report += merge.rest(into, reached)
        return done

    def _merge_changes(self, writing: Writing) -> None:
        """Merge this task's pieces of publications, each into a file of its own."""
        spec = self._spec
        for piece in changelog.pieces(spec.blocks, self._task, spec.tasks):
            state_table = self._program.view_state_tables[piece.block.view]
            with writing.segment() as segment:
                runs = changelog.merged(state_table, piece, self._store, spec.w0)
                found = self._report.merged.setdefault((piece.block.view, piece.block.version), [])
                found += [segment.write(run, packed=True) for run in runs]

    # --- results --------------------------------------------------------------------------------

    def _publish(self, segment: SegmentWriter) -> None:
        """What is over by the end of the step is apart: a view as it is now has no use for it."""
        for view, origin in self._program.views.items():
            spec = self._program.view_state_tables[view]
            if self._program.view_stages[view] == self._stage and not self._is_lost(origin):
                out = self._input(origin, spec.schema, picked=True)
                if len(out):
                    over = out.te < self._w1
                    runs = split_runs(spec, out, over)
                    self._report.views[view] = [segment.write(run, packed=True) for run in runs]
                    self._report.used(
                        view_state_table(view), sum(run.statistics.bytes for run in runs)
                    )
                    ended = out.te[over]
                    self._report.times[view] = [*_some(out.ts), *_some(ended), int(out.ts.min())]

    def _passes(self, edge: Edge) -> bool:
        return edge.leaves <= self._stage < edge.arrives

    def _send(self, edge: Edge) -> dict[int, Elements]:
        """The rows of an edge by the task they go to, at their first stage or on their way."""
        schema = self._program.places[edge.producer].operator.schema
        if edge.producer in self.lost:
            return {}
        if edge.leaves < self._stage:
            return {self._task: concat(schema, self._arrived.get(edge.number, []))}
        out = self._results[edge.producer].plain()
        match edge.mode:
            case "stay" | "spark":
                return {self._task: out}
            case "all":
                return dict.fromkeys(range(self._spec.tasks), out)
            case "spread":
                owner = self._spec.task_of(record.hash_rows(out.key(edge.key), len(out)))
                order = sorting.sort_by(owner)
                bounds = np.searchsorted(owner[order], np.arange(self._spec.tasks + 1))
                parts = out.take(order)
                return {
                    task: parts.slice(int(bounds[task]), int(bounds[task + 1]))
                    for task in range(self._spec.tasks)
                    if bounds[task] < bounds[task + 1]
                }


@dataclass(frozen=True)
class Merge:
    """With the rows of each run that the task owns."""

    state_table: str
    spec: StateTableSpec
    opened: tuple[tuple[RunReference, Run], ...]
    owners: tuple[int, int]

    @property
    def runs(self) -> list[Run]:
        return [run for _, run in self.opened]

    @cached_property
    def size(self) -> int:
        return size_of(self.runs)

    @property
    def into(self) -> str:
        """The name of what they are being merged into since an earlier step, or none."""
        return self.opened[0][0].into

    @property
    def can_wait(self) -> bool:
        """Whether it can be said by a range of hashes which rows of a run a task has left."""
        low, high = self.owners
        mine = all(low <= ref.owners[0] and ref.owners[1] <= high for ref, _ in self.opened)
        return self.spec.order == "hash" and (mine or self.spec.owner is None)

    def rest(self, into: str, since: int) -> Iterator[RunReference]:
        """What is left of the runs when all hashes before this one have been merged."""
        bounds = self.owners if self.spec.owner is None else ALL_HASHES
        for ref, run in self.opened:
            rows = len(run) - place_of(run.hashes, since)
            if rows:
                low, high = ref.hashes
                hashes = max(low, since, bounds[0]), min(high, bounds[1])
                yield replace(
                    ref,
                    statistics=rest_of(ref.statistics, rows, hashes[0]),
                    owners=hashes if self.spec.owner is None else ref.owners,
                    hashes=hashes,
                    into=into,
                )
