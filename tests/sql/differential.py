"""Random queries as views of a session, held against DuckDB at many times.

    python -m tests.sql.differential 1000 1100      # sessions of these seeds, 15 views each

Penstock is given the changes in steps and then asked for the history of each view, once; DuckDB is
given the inputs as they are at a time, and asked each query again.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa

from penstock.runtime.engine import Engine
from penstock.runtime.jobs import Jobs
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.driver_jobs import DriverJobs
from penstock.testing.engine_runs import read_locally
from penstock.testing.random_inputs import (
    DECIMAL,
    HORIZON,
    UNBOUNDED,
    AppendOnly,
    Column,
    Input,
    Keyed,
    Row,
    Table,
    random_inputs,
)
from penstock.testing.random_queries import (
    Queries,
    Query,
    Relation,
    for_penstock,
    relation_of,
    windowed_name,
)
from tests.sql.shrinking import shrunk

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ARROW = {
    "INT": pa.int32(),
    "BIGINT": pa.int64(),
    "STRING": pa.string(),
    "BOOLEAN": pa.bool_(),
    "DOUBLE": pa.float64(),
    DECIMAL: pa.decimal128(8, 2),
    "DATE": pa.date32(),
}
VIEWS = 15
END = HORIZON + 6
"""After this, nothing changes any more."""


@dataclass(frozen=True)
class Case:
    """The inputs of a session and its views, of which later ones may read earlier ones."""

    seed: int
    inputs: Sequence[Input]
    views: dict[str, str]
    times: Sequence[int]
    cuts: Sequence[int]
    tasks: int = 1

    def with_views(self, views: dict[str, str]) -> Case:
        return replace(self, views=views)

    def __str__(self) -> str:
        lines = [f"seed {self.seed}, steps to {list(self.cuts)}"]
        for source in self.inputs:
            columns = ", ".join(f"{c.name} {c.kind}" for c in source.columns)
            lines.append(f"{type(source).__name__} {source.name} ({columns})")
            rows = source.changes if isinstance(source, Keyed) else source.rows
            lines += [f"    {row}" for row in rows]
        return "\n".join([*lines, *(f"{name}: {text}" for name, text in self.views.items())])


@dataclass(frozen=True)
class Difference:
    view: str
    story: str


def random_case(seed: int, views: int = VIEWS) -> Case:
    rng = Random(seed)
    inputs = random_inputs(rng)
    queries = Queries(rng, relations=[relation_of(source) for source in inputs])
    queries.rich = rng.random() < 0.25
    made: dict[str, str] = {}
    for i in range(views):
        query: Query = queries.query(rng.choice((1, 1, 2)))
        made[f"v{i}"] = query.text
        if rng.random() < 0.1:
            queries.relations.append(Relation(f"v{i}", query.columns))
    times = sorted(rng.sample(range(2, END), 5))
    cuts = [*sorted(rng.sample(range(1, HORIZON), rng.choice((0, 0, 1, 1, 2)))), END]
    return Case(seed, inputs, made, times, cuts, tasks=rng.choice((1, 1, 1, 2)))


# --- Penstock -------------------------------------------------------------------------------------


class Penstock:
    """Runs cases, each in a session of its own."""

    def __init__(self, spark: SparkSession, jobs: Jobs | None = None) -> None:
        self._spark = spark
        self._jobs = jobs or DriverJobs(spark)
        self._analyser: Any = None

    @contextmanager
    def _session(self, tasks: int) -> Iterator[Session]:
        with TemporaryDirectory(prefix="differential-") as directory:
            engine = Engine(Path(directory), self._jobs, Options(tasks=tasks, unbounded="allow"))
            with Session(engine, self._spark) as db:
                if self._analyser is None:
                    self._analyser = db.analyser
                db.__dict__["analyser"] = self._analyser  # remembers what Spark has said
                yield db

    def results(self, case: Case) -> tuple[dict[str, list[list[Row]]], dict[str, str]]:
        """The rows of each view at each time, and why a view could not be created."""
        with self._session(case.tasks) as db:
            for source in case.inputs:
                _declare(db, source)
            refused = {}
            for name, text in case.views.items():
                try:
                    db.sql(f"CREATE VIEW {name} AS {for_penstock(text)}")
                except Exception as error:
                    refused[name] = f"{type(error).__name__}: {error}"
            w0 = 0
            for w1 in case.cuts:
                for source in case.inputs:
                    _feed(db, source, w0, w1)
                db.step()
                w0 = w1
            made = [name for name in case.views if name not in refused]
            return {name: _at(db, name, case.times) for name in made}, refused


def _arrow(columns: Sequence[Column], rows: Sequence[Row]) -> pa.Table:
    arrays = [pa.array([row[i] for row in rows], ARROW[c.kind]) for i, c in enumerate(columns)]
    return pa.Table.from_arrays(arrays, names=[column.name for column in columns])


def _declare(db: Session, source: Input) -> None:
    columns = ", ".join(f"{c.name} {c.kind}" for c in source.columns)
    match source:
        case Table():
            db.create_table(source.name, _arrow(source.columns, source.rows))
        case AppendOnly():
            db.sql(f"CREATE SOURCE {source.name} ({columns}) EVENT TIME tick")
        case Keyed():
            db.sql(f"CREATE SOURCE {source.name}_changes (op STRING, {columns}) EVENT TIME tick")
            key = ", ".join(c.name for c in source.columns[: source.keys])
            db.sql(f"CREATE STREAM {source.name} OVER {source.name}_changes KEY ({key}) OP op")


def _feed(db: Session, source: Input, w0: int, w1: int) -> None:
    match source:
        case AppendOnly():
            rows = [row for row in source.rows if w0 <= row[-1] < w1]
            db.source(source.name).append(_arrow(source.columns, rows))
            db.source(source.name).advance(w1)
        case Keyed():
            changes = [change for change in source.changes if w0 <= change[1][-1] < w1]
            rows = [(op, *row) for op, row in changes]
            columns = (Column("op", "STRING"), *source.columns)
            db.source(f"{source.name}_changes").append(_arrow(columns, rows))
            db.source(f"{source.name}_changes").advance(w1)


def _at(db: Session, view: str, times: Sequence[int]) -> list[list[Row]]:
    history = read_locally(db.view(view).committed().history())
    rows = list(zip(*(column.to_pylist() for column in history.columns), strict=True))
    return [
        [
            row[:-2]
            for row in rows
            if (row[-2] is None or row[-2] <= t) and (row[-1] is None or t < row[-1])
        ]
        for t in times
    ]


# --- DuckDB ---------------------------------------------------------------------------------------


BUG = "BindBuiltinScalarFunction did not return a BoundFunctionExpression"
"""What DuckDB 2.0 says of `CASE WHEN s IS NULL THEN 'b' END >= s`, and the like."""


def expected(case: Case) -> dict[str, list[list[Row]]]:
    """The rows of each view at each time, without the views that DuckDB cannot plan."""
    found: dict[str, list[list[Row]]] = {name: [] for name in case.views}
    with duckdb.connect() as duck:
        duck.execute("SET default_null_order = 'nulls_first_on_asc_last_on_desc'")
        duck.execute("SET threads = 1")
        for i, t in enumerate(case.times):
            _fill(duck, case, t)
            for name in list(found):
                if i == 0:
                    duck.execute(f"CREATE VIEW {name} AS {case.views[name]}")
                try:
                    found[name].append(duck.execute(f"SELECT * FROM {name}").fetchall())
                except duckdb.InvalidInputException as error:
                    if BUG not in str(error):
                        raise
                    del found[name]
    return found


def _fill(duck: duckdb.DuckDBPyConnection, case: Case, t: int) -> None:
    """Put the inputs, and the windows on them that are used, as they are at a time into tables."""
    for source in case.inputs:
        for window in source.windows or (UNBOUNDED,):
            name = windowed_name(source.name, window)
            if any(f"{name} AS " in text for text in case.views.values()):
                duck.register("rows_now", _arrow(source.columns, source.at(t, window)))
                duck.execute(f"CREATE OR REPLACE TABLE {name} AS SELECT * FROM rows_now")
                duck.unregister("rows_now")


# --- comparing ------------------------------------------------------------------------------------


def differences(penstock: Penstock, case: Case) -> list[Difference]:
    """Where the two do not agree; a view whose failure hides the others is run on its own."""
    wanted = expected(case)
    try:
        found, refused = penstock.results(case)
    except Exception as error:
        parts = _halves(case)
        if any(part.views.keys() == case.views.keys() for part in parts):
            return [Difference(list(case.views)[-1], f"{type(error).__name__}: {error}")]
        return [d for part in parts for d in differences(penstock, part)]
    return [
        *(Difference(name, why) for name, why in refused.items()),
        *(
            Difference(name, story)
            for name in found
            if name in wanted
            if (story := _compared(found[name], wanted[name], case.times))
        ),
    ]


def _halves(case: Case) -> list[Case]:
    """The views in two parts, each with the views that it reads."""
    names = list(case.views)
    middle = (len(names) + 1) // 2
    if any(f"v{i} " in text for i in range(VIEWS) for text in case.views.values()):
        return [case.with_views(needed(case, name)) for name in names]
    parts = (names[:middle], names[middle:])
    return [case.with_views({name: case.views[name] for name in part}) for part in parts]


def needed(case: Case, name: str) -> dict[str, str]:
    """A view and the views it reads."""
    read = {other for other in case.views if f"{other} AS " in case.views[name]}
    found = {view: text for other in read for view, text in needed(case, other).items()}
    return {**found, name: case.views[name]}


def _compared(
    found: Sequence[Sequence[Row]], wanted: Sequence[Sequence[Row]], times: Sequence[int]
) -> str:
    for t, mine, other in zip(times, found, wanted, strict=True):
        a, c = (Counter(map(_normal, rows)) for rows in (mine, other))
        if a != c:
            return f"at {t}: {list((a - c).elements())[:5]}, not {list((c - a).elements())[:5]}"
    return ""


def _normal(row: Row) -> Row:
    """Floats computed in another order may differ in the last digits."""
    return tuple(_normal_value(value) for value in row)


def _normal_value(value: Any) -> Any:
    if isinstance(value, float):
        return round(float(f"{value:.9g}"), 9) + 0.0
    return value.normalize() if isinstance(value, Decimal) else value


def shown(penstock: Penstock, case: Case, difference: Difference) -> str:
    """A difference with all that is needed to see it again, its query made smaller."""
    alone = case.with_views(needed(case, difference.view))

    def again(text: str) -> str | None:
        smaller = alone.with_views({**alone.views, difference.view: text})
        try:
            found = differences(penstock, smaller)
        except duckdb.Error:
            return None
        mine = [d.story for d in found if d.view == difference.view]
        return mine[0] if mine else None

    def fails(text: str) -> bool:
        story = again(text)
        return story is not None and _kind(story) == _kind(difference.story)

    smallest = shrunk(alone.views[difference.view], fails, tries=100)
    rest = alone.with_views({**alone.views, difference.view: smallest})
    return f"{rest}\n{difference.view}: {again(smallest)}"


def _kind(story: str) -> str:
    """Whether rows differ, or which error it is."""
    return "rows" if story.startswith("at ") else story.split(":")[0]


def main(first: int, last: int) -> None:
    from penstock.runtime.spark import start_spark

    penstock = Penstock(start_spark("local[2]"))
    queries = failed = 0
    for seed in range(first, last):
        started = time.perf_counter()
        try:
            case = random_case(seed)
            found = differences(penstock, case)
        except Exception as error:
            print(f"seed {seed}: {type(error).__name__}: {error}", flush=True)
            continue
        queries, failed = queries + len(case.views), failed + len(found)
        for difference in found:
            query = case.views[difference.view]
            print(f"seed {seed} {difference.view}: {difference.story}\n  {query}", flush=True)
        seconds = time.perf_counter() - started
        print(f"seed {seed}: {seconds:.1f} s; {failed} of {queries} queries", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
