"""`penstock demo`: a live auction in the terminal, its views, their changes and their state."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from rich.console import Console, RenderableType
from rich.live import Live
from rich.text import Text

from penstock.cli.demo_screen import PICTURE, Screen, highlighted, save_svg
from penstock.cli.showing import rows_of
from penstock.cli.waiting import finished
from penstock.memory.api import check
from penstock.output.readers import Reading

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
COLUMNS = "auction INT, bidder INT, price INT, at TIMESTAMP"
SOURCE = f"CREATE SOURCE bids ({COLUMNS}) EVENT TIME at"
VIEWS = {
    "activity": "SELECT auction, count(*) AS bids, max(price) AS highest "
    "FROM bids [RANGE 2 MINUTES] GROUP BY auction",
    "busy": "SELECT auction, bids, highest FROM activity WHERE bids > 100",
    "categories": "SELECT category, sum(bids) AS bids, max(highest) AS highest "
    "FROM activity JOIN items ON activity.auction = items.id GROUP BY category",
    "leaders": "SELECT auction, bids, highest, place FROM (SELECT *, row_number() OVER "
    "(ORDER BY bids DESC, auction) AS place FROM busy) WHERE place <= 5",
    "minute": "SELECT timepoint FROM clock WHERE timepoint % INTERVAL 1 MINUTE = 0",
    "board": "SELECT place, auction, bids FROM leaders SYNC BY minute",
}
LATER = ("rich", "SELECT category, bids, highest FROM categories WHERE highest > 1500")
TELLS = {
    "activity": "last 2 minutes",
    "busy": "view over view",
    "categories": "with a table",
    "leaders": "top 5",
    "board": "every minute",
    "rich": "created later",
}
SHOWN = ("leaders", "board", LATER[0])  # the views whose changes are few enough to be read
RIVALS = (
    "SELECT a.bidder FROM bids AS a JOIN bids AS b ON a.bidder = b.bidder "
    "WHERE a.auction = 1 AND b.auction = 2"
)


class Demo:
    """The session, the screen and the bids of the demo, which runs for a number of seconds."""

    def __init__(self, db: Session, svg: Path | None = None) -> None:
        self._db = db
        self._svg = svg
        picture = PICTURE if svg is not None else (None, None)
        self._console = Console(width=picture[0], height=picture[1])
        self._screen = Screen(TELLS, self._console.size)
        self._now = START

    def run(self, seconds: float) -> None:
        finished(self._db, "Creating five views ...", self._define)
        try:
            finished(self._db, "", lambda: self._bids(seconds))
        except KeyboardInterrupt:
            self._console.print("Stopped. All that was done is kept.")
        verdict = list(verdict_and_repair())
        self._console.print(*verdict, sep="\n")
        self._console.print(self._next_commands(), soft_wrap=True)
        if self._svg is not None:
            save_svg(self._svg, [self._screen.drawn, *verdict])

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
        self._screen.title = "The fourth of them"
        self._screen.note = f"CREATE VIEW leaders AS {VIEWS['leaders']}"
        with Live(console=self._console, refresh_per_second=4) as live:
            while (elapsed := time.monotonic() - began) < seconds:
                if elapsed > seconds / 2 and LATER[0] not in self._db.engine.views:
                    self._attach(live)
                later = self._now + BATCH_SECONDS * SECOND
                source.append(random_bids(rng, self._now, later))
                source.advance(later)
                self._now = later
                progress = self._db.step()
                if progress is not None:
                    self._note(progress)
                    elapsed = time.monotonic() - began
                    live.update(self._screen.draw(elapsed, seconds), refresh=True)

    def _attach(self, live: Live) -> None:
        """One more view while the others run: it begins with the answer over all bids so far."""
        name, query = LATER
        self._screen.title = "Created while the others run"
        self._screen.note = f"CREATE VIEW {name} AS {query}"
        live.update(self._screen.drawn, refresh=True)
        self._db.sql(self._screen.note)

    def _note(self, progress: dict[str, Any]) -> None:
        """What a step changed, what there is now, and how large each operator's state is."""
        screen, since = self._screen, self._now - BATCH_SECONDS * SECOND
        screen.step(progress, BATCH)
        for name in self._db.engine.views:
            view = self._db.view(name).committed()
            changed = rows_of(view.changes(since))
            screen.changed(name, changed, shown=name in SHOWN)
            screen.rows[name] = rows_of(view.snapshot()).num_rows
        leaders: Reading = self._db.view("leaders").committed().snapshot()
        screen.leaders = rows_of(leaders).sort_by("place").to_pylist()

    def _next_commands(self) -> Text:
        command, path = command_name(), self._db.path
        before = np.datetime64((START + self._now) // 2 // SECOND, "s").item()
        lines = [
            ("what is in its state directory", f"show {path}"),
            ("the board as it was", f"show {path} board --at '{before}'"),
            ("ask more: SELECT STREAMED * FROM board;", f"shell --path {path}"),
        ]
        if Path("examples").is_dir():
            lines.append(("six small pipelines", "run examples/*.sql"))
        text = Text("\nWhat to do next", "bold")
        for what, arguments in lines:
            text.append(f"\n  # {what}", "not bold dim")
            text.append(f"\n  {command} {arguments}", "not bold cyan")
        return text


def verdict_and_repair() -> Iterator[RenderableType]:
    """A query that no machine can keep up with for ever, and what makes it one that can."""
    bids = {"bids": COLUMNS}
    found = check(RIVALS, bids)
    repair = next(sql for sql in found.repairs if "[RANGE" in sql)
    asked = "\nWill it fit in memory for ever? penstock.check says, before anything is run:"
    answered = "\nOne of the queries that it offers instead:"
    for words, sql, color in ((asked, RIVALS, "red"), (answered, repair, "green")):
        verdict = check(sql, bids)
        headline, *_ = str(verdict).split("\n\n")
        yield Text(words, "bold")
        yield highlighted(sql)
        yield Text(" ".join(headline.split()), f"bold {color}")
        if verdict.reasons:
            yield Text("\n".join(verdict.reasons), "dim")


def command_name() -> str:
    """How this command is called from here: by its name, or by its path."""
    if shutil.which("penstock"):
        return "penstock"
    beside = Path(sys.executable).with_name("penstock")
    try:
        return str(beside.relative_to(Path.cwd()))
    except ValueError:
        return str(beside)


def random_bids(rng: np.random.Generator, since: int, until: int) -> pa.Table:
    at = pa.array(np.sort(rng.integers(since, until, BATCH))).cast(BIDS.field("at").type)
    columns = {
        "auction": np.minimum(rng.geometric(0.02, BATCH), AUCTIONS - 1).astype(np.int32),
        "bidder": rng.integers(1, 2_000, BATCH).astype(np.int32),
        "price": (100 + rng.gamma(2.0, 150.0, BATCH)).astype(np.int32),
    }
    return pa.table({**columns, "at": at}, schema=BIDS)
