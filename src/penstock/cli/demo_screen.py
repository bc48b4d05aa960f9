"""The screen of the demo: what the steps tell, drawn by rich."""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console, ConsoleDimensions, Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

COLORS = {"+": "green", "-": "red", "u": "yellow"}
LINES, EACH = 6, 2  # of a table, and of each view among the changes
LEFT, RIGHT = 11, 9  # how the width is shared
TALL = 28  # lines that the whole screen takes
PICTURE = ConsoleDimensions(100, 40)  # of a screenshot


class Screen:
    """What has been seen so far; `draw` makes a picture of it."""

    def __init__(self, tells: Mapping[str, str], size: ConsoleDimensions) -> None:
        self.drawn: RenderableType = Text("The first bids are on their way ...")
        self.title, self.note = "", ""
        self.rows: dict[str, int] = {}
        self.leaders: Sequence[Mapping[str, Any]] = ()
        self._tells = tells
        self._tall = size.height >= TALL
        self._bars = max(4, size.width * RIGHT // (LEFT + RIGHT) - 29)
        self._received = 0
        self._kept = 0
        self._frontier = 0
        self._milliseconds = 0.0
        self._changes: dict[str, int] = {}
        self._latest: dict[str, deque[tuple[str, ...]]] = {}
        self._state: dict[str, list[int]] = {}

    def step(self, progress: Mapping[str, Any], received: int) -> None:
        self._received += received
        self._frontier = progress["frontier"]
        self._milliseconds = sum(progress["seconds"].values()) * 1e3
        self._kept = sum(size["rows"] for size in progress["kept"].values())
        sizes: dict[str, int] = {}
        for name, size in progress["state"].items():
            operator = name.split("/")[0]
            if not operator.startswith("view "):
                sizes[operator] = sizes.get(operator, 0) + size["rows"]
        for operator, rows in sizes.items():
            self._state.setdefault(operator, []).append(rows)

    def changed(self, view: str, rows: pa.Table, *, shown: bool) -> None:
        self._changes[view] = self._changes.get(view, 0) + rows.num_rows
        if shown:
            latest = self._latest.setdefault(view, deque(maxlen=EACH))
            for row in rows.sort_by("ts").slice(max(0, rows.num_rows - EACH)).to_pylist():
                op, *values, at = (str(value) for value in row.values())
                latest.append((at[11:19], view, op, ", ".join(values)))

    def draw(self, elapsed: float, seconds: float) -> RenderableType:
        sides = Table.grid(expand=True)
        sides.add_column(ratio=LEFT)
        sides.add_column(ratio=RIGHT)
        sides.add_row(
            _boxed("Six views", self._views()), _boxed("leaders, as of now", self._places())
        )
        sides.add_row(
            _boxed("Changes", self._scrolling()), _boxed("State, in rows", self._operators())
        )
        parts: list[RenderableType] = [self._head(elapsed, seconds), sides]
        if self._tall:
            parts.append(_boxed(self.title, highlighted(self.note)))
        self.drawn = Group(*parts)
        return self.drawn

    def _head(self, elapsed: float, seconds: float) -> Panel:
        frontier = np.datetime64(self._frontier, "us").item()
        facts = {
            "complete before": f"{frontier:%H:%M:%S}",
            "bids": f"{self._received:,}",
            "a second": f"{self._received / elapsed:,.0f}",
            "last step": f"{self._milliseconds:,.0f} ms",
        }
        line = Text("   ").join(
            Text.assemble((f"{what} ", "dim"), (value, "bold")) for what, value in facts.items()
        )
        bar = ProgressBar(seconds, min(elapsed, seconds))
        return Panel(
            Group(line, bar), title="[bold]Penstock: a live auction[/]", border_style="cyan"
        )

    def _views(self) -> Table:
        table = _table("view", "what it is", "rows", "changes")
        for name, rows in self.rows.items():
            cells = f"{rows:,}", f"{self._changes.get(name, 0):,}"
            table.add_row(Text(name, "bold"), Text(self._tells[name], "dim"), *cells)
        return table

    def _places(self) -> Table:
        table = _table("place", "auction", "bids", "highest")
        for row in self.leaders:
            table.add_row(*(str(row[c]) for c in ("place", "auction", "bids", "highest")))
        for _ in range(len(self.rows) - len(self.leaders)):
            table.add_row()
        return table

    def _scrolling(self) -> Table:
        """The latest changes of each view, in the order of time."""
        table = _table("ts", "view", "op", "record")
        latest = [line for lines in self._latest.values() for line in lines]
        for at, view, op, values in sorted(latest, key=lambda line: line[0]):
            table.add_row(Text(at, "dim"), view, Text(op, COLORS[op]), values)
        return table

    def _operators(self) -> Table:
        table = _table("operator", "now", "trend")
        largest = sorted(self._state.items(), key=lambda item: -max(item[1]))
        for operator, sizes in largest[: LINES - 1]:
            if max(sizes):
                now = f"{sizes[-1]:,}"
                table.add_row(operator.split()[0], now, Text(bars(sizes[-self._bars :]), "green"))
        table.add_row(Text("(input on disk)", "dim"), f"{self._kept:,}", "")
        return table


def bars(sizes: Sequence[int]) -> str:
    """A small picture of sizes over time, from zero to the largest."""
    top = max(*sizes, 1)
    return "".join("▁▂▃▄▅▆▇█"[min(7, size * 8 // top)] for size in sizes)


def save_svg(path: Path, parts: Sequence[RenderableType]) -> None:
    """The picture of a screen, without fonts that would be fetched from elsewhere."""
    console = Console(record=True, file=io.StringIO(), width=PICTURE.width, force_terminal=True)
    console.print(*parts, sep="\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    svg = console.export_svg(title="penstock demo", unique_id="demo")
    svg = re.sub(r"@font-face \{.*?\}\n", "", svg, flags=re.DOTALL)
    path.write_text(svg, "utf-8")


def highlighted(sql: str) -> Syntax:
    return Syntax(sql, "sql", theme="ansi_dark", background_color="default", word_wrap=True)


def _boxed(title: str, content: RenderableType) -> Panel:
    return Panel(content, title=title, title_align="left", border_style="dim")


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0), header_style="italic cyan")
    for column in columns:
        numeric = column in ("rows", "changes", "now", "bids", "highest", "auction", "place")
        table.add_column(column, justify="right" if numeric else "left", no_wrap=True)
    return table
