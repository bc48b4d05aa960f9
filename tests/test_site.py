"""The pages as a site: every link leads somewhere, and what is generated is up to date."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from docs.build import DOCS, ROOT, build
from docs.figures.intervals import FIGURES, IMAGES, figure
from docs.notebook import NOTEBOOK, cells, notebook, run, shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PAGES = sorted([ROOT / "README.md", *DOCS.rglob("*.md")])
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    links = LINK.findall(
        re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text("utf-8"), flags=re.DOTALL)
    )
    assert not [link for link in links if not (page.parent / link).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_that_pages_name_are_there(page: Path) -> None:
    named = re.findall(r"`((?:src|tests|examples|docs)/[\w/.-]+)`", page.read_text("utf-8"))
    assert not [name for name in named if not (ROOT / name).exists()]


def test_the_site_is_built_without_network(tmp_path: Path) -> None:
    pages = build(tmp_path)
    assert (tmp_path / "index.html") in pages
    for page in pages:
        text = page.read_text("utf-8")
        assert "<h1>" in text
        for link in re.findall(r'(?:href|src)="(?!https?:|#)([^"]+)"', text):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_up_to_date(name: str) -> None:
    assert (IMAGES / f"{name}.svg").read_text("utf-8") == figure(FIGURES[name])


@pytest.mark.spark
def test_the_notebook_shows_what_its_cells_show(spark: SparkSession) -> None:
    """Its cells are the blocks of the tutorial; `python -m docs.notebook` runs and stores them."""
    found = cells()
    run(found, {})
    assert notebook(found) == json.loads(NOTEBOOK.read_text("utf-8"))
    outputs = [output for cell in found for output in cell.get("outputs", [])]
    assert any("<table>" in "".join(o.get("data", {}).get("text/html", [])) for o in outputs)
    assert any("<pre>" in "".join(o.get("data", {}).get("text/html", [])) for o in outputs)


def test_what_a_cell_would_print_last_is_its_value() -> None:
    assert shown("x = 1\nprint(x)") == "x = 1\nx"
    assert shown("print(\n    f(1)\n)") == "f(1)"
    assert shown("print(1, 2)") == "print(1, 2)"
