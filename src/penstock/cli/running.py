"""`penstock run`: the statements of files in order, then steps."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from penstock.cli.planning import errors_in, statements_of
from penstock.cli.printing import errors_of, print_json, print_result, result_as_json, text_of
from penstock.cli.stopping import Stop
from penstock.cli.waiting import finished
from penstock.errors import PenstockError
from penstock.ingest.times import shown, time_of
from penstock.session.changes import PipelinePlan, Unchanged
from penstock.session.commands import Commands
from penstock.session.results import Result
from penstock.session.rollout import Rollout
from penstock.sql import parse

if TYPE_CHECKING:
    from penstock.session import Session

PAUSE = 0.2  # seconds between looking for new rows


class Runner:
    """How files are run: what is printed, and when to stop."""

    def __init__(self, until_idle: bool, progress: bool, as_json: bool, stop: Stop) -> None:
        self.until_idle = until_idle
        self.progress = progress
        self.as_json = as_json
        self._stop = stop

    def run(self, db: Session, file: Path) -> None:
        """A pipeline from the beginning: all statements, one after the other."""
        commands, text = Commands(db), text_of(file)
        with errors_of(str(file), self.as_json):
            for statement in parse(text):
                self._carry_out(db, statement.text, partial(commands.run, statement))
        self._step(db)

    def roll_out(self, db: Session, files: Sequence[Path], allow_drop: bool) -> None:
        """Files that say what there is in a directory, which is then kept up to date."""
        self.apply(db, files, allow_drop)
        self._step(db)

    def apply(self, db: Session, files: Sequence[Path], allow_drop: bool) -> None:
        """What files say there is in a directory: what is another way there is changed."""
        statements = statements_of(files, self.as_json)
        with errors_in(files, self.as_json):
            is_new = not db.engine.definitions
            rollout = Rollout(db, statements)
            if not is_new:
                self._tell(rollout.plan)
            rollout.check(allow_drop)
            for step in rollout.steps:
                change, statement = step.change, step.statement
                text = change.statement if change is not None else getattr(statement, "text", "")
                self._carry_out(db, text, partial(rollout.carry_out, step))

    def _tell(self, plan: PipelinePlan) -> None:
        if self.as_json:
            print_changes(plan)
        else:
            click.echo(str(plan))

    def _carry_out(self, db: Session, text: str, work: Callable[[], Result | None]) -> None:
        line = _first_line(text)
        result = finished(db, line, partial(_answer, work))
        if result is None:
            return
        if self.as_json:
            print_json(result_as_json(text, result))
        elif result.has_rows:
            click.echo(f"\n{line}")
            print_result(result)
        else:
            print_result(result)

    def _step(self, db: Session) -> None:
        """Step until nothing is left to do, or until somebody says to stop."""
        fed = any(source.feed is not None for source in db.engine.sources.values())
        if not fed or not db.engine.views:
            return
        if not self.until_idle:
            click.echo("Running; press Ctrl-C to stop.", err=True)
        with errors_of("", self.as_json), self._stop.after_a_step():
            self._steps(db)
        if self._stop.asked:
            click.echo("Stopped. All that was done is kept.", err=True)

    def _steps(self, db: Session) -> None:
        by_clock = any(source.arrival for source in db.engine.sources.values())
        while not self._stop.asked:
            try:
                progress = finished(db, "", db.step)
            except PenstockError:
                if self._stop.asked:  # Java was told to stop, too; the step is made another time
                    return
                raise
            if progress is not None:
                self._report(db, progress)
            elif self.until_idle:
                return
            else:
                time.sleep(PAUSE)
            if self.until_idle and by_clock:
                return  # its time never stands still

    def _report(self, db: Session, progress: dict[str, Any]) -> None:
        if not self.progress:
            return
        if self.as_json:
            print_json({"progress": progress})
            return
        click.echo(progress_line(db, progress))


def print_changes(plan: PipelinePlan) -> None:
    """One object a line for all that would not stay as it is."""
    for change in plan:
        if not isinstance(change, Unchanged):
            print_json(change.to_json())


def _answer(work: Callable[[], Result | None]) -> Result | None:
    result = work()
    if result is not None:
        len(result)  # rows are computed when they are looked at
    return result


def progress_line(db: Session, progress: dict[str, Any]) -> str:
    """One step: how far it came, what it took, and what is kept for the next."""
    frontier = shown(progress["frontier"], time_of(db.engine.sources.values()))
    rows = sum(state_table["rows"] for state_table in progress["state"].values())
    seconds = sum(progress["seconds"].values())
    return (
        f"version {progress['version']}  complete before {frontier}  "
        f"{seconds * 1e3:,.0f} ms  {rows:,} rows of state"
    )


def _first_line(text: str) -> str:
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return " ".join(lines) if len(" ".join(lines)) < 90 else f"{lines[0]} ..."
