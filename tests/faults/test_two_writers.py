"""One writer at a time: the second is told who the first is, and a dead one blocks nobody."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from penstock.errors import WriterConflictError
from penstock.runtime.engine import Engine
from penstock.runtime.options import Options
from penstock.state.log import Log
from penstock.state.manifest import Advanced, Defined
from penstock.testing.engine_runs import LocalJobs
from tests.faults.pipelines import AUCTIONS, BIDS

pytestmark = pytest.mark.long


def _engine(directory: Path) -> Engine:
    return Engine(directory, LocalJobs(), Options(tasks=1))


def _hold(directory: Path, ready: Connection) -> None:
    engine = _engine(directory)
    engine.define("bids", BIDS)
    ready.send(os.getpid())
    time.sleep(600)


def _other_writer(directory: Path) -> tuple[multiprocessing.process.BaseProcess, int]:
    """A process that has the directory open, and its id."""
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_hold, args=(directory, sender), daemon=True)
    process.start()
    sender.close()
    return process, receiver.recv()


def test_the_second_writer_is_told_who_writes_and_what_to_do(tmp_path: Path) -> None:
    process, holder = _other_writer(tmp_path)
    try:
        with pytest.raises(WriterConflictError) as error:
            _engine(tmp_path)
        message = str(error.value)
        assert f"process {holder}" in message
        assert str(tmp_path) in message
        assert "Stop it, choose another path, or read" in message
        assert error.value.getCondition() == "WRITER_CONFLICT"
    finally:
        process.kill()
        process.join()


def test_the_lock_of_a_killed_writer_blocks_nobody(tmp_path: Path) -> None:
    process, _ = _other_writer(tmp_path)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    engine = _engine(tmp_path)
    assert list(engine.sources) == ["bids"]
    engine.define("auctions", AUCTIONS)
    engine.close()


def test_a_process_that_asks_twice_is_told_that_it_is_itself(tmp_path: Path) -> None:
    engine = _engine(tmp_path)
    with pytest.raises(WriterConflictError, match=f"process {os.getpid()} "):
        _engine(tmp_path)
    engine.close()
    _engine(tmp_path).close()


def test_of_many_that_come_at_once_one_writes(tmp_path: Path) -> None:
    logs: list[Log] = []
    conflicts: list[WriterConflictError] = []
    barrier = threading.Barrier(8)

    def race() -> None:
        barrier.wait()
        try:
            logs.append(Log(tmp_path))
        except WriterConflictError as error:
            conflicts.append(error)

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(logs), len(conflicts)) == (1, 7)
    logs[0].close()


def test_a_commit_that_another_made_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where locks do not work, as on some network disks, whoever comes second to a number loses."""
    monkeypatch.setattr("fcntl.flock", lambda *_: None)
    first, second = Log(tmp_path), Log(tmp_path)
    first.commit([Defined("a", 1)])
    with pytest.raises(WriterConflictError, match=r"0001.json was written by another process"):
        second.commit([Advanced(5)])
    first.commit([Advanced(7)])
    assert Log(tmp_path).manifest == first.manifest
    assert first.manifest.frontier == 7
    first.close()
    second.close()


def test_a_closed_session_writes_no_more(tmp_path: Path) -> None:
    engine = _engine(tmp_path)
    engine.close()
    with pytest.raises(WriterConflictError, match="was closed; open it again"):
        engine.define("bids", BIDS)
