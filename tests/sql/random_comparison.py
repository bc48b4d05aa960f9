"""Random queries of the whole language, compared with plain Spark on the rows that have come.

    python -m tests.sql.random_comparison --count 1000 --seed 7   # so many queries, from a seed on

A case is some tables and queries over them. The queries are views of a session, created in any
order, some after rows have come, with sharing or without, their rows in batches cut anywhere; and
some are asked ad hoc. Nothing of this may show in rows or types. What Penstock refuses is counted
by reason; what Spark refuses is counted, and has to be refused or bound.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa

from penstock.runtime.engine import Engine
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.session.commands import Commands
from penstock.sql import parse
from penstock.sql.statements import Query
from penstock.testing.driver_jobs import SETTINGS, DriverJobs
from penstock.testing.engine_runs import read_locally
from penstock.testing.random_inputs import DECIMAL, POOL, Column, Row, random_value
from penstock.testing.random_queries import Relation
from penstock.testing.spark_queries import ARRAY, MAP, STRUCT
from penstock.testing.spark_questions import SparkQuestions
from tests.sql.comparison import Answer, answer_of, difference, failed
from tests.sql.shrinking import shrunk

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

QUERIES = 12
"""Of one case."""
END = 99
"""After the last row."""
Named: TypeAlias = tuple[str, int, Answer]
"""How a query was asked, its number, and the answer."""
NESTED_VALUES: dict[str, tuple[Any, ...]] = {
    ARRAY: (None, [], [1, 2], [2, None], [1, 2], [3]),
    STRUCT: (None, {"p": 1, "q": "x"}, {"p": None, "q": None}, {"p": 2, "q": "a"}),
    MAP: (None, [], [("a", 1), ("b", 2)], [("b", 2), ("a", 1)], [("a", None)]),
}
ARROW: dict[str, pa.DataType] = {
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "STRING": pa.string(),
    "BOOLEAN": pa.bool_(),
    "DOUBLE": pa.float64(),
    DECIMAL: pa.decimal128(8, 2),
    "DATE": pa.date32(),
    ARRAY: pa.list_(pa.int32()),
    STRUCT: pa.struct([("p", pa.int32()), ("q", pa.string())]),
    MAP: pa.map_(pa.string(), pa.int32()),
}
NESTED_POOL = (("l", ARRAY), ("r", STRUCT), ("m", MAP))
ORACLE = {
    **SETTINGS,
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.autoBroadcastJoinThreshold": "-1",
    "spark.sql.ui.explainMode": "simple",
}
AHEAD = 3
"""How many cases Spark may be ahead of Penstock: the two work side by side."""


@dataclass(frozen=True)
class Table:
    """Rows that come in the order of their last column, which is their time."""

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]

    def arrow(self, rows: Sequence[Row]) -> pa.Table:
        arrays = [
            pa.array([row[i] for row in rows], ARROW[column.kind])
            for i, column in enumerate(self.columns)
        ]
        return pa.Table.from_arrays(arrays, names=[column.name for column in self.columns])

    def __str__(self) -> str:
        columns = ", ".join(f"{column.name} {column.kind}" for column in self.columns)
        return f"{self.name} ({columns}): {list(self.rows)}"


@dataclass(frozen=True)
class Way:
    """How the queries of a case come to be views, and the rows into them."""

    order: tuple[int, ...]
    cuts: tuple[int, ...]
    later: frozenset[int]
    """The views that are created once the first rows have come."""
    sharing: bool
    tasks: int


@dataclass(frozen=True)
class Case:
    seed: int
    tables: tuple[Table, ...]
    queries: tuple[str, ...]
    ways: tuple[Way, ...]
    asked: frozenset[int]
    """The queries that are asked ad hoc, too."""


@dataclass
class Tally:
    queries: int = 0
    answers: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    by_spark: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        lines = [
            f"{self.queries} queries, {self.answers} answers compared, "
            f"{self.refused.total()} queries refused, {self.by_spark.total()} by Spark"
        ]
        for who, reasons in (("Penstock", self.refused), ("Spark", self.by_spark)):
            lines += [f"  {who} {count}: {reason}" for reason, count in reasons.most_common(25)]
        return "\n".join(lines)


def random_case(seed: int, count: int = QUERIES) -> Case:
    rng = Random(seed)
    tables = tuple(_table(rng, f"r{i}") for i in range(rng.randint(2, 4)))
    queries = SparkQuestions(rng, relations=[Relation(t.name, t.columns) for t in tables])
    queries.rich = rng.random() < 0.4
    texts = tuple(queries.question().text for _ in range(count))
    ways = [_way(rng, count, rng.random() < 0.7)]
    if rng.random() < 0.3:
        ways.append(_way(rng, count, not ways[0].sharing))
    asked = frozenset(i for i in range(count) if rng.random() < 0.15)
    return Case(seed, tables, texts, tuple(ways), asked)


def _table(rng: Random, name: str) -> Table:
    pool = (*POOL, *NESTED_POOL) if rng.random() < 0.5 else POOL
    chosen = rng.sample(pool, rng.randint(2, 5))
    columns = [Column(*pair) for pair in pool if pair in chosen]
    count = rng.choice((0, 1, 4, 6, 8))
    rows = [
        (*(_value(rng, column.kind) for column in columns), time) for time in range(1, count + 1)
    ]
    return Table(name, (*columns, Column("tick", "BIGINT")), tuple(rows))


def _value(rng: Random, kind: str) -> Any:
    if kind in NESTED_VALUES:
        return rng.choice(NESTED_VALUES[kind])
    return random_value(rng, kind)


def _way(rng: Random, count: int, sharing: bool) -> Way:
    order = tuple(rng.sample(range(count), count))
    cuts = tuple(sorted(rng.sample(range(2, 9), rng.choice((0, 0, 1, 2)))))
    later = frozenset(i for i in order if cuts and rng.random() < 0.2)
    return Way(order, cuts, later, sharing, rng.choice((1, 1, 1, 2)))


# --- Penstock and Spark ---------------------------------------------------------------------------


class Comparison:
    """Runs cases, each in sessions of its own."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._oracle = spark.newSession()
        for name, value in ORACLE.items():
            self._oracle.conf.set(name, value)
        self._jobs = DriverJobs(spark)
        self._analyser: Any = None

    def differences_of(
        self, cases: Iterable[Case], tally: Tally
    ) -> Iterator[tuple[Case, dict[int, str]]]:
        """The differences of each case, in their order."""
        with ThreadPoolExecutor(1) as spark:
            waiting: deque[tuple[Case, Future[list[Answer]]]] = deque()
            for case in cases:
                waiting.append((case, spark.submit(self._wanted, case)))
                if len(waiting) > AHEAD:
                    first, wanted = waiting.popleft()
                    yield first, self._compared(first, wanted.result(), tally)
            for first, wanted in waiting:
                yield first, self._compared(first, wanted.result(), tally)

    def differences(self, case: Case, tally: Tally | None = None) -> dict[int, str]:
        """What is not as Spark has it: the number of the query, and how it differs."""
        return self._compared(case, self._wanted(case), tally or Tally())

    def _compared(self, case: Case, wanted: Sequence[Answer], tally: Tally) -> dict[int, str]:
        impossible = [i for i, answer in enumerate(wanted) if answer.error]
        tally.queries += len(case.queries)
        tally.by_spark.update(_reason(wanted[i].error) for i in impossible)
        found: dict[int, str] = {}
        refused: dict[int, str] = {}
        for way in case.ways:
            for name, i, answer in self._answers(case, way, impossible):
                if answer.error and answer.known:
                    refused[i] = answer.error
                elif answer.error:
                    found.setdefault(i, f"{name}, {way}: {answer.error}")
                elif not wanted[i].error:
                    tally.answers += 1
                    if story := difference(answer, wanted[i]):
                        found.setdefault(i, f"{name}, {way}: {story}")
        tally.refused.update(_reason(refused[i]) for i in refused if not wanted[i].error)
        return found

    def _wanted(self, case: Case) -> list[Answer]:
        for table in case.tables:
            rows = self._oracle.createDataFrame(table.arrow(table.rows))
            rows.coalesce(1).createOrReplaceTempView(table.name)  # nothing has to be shuffled
        return [self._of_spark(text) for text in case.queries]

    def _of_spark(self, text: str) -> Answer:
        try:
            return answer_of(self._oracle.sql(text).toArrow())
        except Exception as error:
            return Answer(error=str(error).strip().partition("\n")[0] or type(error).__name__)

    def _answers(self, case: Case, way: Way, impossible: Sequence[int]) -> Iterator[Named]:
        """The answers of the queries as views and ad hoc; a view whose rows fail is run alone."""
        try:
            answers = self._together(case, way, impossible)
        except Exception as error:
            possible = [i for i in way.order if i not in impossible]
            if len(possible) < 2:
                answers = [("as a view", i, failed(error)) for i in possible]
            else:
                middle = len(possible) // 2
                answers = []
                for part in (possible[:middle], possible[middle:]):
                    smaller = replace(way, order=tuple(part))
                    answers += self._answers(case, smaller, ())
        yield from answers

    def _together(self, case: Case, way: Way, impossible: Sequence[int]) -> list[Named]:
        answers: list[Named] = []
        with self._session(way) as db:
            for table in case.tables:
                columns = ", ".join(f"{c.name} {c.kind}" for c in table.columns)
                db.sql(f"CREATE SOURCE {table.name} ({columns}) EVENT TIME tick")

            def create(numbers: Iterable[int]) -> list[int]:
                made = []
                for i in numbers:
                    try:
                        db.sql(f"CREATE VIEW v{i} AS {case.queries[i]}")
                        made.append(i)
                    except Exception as error:
                        answers.append(("as a view", i, failed(error)))
                return made

            possible = [i for i in way.order if i not in impossible]
            views = create(i for i in possible if i not in way.later)
            for k, (start, end) in enumerate(pairwise((0, *way.cuts, END))):
                if k == 1:
                    views += create(i for i in possible if i in way.later)
                for table in case.tables:
                    rows = [row for row in table.rows if start <= row[-1] < end]
                    if rows:
                        db.source(table.name).append(table.arrow(rows))
                    if end == END:
                        db.source(table.name).end()
                db.step()
            for i in views:
                table = read_locally(db.view(f"v{i}").committed().snapshot())
                answers.append(("as a view", i, answer_of(table)))
            for i in set(views) & case.asked:
                answers.append(("ad hoc", i, _asked(db, case.queries[i])))
            create(i for i in way.order if i in impossible)
        return answers

    @contextmanager
    def _session(self, way: Way) -> Iterator[Session]:
        with TemporaryDirectory(prefix="comparison-") as directory:
            options = Options(tasks=way.tasks, sharing=way.sharing, unbounded="allow")
            with Session(Engine(Path(directory), self._jobs, options), self._spark) as db:
                if self._analyser is None:
                    self._analyser = db.analyser
                db.__dict__["analyser"] = self._analyser  # remembers what Spark has said
                yield db


