"""The pages of docs as a static site in build/docs, and the tutorial as a notebook.

`python -m docs.build`; needs no network.
"""

from __future__ import annotations

import json
import re
import shutil
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt

DOCS = Path(__file__).parent
ROOT = DOCS.parent
SITE = ROOT / "build" / "docs"
CODE = re.compile(r"^```python\n(.*?)^```\n(?:```\n.*?^```\n)?", re.MULTILINE | re.DOTALL)

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title} - Penstock</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>
body {{ font: 16px/1.55 system-ui, sans-serif; max-width: 52rem; margin: 2rem auto;
  padding: 0 1rem }}
pre {{ background: #f5f5f2; padding: .8rem; overflow-x: auto }}
code {{ font-size: .9em }} table {{ border-collapse: collapse }} img {{ max-width: 100% }}
td, th {{ border-bottom: 1px solid #ddd; padding: .3rem .6rem; text-align: left;
  vertical-align: top }}
nav a {{ margin-right: 1rem }}
</style></head><body><nav>{nav}</nav>
{body}</body></html>
"""


def build(site: Path = SITE) -> list[Path]:
    """Write every page; the README is the first."""
    markdown = MarkdownIt("commonmark").enable("table")
    pages = {ROOT / "README.md": Path("index.html")}
    for page in sorted(DOCS.rglob("*.md")):
        inside = page.relative_to(DOCS).with_suffix(".html")
        pages[page] = inside.with_name("index.html") if page.stem == "README" else inside
    for page, target in pages.items():
        text = page.read_text("utf-8")
        body = _with_links(markdown.render(text), page, target, pages)
        up = "../" * (len(target.parts) - 1)
        first = ("index", "tutorial", "python", "semantics", "algebra", "operations")
        nav = "".join(f'<a href="{up}{name}.html">{name}</a>' for name in first)
        title = escape(text.split("\n")[0].lstrip("# "))
        (site / target).parent.mkdir(parents=True, exist_ok=True)
        (site / target).write_text(PAGE.format(title=title, nav=nav, body=body), "utf-8")
    shutil.copytree(DOCS / "images", site / "images", dirs_exist_ok=True)
    return [site / target for target in pages.values()]


def _with_links(body: str, page: Path, target: Path, pages: dict[Path, Path]) -> str:
    """Links between pages lead to the pages of the site; other files are not part of it."""
    up = "../" * (len(target.parts) - 1)

    def page_link(match: re.Match[str]) -> str:
        found = (page.parent / match[1]).resolve()
        return f'href="{up}{pages[found]}"' if found in pages else 'href="#"'

    def image_link(match: re.Match[str]) -> str:
        found = (page.parent / match[1]).resolve()
        return f'src="{up}{found.relative_to(DOCS)}"'

    body = re.sub(r'href="(?!https?:)([^"#]+)"', page_link, body)
    return re.sub(r'src="([^"]+)"', image_link, body)


def notebook(page: Path = DOCS / "tutorial.md") -> dict[str, Any]:
    """A page as a Jupyter notebook: its Python blocks as cells, its texts between them."""
    cells: list[dict[str, Any]] = []
    pieces = CODE.split(page.read_text("utf-8"))
    for number, piece in enumerate(pieces):
        source = piece.strip("\n").splitlines(keepends=True)
        common: dict[str, Any] = {"id": f"cell-{number}", "metadata": {}, "source": source}
        if number % 2:
            cells.append({"cell_type": "code", **common, "execution_count": None, "outputs": []})
        elif source:
            cells.append({"cell_type": "markdown", **common})
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


if __name__ == "__main__":
    text = json.dumps(notebook(), indent=1, ensure_ascii=False)
    (DOCS / "tutorial.ipynb").write_text(f"{text}\n", "utf-8")
    print(f"{len(build())} pages in {SITE.relative_to(ROOT)}")
