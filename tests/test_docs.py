"""Every block of the documentation runs and prints what the page says, or is known not to run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.documentation import (
    BLOCK,
    NOT_RUN,
    OUTPUT,
    PAGES,
    ROOT,
    Example,
    Reader,
    examples,
    unknown_commands,
)

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WITH_BLOCKS = [page for page in PAGES if examples(page)]


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_of_a_kind_that_is_tested(page: Path) -> None:
    kinds = {example.language for example in examples(page) if example.file is None}
    assert kinds <= {*OUTPUT, "console", *NOT_RUN}
    fences = [line for line in page.read_text("utf-8").split("\n") if line.startswith("```")]
    assert len(fences) == 2 * len(BLOCK.findall(page.read_text("utf-8")))


@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name_of)
def test_commands_exist(page: Path) -> None:
    for example in examples(page):
        if example.language == "sh":
            assert not unknown_commands(example)


def test_commands_that_do_not_exist_are_found() -> None:
    block = Example("sh", None, "make demo\nmake dmo\npenstock run x --untl-idle\n", None, (0, 0))
    assert unknown_commands(block) == ["make dmo", "penstock run x --untl-idle"]


@pytest.mark.parametrize("page", ["README.md", "docs/language.md"])
def test_page_has_examples(page: str) -> None:
    assert any(example.runs for example in examples(ROOT / page))


@pytest.mark.spark
@pytest.mark.parametrize("page", WITH_BLOCKS, ids=name_of)
def test_examples_run(page: Path, spark: SparkSession, tmp_path: Path) -> None:
    reader = Reader(page, spark, tmp_path)
    try:
        for example in examples(page):
            if example.runs:
                printed = reader.outcome(example)
                if example.output is not None:
                    assert printed.strip() == example.output.strip(), example.code
    finally:
        reader.close()
