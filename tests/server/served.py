"""A service in this process, on a session without Spark, and a client of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from penstock.client import Changes, Client, Row, Snapshot, Update
from penstock.runtime.options import Options
from penstock.server import Server, Service, Settings, Tokens
from penstock.session import Session
from penstock.testing import local_session

PIPELINE = """
CREATE SOURCE readings (room STRING, temp INT, t INT) EVENT TIME t;
CREATE STREAM latest OVER readings KEY (room);
CREATE VIEW hot AS SELECT room, temp FROM latest WHERE temp > 50;
CREATE VIEW lately AS
  SELECT room, count(*) AS n, max(temp) AS temp FROM readings [RANGE 15] GROUP BY room;
CREATE VIEW seen AS SELECT temp FROM readings [RANGE 5];
"""
VIEWS = ("hot", "lately", "seen")
READ, ADMIN = "r" * 32, "a" * 32
PATIENCE = 30.0


@dataclass
class Served:
    db: Session
    service: Service
    server: Server
    url: str

    def client(self, token: str | None = None) -> Client:
        return Client(self.url, token)

    def http(self, token: str | None = None, **headers: str) -> httpx.Client:
        known = {} if token is None else {"Authorization": f"Bearer {token}"}
        return httpx.Client(base_url=self.url, headers={**known, **headers}, timeout=PATIENCE)

    @property
    def followers(self) -> int:
        feeds = self.service.followed
        return 0 if feeds is None else sum(feeds.subscribers.values())

    def append(self, *rows: tuple[str, int, int]) -> None:
        self.db.source("readings").append(rows)

    def until(self, t: int) -> None:
        assert self.db.await_frontier(t, PATIENCE)


@contextmanager
def served(
    directory: Path,
    settings: Settings | None = None,
    tokens: Tokens | None = None,
    pipeline: str = PIPELINE,
    options: Options | None = None,
) -> Iterator[Served]:
    """A service on a directory, at a port of its own; the pipeline is created where it is not."""
    service = Service(settings or Settings(port=0), tokens or Tokens())
    with local_session(directory, options) as db:
        if not db.engine.definitions:
            db.sql(pipeline)
        db.start()
        service.open(db)
        with Server(service) as server:
            yield Served(db, service, server, f"http://127.0.0.1:{server.port}")


def quick(**more: Any) -> Settings:
    """Settings under which little is waited for."""
    return Settings(**{"port": 0, "heartbeat_seconds": 0.2, "stop_seconds": 2.0, **more})


def fold(rows: Counter[Any], update: Update, key: tuple[str, ...] | None) -> Counter[Any]:
    """A snapshot after an update."""
    if isinstance(update, Snapshot):
        return Counter(_values(row) for row in update.rows)
    if isinstance(update, Changes):
        for change in update.changes:
            rows = _changed(rows, change, key)
    return rows


def _changed(rows: Counter[Any], change: Row, key: tuple[str, ...] | None) -> Counter[Any]:
    op, ts, *_ = change["op"], change["ts"]
    row = {name: value for name, value in change.items() if name not in ("op", "ts")}
    if op == "u":
        assert key is not None
        old = next(r for r in rows if all(dict(r)[name] == row[name] for name in key))
        rows = rows - Counter([old])
    changed = Counter([_values(row)])
    assert op != "-" or changed <= rows, f"{change} takes away what is not there, at {ts}"
    return rows - changed if op == "-" else rows + changed


def _values(row: Row) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(row.items()))


def standing(db: Session, view: str) -> Counter[Any]:
    return Counter(_values(row) for row in db.view(view).snapshot().toArrow().to_pylist())


def eventually(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.01)
