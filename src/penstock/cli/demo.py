"""`penstock demo`: a live auction in the terminal, its views, their changes and their state."""

from __future__ import annotations

import io
import re
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from penstock.cli.checking import verdicts
from penstock.cli.showing import rows_of
from penstock.runtime.reading import Reading
from penstock.sql import parse

if TYPE_CHECKING:
    from penstock.session import Session

SECOND = 1_000_000
START = 1_772_366_400 * SECOND  # 2026-03-01 12:00:00
BATCH, BATCH_SECONDS = 5_000, 30
AUCTIONS = 300
CATEGORIES = ("books", "maps", "clocks", "chairs", "lamps")
BIDS = pa.schema(
    [
        ("auction", pa.int32()),
        ("bidder", pa.int32()),
        ("price", pa.int32()),
        ("at", pa.timestamp("us", tz="UTC")),
    ]
)

SOURCE = "CREATE SOURCE bids (auction INT, bidder INT, price INT, at TIMESTAMP) EVENT TIME at"
VIEWS = {
    "activity": "SELECT auction, count(*) AS bids, max(price) AS highest\n"
    "FROM bids [RANGE 2 MINUTES] GROUP BY auction",
    "busy": "SELECT auction, bids, highest FROM activity WHERE bids > 100",
    "categories": "SELECT category, sum(bids) AS bids, max(highest) AS highest\n"
    "FROM activity JOIN items ON activity.auction = items.id GROUP BY category",
    "leaders": "SELECT auction, bids, highest, place FROM (SELECT *, row_number() OVER\n"
    "(ORDER BY bids DESC, auction) AS place FROM busy) WHERE place <= 5",
    "minute": "SELECT timepoint FROM clock WHERE timepoint % INTERVAL 1 MINUTE = 0",
    "board": "SELECT place, auction, bids FROM leaders SYNC BY minute",
}
LATER = ("rich", "SELECT category, highest FROM categories WHERE highest > 1500")
TELLS = {
    "activity": "last 2 minutes",
    "busy": "view over view",
    "categories": "join with table",
    "leaders": "top 5",
    "board": "sync by minute",
    "rich": "created later",
}
PAIRS = (
    "SELECT a.bidder FROM bids a JOIN bids b ON a.bidder = b.bidder\n"
    "WHERE a.auction = 1 AND b.auction = 2"
)
REPAIRED = f"{PAIRS} AND a.bidder BETWEEN 1 AND 500"


