"""A third pipeline of golden directories: the kinds of state that the others do not have.

    python -m tests.golden.rest NAME

makes `NAME-rest.tar.xz` beside this file, once for each format that is released. A pipeline file,
statements and Python define it; views were replaced, renamed, dropped and resumed, and a sink is
due what it has missed of one. Beside it is a directory of sources that are fed.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa

from penstock.algebra import codec, evaluate
from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.calendar import DAY, Midnights
from penstock.algebra.expr import Column
from penstock.directory import verify
from penstock.directory.state_tables import Defined
from penstock.ingest.connectors import PortFeed, StreamFeed
from penstock.ingest.sources import SourceDefinition
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.session.pipeline import InFile
from penstock.session.rollout import Rollout
from penstock.sql import parse
from penstock.state.log import check_log, read_manifest
from penstock.testing import local_session
from tests.golden.pipeline import Outcome, archive, deliver, in_small_parts, total

FILE = """
CREATE SOURCE events (k BIGINT, v BIGINT, item BIGINT, at TIMESTAMP) EVENT TIME at;
CREATE SOURCE bids (item BIGINT, b BIGINT, at TIMESTAMP) EVENT TIME at;
CREATE STREAM ordered OVER events KEY NULL
  PUNCTUATED BY ORDER (item), BY DOMAIN (k BETWEEN 0 AND 9);
CREATE VIEW ticks AS SELECT timepoint FROM clock WHERE timepoint % INTERVAL 6 SECONDS = 0;
CREATE VIEW tick AS SELECT max(timepoint) AS at FROM ticks;
CREATE VIEW paced AS SELECT k, v FROM events SYNC BY ticks;
CREATE VIEW counted AS SELECT k, count(*) AS n, sum(v) AS v FROM events GROUP BY k;
CREATE VIEW complete AS SELECT item, count(*) AS n FROM ordered GROUP BY item EMIT FINAL;
CREATE VIEW first3 AS SELECT k, v, place FROM (
    SELECT k, v, row_number() OVER (PARTITION BY k ORDER BY v DESC, item, at) AS place FROM events
  ) WHERE place <= 3;
CREATE VIEW soon AS SELECT k, v FROM events
  WHERE at + INTERVAL 3 SECONDS <= NOW() AND NOW() < at + INTERVAL 8 SECONDS;
CREATE VIEW readers AS SELECT n, count(*) AS ks FROM counted GROUP BY n;
CREATE VIEW gone AS SELECT DISTINCT k FROM events;
PUNCTUATE bids WHERE item = 99;
"""
GONE = "CREATE VIEW gone AS SELECT DISTINCT k FROM events;\n"
LATER = (
    FILE.replace("sum(v) AS v FROM events", "min(v) AS v FROM events WHERE v > 1")
    .replace("VIEW first3", "VIEW top3")
    .replace(GONE, "")
)
BY_HAND = """
CREATE VIEW matched AS SELECT events.k FROM events, bids WHERE events.v = bids.b
  AND events.v > 0 AND events.v < 20 AND events.k > 0 AND events.k < 5;
CREATE VIEW ahead AS SELECT DISTINCT events.k FROM events, bids WHERE events.v < bids.b
  AND events.k > 0 AND events.k < 5;
CREATE VIEW sums AS SELECT events.k, bids.item, sum(events.v) AS v FROM events, bids
  WHERE events.k > 0 AND events.k < 5 AND bids.item > 0 AND bids.item < 5
  GROUP BY events.k, bids.item;
CREATE VIEW opening AS
  SELECT item, at FROM (SELECT item, at, count(*) AS n FROM bids GROUP BY item, at)
  WHERE at + INTERVAL 2 SECONDS <= NOW();
