"""Results and errors, for people and for programs."""

from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape

from penstock.errors import PenstockError, SqlContext

if TYPE_CHECKING:
    from penstock.session import Result

INPUT_ERROR = 2
STATEMENT_ERROR = 3
INTERNAL_ERROR = 4
INTERRUPTED = 130


def to_stderr() -> Console:
    return Console(stderr=True, highlight=False, soft_wrap=True)


def print_result(result: Result) -> None:
    text = str(result)
    if text:
        click.echo(text)


def print_json(value: dict[str, Any]) -> None:
    """One object a line; what JSON has no word for is told as text."""
    click.echo(json.dumps(value, default=str))


def result_as_json(statement: str, result: Result) -> dict[str, Any]:
    if not result.has_rows:
        return {"statement": statement, "message": str(result)}
    return {"statement": statement, "rows": list(result)}


class InputError(click.ClickException):
    """A file or input that cannot be read: no answer to what was asked, and so not exit code 1."""

    exit_code = INPUT_ERROR


def text_of(file: Path) -> str:
    """The text of a file of statements."""
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file} is no text in UTF-8: byte {error.start:,} is {error.object[error.start]:#x}. "
            "Save it as UTF-8."
        ) from None
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror or error}.") from None


def error_as_json(error: Exception, file: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {"error": message_of(error)}
    if isinstance(error, PenstockError):
        found |= {"condition": error.getCondition(), "sqlstate": error.getSqlState()}
    where = place_of(error)
    if where is not None:
        line, column = _line_and_column(where)
        found |= {"file": file, "line": line, "column": column}
    return found


def _line_and_column(where: SqlContext) -> tuple[int, int]:
    line = where.sql.count("\n", 0, where.start)
    return line + 1, where.start - where.sql.rfind("\n", 0, where.start)


def print_error(error: Exception, file: str = "") -> None:
    """What is wrong, and the place in the text, underlined."""
    console = to_stderr()
    where = place_of(error)
    console.print(f"[bold red]error:[/] {escape(message_of(error))}")
    if where is not None:
        number, column = _line_and_column(where)
        line, underline = where.summary().split("\n")[1:]
        console.print(f"  [dim]{escape(file or 'line')}:{number}:{column}[/]")
        console.print(f"  {escape(line)}\n  [bold red]{underline}[/]")


def message_of(error: Exception) -> str:
    """The message without code and place; of Spark's own errors, the first line."""
    from pyspark.errors import PySparkException

    if isinstance(error, PenstockError):
        return error.sentence
    if isinstance(error, PySparkException):
        return str(error.getMessage() or error).split("\n")[0]
    return error.format_message() if isinstance(error, click.ClickException) else str(error)


def place_of(error: Exception) -> SqlContext | None:
    contexts = error.getQueryContext() if isinstance(error, PenstockError) else []
    return next((c for c in contexts if isinstance(c, SqlContext)), None)


@contextmanager
def errors_of(file: str = "", as_json: bool = False) -> Iterator[None]:
    """Errors that a user can act on end the program with their text and the exit code 3; with 2,
    where an input cannot be read. As JSON they are a line of what is printed.

    Ctrl-C ends it with 130, as shells do; a mistake of our own with 4, so that no code that is an
    answer is ever a failure.
    """
    from penstock.boundary import entered

    try:
        with entered():
            yield
    except click.ClickException as error:
        if not as_json:
            raise
        print_json(error_as_json(error))
        raise SystemExit(error.exit_code) from None
    except PenstockError as error:
        if as_json:
            print_json(error_as_json(error, file))
        else:
            print_error(error, file)
        raise SystemExit(STATEMENT_ERROR) from None
    except (click.exceptions.Exit, click.Abort, BrokenPipeError):
        raise
    except Exception:
        click.echo(traceback.format_exc(), err=True)
        click.echo("This is a mistake of Penstock itself. Please report it.", err=True)
        raise SystemExit(INTERNAL_ERROR) from None
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        raise SystemExit(INTERRUPTED) from None
