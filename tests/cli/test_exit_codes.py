"""Whatever ends a command: no code that is an answer is ever a failure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from penstock.cli import printing
from penstock.cli.main import main

UNBOUNDED = """
CREATE SOURCE s (a INT, t INT) EVENT TIME t;
SELECT DISTINCT a FROM s;
"""


def ran(*words: object) -> Result:
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def latin(tmp_path: Path) -> Path:
    file = tmp_path / "latin.sql"
    file.write_bytes("SELECT 'é'".encode("latin-1"))
    return file


@pytest.mark.parametrize("command", ["check", "explain"])
def test_a_file_that_is_not_utf_8_is_no_answer(command: str, latin: Path) -> None:
    found = ran(command, latin)
    assert found.exit_code == 2
    assert "no text in UTF-8: byte 8 is 0xe9" in found.output


def test_as_json_an_error_is_a_line_of_json(latin: Path) -> None:
    found = ran("check", latin, "--json")
    assert found.exit_code == 2
    assert "UTF-8" in json.loads(found.stdout)["error"]
    wrong = latin.with_name("wrong.sql")
    wrong.write_text("SELECT a\nFRO s")
    found = ran("check", wrong, "--json")
    assert found.exit_code == 3
    told = json.loads(found.stdout)
    assert told["condition"] == "PARSE_SYNTAX_ERROR"
    assert (told["file"], told["line"], told["column"]) == (str(wrong), 2, 1)


def test_a_byte_order_mark_is_no_part_of_a_text(tmp_path: Path) -> None:
    file = tmp_path / "marked.sql"
    file.write_text(UNBOUNDED, "utf-8-sig")
    assert ran("check", file).exit_code == 1


def test_a_mistake_of_our_own_is_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(file: Path) -> str:
        raise KeyError(file)

    monkeypatch.setattr("penstock.cli.main.text_of", fails)
    (tmp_path / "a.sql").write_text(UNBOUNDED)
    found = ran("check", tmp_path / "a.sql")
    assert found.exit_code == printing.INTERNAL_ERROR
    assert "a mistake of Penstock itself" in found.output


def test_what_is_nested_too_deeply_has_its_place(tmp_path: Path) -> None:
    file = tmp_path / "deep.sql"
    file.write_text(f"SELECT {'(' * 1000}1{')' * 1000}")
    found = ran("check", file)
    assert found.exit_code == 3
    assert len(found.output) < 2_000
