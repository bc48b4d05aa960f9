"""A task may fail, or run twice, and its files be there twice: only what was committed counts."""

from __future__ import annotations

import pickle
from pathlib import Path
from random import Random

import pyarrow as pa
import pytest

from penstock.execution.task import Report, StepSpec
from penstock.execution.wire import unpacked_report
from penstock.ingest.sources import Ingest, IngestReport
from penstock.runtime.engine import Engine
from penstock.runtime.jobs import run_stage
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.state import changelog
from penstock.state.log import read_manifest
from penstock.state.store import SegmentWriter
from penstock.testing import scripts
from penstock.testing.engine_runs import LocalJobs
from penstock.testing.local_session import LocalSpark
from penstock.testing.scripts import COLLECT, Kill, Plans, Script
from tests.faults.pipelines import SALES, SOURCES, assert_same, cycles, operations, script
from tests.faults.sessions import retrying_session

pytestmark = pytest.mark.long


class DiskError(OSError):
    """What a task meets on its first attempt."""


class RetriedJobs(LocalJobs):
    """Each task runs up to three times: it fails at a write, or its results come twice."""

    def __init__(self, rng: Random, monkeypatch: pytest.MonkeyPatch) -> None:
        self.failures = self.repetitions = 0
        self._rng = rng
        self._writes_left = -1
        write = SegmentWriter.write

        def failing(segment: SegmentWriter, *args: object, **options: object) -> object:
            self._writes_left -= 1
            if self._writes_left == 0:
                segment._file.write(b"half a run")
                raise DiskError("failed on purpose")
            return write(segment, *args, **options)  # type: ignore[arg-type]

        monkeypatch.setattr(SegmentWriter, "write", failing)

    def step(self, spec: StepSpec) -> list[Report]:
        sent: list[pa.RecordBatch] = []
        for stage in range(spec.program.stages):
            arrived, sent = sent, []
            for task in range(spec.tasks):
                mine = [batch for batch in arrived if batch.column(1)[0].as_py() == task]
                copy = pickle.dumps(spec)
                for last in (False, False, True):
                    self._writes_left = -1 if last else self._rng.randint(1, 4)
                    try:
                        found = list(run_stage(pickle.loads(copy), stage, task, iter(mine)))
                    except DiskError:
                        self.failures += 1
                        continue
                    self.repetitions += 1
                    if last or self._rng.random() < 0.5:
                        sent += found
                        break
        return [unpacked_report(batch.column(2)[0].as_py()) for batch in sent]

    def ingest(self, rows: pa.Table, ingest: Ingest, directory: Path) -> IngestReport:
        self._writes_left = self._rng.randint(1, 6)
        try:
            super().ingest(rows, ingest, directory)
        except DiskError:
            self.failures += 1
        self._writes_left = -1
        return super().ingest(rows, ingest, directory)


@pytest.mark.parametrize("seed", range(2))
def test_differential_tasks_that_fail_or_run_twice(
    seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changelog, "FAN", 2)
    plain = script([o for o in operations(seed, 9) if o != COLLECT])
    expected = plain.run(tmp_path / "undisturbed")
    jobs = RetriedJobs(Random(f"retries {seed}"), monkeypatch)
    engine = Engine(tmp_path / "retried" / "state", jobs, plain.options)
    session = Session(engine, LocalSpark())  # type: ignore[arg-type]
    scripts._define(plain, session, tmp_path / "retried")
    for number, operation in enumerate(plain.operations):
        scripts._perform(session, operation, number)
    assert_same(scripts._outcome(session, tmp_path / "retried"), expected)
    assert jobs.failures > 20
    assert jobs.repetitions > 20

    session.close()
    engine = Engine(engine.directory, LocalJobs(), Options(tasks=3, grace=0.0))
    assert _files(engine) > engine.manifest.segments(), "nothing was left over"
    engine.collect_garbage()
    assert _files(engine) == engine.manifest.segments()
    session = Session(engine, LocalSpark())  # type: ignore[arg-type]
    assert_same(scripts._outcome(session, tmp_path / "retried"), expected)
    session.close()


def test_garbage_stays_while_a_reader_may_need_it(tmp_path: Path) -> None:
    script(operations(1, 9), Options(tasks=2, grace=3600.0)).run(tmp_path)
    engine = Engine(tmp_path / "state", LocalJobs(), Options(tasks=2, grace=3600.0))
    before = _files(engine)
    assert engine.collect_garbage() == 0
    assert _files(engine) == before > engine.manifest.segments()
    engine.close()


@pytest.mark.spark
def test_differential_failing_tasks_and_a_killed_driver_on_spark(tmp_path: Path) -> None:
    """Every task fails at first, and the driver is killed in a step and after a commit."""
    ops = cycles(3)
    plain = Script(Plans(SOURCES, {"sales": SALES}), ops, Options(tasks=2, grace=0.0))
    expected = plain.run(tmp_path / "undisturbed")
    in_a_step, after_a_commit = Kill(delay=0.5), Kill(at="os.link", after=True)
    killed = [*ops[:4], in_a_step, *ops[4:9], after_a_commit, *ops[9:]]
    found = Script(plain.pipeline, killed, plain.options, retrying_session).run(
        tmp_path / "killed", timeout=300.0
    )
    assert_same(found, expected)
    assert found.kills == 2
    log = read_manifest(tmp_path / "killed" / "state" / "log").changelogs["sales"]
    assert [publication.level for publication in log] == [1, 0]


def _files(engine: Engine) -> set[str]:
    return {path.stem for path in engine.runs.glob("*.arrow")}
