"""The examples of SyncSQL, from files that hold statements, input and output in its notation.

    select STREAMED ...;            a statement, and after it what is expected
    --> Source: <a,78>1, +<b>2      tuples that arrive: values, an operation if any, a timestamp
    --= +<a,105>2, -<a>5            the tagged stream of the query or view before
    --@ 3: <a,1>, <b,3>             the state of the view before at a time
    --| column  type                the text that the statement before prints

A query is answered where it stands. A view runs as part of a pipeline, to the end of the input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.session import Session
from penstock.sql import parse
from penstock.sql.statements import CreateView

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXAMPLES = sorted((Path(__file__).parent / "syncsql").glob("*.sql"))
TUPLE = re.compile(r"([+u-]?)<([^>]*)>(\d*)")


@dataclass
class Part:
    """A text of SQL, and the lines about it that follow, by their sign."""

    sql: str
    lines: list[tuple[str, str]] = field(default_factory=list)

    def about(self, sign: str) -> list[str]:
        return [text for known, text in self.lines if known == sign]

    @property
    def view(self) -> str | None:
        last = parse(self.sql)[-1]
        return last.name.text if isinstance(last, CreateView) else None


def parts(path: Path) -> list[Part]:
    found = [Part("")]
    for line in path.read_text("utf-8").splitlines():
        if line[:3] in ("-->", "--=", "--@", "--|"):
            found[-1].lines.append((line[2], line[4:]))
        elif found[-1].lines:
            found.append(Part(line + "\n"))
        else:
            found[-1].sql += line + "\n"
    return found if parse(found[-1].sql) else found[:-1]


def tuples(text: str) -> Iterator[tuple[str, tuple[str, ...], str]]:
    for operation, values, time in TUPLE.findall(text):
        yield operation, tuple(values.split(",")), time


def notation(rows: Sequence[dict[str, Any]], key: Sequence[str] | None) -> list[str]:
    """Changes as the paper writes them: a delete has only the values of the key."""
    found = []
    for row in rows:
        operation, *values, (_, time) = row.items()
        told = [v for n, v in values if operation[1] != "-" or key is None or n in key]
        found.append((time, f"{operation[1]}<{','.join(map(str, told))}>{time}"))
    return [text for _, text in sorted(found)]


def expected(texts: Sequence[str]) -> list[str]:
    found = [(int(t), f"{op}<{','.join(values)}>{t}") for op, values, t in tuples(", ".join(texts))]
    return [text for _, text in sorted(found)]


def append(db: Session, line: str) -> None:
    name, _, text = line.partition(": ")
    rows = [
        (*map(value, values), *([operation] if operation else []), int(time))
        for operation, values, time in tuples(text)
    ]
    db.source(name).append(rows)


def value(text: str) -> str | int:
    return int(text) if text.lstrip("-").isdigit() else text


def check_view(db: Session, name: str, part: Part) -> None:
    view, key = db.view(name), db.sql(f"SELECT STREAMED * FROM {name}").key
    if part.about("="):
        rows = [row.asDict() for row in view.changes().collect()]
        assert notation(rows, key) == expected(part.about("="))
    for line in part.about("@"):
        time, _, text = line.partition(":")
        state = sorted(",".join(map(str, row)) for row in view.snapshot(int(time)).collect())
        assert state == sorted(",".join(values) for _, values, _ in tuples(text)), f"at {time}"


def test_every_example_is_here() -> None:
    names = [f"example_{number:02}" for number in range(1, 21)]
    assert [path.stem for path in EXAMPLES] == [*names, "introduction"]


@pytest.mark.spark
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path, spark: SparkSession, tmp_path: Path) -> None:
    with penstock.connect(tmp_path, spark=spark) as db:
        for part in parts(path):
            result = db.sql(part.sql)
            for line in part.about(">"):
                append(db, line)
            if part.about("|"):
                assert str(result).splitlines() == part.about("|")
            if part.about("=") and part.view is None:
                assert notation(list(result), result.key) == expected(part.about("="))
        for name in db.engine.sources:
            db.source(name).end()
        db.step()
        for part in parts(path):
            if part.view is not None and (part.about("=") or part.about("@")):
                check_view(db, part.view, part)
