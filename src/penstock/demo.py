"""A live auction in the terminal: bids stream in, three views stay exact, state stays flat.

`python -m penstock.demo [seconds] [path]`
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.session import Session, connect

MINUTE = 60_000_000
BIDS = pa.schema(
    [("auction", pa.int64()), ("price", pa.int64()), ("at", pa.timestamp("us", tz="UTC"))]
)
AUCTIONS = pa.schema(
    [("id", pa.int64()), ("category", pa.string()), ("opened", pa.timestamp("us", tz="UTC"))]
)
CATEGORIES = ("books", "maps", "clocks", "chairs", "lamps")
START = 1_772_000_000_000_000
BATCH = 20_000


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    path = Path(sys.argv[2]) if len(sys.argv) > 2 else None
    console = Console()
    console.print("Starting Spark on this machine ...")
    with connect(path) as db:
        define(db)
        run(db, seconds, console)
        console.print(f"\nThe state of this run is in {db.path}")


def define(db: Session) -> None:
    db.create_source("bids", BIDS, "at")
    db.create_source("auctions", AUCTIONS, "opened")
    recent = p.Window(p.project(db.scan("bids"), ("auction", "price")), "sliding", 10 * MINUTE)
    calls = (AggregateCall("count", (), "bids"), AggregateCall("max", ("price",), "highest"))
    activity = p.Aggregate(recent, ("auction",), calls)
    db.create_view("activity", activity)
    by_activity = (p.SortKey("bids", descending=True), p.SortKey("auction"))
    db.create_view("leaders", p.Rank(activity, (), by_activity, limit=5))
    listed = p.project(db.scan("auctions"), ("id", "category"))
    joined = p.Join(recent, listed, "inner", (p.Equality("auction", "id"),))
    prices = (AggregateCall("count", (), "bids"), AggregateCall("avg", ("price",), "mean_price"))
    db.create_view("categories", p.Aggregate(joined, ("category",), prices))


def run(db: Session, seconds: float, console: Console) -> None:
    rng, now, received = np.random.default_rng(7), START, 0
    feed_auctions(db)
    db.step()
    began = time.monotonic()
    with Live(console=console, refresh_per_second=4) as live:
        while time.monotonic() - began < seconds:
            later = now + MINUTE // 2
            db.source("bids").append(random_bids(rng, now, later))
            db.source("bids").advance(later)
            received += BATCH
            db.step()
            rate = received / (time.monotonic() - began)
            live.update(screen(db, now, rate))
            now = later


def feed_auctions(db: Session) -> None:
    rows = {
        "id": np.arange(500),
        "category": np.array(CATEGORIES)[np.arange(500) % len(CATEGORIES)],
        "opened": pa.array(np.full(500, START)).cast(AUCTIONS.field("opened").type),
    }
    db.source("auctions").append(pa.table(rows, schema=AUCTIONS))
    db.source("auctions").end()


def random_bids(rng: np.random.Generator, since: int, until: int) -> pa.Table:
    auction = np.minimum(rng.geometric(0.01, BATCH), 499)
    price = 100 + rng.gamma(2.0, 150.0, BATCH).astype(np.int64)
    at = pa.array(np.sort(rng.integers(since, until, BATCH))).cast(BIDS.field("at").type)
    return pa.table({"auction": auction, "price": price, "at": at}, schema=BIDS)


def screen(db: Session, now: int, rate: float) -> Group:
    clock = time.strftime("%H:%M:%S", time.gmtime(now / 1e6))
    progress = db.last_progress or {}
    head = (
        f"event time [bold]{clock}[/]   [bold]{rate:,.0f}[/] bids/s   "
        f"step {sum(progress['seconds'].values()) * 1e3:,.0f} ms   version {progress['version']}"
    )
    leaders = shown(
        "Most bids in the last ten minutes", db, "leaders", ("auction", "bids", "highest")
    )
    categories = shown("By category", db, "categories", ("category", "bids", "mean_price"))
    state = Table(title="State", expand=True)
    for name in ("area", "rows", "bytes"):
        state.add_column(name, justify="left" if name == "area" else "right")
    largest = sorted(progress["state"].items(), key=lambda item: -item[1]["rows"])[:6]
    for area, size in largest:
        state.add_row(area, f"{size['rows']:,}", f"{size['bytes']:,}")
    return Group(Panel(head, title="Penstock"), leaders, categories, state)


def shown(title: str, db: Session, view: str, names: tuple[str, ...]) -> Table:
    table = Table(title=title, expand=True)
    for name in names:
        table.add_column(name, justify="right")
    rows: list[Any] = db.view(view).snapshot().orderBy(names[1], ascending=False).collect()
    for row in rows:
        cells = [row[name] for name in names]
        table.add_row(*(f"{c:,.2f}" if isinstance(c, float) else str(c) for c in cells))
    return table


if __name__ == "__main__":
    main()
