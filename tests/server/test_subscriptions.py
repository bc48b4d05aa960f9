"""Following views: what is told folds to the snapshot, whatever happens to whoever listens."""

from __future__ import annotations

import json
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from random import Random
from typing import Any

import pytest
from websockets.sync.client import connect as websocket

from penstock.client import Changes, ServiceError, Snapshot, Update
from penstock.runtime.options import Options
from penstock.server.changefeed import Message, messages_of
from penstock.session.published import changes_from
from tests.server.served import (
    PATIENCE,
    VIEWS,
    Served,
    eventually,
    fold,
    quick,
    served,
    standing,
)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "state", quick()) as found:
        yield found


def key_of(api: Served, view: str) -> tuple[str, ...] | None:
    key = api.client().view(view).info().key
    return None if key is None else tuple(key)


class Follower:
    """Follows a view in a thread, and folds what it is told."""

    def __init__(self, api: Served, view: str, start: Any = "snapshot", after: str | None = None):
        self.rows: Counter[Any] = Counter()
        self.updates: list[Update] = []
        self.error: Exception | None = None
        self._key, self._folds = key_of(api, view), after is None and start != "now"
        self._client = api.client()
        self._source = self._client.view(view).subscribe(start, after, patience=PATIENCE)
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def _follow(self) -> None:
        try:
            for update in self._source:
                if self._folds:
                    self.rows = fold(self.rows, update, self._key)
                self.updates.append(update)
        except Exception as error:
            self.error = error

    @property
    def changes(self) -> list[Any]:
        return [row for u in self.updates if isinstance(u, Changes) for row in u.changes]

    def comes_to(self, frontier: int) -> None:
        def is_there() -> bool:
            assert self.error is None
            last = self.updates[-1].frontier if self.updates else None
            return isinstance(last, int) and last >= frontier

        eventually(is_there)

    def close(self) -> None:
        self._client.close()


def batches(seed: int, count: int) -> Iterator[list[tuple[str, int, int]]]:
    rng = Random(seed)
    for i in range(count):
        yield [
            (f"room {rng.randrange(4)}", rng.randrange(100), 3 * i + rng.randrange(3))
            for _ in range(rng.randrange(1, 5))
        ]


@pytest.mark.parametrize("start", ["snapshot", "beginning"])
def test_what_is_told_folds_to_the_snapshot(api: Served, start: str) -> None:
    api.append(("room 1", 60, 0), ("room 2", 70, 0), ("room 1", 80, 1))
    api.until(1)
    followers = {view: Follower(api, view, start) for view in VIEWS}
    for rows in batches(1, 20):
        api.append(*rows)
    api.db.source("readings").advance(200)
    api.until(200)
    for view, follower in followers.items():
        follower.comes_to(200)
        assert follower.rows == standing(api.db, view), view
        assert follower.changes
        follower.close()


def test_differential_many_who_come_and_go_hear_the_same(api: Served) -> None:
    """Those who come again with their position miss nothing and hear nothing twice."""
    first = Follower(api, "lately", "beginning")
    heard: list[Any] = []
    after = None
    for rows in batches(2, 12):
        api.append(*rows)
        with api.client() as client:
            updates = client.view("lately").subscribe("beginning", after, patience=PATIENCE)
            update = next(updates)
            heard += update.changes if isinstance(update, Changes) else []
            after = update.position
            updates.close()  # type: ignore[attr-defined]
    api.db.source("readings").advance(100)
    last = Follower(api, "lately", after=after)
    for follower in (first, last):
        follower.comes_to(100)
    expected = first.changes
    assert heard + last.changes == expected
    stored = api.db.view("lately").changes().toArrow().num_rows
    assert len(expected) == stored
    first.close()
    last.close()


