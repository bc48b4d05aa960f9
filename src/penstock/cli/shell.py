r"""`penstock shell`: a prompt for statements, and shortcuts that begin with a backslash."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pyarrow as pa
from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import PygmentsLexer

from penstock.boundary import entered
from penstock.cli.printing import InputError, print_error, print_result
from penstock.cli.running import progress_line
from penstock.cli.waiting import finished
from penstock.errors import PenstockError
from penstock.ingest.text_values import record_of
from penstock.ingest.times import shown, time_of
from penstock.session.commands import Commands
from penstock.session.results import Result
from penstock.sql import parse
from penstock.sql import statements as s
from penstock.sql.binding.catalog import is_constant

if TYPE_CHECKING:
    from penstock.session import Session

KEYWORDS = (
    *("ALL", "AND", "AS", "BETWEEN", "BY", "CASE", "CHANGES", "CLOCK", "COMPLETE", "COUNT"),
    *("CREATE", "DELAY", "DESCRIBE", "DISTINCT", "DROP", "DSTREAM", "EMIT", "EVENT TIME"),
    *("EXCEPT", "EXISTS", "EXPLAIN", "FINAL", "FIXED", "FROM", "GROUP BY", "HAVING", "IN"),
    *("INTERSECT", "INTERVAL", "ISTREAM", "JOIN", "KEY", "LATE", "LEFT", "LIMIT", "MEMORY"),
    *("NOT", "NOW", "NULL", "ON", "OP", "OPTIONS", "ORDER BY", "OVER", "PARTITION BY", "RANGE"),
    *("REGISTER", "ROWS", "RSTREAM", "SELECT", "SHOW", "SLIDE", "SOURCE", "STREAM", "STREAMED"),
    *("SYNC BY", "TABLE", "UNBOUNDED", "UNION", "USING", "VALUES", "VIEW", "VIEWS", "WHERE"),
    *("WINDOW", "WITH", "avg", "count", "max", "min", "sum", "session_window", "timepoint"),
)
WELCOME = r"End statements with a semicolon. \? for help, \q to leave."
HELP = r"""\d          all that is defined         \d NAME   the columns of one
\v          the views                   \v NAME   the rows of one, as of the last step
\a NAME ROW append a row to a source: \a temps a, 90, 1   or   \a temps {"room": "a", ...}
\s          step: receive what sources have and move the views on
\q          leave (also Ctrl-D)         \?        this
SELECT answers over all rows received so far; statements end with a semicolon."""


class Shell:
    """The prompt of a session: it reads statements and shortcuts, and prints what they answer."""

    def __init__(self, db: Session) -> None:
        self._db = db
        self._commands = Commands(db)
        self._shortcuts: dict[str, Callable[[str], None]] = {
            r"\a": self._append,
            r"\d": self._describe,
            r"\v": self._views,
            r"\s": self._step,
            r"\?": lambda _: click.echo(HELP),
        }

    def run(self) -> bool:
        """Read until the end; whether statements of a script failed."""
        if not sys.stdin.isatty():
            try:
                return sum(not self.execute(text) for text in _texts(sys.stdin)) > 0
            except UnicodeDecodeError as error:
                raise InputError(f"The input is no text in UTF-8: {error.reason}.") from None
        click.echo(f"Penstock on {self._db.path}\n{WELCOME}")
        prompt = self._prompt()
        while True:
            try:
                text = prompt.prompt("penstock> ")
            except KeyboardInterrupt:
                continue  # forget the line
            except EOFError:
                return False
            if text.strip() == r"\q":
                return False
            self.execute(text)

    def execute(self, text: str) -> bool:
        r"""Carry out statements or a shortcut and print what they answer; whether all went well."""
        try:
            with entered():
                self._execute(text)
        except (PenstockError, click.UsageError) as error:
            print_error(error)
            return False
        except KeyboardInterrupt:
            if not sys.stdin.isatty():
                raise
            click.echo("Interrupted.", err=True)
            return False
        return True

    def _execute(self, text: str) -> None:
        if text.lstrip().startswith("\\"):
            self._shortcut(text.strip().rstrip(";"))
        else:
            self._statements(text)

    def names(self) -> list[str]:
        """What can be completed: objects and their columns."""
        engine = self._db.engine
        found = [name for name in engine.definitions if not is_constant(name)]
        for source in engine.sources.values():
            found += source.schema.names
        for view in engine.views.values():
            found += view.plan.schema.names
        return list(dict.fromkeys(found))

    def _statements(self, text: str) -> None:
        for statement in parse(text):
            print_result(finished(self._db, "...", partial(self._answer, statement)))

    def _answer(self, statement: s.Statement) -> Result:
        result = self._commands.run(statement)
        len(result)  # rows are computed when they are looked at
        return result

    def _shortcut(self, text: str) -> None:
        word, _, rest = text.partition(" ")
        if word not in self._shortcuts:
            raise click.UsageError(rf"There is no shortcut {word}; \? lists them.")
        self._shortcuts[word](rest.strip())

    def _append(self, text: str) -> None:
        """A row for a source that is fed by hand, as JSON or as values between commas."""
        name, _, row = text.partition(" ")
        source = self._db.source(name)
        try:
            record = record_of(row, self._db.engine.source(source.name).given)
        except (ValueError, pa.ArrowException) as error:
            raise click.UsageError(rf"{row!r} is no row of {name}: {error}") from None
        counts = finished(self._db, "", lambda: source.append([tuple(record)]))
        if counts.get("rejected"):
            raise click.UsageError(rf"{row!r} is rejected: {counts['reasons'][0]}")
        click.echo("1 row is late." if counts["late"] else "1 row is appended.")

    def _describe(self, name: str) -> None:
        if name:
            self._statements(f"DESCRIBE {name}")
            return
        for kind in ("SOURCES", "TABLES", "STREAMS", "VIEWS"):
            result = self._commands.run(parse(f"SHOW {kind}")[0])
            if len(result):
                click.echo(kind.lower())
                print_result(result)
        if not self.names():
            click.echo("Nothing is defined yet: CREATE SOURCE name (column TYPE, ...) ...;")

    def _views(self, name: str) -> None:
        if not name:
            self._statements("SHOW VIEWS")
            return
        view = self._db.view(name)
        frontier = shown(self._db.frontier, time_of(self._db.engine.sources.values()))
        click.echo(f"{view.name} just before {frontier}")
        print_result(Result(rows=view.snapshot))

    def _step(self, _: str) -> None:
        progress = finished(self._db, "stepping ...", self._db.step)
        click.echo(progress_line(self._db, progress) if progress else "Nothing to do.")

    def _prompt(self) -> PromptSession[str]:
        from pygments.lexers.sql import SqlLexer

        return PromptSession(
            history=_history(),
            lexer=PygmentsLexer(SqlLexer),
            completer=Words(self.names),
            complete_while_typing=False,
            multiline=True,
            prompt_continuation="      ... ",
            key_bindings=_keys(),
        )


class Words(Completer):
    """Completes the word before the cursor with keywords and names of the catalog."""

    def __init__(self, names: Callable[[], Iterable[str]]) -> None:
        self._names = names

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterator[Completion]:
        word = document.get_word_before_cursor()
        if not word:
            return
        names = [name for name in self._names() if name.lower().startswith(word.lower())]
        for found in (*names, *(k for k in KEYWORDS if k.lower().startswith(word.lower()))):
            yield Completion(found, start_position=-len(word))


def is_complete(text: str) -> bool:
    """Whether Enter carries a text out, rather than beginning another line of it."""
    stripped = text.strip()
    return not stripped or stripped.startswith("\\") or stripped.endswith(";")


def _keys() -> KeyBindings:
    keys = KeyBindings()

    @Condition
    def complete() -> bool:
        from prompt_toolkit.application import get_app

        return is_complete(get_app().current_buffer.text)

    @keys.add("enter", filter=complete)
    def accept(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    return keys


def _history() -> FileHistory | InMemoryHistory:
    """In the user's state directory; none is kept where that cannot be written."""
    state = os.environ.get("XDG_STATE_HOME")
    try:
        folder = (Path(state) if state else Path.home() / ".local" / "state") / "penstock"
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return InMemoryHistory()
    return FileHistory(str(folder / "history"))


def _texts(lines: Iterable[str]) -> Iterator[str]:
    """Texts to carry out by themselves: shortcuts are lines, statements end with a semicolon."""
    text = ""
    for line in lines:
        text += line
        if text.strip() == r"\q":
            return
        if text.strip() and is_complete(text):
            yield text
            text = ""
    if text.strip():
        yield text
