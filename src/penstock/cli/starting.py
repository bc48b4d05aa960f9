"""A session for a command: Spark is started quietly, and whoever waits for it is told so."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from penstock.cli.waiting import working

if TYPE_CHECKING:
    from penstock.session import Session

STARTING = "Starting Spark on this machine (some seconds) ..."


@contextmanager
def session(path: Path | None) -> Iterator[Session]:
    """A session on a state directory, a temporary one where no path is given."""
    from penstock.execution.analysis import unlogged
    from penstock.session import connect

    with quiet(), working(STARTING):
        db = connect(path)
    with db, unlogged():
        yield db


@contextmanager
def quiet() -> Iterator[None]:
    """Programs that the block starts write to a file instead of stderr; it is shown on failure.

    Java is such a program, and goes on writing there until it ends. This process keeps its stderr.
    """
    ours, descriptor = sys.stderr, os.dup(2)
    with tempfile.TemporaryFile() as log, os.fdopen(descriptor, "w") as terminal:
        os.dup2(log.fileno(), 2)
        if ours is sys.__stderr__:
            sys.stderr = terminal
        try:
            yield
        except Exception:
            log.seek(0)
            click.echo(log.read().decode("utf-8", "replace"), err=True, nl=False)
            raise
        finally:
            os.dup2(descriptor, 2)
            sys.stderr = ours
