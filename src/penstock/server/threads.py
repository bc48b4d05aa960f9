"""Work that may wait, in threads whose number is bounded, and what waits for them too.

Law: the event loop never waits. Who gives up waiting does not free a thread: that happens when its
work is done, so that there is never more under way than there are threads.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from typing import TypeVar

from penstock.boundary import entered
from penstock.server.problems import ProblemError

T = TypeVar("T")


class Threads:
    """So many threads; `seconds` is how long somebody waits for what they do."""

    def __init__(self, name: str, count: int, seconds: float, waiting: int = 1024) -> None:
        self._pool = ThreadPoolExecutor(count, f"penstock {name}")
        self._most, self._seconds = count + waiting, seconds
        self._under_way = 0
        self._mutex = threading.Lock()

    async def run(self, work: Callable[..., T], *args: object) -> T:
        """What the work returns or raises, in a thread."""
        with self._mutex:
            if self._under_way >= self._most:
                raise ProblemError(
                    HTTPStatus.SERVICE_UNAVAILABLE,
                    "TOO_BUSY",
                    f"{self._under_way} others are waiting already. Ask again a little later.",
                )
            self._under_way += 1
        future = self._pool.submit(self._work, work, *args)
        future.add_done_callback(self._done)
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._seconds)
        except TimeoutError:
            raise ProblemError(
                HTTPStatus.GATEWAY_TIMEOUT,
                "TOOK_TOO_LONG",
                f"This took longer than {self._seconds:g} seconds.",
            ) from None

    def _work(self, work: Callable[..., T], *args: object) -> T:
        with entered():
            return work(*args)

    def _done(self, _: object) -> None:
        with self._mutex:
            self._under_way -= 1

    def close(self) -> None:
        """Nothing more begins; what is under way is not waited for."""
        self._pool.shutdown(wait=False, cancel_futures=True)
