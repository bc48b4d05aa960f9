"""Steps in the background: one thread that steps whenever there may be something to do."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Runner:
    def __init__(self, step: Callable[[], object], pause: Callable[[], float | None]) -> None:
        """`pause` says how many seconds to wait at most for something to do."""
        self._step = step
        self._pause = pause
        self._wanted = threading.Event()
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

    def wake(self) -> None:
        """There may be something to do."""
        self._wanted.set()

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
                self._step()
        except BaseException as error:
            self._error = error
