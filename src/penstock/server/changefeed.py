"""The changes of a view for all who follow it: read and written as JSON once per version.

Law: whoever follows a view gets every change after its position once, in order, or is told where to
go on from. A message ends with a position before which everything has been told.
Cost: a version is read once, however many follow. What waits for those who are behind is one
bounded backlog for all of them: who falls out of it has been too slow, and is let go. Those who
come from further back read for themselves until they have caught up; those who ask for the same
share what is read.
"""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from typing import Any, Literal, TypeAlias

from sse_starlette import ServerSentEvent

from penstock.errors import PlanError
from penstock.server.encoding import dumped, rows_of
from penstock.server.positions import Position, position_of
from penstock.server.problems import ProblemError, problem_of
from penstock.server.threads import Threads
from penstock.session import Session
from penstock.session.published import (
    Changes,
    CommittedView,
    Reading,
    changes_from,
    identity,
    opened,
    time_text,
)

Start: TypeAlias = Literal["snapshot", "beginning", "now"]

_PART = 100_000
"""How many changes are read at a time."""
_MESSAGE = 5_000
"""How many rows a message has, but for those of one time."""
_MOST_WAITING = 4096
_LOOK_SECONDS = 0.02
_UNUSED_SECONDS = 10.0


@dataclass(frozen=True)
class Message:
    """What subscribers are sent: `[since, until)` of the changes, or where a view stands."""

    event: str
    data: str
    position: Position | None
    since: int = 0
    until: int = 0

    @cached_property
    def sse(self) -> bytes:
        name = None if self.position is None else str(self.position)
        return ServerSentEvent(self.data, event=self.event, id=name, sep="\n").encode()

    @cached_property
    def text(self) -> str:
        """The same for a WebSocket."""
        position = "null" if self.position is None else dumped(str(self.position))
        return f'{{"event":"{self.event}","position":{position},"data":{self.data}}}'

    @property
    def size(self) -> int:
        return 200 + 2 * len(self.data)


def messages_of(changes: Changes, name: str) -> list[Message]:
    """Changes as messages, each of which ends at a time."""
    found = []
    for part in changes.parts(_MESSAGE):
        position = Position(part.version, part.until, name)
        rows = [row for batch in part.rows.to_batches() for row in rows_of(batch)]
        told = _told(position, part)
        event = "changes" if rows else "progress"
        data = dumped({**told, "changes": rows} if rows else told)
        found.append(Message(event, data, position, part.since, part.until))
    return found


def _told(position: Position, changes: Changes) -> dict[str, Any]:
    return {
        "version": position.version,
        "frontier": time_text(changes.view.time, position.frontier),
    }


