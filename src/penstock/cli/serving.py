"""`penstock serve`: a pipeline file as a service, until somebody says to stop."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from penstock.cli.printing import InputError, errors_of
from penstock.cli.running import Runner
from penstock.cli.starting import session
from penstock.cli.stopping import Stop
from penstock.errors import ArgumentError, PenstockError

PAUSE = 0.1  # seconds between looking whether to stop
MISSING = "penstock serve needs more packages: pip install 'penstock[server]'"


def serve(
    files: Sequence[Path],
    path: Path,
    allow_drop: bool,
    config: Path | None,
    flags: dict[str, Any],
    stop: Stop,
) -> None:
    """Apply the files to a directory as `penstock run` does, and serve what there is."""
    try:
        from penstock.server import Server, Service, load, load_tokens, write_logs
    except ModuleNotFoundError as error:
        raise InputError(f"{MISSING} ({error.name} is not there).") from None
    try:
        settings = load(config, os.environ, flags)
        service = Service(settings, load_tokens(settings, os.environ))
        server = Server(service)
    except ArgumentError as error:
        raise InputError(error.sentence) from None
    write_logs(settings.log_format)
    with errors_of(""), server:
        click.echo(f"Penstock is at {settings.url_at(server.port)}; applying files.", err=True)
        with session(path) as db:
            Runner(True, False, False, stop).apply(db, files, allow_drop)
            db.start()
            service.open(db)
            click.echo("Ready; press Ctrl-C to stop.", err=True)
            with stop.after_a_step():
                while not stop.asked and server.is_alive:
                    time.sleep(PAUSE)
            is_asked = stop.asked
            server.stop()
            try:
                db.stop()
            except PenstockError:  # Java was told to stop, too; the step is made another time
                if not is_asked:
                    raise
    if not is_asked:
        raise click.ClickException("The HTTP server has ended; the log says why.")
    click.echo("Stopped. All that was done is kept.", err=True)
