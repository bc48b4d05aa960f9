"""Every example runs from the command line and prints what is stored beside it.

`PENSTOCK_ACCEPT=1` stores what they print now.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from penstock.cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.sql"))


@pytest.mark.spark
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_example(example: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    ran = CliRunner().invoke(main, ["run", str(example.relative_to(ROOT)), "--until-idle"])
    assert ran.exit_code == 0, ran.output
    stored = ROOT / "examples" / "expected" / f"{example.stem}.txt"
    if os.environ.get("PENSTOCK_ACCEPT"):
        stored.write_text(ran.stdout, "utf-8")
    assert ran.stdout == stored.read_text("utf-8")
