"""Batches that producers number are received once: sent again, by two at once, after any crash."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import pytest

from penstock.errors import PlanError
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.state import log
from penstock.testing.local_session import local_session
from penstock.testing.scripts import STEP, Kill, Operation, Rows, Script

PIPELINE = """
CREATE SOURCE s (k STRING, v INT, t INT) EVENT TIME t;
CREATE VIEW totals AS SELECT k, count(*) AS n, sum(v) AS v FROM s GROUP BY k;
"""
AGAIN = {"accepted": 0, "late": 0, "duplicate": 1}


def opened(path: Path) -> Session:
    return local_session(path, Options(tasks=2))


def totals(db: Session) -> list[tuple[str, int, int]]:
    db.source("s").end()
    db.step()
    table = db.view("totals").snapshot().toArrow()
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True))


def test_a_batch_that_is_sent_again_is_not_received_again(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        db.sql(PIPELINE)
        source = db.source("s")
        assert source.append([("a", 1, 1)], batch="p/1") == {"accepted": 1, "late": 0}
        assert source.append([("a", 1, 1)], batch="p/1") == AGAIN
        assert source.append([("a", 1, 1)], batch="q/1") == {"accepted": 1, "late": 0}
        assert source.append([("b", 1, 1)], batch="p/5") == {"accepted": 1, "late": 0}
        assert source.append([("b", 1, 1)], batch="p/3") == {"accepted": 1, "late": 0}
        assert source.append([("b", 7, 1)], batch="p/0005") == AGAIN
    with opened(tmp_path) as db:
        assert db.source("s").append([("a", 1, 1)], batch="q/1") == AGAIN
        assert db.source("s").append([("a", 1, 1)]) == {"accepted": 1, "late": 0}
        assert totals(db) == [("a", 3, 3), ("b", 2, 2)]


def test_numbers_are_remembered_when_old_commits_are_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "CHECKPOINT_EVERY", 5)
    with opened(tmp_path) as db:
        db.sql(PIPELINE)
        for number in range(30):
            db.source("s").append([("a", 1, number)], batch=f"p/{number}")
    with opened(tmp_path) as db:
        for number in range(30):
            assert db.source("s").append([("a", 1, 300)], batch=f"p/{number}") == AGAIN
        assert totals(db) == [("a", 30, 30)]


def test_a_source_that_is_made_anew_knows_of_no_batches(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        for _ in range(2):
            db.sql("CREATE SOURCE r (k STRING, t INT) EVENT TIME t")
            assert db.source("r").append([("a", 1)], batch="p/1")["accepted"] == 1
            db.sql("DROP SOURCE r")


def test_two_that_send_one_batch_at_once(tmp_path: Path) -> None:
    with opened(tmp_path) as db, ThreadPoolExecutor(8) as pool:
        db.sql(PIPELINE)

        def send(number: int) -> dict[str, int]:
            return db.source("s").append([("a", 1, 1)], batch=f"p/{number // 4}")

        answers = list(pool.map(send, range(100)))
        assert sum(answer["accepted"] for answer in answers) == 25
        assert answers.count(AGAIN) == 75
        assert totals(db) == [("a", 25, 25)]


def test_what_is_no_longer_remembered_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as db:
        db.sql(PIPELINE)
        for number in range(0, 140, 2):
            db.source("s").append([("a", 1, number)], batch=f"p/{number}")
        with pytest.raises(PlanError, match="batches from 11 on can be sent again"):
            db.source("s").append([("a", 1, 200)], batch="p/0")
        assert db.source("s").append([("a", 1, 200)], batch="p/138") == AGAIN
        with pytest.raises(PlanError, match="loader-1/17"):
            db.source("s").append([("a", 1, 200)], batch="seventeen")


@pytest.mark.long
def test_differential_producers_that_send_again_after_each_kill(tmp_path: Path) -> None:
    rng, ops = Random("producers"), list[Operation]()
    for number in range(30):
        for producer in ("p", "q"):
            row = (rng.choice("abc"), rng.randrange(9), number)
            ops.append(Rows("s", [row], f"{producer}/{number}"))
        ops += [STEP] if number % 4 == 3 else []
    plain = Script(PIPELINE, ops)
    expected = plain.run(tmp_path / "undisturbed")
    assert expected.received["s"] == (60, 0)
    for _ in range(14):
        at = rng.choice(["penstock.state.log.Log.commit", "os.link", "os.fsync"])
        kill = Kill(at=at, call=rng.choice((1, 2, 5)), after=rng.random() < 0.5)
        ops.insert(rng.randrange(len(ops)), kill)
    killed = Script(PIPELINE, ops).run(tmp_path / "killed")
    assert killed.kills >= 10
    assert killed == expected
