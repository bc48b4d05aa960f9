"""Every Python block of the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def examples(page: Path) -> list[tuple[str, str]]:
    """Each Python block, and the output that follows it, if the next block has no language."""
    blocks = BLOCK.findall(page.read_text("utf-8"))
    following = [*blocks[1:], ("end", "")][: len(blocks)]
    return [
        (code, text if kind == "" else "")
        for (language, code), (kind, text) in zip(blocks, following, strict=True)
        if language == "python"
    ]


def test_readme_has_examples() -> None:
    assert examples(ROOT / "README.md")


@pytest.mark.spark
@pytest.mark.parametrize("page", [p for p in PAGES if examples(p)], ids=lambda p: p.name)
def test_examples_run(page: Path, spark: SparkSession, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {}
    for code, output in examples(page):
        exec(compile(code, str(page), "exec"), names)
        printed = capsys.readouterr().out
        if output:
            assert printed.strip() == output.strip()
