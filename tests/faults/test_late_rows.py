"""Rows that cannot take part are counted, kept and shown, or stop the batch: never lost."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from penstock.algebra import plan as p
from penstock.element import BEGIN, INF
from penstock.errors import LateRowError
from penstock.ingest.sources import LATE_POLICIES, Ingest, IngestReport, LatePolicy
from penstock.runtime.engine import Engine
from penstock.runtime.options import Options
from penstock.session import Session, Source
from penstock.testing.engine_runs import LocalJobs, published
from penstock.testing.local_session import local_session
from penstock.testing.scripts import STEP, Advance, Kill, Operation, Rows
from tests.faults.pipelines import AUCTIONS, BIDS, script

pytestmark = pytest.mark.long

Row = tuple[int | None, int | None, int | None]


def opened(directory: Path, late: LatePolicy = "keep", delay: int = 5) -> tuple[Session, Source]:
    session = local_session(directory, Options(tasks=2))
    source = session.create_source("bids", BIDS.schema, "time", delay, late)
    session.create_view("all", session.scan("bids"))
    return session, source


def shown(frame: Any) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in frame.toArrow().to_pylist())


def random_batch(rng: Random, now: int) -> list[Row]:
    """Mostly in time; some late, some without a time, some with nothing else."""
    times = (now, now + 3, now - 4, now - 20, None, BEGIN, INF)
    return [
        (rng.choice((1, 2, None)), rng.choice((7, None)), rng.choice(times))
        for _ in range(rng.randrange(8))
    ]


@pytest.mark.parametrize("late", ["keep", "drop"])
@pytest.mark.parametrize("seed", range(8))
def test_oracle_every_row_is_accepted_or_set_aside(
    seed: int, late: LatePolicy, tmp_path: Path
) -> None:
    rng = Random(f"late {seed}")
    session, source = opened(tmp_path, late)
    accepted: Counter[Row] = Counter()
    aside: Counter[Row] = Counter()
    frontier = BEGIN
    for now in range(0, 100, 10):
        rows = random_batch(rng, now)
        fit = [r for r in rows if r[2] is not None and frontier <= r[2] < INF]
        rest = Counter(rows) - Counter(fit)
        assert source.append(rows) == {"accepted": len(fit), "late": rest.total()}
        accepted += Counter(fit)
        aside += rest
        if fit:
            known = [r[2] - 5 for r in fit if r[2] is not None and r[2] > BEGIN + 5]
            frontier = max([frontier, *known])
        if rng.random() < 0.6:
            session.step()
    source.end()
    session.step()
    assert shown(session.view("all").snapshot()) == accepted
    assert shown(source.late()) == (aside if late == "keep" else Counter())
    counts = session.metrics()["sources"]["bids"]
    assert (counts["accepted"], counts["late"]) == (accepted.total(), aside.total())
    session.close()
    reopened = local_session(tmp_path, Options(tasks=3))
    assert shown(reopened.source("bids").late()) == (aside if late == "keep" else Counter())
    assert reopened.metrics()["sources"]["bids"] == counts
    reopened.close()


@pytest.mark.parametrize("row", [(1, 1, 3), (1, 1, None), (1, 1, INF)], ids=str)
def test_a_late_row_that_is_fatal_changes_nothing(row: Row, tmp_path: Path) -> None:
    session, source = opened(tmp_path, "fail")
    source.append([(1, 1, 10)])
    before = session._engine.manifest
    with pytest.raises(LateRowError, match="source bids: 1 rows are earlier than 5 or have no"):
        source.append([(2, 2, 20), row])
    assert session._engine.manifest == before
    source.append([(2, 2, 20)])
    source.end()
    session.step()
    assert shown(session.view("all").snapshot()) == Counter([(1, 1, 10), (2, 2, 20)])
    session.close()


@pytest.mark.parametrize("late", LATE_POLICIES)
def test_a_batch_without_rows_is_no_trouble(late: LatePolicy, tmp_path: Path) -> None:
    session, source = opened(tmp_path, late)
    assert source.append([]) == {"accepted": 0, "late": 0}
    assert session.step() is None
    session.close()


def test_rows_that_end_before_they_begin_are_set_aside(tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.int64()), ("begin", pa.int64()), ("end", pa.int64())])
    session = local_session(tmp_path, Options(tasks=2))
    definition = type(BIDS)("visits", schema, "begin", until="end")
    session._engine.define("visits", definition)
    session.create_view("all", p.project(p.Scan("visits", schema), ("k",)))
    rows = [(1, 5, 9), (2, 5, 5), (3, 5, 4), (4, 5, None)]
    assert session.source("visits").append(rows) == {"accepted": 2, "late": 2}
    assert shown(session.source("visits").late()) == Counter([(2, 5, 5), (3, 5, 4)])
    session.close()


def test_differential_late_rows_survive_kills(tmp_path: Path) -> None:
    ops: list[Operation] = [
        Rows("bids", [(1, 1, 50), (2, 2, None)]),
        STEP,
        Rows("bids", [(3, 3, 10), (4, 4, 60)]),
        Advance("auctions", 60),
        STEP,
        Rows("bids", [(5, 5, 20), (6, 6, 99)]),
        STEP,
    ]
    expected = script(ops).run(tmp_path / "undisturbed")
    assert expected.received["bids"] == (3, 3)
    for place in range(len(ops)):
        for after in (False, True):
            killed = script([*ops[:place], Kill(at="os.link", after=after), *ops[place:]])
            assert killed.run(tmp_path / f"{place} {after}") == expected


# --- rows on their way while time moves on ------------------------------------------------------


class OvertakenJobs(LocalJobs):
    """Something happens after rows were written and before the driver commits them."""

    def __init__(self) -> None:
        self.meanwhile: Callable[[], object] | None = None

    def ingest(self, rows: pa.Table, ingest: Ingest, directory: Path) -> IngestReport:
        report = super().ingest(rows, ingest, directory)
        if self.meanwhile is not None:
            happens, self.meanwhile = self.meanwhile, None
            happens()
        return report


def table(*rows: Row) -> pa.Table:
    return pa.Table.from_pylist([dict(zip(BIDS.schema.names, row, strict=True)) for row in rows])


def test_rows_that_a_step_overtakes_are_late_not_lost(tmp_path: Path) -> None:
    """An idle source holds nobody back, not even while its next batch is on its way."""
    jobs = OvertakenJobs()
    engine = Engine(tmp_path, jobs, Options(tasks=2))
    engine.define("bids", BIDS)
    engine.define("auctions", AUCTIONS)
    engine.define("all", p.Scan("bids", BIDS.schema, append_only=True))
    engine.set_idle("bids")
    engine.advance_watermark("auctions", 10)
    engine.step()

    def time_moves_on() -> None:
        engine.advance_watermark("auctions", 100)
        assert engine.step() is not None

    jobs.meanwhile = time_moves_on
    report = engine.receive_rows("bids", table((1, 1, 50), (2, 2, 150)))
    assert (report.accepted, report.late) == (1, 1)
    for source in ("bids", "auctions"):
        engine.advance_watermark(source, 200)
    engine.step()
    assert [row[0] for row in published(engine, "all").rows()] == [(2, 2, 150)]
    state = engine.source_state("bids")
    assert (state.accepted, state.late) == (1, 1)
    engine.close()


def test_rows_that_come_again_hold_back_time_and_nothing_else(tmp_path: Path) -> None:
    """A batch that takes long, and was overtaken: others are received and steps are made."""
    jobs = OvertakenJobs()
    engine = Engine(tmp_path, jobs, Options(tasks=2))
    engine.define("bids", BIDS)
    engine.define("auctions", AUCTIONS)
    engine.define("all", p.Scan("bids", BIDS.schema, append_only=True))
    engine.set_idle("bids")
    engine.advance_watermark("auctions", 10)
    engine.step()
    frontiers: list[int] = []

    def others() -> None:
        """In another thread, which must not wait for the one that receives the batch."""
        reached = engine.source_state("auctions").frontier + 50
        engine.advance_watermark("auctions", reached)
        rows = {"id": [1], "seller": ["s"], "opened": [reached + 1]}
        engine.receive_table("auctions", pa.table(rows))
        engine.step()
        frontiers.append(engine.manifest.frontier)

    def happens(again: bool) -> None:
        thread = threading.Thread(target=others)
        thread.start()
        thread.join(60)
        assert not thread.is_alive(), "it waits for the batch"
        if again:
            jobs.meanwhile = lambda: happens(False)

    jobs.meanwhile = lambda: happens(True)
    report = engine.receive_rows("bids", table((1, 1, 50), (2, 2, 150)))
    assert (report.accepted, report.late) == (1, 1)
    assert frontiers == [60, 60], "time waits while the rows come again"
    assert engine.source_state("auctions").accepted == 2
    for source in ("bids", "auctions"):
        engine.advance_watermark(source, 1000)
    engine.step()
    assert engine.manifest.frontier == 1000
    assert [row[0] for row in published(engine, "all").rows()] == [(2, 2, 150)]
    engine.close()


def test_a_view_that_comes_while_the_first_rows_do_sees_them(tmp_path: Path) -> None:
    jobs = OvertakenJobs()
    engine = Engine(tmp_path, jobs, Options(tasks=2))
    engine.define("bids", BIDS)
    scan = p.Scan("bids", BIDS.schema, append_only=True)
    engine.define("all", scan)
    jobs.meanwhile = lambda: engine.define("some", p.project(scan, ("auction",)))
    engine.receive_rows("bids", table((1, 1, 50)))
    engine.advance_watermark("bids", 100)
    engine.step()
    assert [row[0] for row in published(engine, "some").rows()] == [(1,)]
    assert [row[0] for row in published(engine, "all").rows()] == [(1, 1, 50)]
    engine.close()
