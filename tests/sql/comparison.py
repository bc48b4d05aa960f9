"""Queries of Penstock, as views and ad hoc, against plain Spark on the same rows.

    python -m tests.sql.comparison FILE.sql ...      # tells each query that differs

A file holds queries that end with a semicolon and the rows that they read:

    -- TABLE a (k INT, s STRING): (1, 'x'), (NULL, 'y')

Rows and types are compared. A query that is marked `-- REFUSED` is one that both refuse, or that
Penstock refuses by name; all others must have an answer.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.errors import PenstockError
from penstock.runtime.engine import Engine
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.driver_jobs import SETTINGS, DriverJobs
from penstock.testing.engine_runs import read_locally

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLE = re.compile(r"-- TABLE (\w+) \((.*?)\):(.*)")
REFUSED = "-- REFUSED"
ORACLE = {
    **SETTINGS,
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.ui.explainMode": "simple",
}
"""What makes plain Spark quick on a handful of rows."""


@dataclass(frozen=True)
class Table:
    name: str
    columns: str
    rows: str

    @property
    def select(self) -> str:
        """The rows as a query of Spark; the last column is a time, which never is NULL."""
        fields = re.split(r",(?![^(<]*[)>])", self.columns)
        kinds = [field.split(None, 1) for field in fields]
        names = ", ".join(name for name, _ in kinds)
        casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in kinds)
        if not self.rows.strip():
            nulls = ", ".join(f"CAST(NULL AS {kind}) AS {name}" for name, kind in kinds)
            return f"SELECT {nulls} WHERE false"
        return f"SELECT {casts} FROM VALUES {self.rows} AS rows({names})"


@dataclass(frozen=True)
class Question:
    text: str
    refused: bool = False


@dataclass(frozen=True)
class Cases:
    tables: tuple[Table, ...]
    questions: tuple[Question, ...]


def read(path: Path) -> Cases:
    text = path.read_text()
    tables = tuple(Table(*map(str.strip, found)) for found in TABLE.findall(text))
    questions = []
    for part in re.split(r";[ \t]*$", text, flags=re.MULTILINE):
        lines = [line for line in part.splitlines() if line.strip()]
        query = "\n".join(line for line in lines if not line.startswith("--"))
        if query:
            questions.append(Question(query.strip(), REFUSED in lines))
    return Cases(tables, tuple(questions))


@dataclass(frozen=True)
class Answer:
    """The types and the rows of an answer, or why there is none."""

    types: tuple[Any, ...] = ()
    rows: tuple[Any, ...] = ()
    error: str = ""
    known: bool = True
    """Whether an error is one of Penstock's."""


def differences(spark: SparkSession, cases: Cases) -> list[str]:
    """What Penstock and Spark do not agree on, with both answers."""
    oracle = session_with(spark, ORACLE)
    for table in cases.tables:
        oracle.createDataFrame(_rows(spark, table)).coalesce(1).createOrReplaceTempView(table.name)
    with ThreadPoolExecutor(1) as other, _session(spark) as db:
        plain = [other.submit(_by_spark, oracle, question.text) for question in cases.questions]
        for table in cases.tables:
            _declare(db, _rows(spark, table), table)
        refused = []
        for i, question in enumerate(cases.questions):
            refused.append(_created(db, f"v{i}", question.text))
        db.step()
        found = []
        for i, (question, future) in enumerate(zip(cases.questions, plain, strict=True)):
            wanted = future.result()
            answers = {"view": refused[i] or _of_view(db, f"v{i}"), "query": _asked(db, question)}
            if "Two columns are called" in answers["view"].error:
                del answers["view"]
            for way, answer in answers.items():
                story = _compared(question, answer, wanted)
                if story:
                    found.append(f"{question.text}\n  as a {way}: {story}")
        return found


@contextmanager
def _session(spark: SparkSession) -> Iterator[Session]:
    with TemporaryDirectory(prefix="comparison-") as directory:
        options = Options(tasks=1, unbounded="allow")
        quick = session_with(spark, SETTINGS)
        with Session(Engine(Path(directory), DriverJobs(spark), options), quick) as db:
            yield db


