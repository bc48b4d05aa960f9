"""Damages to all kinds of files: each is an error about a file of the directory, or harmless.

What is copied, dropped or put elsewhere is among them. An answer, where there is one, is right, and
what is verified as whole gives one. Hundreds more: `python -m tests.faults.damages`.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from penstock.directory import verify
from penstock.errors import StateError
from penstock.runtime.options import Options
from penstock.state import log
from penstock.testing import local_session
from tests.faults.damages import DAMAGES, damaged

STEPS = 8
OPTIONS = Options(tasks=1, grace=0.0)
KINDS = {
    *(".json", ".checkpoint", ".head", "offsets", "commits", "listed files", "metadata", "crc"),
    *(
        f"runs of {state_table}"
        for state_table in ("lane", "groups", "top", "adaptive", "view", "base")
    ),
    *(f"runs of {state_table}" for state_table in ("changes", "input", "late", "rejected", "held")),
}


def prepare(directory: Path) -> None:
    db = local_session(directory, OPTIONS)
    db.sql("CREATE SOURCE s (k BIGINT, x BIGINT, t BIGINT) EVENT TIME t")
    db.sql("CREATE VIEW v AS SELECT k, count(*) AS n, max(x) AS most FROM s GROUP BY k")
    for step in range(STEPS):
        db.source("s").append([(k, step, 10 * step) for k in range(4)])
        db.step()
    db.close()


def test_no_damage_gives_a_wrong_answer(tmp_path: Path) -> None:
    tally = damaged(tmp_path, count=3 * len(KINDS), seed=1)
    assert tally.done.keys() >= KINDS | {damage.__name__ for damage in DAMAGES}
    noticed = {kind for kind in KINDS if tally.noticed[kind]}
    assert len(noticed) > len(KINDS) - 5, KINDS - noticed  # some bytes nobody reads
    assert all(tally.noticed[damage.__name__] for damage in DAMAGES)


def test_a_log_that_is_gone_is_damage(tmp_path: Path) -> None:
    prepare(tmp_path)
    shutil.rmtree(tmp_path / "log")
    with pytest.raises(StateError, match="the log is gone") as error:
        local_session(tmp_path, OPTIONS)
    assert error.value.path == tmp_path / "log"
    assert "the log is gone" in str(verify(tmp_path).problems)


def test_the_newest_entry_cannot_go_unnoticed(tmp_path: Path) -> None:
    prepare(tmp_path)
    newest = max((tmp_path / "log").glob("*.json"))
    newest.unlink()
    for _ in range(2):
        with pytest.raises(StateError, match="newest entry of the log is gone") as error:
            local_session(tmp_path, OPTIONS)
        assert error.value.path == newest


@pytest.mark.parametrize("failing", ["_checkpoint", "_point_to_newest"])
def test_a_commit_that_is_there_does_not_fail_for_what_follows(
    failing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: log.Log) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(log, "CHECKPOINT_EVERY", 2)
    with monkeypatch.context() as broken:
        broken.setattr(log.Log, failing, fails)
        prepare(tmp_path)
    db = local_session(tmp_path, OPTIONS)
    assert db.engine.source_state("s").accepted == 4 * STEPS
    db.close()
