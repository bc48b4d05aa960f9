"""The pages as a site: every link leads somewhere, and what is generated is up to date."""

import json
import re
from pathlib import Path

import pytest

from docs.build import CODE, DOCS, ROOT, build, notebook
from docs.figures.intervals import FIGURES, IMAGES, figure

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


def test_the_notebook_is_the_tutorial() -> None:
    """Its cells are the blocks that test_docs runs, in the same order."""
    stored = json.loads((DOCS / "tutorial.ipynb").read_text("utf-8"))
    assert stored == notebook()
    cells = ["".join(c["source"]) for c in stored["cells"] if c["cell_type"] == "code"]
    blocks = CODE.findall((DOCS / "tutorial.md").read_text("utf-8"))
    assert cells == [block.strip("\n") for block in blocks]