class Feed:
    """The latest changes of one view, from `since` to `until`."""

    def __init__(self, name: str, at: Position) -> None:
        self.name, self.identity, self.version = name, at.view, at.version
        self.since = self.until = at.frontier
        self.subscribers, self.made = 0, time.monotonic()
        self.ended: ProblemError | None = None
        self.advancing: asyncio.Task[None] | None = None
        self._messages: deque[Message] = deque()
        self._size = 0
        self._changed = asyncio.Event()

    @property
    def is_advancing(self) -> bool:
        return self.advancing is not None and not self.advancing.done()

    def add(self, messages: list[Message], most: int) -> None:
        """More has come; of what is too much for the backlog, the oldest goes."""
        for message in messages:
            self._messages.append(message)
            self._size += message.size
            self.until = message.until
        while len(self._messages) > 1 and (
            self._size > most or len(self._messages) > _MOST_WAITING
        ):
            gone = self._messages.popleft()
            self._size -= gone.size
            self.since = gone.until
        self.notify()

    def end(self, problem: ProblemError) -> None:
        self.ended = problem
        self.notify()

    def notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    async def wait(self, seconds: float) -> None:
        """Until something has come, or so long."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), seconds)

    def after(self, time: int) -> Message | None:
        """The message that begins where another has ended; None where none does."""
        i = bisect_left(self._messages, time, key=lambda message: message.since)
        found = self._messages[i] if i < len(self._messages) else None
        return found if found is not None and found.since == time else None


class Changefeed:
    """Follows the views of a session for all subscribers."""

    def __init__(
        self,
        session: Session,
        threads: Threads,
        heartbeat_seconds: float,
        backlog_bytes: int,
        max_subscribers: int,
    ) -> None:
        self._session, self._engine, self._threads = session, session.engine, threads
        self._heartbeat, self._backlog = heartbeat_seconds, backlog_bytes
        self._most = max_subscribers
        self._feeds: dict[str, Feed] = {}
        self._reads: dict[tuple[str, int, int], asyncio.Task[list[Message]]] = {}
        self._looking: asyncio.Task[None] | None = None
        self.dropped: Counter[str] = Counter()
        self.delivered: Counter[str] = Counter()

    @property
    def subscribers(self) -> dict[str, int]:
        return {name: feed.subscribers for name, feed in self._feeds.items()}

    def start(self) -> None:
        """Look for new versions from now on."""
        self._looking = asyncio.create_task(self._look())

    async def stop(self) -> None:
        """Everybody is told where to go on from."""
        problem = ProblemError(
            HTTPStatus.SERVICE_UNAVAILABLE,
            "SERVICE_STOPPING",
            "The service is stopping. Go on from the position of the last message.",
            more={"resumable": True},
        )
        for feed in self._feeds.values():
            feed.end(problem)
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking

    # --- reading --------------------------------------------------------------------------------

    async def _look(self) -> None:
        """One look at the version for all views."""
        while True:
            version = self._engine.manifest.version
            for name, feed in list(self._feeds.items()):
                if not feed.subscribers and time.monotonic() - feed.made > _UNUSED_SECONDS:
                    del self._feeds[name]
                elif version != feed.version and not feed.is_advancing:
                    feed.advancing = asyncio.create_task(self._advance(feed))
            await asyncio.sleep(_LOOK_SECONDS)

    async def _advance(self, feed: Feed) -> None:
        """Bring a feed to what is committed."""
        try:
            while feed.ended is None:
                messages, is_last = await self._threads.run(self._next, feed)
                if messages is None:
                    feed.end(_replaced(feed.name))
                    return
                feed.add(messages, self._backlog)
                if is_last:
                    return
        except Exception as error:
            feed.end(problem_of(error))

    def _next(self, feed: Feed) -> tuple[list[Message] | None, bool]:
        """What comes next of a feed, and whether that is all; None where the view is another."""
        view = self._engine.committed(feed.name)
        feed.version = view.manifest.version
        if identity(self._engine, view) != feed.identity:
            return None, True
        if view.frontier <= feed.until:
            return [], True
        changes = changes_from(self._engine, feed.name, feed.until, _PART)
        return messages_of(changes, feed.identity), changes.until >= changes.view.frontier

    async def _catch_up(self, feed: Feed, since: int) -> list[Message]:
        """Messages from a time on and up to where the feed is; those who ask for it share them."""
        key = feed.name, since, feed.until
        if key not in self._reads:

            def read() -> list[Message]:
                changes = changes_from(self._engine, feed.name, since, _PART, key[2])
                return messages_of(changes, feed.identity)

            self._reads[key] = task = asyncio.create_task(self._threads.run(read))
            task.add_done_callback(lambda _: self._reads.pop(key))
        return await asyncio.shield(self._reads[key])

    # --- subscribing ----------------------------------------------------------------------------

    async def subscribe(self, name: str, start: Start, after: str | None) -> AsyncIterator[Message]:
        """Messages from a position on; an error comes before the first, or is the last one."""
        if sum(self.subscribers.values()) >= self._most:
            raise ProblemError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "TOO_MANY_SUBSCRIBERS",
                f"There are {self._most} subscribers already, as max_subscribers says.",
            )
        at, latest = await self._threads.run(self._beginning, name, start, after)
        feed = self._feeds.get(name)
        if feed is None or feed.ended is not None or feed.identity != latest.view:
            feed = self._feeds[name] = Feed(name, latest)
        return self._messages(feed, at)

    def _beginning(
        self, name: str, start: Start, after: str | None
    ) -> tuple[Position | None, Position]:
        """Where to begin, which is not known yet of a snapshot; and the latest there is."""
        view = self._engine.committed(name)
        known, version = identity(self._engine, view), view.manifest.version
        latest = Position(version, view.frontier, known)
        if after is None:
            oldest = Position(version, view.oldest, known)
            return {"snapshot": None, "now": latest, "beginning": oldest}[start], latest
        return position_in(view, after, known), latest

    async def _messages(self, feed: Feed, at: Position | None) -> AsyncIterator[Message]:
        feed.subscribers += 1
        try:
            if at is None:
                async for message in self._standing(feed):
                    at = message.position
                    yield message
            assert at is not None
            async for message in self._following(feed, at.frontier):
                self.delivered[feed.name] += 1
                yield message
        except Exception as error:
            problem = problem_of(error)
            self.dropped[problem.condition] += 1
            yield Message("problem", dumped(problem.body()), None)
        finally:
            feed.subscribers -= 1

    async def _standing(self, feed: Feed) -> AsyncIterator[Message]:
        """The rows that are there at first; with the last of them comes the position."""
        snapshot = self._snapshot(feed)
        message = await self._threads.run(next, snapshot)
        while True:
            yield message
            if message.position is not None:
                return
            message = await self._threads.run(next, snapshot)

    def _snapshot(self, feed: Feed) -> Iterator[Message]:
        """A snapshot in parts, the last of which has a position."""
        view = self._engine.committed(feed.name)

        def choose() -> Reading:
            nonlocal view
            view = self._engine.committed(feed.name)
            return view.snapshot()

        with opened(self._engine, choose, in_pieces=True) as (reading, batches):
            if identity(self._engine, view) != feed.identity:
                raise _replaced(feed.name)
            version = view.manifest.version
            told = {"version": version, "frontier": time_text(view.time, reading.until)}
            for batch in batches:
                for i in range(0, batch.num_rows, _MESSAGE):
                    rows = list(rows_of(batch.slice(i, _MESSAGE)))
                    yield Message("snapshot", dumped({**told, "rows": rows, "last": False}), None)
            at = Position(version, reading.until, feed.identity)
            yield Message("snapshot", dumped({**told, "rows": [], "last": True}), at)

    async def _following(self, feed: Feed, at: int) -> AsyncIterator[Message]:
        """What a feed has from a time on; before it has come there, what it has had."""
        sent, joined = time.monotonic(), False
        while True:
            found = feed.after(at)
            joined = joined or found is not None or at == feed.until
            if found is not None:
                due = [found]
            elif feed.ended is not None:
                raise feed.ended
            elif at < feed.until and joined:
                raise _too_slow()
            else:
                due = await self._catch_up(feed, at) if at < feed.until else []
            for message in due:
                at = message.until
                if message.event == "changes":
                    yield message
                    sent = time.monotonic()
            left = sent + self._heartbeat - time.monotonic()
            if left <= 0:
                yield self._progress(feed, at)
                sent = time.monotonic()
            elif not due:
                await feed.wait(left)

    def _progress(self, feed: Feed, at: int) -> Message:
        position = Position(feed.version, at, feed.identity)
        failure = self._engine.manifest.failures.get(feed.name)
        view = self._engine.committed(feed.name)
        told: dict[str, Any] = {"version": feed.version, "frontier": time_text(view.time, at)}
        if failure is not None:
            told["failed"] = failure.reason
        return Message("progress", dumped(told), position)


def position_in(view: CommittedView, text: str, known: str) -> Position:
    """A position of a view that changes can be read from; a problem where they cannot."""
    found = position_of(text, view, known)
    if found.view != known:
        raise _replaced(view.name)
    if found.frontier > view.frontier:
        raise PlanError(f"{text[:80]!r} is later than all that view {view.name} has told")
    if found.frontier < view.oldest:
        oldest = time_text(view.time, view.oldest)
        raise ProblemError(
            HTTPStatus.GONE,
            "CHANGES_GIVEN_UP",
            f"Of view {view.name} the changes from {oldest} on are kept, and these are older. "
            "Begin again with a snapshot.",
            more={"resumable": False},
        )
    return found


def _replaced(name: str) -> ProblemError:
    return ProblemError(
        HTTPStatus.GONE,
        "VIEW_REPLACED",
        f"View {name} is not the one that was followed: it was replaced, renamed or created anew. "
        "Begin again with a snapshot.",
        more={"resumable": False},
    )


def _too_slow() -> ProblemError:
    return ProblemError(
        HTTPStatus.SERVICE_UNAVAILABLE,
        "TOO_SLOW",
        "More changes came than wait for a subscriber. Go on from the position of the last "
        "message.",
        more={"resumable": True},
    )
