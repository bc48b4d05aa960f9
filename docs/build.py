"""The pages of docs as a static site in build/docs. `python -m docs.build`; needs no network."""

from __future__ import annotations

import json
import re
import shutil
from html import escape
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters.html import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

from docs.notebook import NOTEBOOK

DOCS = Path(__file__).parent
ROOT = DOCS.parent
SITE = ROOT / "build" / "docs"
EXAMPLES = ROOT / "examples"
FIRST = (
    "README",
    "tutorial",
    "language",
    "command-line",
    "python",
    "reference",
    "semantics",
    "memory",
    "testing",
    "glossary",
    "architecture",
)
LONG = 30  # letters of a title that the menu does not show
GROUPS = {"docs": "", "papers": "Papers", "decisions": "Decisions"}
STYLE = HtmlFormatter(style="friendly", nowrap=True)

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title} - Penstock</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="{up}style.css"></head>
<body><nav>{nav}</nav><main>
{body}</main></body></html>
"""
CSS = """
body { font: 16px/1.55 system-ui, sans-serif; color: #222; margin: 0 auto; max-width: 76rem;
  display: flex; gap: 2.5rem; padding: 0 1.5rem }
nav { flex: 0 0 13rem; padding: 2rem 0; font-size: .92rem; position: sticky; top: 0;
  max-height: 100vh; overflow-y: auto; box-sizing: border-box }
nav a { display: block; padding: .12rem 0; color: #444; text-decoration: none }
nav a:hover, nav a[aria-current] { color: #1f5f99 } nav a[aria-current] { font-weight: 600 }
nav b { display: block; margin-top: 1rem }
main { flex: 1; min-width: 0; padding: 1rem 0 4rem; max-width: 54rem }
h1, h2, h3 { line-height: 1.25 } h2 { margin-top: 2.2rem }
a { color: #1f5f99 } img { max-width: 100% }
code { font-size: .88em; background: #f3f3ef; padding: .08em .25em; border-radius: 3px }
pre { background: #f7f7f4; padding: .8rem 1rem; overflow-x: auto; border-radius: 6px;
  line-height: 1.4; margin: .8rem 0 }
pre { font-size: .88em } pre code { background: none; padding: 0; font-size: 1em }
pre.output { background: none; border-left: 3px solid #d8d8d0; border-radius: 0;
  margin-top: -.3rem }
main table { border-collapse: collapse; display: block; overflow-x: auto; font-size: .95em }
td, th { border-bottom: 1px solid #e2e2dc; padding: .35rem .7rem; text-align: left;
  vertical-align: top }
.cell { border-left: 3px solid #d8d8d0; padding-left: 1rem }
@media (max-width: 50rem) { body { display: block } nav { position: static; max-height: none } }
"""


def build(site: Path = SITE) -> list[Path]:
    """Write every page; the README is the first."""
    pages = {ROOT / "README.md": Path("index.html")}
    for page in sorted(DOCS.rglob("*.md")):
        inside = page.relative_to(DOCS).with_suffix(".html")
        pages[page] = inside.with_name("index.html") if page.stem == "README" else inside
    pages |= {NOTEBOOK: Path("notebook.html"), EXAMPLES: Path("examples.html")}
    titles = {page: _title(page) for page in pages}
    for page, target in pages.items():
        up = "../" * (len(target.parts) - 1)
        body = _with_links(_body(page), page, up, pages, site)
        nav = _navigation(page, up, pages, titles)
        (site / target).parent.mkdir(parents=True, exist_ok=True)
        html = PAGE.format(title=escape(titles[page]), nav=nav, body=body, up=up)
        (site / target).write_text(html, "utf-8")
    shutil.copytree(DOCS / "images", site / "images", dirs_exist_ok=True)
    (site / "style.css").write_text(CSS + STYLE.get_style_defs("pre"), "utf-8")
    return [site / target for target in pages.values()]


def _title(page: Path) -> str:
    if page in (EXAMPLES, NOTEBOOK):
        return "Examples" if page == EXAMPLES else "The tutorial, as a notebook"
    return page.read_text("utf-8").split("\n")[0].lstrip("# ")


def _navigation(own: Path, up: str, pages: dict[Path, Path], titles: dict[Path, str]) -> str:
    """All pages by folder, those to read first before the others."""
    lines = []
    for folder, heading in GROUPS.items():
        lines.append(f"<b>{heading}</b>" if heading else "")
        members = [
            p for p in pages if (p.parent.name if p.parent.parent == DOCS else "docs") == folder
        ]
        order = {name: number for number, name in enumerate(FIRST)}
        for page in sorted(members, key=lambda p: order.get(p.stem, len(order))):
            mark = ' aria-current="page"' if page == own else ""
            name = titles[page].split(":")[0]
            if len(name) > LONG:
                name = page.stem.replace("-", " ").capitalize()
            lines.append(f'<a href="{up}{pages[page]}"{mark}>{escape(name)}</a>')
    return "\n".join(lines)


def _folder(page: Path) -> str:
    return page.parent.name if page.parent.parent == DOCS else "docs"


def _body(page: Path) -> str:
    if page == NOTEBOOK:
        return _cells(json.loads(page.read_text("utf-8"))["cells"])
    if page == EXAMPLES:
        files = sorted(page.glob("*.sql"))
        blocks = "".join(f"<h2>{f.name}</h2>{_code(f.read_text('utf-8'), 'sql')}" for f in files)
        return f"<h1>Examples</h1><p>Run them with <code>penstock run</code>.</p>{blocks}"
    return _rendered(page.read_text("utf-8"))


def _rendered(text: str) -> str:
    markdown = MarkdownIt("commonmark").enable("table")
    previous = ""

    def fence(tokens: Any, index: int, options: Any, env: Any) -> str:
        """Code in colors; what a block prints stands out less than the block."""
        nonlocal previous
        language = tokens[index].info.split(" ")[0]
        output = language in ("", "text") and previous in ("python", "sql")
        previous = language
        return _code(tokens[index].content, language, output)

    markdown.renderer.rules["fence"] = fence  # type: ignore[attr-defined]
    return str(markdown.render(text))


def _code(text: str, language: str, output: bool = False) -> str:
    try:
        colored = highlight(text, get_lexer_by_name(language), STYLE)
    except ClassNotFound:
        colored = escape(text)
    return f"<pre{' class=output' if output else ''}><code>{colored}</code></pre>\n"


def _cells(cells: list[dict[str, Any]]) -> str:
    """A notebook as Jupyter would show it."""
    parts = []
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(_rendered(source))
            continue
        parts.append(f'<div class="cell">{_code(source, "python")}')
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "text/html" in data:
                parts.append("".join(data["text/html"]))
            else:
                text = "".join(data.get("text/plain", output.get("text", [])))
                parts.append(_code(text, "", output=True))
        parts.append("</div>")
    return "\n".join(parts)


def _with_links(body: str, page: Path, up: str, pages: dict[Path, Path], site: Path) -> str:
    """Links lead to the pages of the site; any other file becomes part of it."""

    def link(match: re.Match[str]) -> str:
        found = (page.parent / match[2]).resolve()
        if found in pages:
            return f'{match[1]}="{up}{pages[found]}{match[3] or ""}"'
        inside = found.relative_to(DOCS if found.is_relative_to(DOCS) else ROOT)
        (site / inside).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(found, site / inside)
        return f'{match[1]}="{up}{inside}"'

    return re.sub(r'(href|src)="(?!https?:|#)([^"#]+)(#[^"]*)?"', link, body)


if __name__ == "__main__":
    print(f"{len(build())} pages in {SITE.relative_to(ROOT)}")
