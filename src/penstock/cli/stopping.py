"""How `penstock run` is told to stop: by Ctrl-C, or by SIGTERM from a service manager.

While views are kept up to date the first signal lets the step under way come to its end, and the
next one interrupts it. Before that a signal interrupts what is being done, of which nothing is left
by halves.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class Stop:
    """`asked`: no further step is to be made."""

    def __init__(self) -> None:
        self.asked = False
        self._terminated = False
        self._patient = False

    @contextmanager
    def heeded(self) -> Iterator[Stop]:
        """SIGTERM ends the block, and the program, as what was to be done."""
        before = signal.signal(signal.SIGTERM, self._signalled)
        try:
            yield self
        except SystemExit as ending:
            if self._terminated and ending.code == 128 + signal.SIGINT:
                raise SystemExit(0) from None
            raise
        finally:
            signal.signal(signal.SIGTERM, before)

    @contextmanager
    def after_a_step(self) -> Iterator[None]:
        """Within the block, signals let the step under way come to its end.

        Spark has a way of its own with Ctrl-C, from its start on.
        """
        before = signal.signal(signal.SIGINT, self._signalled)
        self._patient = True
        try:
            yield
        finally:
            self._patient = False
            signal.signal(signal.SIGINT, before)

    def _signalled(self, number: int, _: Any) -> None:
        self._terminated |= number == signal.SIGTERM
        if self.asked or not self._patient:
            raise KeyboardInterrupt
        self.asked = True
        os.write(2, b"Stopping after the step under way; once more interrupts it.\n")
