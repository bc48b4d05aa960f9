"""An older layout becomes the present one in one commit, or not at all, as opening it does."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import penstock
from penstock.state.log import LAYOUT, Log, read_manifest
from penstock.testing import local_session
from penstock.testing.scripts import Kill
from tests.directory.killed import run
from tests.golden.pipeline import HERE, unpacked


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory of layout 2; nobody may write to it."""
    return unpacked(HERE / "layout-2-kept.tar.xz", tmp_path_factory.mktemp("old")) / "state"


def content(directory: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def test_it_says_what_it_would_do_and_does_it(old: Path, tmp_path: Path) -> None:
    state, opened = tmp_path / "state", tmp_path / "opened"
    shutil.copytree(old, state)
    shutil.copytree(old, opened)
    before = content(state)
    planned = penstock.upgrade(state, dry_run=True)
    assert content(state) == before
    assert (planned.before, planned.after, planned.done, planned.is_needed) == (2, 3, False, True)
    assert planned.renamed.keys() <= read_manifest(state / "log").state_tables.keys()
    done = penstock.upgrade(state)
    assert done == replace(planned, done=True)
    found = penstock.verify(state)
    assert (found.is_whole, found.version, found.layout) == (True, planned.version, LAYOUT)
    local_session(opened).close()
    by_opening, by_command = (read_manifest(path / "log") for path in (opened, state))
    assert replace(by_opening, checksum="") == replace(by_command, checksum="")
    now = content(state)
    again = penstock.upgrade(state)
    assert (again.done, again.is_needed, again.renamed, again.views) == (False, False, {}, ())
    assert content(state) == now


def test_a_kill_leaves_the_old_layout_or_the_new_one(old: Path, tmp_path: Path) -> None:
    kills = 0
    for number, (point, after) in enumerate(
        (
            ("os.fsync", False),
            ("os.link", False),
            ("os.link", True),
            ("penstock.state.log._head_name", True),
            ("penstock.state.log.Log.commit", True),
        )
    ):
        state = tmp_path / str(number)
        shutil.copytree(old, state)
        kills += run(penstock.upgrade, state, kill=Kill(at=point, after=after))
        found = penstock.verify(state)
        assert found.problems == ()
        assert (found.layout, found.version) in ((2, 218), (3, 219))
        penstock.upgrade(state)
        manifest = read_manifest(state / "log")
        assert (manifest.layout, manifest.version) == (3, 219)
        shutil.rmtree(state)
    assert kills == 5


def test_nobody_else_may_write_meanwhile(old: Path, tmp_path: Path) -> None:
    shutil.copytree(old, tmp_path / "state")
    log = Log(tmp_path / "state" / "log")
    try:
        with pytest.raises(penstock.WriterConflictError):
            penstock.upgrade(tmp_path / "state")
        assert penstock.upgrade(tmp_path / "state", dry_run=True).is_needed
    finally:
        log.close()


def test_what_cannot_be_upgraded_says_why(tmp_path: Path) -> None:
    with pytest.raises(penstock.PlanError, match="is not a state directory"):
        penstock.upgrade(tmp_path)
    (tmp_path / "log").mkdir()
    assert not penstock.upgrade(tmp_path).is_needed
    (tmp_path / "log" / f"{1:020d}.json").write_text("damaged")
    with pytest.raises(penstock.StateError, match=f"{1:020d}.json"):
        penstock.upgrade(tmp_path)
