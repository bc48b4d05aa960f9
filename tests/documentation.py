"""The blocks of the documentation that run, and what they print.

A page is run from top to bottom. A `python` block prints; the block without a language after it is
what it prints. A `sql` block is carried out in the session `db`, which a page has from the start;
the `text` block after it is the result of its last statement, or the error. To fill in what pages
print, run `python -m tests.documentation docs/language.md` from the root of the repository.
"""

from __future__ import annotations

import io
import re
import sys
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

import penstock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[1]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = {"python": "", "sql": "text"}


@dataclass(frozen=True)
class Example:
    """A block that runs, and the output that stands after it, with its place in the page."""

    language: str
    code: str
    output: str | None
    place: tuple[int, int]


def examples(page: Path) -> list[Example]:
    found = list(BLOCK.finditer(page.read_text("utf-8")))
    examples = []
    for block, after in zip_longest(found, found[1:]):
        language = block.group(1)
        if language in OUTPUT:
            has = after is not None and after.group(1) == OUTPUT[language]
            output, place = (after.group(2), after.span(2)) if has and after else (None, (0, 0))
            examples.append(Example(language, block.group(2), output, place))
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
        return penstock.connect(self._folder, spark=self._spark)

    def outcome(self, example: Example) -> str:
        if example.language == "sql":
            return self._carried_out(example)
        if "db" not in self._names and any(e.language == "sql" for e in examples(self._page)):
            self._names["db"] = self._db
        printed = io.StringIO()
        with redirect_stdout(printed):
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

    def close(self) -> None:
        for value in {id(v): v for v in (*self._names.values(), *self.__dict__.values())}.values():
            if isinstance(value, penstock.Session):
                value.close()


def fill(page: Path, spark: SparkSession, folder: Path) -> None:
    """Write what the blocks of a page print into it."""
    reader, text = Reader(page, spark, folder), page.read_text("utf-8")
    shift = 0
    for example in examples(page):
        outcome = reader.outcome(example)
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
