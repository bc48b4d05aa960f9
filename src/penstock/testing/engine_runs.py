"""Plans run on the engine: many views over many cases, restarted and rescaled at random."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.element import INF, Elements, concat
from penstock.runtime.engine import Engine, Options
from penstock.runtime.jobs import Jobs, run_round, store_of
from penstock.runtime.sources import Ingest, IngestReport, SourceDefinition
from penstock.runtime.task import Report, StepSpec
from penstock.runtime.wire import unpacked_report
from penstock.state.store import FileStore
from penstock.testing.random_streams import HORIZON, Stream

_TS, _TE, _N = "begins", "ends", "weight"


def source_of(scan: p.Scan) -> SourceDefinition:
    """A source whose rows are the elements of a scan, signed and with ends, in any order."""
    times = [pa.field(name, pa.int64()) for name in (_TS, _TE, _N)]
    schema = pa.schema([*scan.schema, *times])
    return SourceDefinition(scan.name, schema, _TS, delay=2 * HORIZON, until=_TE, weight=_N)


def over_sources(node: p.Node) -> p.Node:
    """The plan with each scan read from its source."""
    match node:
        case p.Scan():
            source = p.Scan(node.name, source_of(node).schema, node.append_only)
            return p.project(source, node.schema.names)
    return node.with_inputs(*map(over_sources, node.inputs))


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
) -> dict[str, Elements]:
    """All elements of each view, after steps at the cuts, restarts and changes of parallelism."""
    scans = {s.name: s for plan in plans.values() for s in plan.walk() if isinstance(s, p.Scan)}
    engine = Engine(directory, jobs, Options(tasks=rng.randint(1, 3)))
    for scan in scans.values():
        engine.define(scan.name, source_of(scan))
    for name, plan in plans.items():
        engine.define(name, over_sources(plan))
    w0 = 0
    for w1 in cuts:
        for name, scan in scans.items():
            rows = [row for row in streams[name] if w0 <= row[1] < w1]
            rng.shuffle(rows)
            middle = rng.randint(0, len(rows))
            for part in (rows[:middle], rows[middle:]):
                engine.receive_table(name, rows_of(scan, part))
                engine = _maybe_reopened(engine, jobs, rng)
            engine.promise(name, w1)
        engine.step()
        engine = _maybe_reopened(engine, jobs, rng)
        w0 = w1
    out = {name: published(engine, name) for name in plans}
    engine.close()
    return out


def published(engine: Engine, view: str) -> Elements:
    """All elements that a view has published."""
    store, area = FileStore(engine.runs), engine.program.view_areas[view]
    log = engine.manifest.changelogs.get(view, ())
    runs = [store.open(area, ref) for entry in log for ref in entry.refs]
    return concat(area.schema, [run.elements for run in runs])


def _maybe_reopened(engine: Engine, jobs: Jobs, rng: Random) -> Engine:
    if rng.random() < 0.7:
        return engine
    engine.close()
    return Engine(engine.directory, jobs, Options(tasks=rng.randint(1, 4)))


class LocalJobs:
    """Runs what tasks would do, one after the other in this process, exchanges included."""

    parallelism = 2

    def step(self, spec: StepSpec) -> list[Report]:
        sent: list[pa.RecordBatch] = []
        for round in range(spec.program.rounds):
            arrived, sent = sent, []
            for task in range(spec.tasks):
                mine = [batch for batch in arrived if batch.column(1)[0].as_py() == task]
                sent += run_round(pickle.loads(pickle.dumps(spec)), round, task, iter(mine))
        return [unpacked_report(batch.column(2)[0].as_py()) for batch in sent]

    def ingest(self, rows: pa.Table, ingest: Ingest, directory: Path) -> IngestReport:
        return ingest.run(rows.to_batches(), store_of(directory))