def test_a_version_is_read_once_for_all(api: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[int] = []

    def counted(changes: Any, name: str) -> list[Message]:
        reads.append(changes.until)
        return messages_of(changes, name)

    monkeypatch.setattr("penstock.server.changefeed.messages_of", counted)
    api.append(("room 1", 60, 1))
    api.until(1)
    followers = [Follower(api, "hot", "now") for _ in range(20)]
    eventually(lambda: api.followers == 20)
    reads.clear()
    for t in range(2, 8):
        api.append((f"room {t}", 60 + t, t))
        api.until(t)
    for follower in followers:
        follower.comes_to(7)
        assert [row["room"] for row in follower.changes] == [f"room {t}" for t in range(1, 7)]
        follower.close()
    assert len(reads) <= 6
    assert len(set(reads)) == len(reads)


def test_a_position_before_the_first_step_is_one(api: Served) -> None:
    first = next(api.client().view("hot").subscribe())
    api.append(("a", 60, 1), ("b", 70, 2))
    follower = Follower(api, "hot", after=first.position)
    follower.comes_to(2)
    assert [row["room"] for row in follower.changes] == ["a"]
    follower.close()


def test_heartbeats_tell_how_far_a_view_is(api: Served) -> None:
    follower = Follower(api, "hot", "now")
    api.db.source("readings").advance(50)
    follower.comes_to(50)
    assert not follower.changes
    positions = [update.position.split(":")[1] for update in follower.updates]
    assert positions[-1] == "50"
    follower.close()


def test_a_websocket_tells_the_same(api: Served) -> None:
    api.append(("a", 60, 1), ("b", 70, 2), ("c", 1, 9))
    api.until(9)
    url = api.url.replace("http", "ws") + "/v1/views/hot/subscribe/ws?start=beginning"
    with websocket(url) as listening:
        message = json.loads(listening.recv(PATIENCE))
    assert message["event"] == "changes"
    assert [row["op"] for row in message["data"]["changes"]] == ["+", "+"]
    again = f"{url.split('?')[0]}?after={message['position']}"
    with websocket(again) as listening:
        assert json.loads(listening.recv(PATIENCE))["event"] == "progress"


def test_last_event_id_is_heeded(api: Served) -> None:
    api.append(("a", 60, 1), ("b", 70, 2))
    api.until(2)
    position = api.client().view("hot").changes().position
    api.append(("c", 90, 3), ("d", 1, 9))
    api.until(9)
    with (
        api.http(**{"Last-Event-ID": position}) as http,
        http.stream("GET", "/v1/views/hot/subscribe") as answer,
    ):
        lines = answer.iter_lines()
        name, event, data = next(lines), next(lines), json.loads(next(lines)[6:])
    assert (name[:4], event) == ("id: ", "event: changes")
    assert [row["room"] for row in data["changes"]] == ["b", "c"]


def test_who_is_too_slow_is_let_go_and_goes_on_where_it_was(tmp_path: Path) -> None:
    """A reader that does not read costs a bounded backlog; what it missed is there for it."""
    text = "x" * 2_000
    pipeline = (
        "CREATE SOURCE s (v STRING, t INT) EVENT TIME t; CREATE VIEW all_of AS SELECT v FROM s;"
    )
    settings = quick(backlog_bytes=100_000, send_seconds=0.5)
    with (
        served(tmp_path / "state", settings, pipeline=pipeline) as api,
        closing(socket.create_connection(("127.0.0.1", api.server.port))) as slow,
    ):
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        path = "/v1/views/all_of/subscribe?start=beginning"
        slow.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        eventually(lambda: api.followers == 1)
        source, count = api.db.source("s"), 0
        quick_one = Follower(api, "all_of", "beginning")
        while api.followers > 1:
            assert count < 4000
            source.append([(f"{text}{i}", count) for i in range(50)])
            count += 1
        source.advance(count + 1)
        quick_one.comes_to(count + 1)
        assert len(quick_one.changes) == 50 * count
        quick_one.close()


def test_a_view_that_is_replaced_cannot_be_gone_on_with(api: Served) -> None:
    api.append(("a", 60, 1))
    api.until(1)
    follower = Follower(api, "hot")
    follower.comes_to(1)
    after = follower.updates[-1].position
    api.db.sql("CREATE OR REPLACE VIEW hot AS SELECT room, temp FROM latest WHERE temp > 70")
    eventually(lambda: follower.error is not None)
    assert isinstance(follower.error, ServiceError)
    assert follower.error.condition == "VIEW_REPLACED"
    with pytest.raises(ServiceError, match="VIEW_REPLACED"):
        next(api.client().view("hot").subscribe(after=after))
    assert isinstance(next(api.client().view("hot").subscribe()), Snapshot)


def test_changes_that_were_given_up_are_told_as_gone(tmp_path: Path) -> None:
    with served(tmp_path / "state", quick(), options=Options(retention=5)) as api:
        api.append(("a", 60, 1))
        api.until(1)
        old = api.client().view("hot").changes().position
        for t in range(2, 60):
            api.append((f"room {t % 3}", 40 + t, t))
            api.until(t)
        with pytest.raises(ServiceError, match="CHANGES_GIVEN_UP"):
            next(api.client().view("hot").subscribe(after=old))
        follower = Follower(api, "hot")
        follower.comes_to(59)
        assert follower.rows == standing(api.db, "hot")
        follower.close()


def test_there_are_only_so_many(tmp_path: Path) -> None:
    with served(tmp_path / "state", quick(max_subscribers=1)) as api:
        follower = Follower(api, "hot")
        eventually(lambda: api.followers == 1)
        with api.http() as http:
            answer = http.get("/v1/views/hot/subscribe")
        assert answer.json()["condition"] == "TOO_MANY_SUBSCRIBERS"
        follower.close()


def test_who_follows_is_told_when_the_service_stops(tmp_path: Path) -> None:
    """And goes on with the next one on the same directory, from where it was."""
    with served(tmp_path / "state", quick()) as api:
        port = api.server.port
        follower = Follower(api, "hot", "beginning")
        api.append(("a", 60, 1), ("b", 70, 2))
        api.until(2)
        follower.comes_to(2)
    with served(tmp_path / "state", quick(port=port)) as api:
        api.append(("c", 80, 3), ("d", 1, 4))
        api.until(4)
        follower.comes_to(4)
        assert [row["room"] for row in follower.changes] == ["a", "b", "c"]
        follower.close()


def test_parts_of_changes_end_between_times(tmp_path: Path) -> None:
    with served(tmp_path / "state", quick()) as api:
        api.append(*((f"room {i}", 90, i // 3) for i in range(30)), ("x", 1, 20))
        api.until(20)
        whole = changes_from(api.db.engine, "hot", None, 1000)
        for rows in (1, 2, 4, 7, 100):
            parts = list(whole.parts(rows))
            assert sum(part.rows.num_rows for part in parts) == whole.rows.num_rows
            assert [p.since for p in parts[1:]] == [p.until for p in parts[:-1]]
            for part in parts:
                times = part.times()
                assert all(part.since <= t < part.until for t in times)
                assert len(times) <= max(rows, 3) + 3


def test_loops_are_not_left_behind(api: Served) -> None:
    """A subscription that nobody reads from any more is forgotten."""
    with api.http() as http, http.stream("GET", "/v1/views/hot/subscribe") as answer:
        next(answer.iter_lines())
    eventually(lambda: api.followers == 0)