def session_with(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    session = spark.newSession()
    for name, value in settings.items():
        session.conf.set(name, value)
    return session


def _rows(spark: SparkSession, table: Table) -> pa.Table:
    return spark.sql(table.select).toArrow()


def _declare(db: Session, rows: pa.Table, table: Table) -> None:
    time = table.columns.split(",")[-1].split()[0]
    db.sql(f"CREATE SOURCE {table.name} ({table.columns}) EVENT TIME {time}")
    if rows.num_rows:
        db.source(table.name).append(rows)
    db.source(table.name).end()


def _created(db: Session, name: str, text: str) -> Answer | None:
    try:
        db.sql(f"CREATE VIEW {name} AS {text}")
    except Exception as error:
        return failed(error)
    return None


def _of_view(db: Session, name: str) -> Answer:
    try:
        return answer_of(read_locally(db.view(name).committed().snapshot()))
    except Exception as error:
        return failed(error)


def _asked(db: Session, question: Question) -> Answer:
    try:
        return answer_of(db.sql(question.text).to_arrow())
    except Exception as error:
        return failed(error)


def _by_spark(session: SparkSession, text: str) -> Answer:
    try:
        return answer_of(session.sql(text).toArrow())
    except Exception as error:
        return Answer(error=f"{type(error).__name__}: {str(error).splitlines()[0]}")


def failed(error: Exception) -> Answer:
    known = isinstance(error, PenstockError)
    return Answer(error=f"{type(error).__name__}: {str(error)[:300]}", known=known)


def answer_of(table: pa.Table) -> Answer:
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    types = tuple(_plain(field.type) for field in table.schema)
    return Answer(types, tuple(sorted((tuple(map(_value, row)) for row in rows), key=repr)))


def _plain(kind: pa.DataType) -> str:
    """A type without the names that Arrow gives the parts of lists and maps."""
    text = re.sub(r" not null|\(['\"]?(entries|key_value)['\"]?\)", "", str(kind))
    text = text.replace("large_", "")
    return re.sub(r"list<\w+: ", "list<", text)


def _value(value: Any) -> Any:
    """Something to compare: floats to nine digits, zero without its sign, as equal values need not
    share it; and what is nested by its text."""
    if isinstance(value, float):
        return repr(float(f"{value:.9g}") + 0.0)
    if isinstance(value, list | dict | tuple):
        return repr(value)
    return value


def _compared(question: Question, mine: Answer, wanted: Answer) -> str:
    if mine.error and not mine.known:
        return mine.error
    if question.refused:
        return "" if mine.error else f"{_shown(mine)}, not refused"
    if wanted.error:
        return f"Spark says {wanted.error}; Penstock {_shown(mine)}"
    if mine.error:
        return mine.error
    return difference(mine, wanted)


def difference(mine: Answer, wanted: Answer) -> str:
    """How one answer is not the other, in types or rows."""
    if mine.types != wanted.types:
        return f"types {list(mine.types)}, not {list(wanted.types)}"
    if Counter(mine.rows) != Counter(wanted.rows):
        return f"{_shown(mine)}, not {_shown(wanted)}"
    return ""


def _shown(answer: Answer) -> str:
    return answer.error or f"{len(answer.rows)} rows {list(answer.rows)}"


def main(paths: Sequence[str]) -> int:
    from penstock.runtime.spark import JAVA, start_spark

    quick = {"spark.driver.extraJavaOptions": f"{JAVA} -XX:TieredStopAtLevel=1"}
    spark = start_spark("local[2]", **quick)
    count = 0
    for path in paths:
        cases = read(Path(path))
        found = differences(spark, cases)
        count += len(found)
        print(f"{path}: {len(cases.questions)} queries, {len(found)} differences")
        for story in found:
            print(story)
    spark.stop()
    return min(count, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
