"""Plans run on the engine: many views over many cases, restarted and rescaled at random.

Streams all of whose elements are there from the beginning of time on are tables.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.expr import Expr
from penstock.element import BEGIN, INF, Elements, concat
from penstock.execution.task import Report, StepSpec, hash_range
from penstock.execution.wire import unpacked_report
from penstock.ingest.file_sources.batch import FileBatch
from penstock.ingest.sources import Ingest, IngestReport, SourceDefinition
from penstock.output.definitions import ViewDefinition
from penstock.output.readers import Reading
from penstock.physical.expiry import Strategy
from penstock.runtime.engine import Engine
from penstock.runtime.jobs import Jobs, run_stage, store_of
from penstock.runtime.options import Options
from penstock.state.store import FileStore
from penstock.testing.random_streams import HORIZON, Stream

_TS, _TE, _N = "begins", "ends", "weight"


def source_of(scan: p.Scan) -> SourceDefinition:
    """A source whose rows are the elements of a scan, signed and with ends, in any order."""
    times = [pa.field(name, pa.int64()) for name in (_TS, _TE, _N)]
    schema = pa.schema([*scan.schema, *times])
    return SourceDefinition(scan.name, schema, _TS, delay=2 * HORIZON, until=_TE, weight=_N)


def over_sources(node: p.Node, tables: Collection[str] = ()) -> p.Node:
    """The plan with each scan read from its source or table."""
    match node:
        case p.Scan() if node.name in tables:
            return node
        case p.Scan():
            time = None if node.time is None else _TS
            source = replace(node, columns=source_of(node).schema, time=time)
            return p.project(source, node.schema.names)
    return node.with_inputs(*(over_sources(child, tables) for child in node.inputs))


def rows_of(scan: p.Scan, stream: Stream) -> pa.Table:
    """Elements as rows of the scan's source."""
    schema = source_of(scan).schema
    rows: list[tuple[Any, ...]] = [
        (*e, ts, None if te == INF else te, n) for e, ts, te, n in stream
    ]
    columns = [
        pa.array([row[i] for row in rows], type=field.type) for i, field in enumerate(schema)
    ]
    return pa.Table.from_arrays(columns, schema=schema)


def run_on_engine(
    jobs: Jobs,
    directory: Path,
    plans: Mapping[str, p.Node],
    streams: Mapping[str, Stream],
    cuts: Sequence[int],
    rng: Random,
    at_any_time: bool = False,
    expiry: Strategy = "auto",
    visit: Callable[[Engine, bool], None] = lambda engine, over: None,
) -> dict[str, Elements]:
    """All elements of each view, after steps at the cuts, restarts and changes of parallelism.

    `visit` gets the engine every now and then, and once when all is over.
    Views are all there from the start, or else come at any time, some of them when all is over.
    """
    scans = {s.name: s for plan in plans.values() for s in plan.walk() if isinstance(s, p.Scan)}
    engine = Engine(directory, jobs, Options(tasks=rng.randint(1, 3)))
    tables = [name for name in scans if is_table(streams[name])]
    for name in tables:
        always = Elements.of(scans[name].schema, streams[name])
        columns = pa.Table.from_arrays(list(always.columns), schema=always.schema)
        engine.define_table(name, always.schema, columns)
        del scans[name]
    for scan in scans.values():
        engine.define(scan.name, source_of(scan))
    missing = {name: over_sources(plan, tables) for name, plan in plans.items()}

    def define(chance: float) -> None:
        for name in [name for name in missing if rng.random() < chance]:
            engine.define(name, ViewDefinition(missing.pop(name), expiry=expiry))

    define(0.3 if at_any_time else 1.0)
    w0 = 0
    for w1 in cuts:
        for name, scan in scans.items():
            rows = [row for row in streams[name] if w0 <= row[1] < w1]
            rng.shuffle(rows)
            middle = rng.randint(0, len(rows))
            for part in (rows[:middle], rows[middle:]):
                engine.receive_table(name, rows_of(scan, part))
                engine = _maybe_reopened(engine, jobs, rng)
                visit(engine, False)
                define(0.05)
            engine.advance_watermark(name, w1)
        engine.step()
        engine = _maybe_reopened(engine, jobs, rng)
        visit(engine, False)
        define(0.2)
        w0 = w1
    define(1.0)
    engine.step()  # where there was no view before, nothing has moved
    visit(engine, True)
    out = {name: published(engine, name) for name in plans}
    engine.close()
    return out


def is_table(stream: Stream) -> bool:
    return bool(stream) and all(ts == BEGIN and te == INF and n > 0 for _, ts, te, n in stream)


def published(engine: Engine, view: str) -> Elements:
    """All elements that a view has published."""
    store, state_table = FileStore(engine.runs), engine.views[view].state_table(view)
    log = engine.manifest.changelogs.get(view, ())
    runs = [store.open(state_table, ref) for entry in log for ref in entry.refs]
    return concat(state_table.schema, [run.elements for run in runs])


def _maybe_reopened(engine: Engine, jobs: Jobs, rng: Random) -> Engine:
    if rng.random() < 0.7:
        return engine
    engine.close()
    return Engine(engine.directory, jobs, Options(tasks=rng.randint(1, 4)))


def read_locally(reading: Reading, tasks: int = 1) -> pa.Table:
    store = store_of(reading.directory)
    parts = [reading.read(*hash_range(task, tasks), store) for task in range(tasks)]
    return pa.Table.from_batches(chain.from_iterable(parts), schema=reading.schema)


class LocalJobs:
    """Runs what tasks would do, one after the other in this process, exchanges included."""

    parallelism = 2

    def step(self, spec: StepSpec) -> list[Report]:
        sent: list[pa.RecordBatch] = []
        for stage in range(spec.program.stages):
            arrived, sent = sent, []
            for task in range(spec.tasks):
                mine = [batch for batch in arrived if batch.column(1)[0].as_py() == task]
                sent += run_stage(pickle.loads(pickle.dumps(spec)), stage, task, iter(mine))
        return [unpacked_report(batch.column(2)[0].as_py()) for batch in sent]

    def rows(self, reading: Reading, tasks: int) -> pa.Table:
        return read_locally(reading, tasks)

    def ingest(self, rows: pa.Table | FileBatch, ingest: Ingest, directory: Path) -> IngestReport:
        batches = rows.rows() if isinstance(rows, FileBatch) else rows.to_batches()
        return ingest.run(batches, store_of(directory))

    def rows_of(self, files: FileBatch) -> pa.Table:
        return pa.Table.from_batches(files.rows(), files.rows_schema)

    def with_computed(
        self, rows: pa.Table, computed: Mapping[str, Expr], directory: Path
    ) -> pa.Table:
        if computed:
            raise NotImplementedError("what Spark computes takes DriverJobs")
        return rows
