"""Results and errors, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console
from rich.markup import escape

from penstock.errors import PenstockError, SqlContext

if TYPE_CHECKING:
    from penstock.session import Result

STATEMENT_ERROR = 3
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


def print_error(error: Exception, file: str = "") -> None:
    """What is wrong, and the place in the text, underlined."""
    console = to_stderr()
    where = place_of(error)
    console.print(f"[bold red]error:[/] {escape(message_of(error))}")
    if where is not None:
        number = where.sql.count("\n", 0, where.start)
        column = where.start - (where.sql.rfind("\n", 0, where.start) + 1)
        line, underline = where.summary().split("\n")[1:]
        console.print(f"  [dim]{escape(file or 'line')}:{number + 1}:{column + 1}[/]")
        console.print(f"  {escape(line)}\n  [bold red]{underline}[/]")


def message_of(error: Exception) -> str:
    """The message without code and place; of Spark's own errors, the first line."""
    from pyspark.errors import PySparkException

    if isinstance(error, PenstockError):
        return error.sentence
    if isinstance(error, PySparkException):
        return str(error.getMessage() or error).split("\n")[0]
    return str(error)


def place_of(error: Exception) -> SqlContext | None:
    contexts = error.getQueryContext() if isinstance(error, PenstockError) else []
    return next((c for c in contexts if isinstance(c, SqlContext)), None)


@contextmanager
def errors_of(file: str = "") -> Iterator[None]:
    """Errors that a user can act on end the program with their text and the exit code 3.

    Ctrl-C ends it with 130, as shells do.
    """
    from pyspark.errors import PySparkException

    try:
        yield
    except PySparkException as error:
        print_error(error, file)
        raise SystemExit(STATEMENT_ERROR) from None
    except KeyboardInterrupt:
        click.echo("Interrupted.", err=True)
        raise SystemExit(INTERRUPTED) from None