CREATE VIEW failing AS SELECT k, 10 - v AS rest FROM events [RANGE 9 SECONDS];
"""
SINKS = ("counted", "complete")
AWAY = "counted"
STEPS, LEAVES, FAILS, CUT, COMES = 24, 12, 9, 16, 18
BEGIN = datetime(2026, 3, 28, 23, 59, 30, tzinfo=UTC)  # the night in which clocks change
ZONE = "Europe/Lisbon"
OPTIONS = Options(tasks=2, grace=0.0, unbounded="allow")


def plans(session: Session) -> dict[str, p.Node]:
    """Views that have no statement."""
    events = session.scan("events")
    few = p.project(events, ("k", "v"))
    ticks = p.Sync(few, (p.Periodic(6_000_000),))
    midnight = int(datetime(2026, 3, 29, 0, 0, 15, tzinfo=UTC).timestamp()) * 10**6
    return {
        "daily": p.Distinct(p.Window(few, "fixed", DAY, ZONE)),
        "nightly": p.Sync(few, (Midnights(1, ZONE), p.TimePoints((midnight, midnight + 5)))),
        "joined": p.Coalesce(p.Window(few, "sliding", 4_000_000), 9_000_000),
        "cut": p.Split(p.Window(few, "sliding", 6_000_000), 2_500_000),
        "by_tick": p.Aggregate(ticks, ("k",), (AggregateCall("max", ("v",), "most"),)),
        "tops": p.Rank(ticks, ("k",), (p.SortKey("v", descending=True),), limit=2),
        "second": p.Group(few, Column("k", pa.int64()), 2),
    }


def opened(directory: Path, sinks: bool = True) -> Session:
    session = local_session(directory / "state", OPTIONS)
    if "events" not in session.engine.definitions:
        carry_out(session, FILE)
        for name, plan in plans(session).items():
            session.create_view(name, plan)
        session.sql(BY_HAND)
    for name in SINKS:
        if sinks or name != AWAY:
            session.view(name).sink(partial(deliver, directory / "sinks" / name), name=name)
    return session


def carry_out(session: Session, text: str) -> None:
    rollout = Rollout(session, [InFile("rest.sql", statement) for statement in parse(text)])
    rollout.check(allow_drop=False)
    for step in rollout.steps:
        rollout.carry_out(step)


class Minus:
    """What a view subtracts by, for as long as it is there."""

    def __init__(self) -> None:
        self.works, self._of = True, evaluate._FUNCTIONS["-"]

    def __call__(self, *args: Any) -> Any:
        if not self.works:
            raise ZeroDivisionError
        return self._of(*args)


def move(session: Session, step: int, minus: Minus) -> None:
    """Rows, and now and then something else that happens."""
    rng, minus.works = Random(f"rest golden {step}"), step not in (FAILS, FAILS + 1)
    at = BEGIN + timedelta(seconds=2 * step)
    events = [(rng.randrange(6), rng.randrange(9), step // 3, at) for _ in range(5)]
    session.source("events").append(events, batch=f"loader/{step}")
    session.source("bids").append([(rng.randrange(6), rng.randrange(9), at)])
    session.step()
    failed = session.engine.manifest.failures.keys()
    assert failed == ({"failing"} if step in (FAILS, FAILS + 1, FAILS + 2) else set())
    if step == FAILS + 2:
        session.sql("ALTER VIEW failing RESUME; DROP VIEW gone; ALTER VIEW first3 RENAME TO top3")
    if step == LEAVES + 2:
        carry_out(session, LATER)


def feeds(directory: Path) -> None:
    """A directory of sources that are fed, which is never opened: a port may be in use."""
    schema = pa.schema([("k", pa.string()), ("t", pa.int64())])
    with local_session(directory / "feeds") as session:
        for name, feed in (
            ("lines", PortFeed(9)),
            ("files", StreamFeed("json", (("path", "in"),))),
        ):
            session.engine.define(name, SourceDefinition(name, schema, time="t", feed=feed))


def outcome(session: Session, directory: Path) -> Outcome:
    found = total(session, directory, SINKS)
    assert verify(directory / "feeds").is_whole
    fed = Defined.by(read_manifest(directory / "feeds" / "log")).sources
    found.late["feeds"] = Counter(
        (name, json.dumps(codec.encode(source.feed))) for name, source in fed.items()
    )
    return found


def lived(directory: Path, first: int, last: int) -> Outcome | None:
    """The steps from one up to another, in sessions with and without the sink that is away."""
    found, minus = None, Minus()
    for start, end in ((0, LEAVES), (LEAVES, COMES), (COMES, STEPS)):
        steps = range(max(start, first), min(end, last))
        if not steps:
            continue
        with (
            patch.dict(evaluate._FUNCTIONS, {"-": minus}),
            opened(directory, sinks=start != LEAVES) as session,
        ):
            for step in steps:
                move(session, step, minus)
            found = outcome(session, directory) if end == STEPS else None
    return found


def uninterrupted(directory: Path) -> Outcome:
    feeds(directory)
    found = lived(directory, 0, STEPS)
    assert found is not None
    return found


def continued(directory: Path) -> Outcome:
    assert check_log(directory / "state" / "log") == []  # which reads entries of all kinds
    found = lived(directory, CUT, STEPS)
    assert found is not None
    return found


def _make(name: str) -> None:
    with tempfile.TemporaryDirectory() as scratch, in_small_parts():
        directory = Path(scratch)
        feeds(directory)
        (directory / "feeds" / "log" / "writer.lock").unlink()
        lived(directory, 0, CUT)
        session = opened(directory, sinks=False)
        assert session.engine.manifest.sinks[AWAY].pending, "the sink has missed nothing"
        archive(session, directory, f"{name}-rest")


if __name__ == "__main__":
    _make(sys.argv[1])