class Demo:
    def __init__(self, db: Session, svg: Path | None = None) -> None:
        self._db = db
        self._svg = svg
        self._console = Console()
        self._now = START
        self._received = 0
        self._changes: dict[str, int] = {}
        self._latest: deque[tuple[str, ...]] = deque(maxlen=6)
        self._state: dict[str, list[int]] = {}
        self._last: RenderableType = ""

    def run(self, seconds: float) -> None:
        self._define()
        self._bids(seconds)
        verdict = list(self._verdict())
        self._console.print(*verdict, sep="\n")
        self._console.print(self._next_commands())
        if self._svg is not None:
            save_svg(self._svg, [self._last, *verdict])

    def _define(self) -> None:
        db = self._db
        db.sql(SOURCE)
        ids = np.arange(AUCTIONS, dtype=np.int32)
        category = np.array(CATEGORIES)[ids % len(CATEGORIES)]
        db.create_table("items", pa.table({"id": ids, "category": category}))
        for name, query in VIEWS.items():
            db.sql(f"CREATE VIEW {name} AS {query}")

    def _bids(self, seconds: float) -> None:
        """Append, advance, step, draw; halfway through, one more view."""
        rng, source = np.random.default_rng(7), self._db.source("bids")
        began = time.monotonic()
        with Live(console=self._console, refresh_per_second=4) as live:
            while (elapsed := time.monotonic() - began) < seconds:
                later = self._now + BATCH_SECONDS * SECOND
                source.append(random_bids(rng, self._now, later))
                source.advance(later)
                self._received += BATCH
                self._now = later
                progress = self._db.step()
                if progress is not None:
                    self._note(progress)
                    live.update(self._screen(progress, time.monotonic() - began))
                if elapsed > seconds / 2 and LATER[0] not in self._db.engine.views:
                    self._db.sql(f"CREATE VIEW {LATER[0]} AS {LATER[1]}")

    def _note(self, progress: dict[str, Any]) -> None:
        """What a step changed, and how large each operator's state is now."""
        since = self._now - BATCH_SECONDS * SECOND
        for name in self._db.engine.views:
            rows = rows_of(self._db.view(name).committed().changes(since))
            self._changes[name] = self._changes.get(name, 0) + rows.num_rows
            if name in ("leaders", "board", LATER[0]):
                for row in rows.slice(max(0, rows.num_rows - 3)).to_pylist():
                    op, *values, at = (str(value) for value in row.values())
                    self._latest.append((at[11:19], name, op, ", ".join(values)))
        sizes: dict[str, int] = {}
        for area, size in progress["state"].items():
            operator = area.split("/")[0]
            sizes[operator] = sizes.get(operator, 0) + size["rows"]
        for operator, rows in sizes.items():
            if not operator.startswith("view "):
                self._state.setdefault(operator, []).append(rows)

    # --- the screen -----------------------------------------------------------------------------

    def _screen(self, progress: dict[str, Any], elapsed: float) -> RenderableType:
        frontier = np.datetime64(progress["frontier"], "us").item()
        kept = sum(size["rows"] for size in progress["kept"].values())
        head = Text.assemble(
            ("complete before ", "dim"),
            (f"{frontier:%H:%M:%S}", "bold"),
            ("   bids ", "dim"),
            (f"{self._received:,}", "bold"),
            ("   bids/s ", "dim"),
            (f"{self._received / elapsed:,.0f}", "bold"),
            ("   step ", "dim"),
            (f"{sum(progress['seconds'].values()) * 1e3:,.0f} ms", "bold"),
            ("   kept for views to come ", "dim"),
            f"{kept:,}",
        )
        sides = Table.grid(expand=True, padding=(0, 1))
        sides.add_column(ratio=5)
        sides.add_column(ratio=4)
        sides.add_row(self._views(), self._leaders())
        sides.add_row(self._scrolling(), self._areas())
        self._last = Group(Panel(head, title="Penstock: a live auction"), sides)
        return self._last

    def _views(self) -> Table:
        table = _table("Views", "view", "what it is", "rows", "changes")
        for name in self._db.engine.views:
            rows = rows_of(self._snapshot(name)).num_rows
            table.add_row(name, TELLS[name], f"{rows:,}", f"{self._changes.get(name, 0):,}")
        return table

    def _leaders(self) -> Table:
        table = _table("Leaders now", "place", "auction", "bids", "highest")
        rows = rows_of(self._snapshot("leaders")).sort_by("place").to_pylist()
        for row in rows:
            table.add_row(*(str(row[c]) for c in ("place", "auction", "bids", "highest")))
        return table

    def _scrolling(self) -> Table:
        table = _table("Changes", "ts", "view", "op", "record")
        colors = {"+": "green", "-": "red", "u": "yellow"}
        for at, view, op, values in self._latest:
            table.add_row(at, view, Text(op, colors[op]), values)
        return table

    def _areas(self) -> Table:
        table = _table("State, in rows", "operator", "now", "over time")
        for operator, sizes in sorted(self._state.items(), key=lambda item: -item[1][-1])[:6]:
            if max(sizes):
                table.add_row(operator.split()[0], f"{sizes[-1]:,}", bars(sizes[-14:]))
        return table

    def _snapshot(self, name: str) -> Reading:
        return self._db.view(name).committed().snapshot()

    # --- the end --------------------------------------------------------------------------------

    def _verdict(self) -> Iterator[RenderableType]:
        """A query that no machine can keep up with for ever, and what makes it one that can."""
        yield Text("\nWill it fit in memory for ever?", style="bold")
        for sql, style in ((PAIRS, "red"), (REPAIRED, "green")):
            (found,) = verdicts(self._db, parse(sql))
            yield Syntax(sql, "sql", theme="ansi_dark", background_color="default")
            yield Text(found.outcome, style=f"bold {style}")
            yield Text("\n".join(f"  {reason}" for reason in found.reasons) + "\n")

    def _next_commands(self) -> Text:
        path = self._db.path
        return Text.assemble(
            ("What to do next\n", "bold"),
            f"  penstock show {path}\n",
            f"  penstock show {path} leaders\n",
            f"  penstock shell --path {path}\n",
            "  penstock run examples/*.sql",
        )


def random_bids(rng: np.random.Generator, since: int, until: int) -> pa.Table:
    at = pa.array(np.sort(rng.integers(since, until, BATCH))).cast(BIDS.field("at").type)
    columns = {
        "auction": np.minimum(rng.geometric(0.02, BATCH), AUCTIONS - 1).astype(np.int32),
        "bidder": rng.integers(1, 2_000, BATCH).astype(np.int32),
        "price": (100 + rng.gamma(2.0, 150.0, BATCH)).astype(np.int32),
    }
    return pa.table({**columns, "at": at}, schema=BIDS)


def bars(sizes: list[int]) -> str:
    """A small picture of sizes over time, from zero to the largest."""
    top = max(*sizes, 1)
    return "".join("▁▂▃▄▅▆▇█"[min(7, size * 8 // top)] for size in sizes)


def save_svg(path: Path, parts: list[RenderableType]) -> None:
    """The picture of a screen, without fonts that would be fetched from elsewhere."""
    console = Console(record=True, file=io.StringIO(), width=100, force_terminal=True)
    console.print(*parts, sep="\n")
    path.parent.mkdir(parents=True, exist_ok=True)
    svg = console.export_svg(title="penstock demo")
    svg = re.sub(r"@font-face \{.*?\}\n", "", svg, flags=re.DOTALL)
    path.write_text(svg, "utf-8")


def _table(title: str, *columns: str) -> Table:
    table = Table(title=title, title_justify="left", box=None, padding=(0, 1, 0, 0))
    for column in columns:
        numeric = column in ("rows", "changes", "now", "bids", "highest", "auction", "place")
        table.add_column(column, justify="right" if numeric else "left", no_wrap=True)
    return table
