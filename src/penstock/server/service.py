"""A session that runs in the background, and who asks it.

The server is there before the pipeline is: it answers that it is alive, and that it is not ready.
Law: stopping finishes the step under way and commits it; those who follow views are told so first.
"""

from __future__ import annotations

import asyncio
import time
from http import HTTPStatus

from penstock.server.changefeed import Changefeed
from penstock.server.problems import ProblemError
from penstock.server.settings import Settings
from penstock.server.threads import Threads
from penstock.server.tokens import Tokens
from penstock.session import Session

_FOR_EVER = 3600.0


class Service:
    """What the paths of the API ask."""

    def __init__(self, settings: Settings, tokens: Tokens) -> None:
        self.settings, self.tokens = settings, tokens
        self.started = time.time()
        self.reads = Threads("reads", 8, settings.query_seconds)
        self.writes = Threads("writes", 4, settings.query_seconds)
        self.queries = Threads("queries", settings.max_queries, settings.query_seconds, waiting=32)
        self._follows = Threads("follows", 4, _FOR_EVER)
        self.loop: asyncio.AbstractEventLoop | None = None
        self._session: Session | None = None
        self._feeds: Changefeed | None = None

    @property
    def session(self) -> Session:
        if self._session is None:
            raise ProblemError(
                HTTPStatus.SERVICE_UNAVAILABLE,
                "NOT_READY",
                "The pipeline is being applied. Ask again when /readyz says that it is.",
            )
        return self._session

    @property
    def feeds(self) -> Changefeed:
        """Made with the first subscriber, in the loop of the server."""
        if self._feeds is None:
            self._feeds = Changefeed(
                self.session,
                self._follows,
                self.settings.heartbeat_seconds,
                self.settings.backlog_bytes,
                self.settings.max_subscribers,
            )
            self._feeds.start()
        return self._feeds

    @property
    def followed(self) -> Changefeed | None:
        return self._feeds

    def open(self, session: Session) -> None:
        """The pipeline is applied; its session is asked from now on."""
        self._session = session

    @property
    def not_open(self) -> bool:
        return self._session is None

    def not_ready(self) -> list[str]:
        """Why the service is not ready; nothing where it is."""
        if self._session is None:
            return ["the pipeline is being applied"]
        found = [f"{what}: {why}" for what, why in self._session.failures().items()]
        return found if self._session.is_running else [*found, "no steps are made"]

    async def stop(self) -> None:
        if self._feeds is not None:
            await self._feeds.stop()

    def close(self) -> None:
        for threads in (self.reads, self.writes, self.queries, self._follows):
            threads.close()
