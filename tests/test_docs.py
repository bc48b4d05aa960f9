"""Every Python and SQL block of the documentation runs, and prints what the page says it prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.documentation import PAGES, ROOT, Reader, examples

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("page", ["README.md", "docs/language.md"])
def test_page_has_examples(page: str) -> None:
    assert examples(ROOT / page)


@pytest.mark.spark
@pytest.mark.parametrize("page", [p for p in PAGES if examples(p)], ids=lambda p: p.name)
def test_examples_run(page: Path, spark: SparkSession, tmp_path: Path) -> None:
    reader = Reader(page, spark, tmp_path)
    try:
        for example in examples(page):
            printed = reader.outcome(example)
            if example.output is not None:
                assert printed.strip() == example.output.strip(), example.code
    finally:
        reader.close()
