"""The blocks of the documentation that run, and what they print.

A page is run from top to bottom, in a folder of its own.

| block | what becomes of it |
| --- | --- |
| `python` | is run; the block without a language after it is what it prints |
| `sql` | is carried out in the session `db`; the `text` block after it is its last result |
| `sql FILE`, `json FILE` | is written to that file, for commands |
| `console` | each `$ penstock ...` is run; the lines after it are what it prints |
| `sh` | commands of a whole machine: not run here, but they must exist |
| `layout` | a picture in letters |

To fill in what pages print, run `python -m tests.documentation docs/language.md` from the root of
the repository.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import penstock
from penstock.cli.main import main

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w*)(?: ([\w./-]+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = {"python": "", "sql": "text"}
NOT_RUN = ("sh", "layout")


@dataclass(frozen=True)
class Example:
    """A block, and the output that stands in or after it, with its place in the page."""

    language: str
    file: str | None
    code: str
    output: str | None
    place: tuple[int, int]

    @property
    def runs(self) -> bool:
        return self.language not in NOT_RUN


def examples(page: Path) -> list[Example]:
    """All blocks of a page; an output is part of the block before it."""
    found = list(BLOCK.finditer(page.read_text("utf-8")))
    examples: list[Example] = []
    taken = -1
    for number, (block, after) in enumerate(zip_longest(found, found[1:])):
        if number == taken:
            continue
        language, file, code = block.groups()
        output, place = None, (0, 0)
        if language == "console":
            output, place = code, block.span(3)
        elif (
            language in OUTPUT
            and file is None
            and after is not None
            and after[1] == OUTPUT[language]
        ):
            output, place, taken = after[3], after.span(3), number + 1
        examples.append(Example(language, file, code, output, place))
    return examples


class Reader:
    """Someone who tries out a page."""

    def __init__(self, page: Path, spark: SparkSession, folder: Path) -> None:
        self._page = page
        self._spark = spark
        self._folder = folder
        self._names: dict[str, Any] = {}

    @cached_property
    def _db(self) -> penstock.Session:
        return penstock.connect(self._folder / "state", spark=self._spark)

    def outcome(self, example: Example) -> str:
        match example:
            case Example(_, str(file)):
                path = self._folder / file
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(example.code, "utf-8")
                return ""
            case Example("sql"):
                return self._carried_out(example)
            case Example("console"):
                return self._typed(example)
            case Example("python"):
                return self._printed(example)
        raise ValueError(f"a block of {example.language or 'no language'} cannot be run")

    def _printed(self, example: Example) -> str:
        own = ("sql", None)
        if "db" not in self._names and any(
            (e.language, e.file) == own for e in examples(self._page)
        ):
            self._names["db"] = self._db
        printed = io.StringIO()
        with chdir(self._folder), redirect_stdout(printed):
            exec(compile(example.code, str(self._page), "exec"), self._names)
        return printed.getvalue()

    def _carried_out(self, example: Example) -> str:
        db = self._names.setdefault("db", self._db)
        try:
            return str(db.sql(example.code))
        except penstock.PenstockError as error:
            if example.output is None:
                raise
            return str(error)

    def _typed(self, example: Example) -> str:
        """What a terminal shows: the commands, each with its output."""
        shown = []
        for line in example.code.splitlines():
            if line.startswith("$ "):
                program, *arguments = shlex.split(line[2:])
                assert program == "penstock", line
                ran = subprocess.run(
                    [sys.executable, "-m", "penstock", *arguments],
                    cwd=self._folder,
                    env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                shown.append(f"{line}\n{ran.stdout.rstrip()}\n")
        return "".join(shown)

    def close(self) -> None:
        for value in {id(v): v for v in (*self._names.values(), *self.__dict__.values())}.values():
            if isinstance(value, penstock.Session):
                value.close()


def unknown_commands(example: Example) -> list[str]:
    """The lines of a `sh` block that name no target of make and no command of penstock."""
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    return [
        line
        for line in example.code.splitlines()
        if not _exists(shlex.split(line, comments=True), targets)
    ]


def _exists(words: list[str], targets: list[str]) -> bool:
    match words:
        case ["make", target]:
            return target in targets
        case ["penstock" | ".venv/bin/penstock", name, *arguments]:
            command = main.commands.get(name)
            if command is None:
                return False
            parser = command.make_parser(click.Context(command))
            try:
                parser.parse_args(arguments)
            except click.UsageError:
                return False
            return True
    return False


def fill(page: Path, spark: SparkSession, folder: Path) -> None:
    """Write what the blocks of a page print into it."""
    reader, text = Reader(page, spark, folder), page.read_text("utf-8")
    shift = 0
    for example in examples(page):
        outcome = reader.outcome(example) if example.runs else ""
        if example.output is not None:
            start, end = (place + shift for place in example.place)
            text = text[:start] + outcome.rstrip() + "\n" + text[end:]
            shift = shift + len(outcome.rstrip()) + 1 - (end - start)
    reader.close()
    page.write_text(text, "utf-8")


if __name__ == "__main__":
    from tempfile import mkdtemp

    from penstock.runtime.spark import start_spark

    for name in sys.argv[1:]:
        fill(Path(name).absolute(), start_spark("local[2]"), Path(mkdtemp()))
