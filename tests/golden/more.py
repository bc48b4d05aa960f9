"""A second pipeline of golden directories: what the first does not have.

    python -m tests.golden.more NAME

makes `NAME-more.tar.xz` beside this file, once for each format that is released. It has sessions,
windows of rows, streams of changes, other ways to expire, promises, producers that number their
batches, records that were rejected, and a view that failed.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing import local_session
from tests.golden.pipeline import Outcome, archive, deliver, in_small_parts, rows_of, total

PIPELINE = """
CREATE SOURCE clicks (person STRING, page STRING NOT NULL,
  spent BIGINT CHECK (spent BETWEEN -50 AND 99), at TIMESTAMP)
  EVENT TIME at DELAY INTERVAL 5 SECONDS;
CREATE SOURCE prices (item BIGINT, price DECIMAL(10, 2), op STRING, at TIMESTAMP) EVENT TIME at;
CREATE STREAM offers OVER prices KEY (item) OP op;
CREATE VIEW visits AS
  SELECT person, session_window.start, session_window.end, count(*) AS clicks
  FROM clicks GROUP BY person, session_window(at, '7 seconds');
CREATE VIEW last3 AS SELECT person, page FROM clicks [PARTITION BY person ROWS 3];
CREATE VIEW newest AS SELECT count(*) AS n, sum(spent) AS spent FROM clicks [ROWS 10];
CREATE VIEW cheap AS SELECT item, price FROM offers WHERE price < 50;
CREATE VIEW bargains AS
  SELECT item, price FROM (SELECT ISTREAM item, price FROM cheap) [RANGE 20 SECONDS];
CREATE VIEW gone AS SELECT item, count(*) AS times FROM (SELECT DSTREAM item, price FROM cheap)
  GROUP BY item;
CREATE VIEW explicit OPTIONS (expiry 'negative') AS
  SELECT c.person, o.price FROM clicks [RANGE 9 SECONDS] AS c JOIN offers AS o ON c.spent = o.item;
CREATE VIEW messages OPTIONS (expiry 'negative+messages') AS
  SELECT c.person, d.page FROM clicks [RANGE 9 SECONDS] AS c JOIN clicks [RANGE 5 SECONDS] AS d
  ON c.spent = d.spent;
CREATE VIEW lazy OPTIONS (expiry 'input') AS
  SELECT page, count(*) AS n, min(spent) AS least FROM clicks [RANGE 15 SECONDS] GROUP BY page;
CREATE VIEW pairs AS SELECT DISTINCT c.page, d.person
  FROM clicks [RANGE 15 SECONDS] AS c JOIN clicks [RANGE 10 SECONDS] AS d ON c.person = d.person;
CREATE VIEW everybody AS SELECT person FROM clicks [RANGE 30 SECONDS]
  UNION SELECT page AS person FROM clicks [RANGE 12 SECONDS];
CREATE VIEW both AS SELECT spent FROM clicks INTERSECT ALL SELECT item AS spent FROM offers;
CREATE VIEW spread AS
  SELECT page, percentile(spent, 0.5) AS half, count(DISTINCT person) AS people
  FROM clicks [RANGE 25 SECONDS] GROUP BY page;
CREATE VIEW failing AS SELECT page, 100 % sum(spent) AS rest FROM clicks GROUP BY page;
"""
SINKS = ("visits", "bargains")
STEPS, CUT, FAILS = 30, 20, 13
BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
OPTIONS = Options(tasks=2, grace=0.0, retention=25_000_000)


def opened(directory: Path) -> Session:
    session = local_session(directory / "state", OPTIONS)
    if "clicks" not in session.engine.definitions:
        session.sql(PIPELINE)
    for name in SINKS:
        session.view(name).sink(partial(deliver, directory / "sinks" / name), name=name)
    return session


def move(session: Session, step: int) -> None:
    """Rows of two producers, one of them in disorder, some that cannot be taken, and a step."""
    rng = Random(f"more golden {step}")

    def at(seconds: float) -> datetime:
        return BEGIN + timedelta(seconds=2 * step + seconds)

    clicks: list[tuple[Any, ...]] = [
        (
            rng.choice("abcd"),
            rng.choice("xyz"),
            rng.randrange(1, 12),
            at(rng.choice((-9, -2, 0, 1))),
        )
        for _ in range(5)
    ]
    clicks += [("d", "w", 7, at(0))] if step == 2 else []
    clicks += [("d", "w", -7, at(0))] if step == FAILS else []
    clicks += [("a", None, 1, at(0)), ("b", "x", 500, at(0)), ("c", "x", 1.5, at(0))][step % 4 :]
    first = session.source("clicks").append(clicks, batch=f"loader/{step}")
    assert session.source("clicks").append(clicks, batch=f"loader/{step}") == {
        "accepted": 0,
        "late": 0,
        "duplicate": 1,
    }
    assert first["accepted"] > 0
    op = rng.choice(("insert", "update", "delete"))
    price = (rng.randrange(1, 12), rng.randrange(1, 100), op, at(0))
    session.source("prices").append([price], batch=f"shop/{7 * step}")
    session.step()
    if step % 9 == 8:
        session.engine.collect_garbage()


def outcome(session: Session, directory: Path) -> Outcome:
    found = total(session, directory, SINKS)
    rejected = rows_of(session.source("clicks").rejected())
    found.late["rejected"] = Counter(row[:4] for row in rejected)
    failures = session.engine.manifest.failures
    found.late["failed"] = Counter((name, f.reason, f.frontier) for name, f in failures.items())
    return found


def uninterrupted(directory: Path) -> Outcome:
    session = opened(directory)
    try:
        for step in range(STEPS):
            move(session, step)
        return outcome(session, directory)
    finally:
        session.close()


def continued(directory: Path) -> Outcome:
    """The steps that are left, in a session that is opened again halfway; all is sent again."""
    for steps in (range(CUT - 2, CUT + 1), range(CUT + 1, STEPS)):
        session = opened(directory)
        try:
            for step in steps:
                if step >= CUT:
                    move(session, step)
                else:
                    batch = f"loader/{step}"
                    assert session.source("clicks").append([], batch=batch)["duplicate"] == 1
            found = outcome(session, directory)
        finally:
            session.close()
    return found


def _make(name: str) -> None:
    with tempfile.TemporaryDirectory() as scratch, in_small_parts():
        directory = Path(scratch)
        session = opened(directory)
        for step in range(CUT):
            move(session, step)
        assert session.engine.manifest.failures, "no view has failed"
        archive(session, directory, f"{name}-more")


if __name__ == "__main__":
    _make(sys.argv[1])