def _asked(db: Session, text: str) -> Answer:
    """As `db.sql(text)`, read in this process."""
    try:
        [query] = parse(text)
        assert isinstance(query, Query)
        answer = db.answer(Commands(db).plan(query))
        return answer_of(read_locally(answer.committed().snapshot()))
    except Exception as error:
        return failed(error)


def _reason(error: str) -> str:
    """The first sentence of a message, without what it says of one query."""
    text = error.partition("\n")[0].partition(". ")[0]
    text = re.sub(r"`[^`]*`|'[^']*'|\"[^\"]*\"", "..", text)
    return re.sub(r"\b[tcrwn]\d+\b", "_", text)[:150]


def shown(comparison: Comparison, case: Case, number: int, tries: int = 60) -> str:
    """A difference with all that is needed to see it again, its query made smaller."""

    def again(text: str) -> str:
        queries = tuple(text if i == number else q for i, q in enumerate(case.queries))
        found = comparison.differences(_only(replace(case, queries=queries), number))
        return found.get(0, "")

    def fails(text: str) -> bool:
        return bool(again(text))

    text = case.queries[number]
    if not again(text):
        return f"only beside the others: {text}"
    smallest = shrunk(text, fails, tries, dialect="spark")
    return "\n".join([*map(str, case.tables), smallest, again(smallest)])


