"""Steps in the background: one thread that steps whenever there may be something to do.

Law: a step takes all that has arrived, so whoever brings rows waits while a step is under way and
many have come since it began: steps, and the memory they need, stay as large as their batches are.
Nobody waits for a step that is still to come, as it may have to wait for other rows.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

ROWS_AHEAD = 400_000
"""How many rows may come during a step before those who bring more have to wait for its end."""


class Runner:
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
        if self._thread is None:
            self._stopped.clear()
            self._wanted.set()
            self._thread = threading.Thread(target=self._run, name="penstock", daemon=True)
            self._thread.start()

    @property
    def running(self) -> bool:
        return self._thread is not None

    def wake(self, rows: int = 0) -> None:
        """There may be something to do, as so many rows have come."""
        self._wanted.set()
        with self._stepping:
            if self._ahead is not None and threading.current_thread() is not self._thread:
                self._ahead += rows
                self._stepping.wait_for(lambda: (self._ahead or 0) < ROWS_AHEAD)

    def stop(self) -> None:
        """Wait for the step under way; raise what went wrong."""
        if self._thread is not None:
            self._stopped.set()
            self._wanted.set()
            self._thread.join()
            self._thread = None
        self.check()

    def check(self) -> None:
        """Raise what went wrong in the background, once."""
        error, self._error = self._error, None
        if error is not None:
            raise error

    def _run(self) -> None:
        try:
            while not self._stopped.is_set():
                self._wanted.wait(self._pause())
                self._wanted.clear()
                with self._under_way():
                    self._step()
        except BaseException as error:
            self._error = error

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
