"""Help that teaches: every command has an example, and the exit codes are told."""

import pytest
from click.testing import CliRunner

from penstock.cli.main import main


@pytest.mark.parametrize("name", sorted(main.commands))
def test_every_command_has_an_example(name: str) -> None:
    shown = CliRunner().invoke(main, [name, "--help"])
    assert shown.exit_code == 0
    assert f"  penstock {name}" in shown.output


def test_the_exit_codes_and_the_completion_are_told() -> None:
    shown = CliRunner().invoke(main, ["--help"]).output
    assert "Exit codes: 0 done; 1 the answer is no" in shown
    assert "_PENSTOCK_COMPLETE=bash_source" in shown


def test_a_file_that_is_not_there_is_a_mistake_of_usage() -> None:
    ran = CliRunner().invoke(main, ["run", "nowhere.sql"])
    assert ran.exit_code == 2
    assert "'nowhere.sql' does not exist" in ran.output