def _only(case: Case, number: int) -> Case:
    ways = tuple(
        replace(way, order=(0,), later=frozenset({0} if number in way.later else ()))
        for way in case.ways
    )
    asked = frozenset({0} if number in case.asked else ())
    return replace(case, queries=(case.queries[number],), ways=ways, asked=asked)


def main(arguments: Sequence[str]) -> int:
    from penstock.runtime.spark import JAVA, start_spark

    parser = argparse.ArgumentParser(prog="python -m tests.sql.random_comparison")
    parser.add_argument("--count", type=int, default=1000, help="how many queries")
    parser.add_argument("--seed", type=int, default=0, help="of the first case; then one by one")
    parser.add_argument("--shrink", action="store_true", help="make queries that differ smaller")
    options = parser.parse_args(arguments)
    quick = {"spark.driver.extraJavaOptions": f"{JAVA} -XX:TieredStopAtLevel=1"}
    comparison = Comparison(start_spark("local[2]", **quick))
    tally = Tally()
    failures = 0
    started = time.perf_counter()
    seeds = range(options.seed, options.seed + -(-options.count // QUERIES))
    for case, found in comparison.differences_of(map(random_case, seeds), tally):
        seconds = time.perf_counter() - started
        print(f"{seconds:.0f} s: seed {case.seed}", file=sys.stderr, flush=True)
        for i, story in found.items():
            failures += 1
            print(f"seed {case.seed} query {i}: {case.queries[i]}\n  {story}", flush=True)
            if options.shrink:
                print(shown(comparison, case, i), flush=True)
    seconds = time.perf_counter() - started
    print(f"{tally}\n{failures} differences in {seconds:.0f} s")
    return min(failures, 1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
