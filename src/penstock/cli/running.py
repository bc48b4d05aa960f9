"""`penstock run`: the statements of files in order, then steps."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.printing import errors_of, print_json, print_result, result_as_json, text_of
from penstock.cli.waiting import finished
from penstock.runtime.reading import time_of
from penstock.runtime.times import shown
from penstock.session.commands import Commands
from penstock.session.results import Result
from penstock.sql import parse
from penstock.sql import statements as s

if TYPE_CHECKING:
    from penstock.session import Session

PAUSE = 0.2  # seconds between looking for new rows


class Runner:
    """How files are run: what is printed, and when to stop."""

    def __init__(self, until_idle: bool, progress: bool, as_json: bool) -> None:
        self.until_idle = until_idle
        self.progress = progress
        self.as_json = as_json

    def run(self, db: Session, files: Sequence[Path]) -> None:
        """All files as one pipeline."""
        for file in files:
            self._statements(db, file)
        fed = any(source.feed is not None for source in db.engine.sources.values())
        if fed and db.engine.views:
            self._steps(db)

    def _statements(self, db: Session, file: Path) -> None:
        commands, text = Commands(db), text_of(file)
        with errors_of(str(file), self.as_json):
            for statement in parse(text):
                line = _first_line(statement.text)
                result = finished(db, line, partial(_answer, commands, statement))
                if self.as_json:
                    print_json(result_as_json(statement.text, result))
                elif result.has_rows:
                    click.echo(f"\n{line}")
                    print_result(result)
                else:
                    print_result(result)

    def _steps(self, db: Session) -> None:
        """Step until nothing is left to do, or until the user interrupts."""
        by_clock = any(source.arrival for source in db.engine.sources.values())
        if not self.until_idle:
            click.echo("Running; press Ctrl-C to stop.", err=True)
        try:
            with errors_of("", self.as_json):
                while True:
                    progress = finished(db, "", db.step)
                    if progress is not None:
                        self._report(db, progress)
                    elif self.until_idle:
                        return
                    else:
                        time.sleep(PAUSE)
                    if self.until_idle and by_clock:
                        return  # its time never stands still
        except KeyboardInterrupt:
            click.echo("Stopped. All that was done is kept.", err=True)

    def _report(self, db: Session, progress: dict[str, Any]) -> None:
        if not self.progress:
            return
        if self.as_json:
            print_json({"progress": progress})
            return
        click.echo(progress_line(db, progress))


def _answer(commands: Commands, statement: s.Statement) -> Result:
    result = commands.run(statement)
    len(result)  # rows are computed when they are looked at
    return result


def progress_line(db: Session, progress: dict[str, Any]) -> str:
    """One step: how far it came, what it took, and what is kept for the next."""
    frontier = shown(progress["frontier"], time_of(db.engine.sources.values()))
    rows = sum(area["rows"] for area in progress["state"].values())
    seconds = sum(progress["seconds"].values())
    return (
        f"version {progress['version']}  complete before {frontier}  "
        f"{seconds * 1e3:,.0f} ms  {rows:,} rows of state"
    )


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return " ".join(lines) if len(" ".join(lines)) < 90 else f"{lines[0]} ..."
