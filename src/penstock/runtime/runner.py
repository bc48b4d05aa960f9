"""Steps in the background: one thread that steps whenever there may be something to do.

Law: a step takes all that has arrived, so whoever brings rows waits while a step is under way and
many have come since it began: steps, and the memory they need, stay as large as their batches are.
Nobody waits for a step that is still to come, as it may have to wait for other rows.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock.errors import BackgroundError

logger = logging.getLogger("penstock")
ROWS_AHEAD = 400_000
"""How many rows may come during a step before those who bring more have to wait for its end."""


class Runner:
    """The thread that steps; `wake` tells it that there may be something to do."""

    def __init__(self, step: Callable[[], object], pause: Callable[[], float | None]) -> None:
        """`pause` says how many seconds to wait at most for something to do."""
        self._step = step
        self._pause = pause
        self._wanted = threading.Event()
        self._stepping = threading.Condition()
        self._ahead: int | None = None
        """The rows that have come since the step under way began."""
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def start(self) -> None:
        """Begin to step; again, where a step has failed."""
        if self._error is not None and self._thread is not None:
            self._thread.join()  # it has nothing more to do
        if not self.running:
            self._error = None
            self._stopped.clear()
            self._wanted.set()
            self._thread = threading.Thread(target=self._run, name="penstock", daemon=True)
            self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def wake(self, rows: int = 0) -> None:
        """There may be something to do, as so many rows have come."""
        self._wanted.set()
        with self._stepping:
            if self._ahead is not None and threading.current_thread() is not self._thread:
                self._ahead += rows
                self._stepping.wait_for(lambda: (self._ahead or 0) < ROWS_AHEAD)

    def stop(self) -> None:
        """Wait for the step under way; raise what went wrong, which is then known."""
        if self._thread is not None and self._thread is not threading.current_thread():
            self._stopped.set()
            self._wanted.set()
            self._thread.join()
            self._thread = None
        error, self._error = self._error, None
        if error is not None:
            raise error

    @property
    def failure(self) -> str | None:
        """Why there are no more steps, until they are started or stopped."""
        error = self._error
        return None if error is None else f"{type(error).__name__}: {error}".split("\n")[0][:500]

    def check(self) -> None:
        """Raise what went wrong in the background, every time."""
        if self._error is not None:
            raise BackgroundError(
                f"a step in the background has failed, and no more are made: {self.failure}. When "
                "the cause is gone, start() goes on; stop() raises the error itself"
            ) from self._error

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                self._wanted.wait(self._pause())
                self._wanted.clear()
                with self._under_way():
                    self._step()
        except BaseException as error:
            self._error = error
            logger.exception("a step in the background failed")

    @contextmanager
    def _under_way(self) -> Iterator[None]:
        with self._stepping:
            self._ahead = 0
        try:
            yield
        finally:
            with self._stepping:
                self._ahead = None
                self._stepping.notify_all()
