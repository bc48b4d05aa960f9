"""The demo: it ends by itself, and what it prints as the next commands can be done."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from penstock.cli.demo_screen import bars
from penstock.cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_bars_begin_at_zero() -> None:
    assert bars([0, 4, 8]) == "▁▅█"
    assert bars([0]) == "▁"


@pytest.mark.spark
def test_the_demo(spark: SparkSession, tmp_path: Path) -> None:
    state, picture = tmp_path / "state", tmp_path / "demo.svg"
    words = ["demo", "--seconds", "5", "--path", str(state), "--svg", str(picture)]
    ran = CliRunner().invoke(main, words)
    assert ran.exit_code == 0, ran.output
    assert "UNBOUNDED" in ran.output
    assert "rows of bids in 1 HOUR" in ran.output
    assert "<svg" in picture.read_text("utf-8")
    commands = [line.partition("penstock ")[2] for line in ran.output.splitlines()]
    shows = [words for words in map(shlex.split, filter(None, commands)) if words[0] == "show"]
    assert len(shows) == 2
    for words in shows:
        shown = CliRunner().invoke(main, words)
        assert shown.exit_code == 0, shown.output
    asked = CliRunner().invoke(main, ["shell", "--path", str(state)], input="\\v board\n")
    assert asked.exit_code == 0, asked.output
    assert "place  auction  bids" in asked.output
