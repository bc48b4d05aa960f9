"""`penstock verify`, `backup`, `restore` and `upgrade`, for people and for scripts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from penstock.cli.main import main
from penstock.testing import local_session


def ran(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def state(tmp_path: Path) -> Path:
    with local_session(tmp_path / "state") as db:
        db.sql("CREATE SOURCE s (k INT, t INT) EVENT TIME t")
        db.sql("CREATE VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k")
        db.source("s").append([(1, 1), (2, 5)])
        db.step()
    return tmp_path / "state"


def test_a_whole_directory(state: Path) -> None:
    found = ran("verify", state)
    assert found.exit_code == 0
    assert f"{state} is whole: version 4 of layout 3, 4 files of the log" in found.output
    told = json.loads(ran("verify", state, "--json").stdout)
    assert (told["whole"], told["version"], told["problems"]) == (True, 4, [])


def test_a_damaged_directory_is_a_no(state: Path) -> None:
    for path in (state / "runs").iterdir():
        path.write_bytes(path.read_bytes()[:100])
    found = ran("verify", state)
    assert found.exit_code == 1
    assert "is DAMAGED" in found.output
    assert f"{path}: " in found.output
    found = ran("verify", state, "--json")
    assert found.exit_code == 1
    told = json.loads(found.stdout)
    assert not told["whole"]
    assert str(path) in {each["file"] for each in told["problems"]}
    found = ran("backup", state, state.parent / "backup")
    assert found.exit_code == 3
    assert "checksum" in found.output
    assert not (state.parent / "backup").exists()


def test_there_and_back(state: Path, tmp_path: Path) -> None:
    made = ran("backup", state, tmp_path / "backup", "--link")
    assert (made.exit_code, "is backed up to" in made.output) == (0, True)
    told = json.loads(ran("restore", tmp_path / "backup", tmp_path / "new", "--json").stdout)
    assert (told["version"], told["to"]) == (4, str(tmp_path / "new"))
    refused = ran("restore", tmp_path / "backup", tmp_path / "new")
    assert refused.exit_code == 3
    assert "there already, and not empty" in refused.output
    told = json.loads(ran("restore", state, tmp_path / "other", "--json").stdout)
    assert told["condition"] == "UNREADABLE_STATE"


def test_nothing_to_upgrade(state: Path) -> None:
    assert "is of layout 3, the present one: nothing to do" in ran("upgrade", state).output
    told = json.loads(ran("upgrade", state, "--dry-run", "--json").stdout)
    assert (told["needed"], told["done"], told["renamed"]) == (False, False, {})


@pytest.mark.parametrize("command", ["verify", "backup", "restore", "upgrade"])
def test_what_is_no_state_directory_is_a_mistake_of_usage(command: str, tmp_path: Path) -> None:
    more = [tmp_path / "target"] if command in ("backup", "restore") else []
    assert ran(command, tmp_path / "nowhere", *more).exit_code == 2
    found = ran(command, tmp_path, *more)
    assert found.exit_code == 2
    assert "is not a state directory" in found.output
