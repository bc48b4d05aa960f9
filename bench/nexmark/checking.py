"""The answers of engines, compared with those of DuckDB."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb

from bench.nexmark.answers import database, expected, multiset
from bench.nexmark.comparing import say
from bench.nexmark.engines import SPARK, Engine
from bench.nexmark.generate import Settings
from bench.nexmark.measuring import run
from bench.nexmark.penstock_run import define, feed
from penstock.runtime.spark import start_spark
from penstock.session import connect

Rows = Counter[tuple[Any, ...]]
MICROSECONDS = 1e6
FIRST_TIME = 1e15  # no other number is as large
CHECKED = Settings(rate=1000)  # Flink's event times are whole milliseconds, and so are these


def check_penstock(queries: Iterable[str], data: Path) -> list[str]:
    """The queries whose answers are not DuckDB's."""
    duck, spark = database(data), start_spark("local[2]")
    wrong = []
    for query in queries:
        with connect(None, spark, keep_input=False, unbounded="allow") as db:
            feed(db, define(db, query), data)
            found = multiset(db.view("answer").snapshot().toArrow())
        if not same(query, found, expected(duck, query)):
            wrong.append(query)
    return wrong


def check_peer(
    engine: Engine, queries: Iterable[str], data: Path, warm: Path, timeout: float
) -> list[str]:
    """The queries that failed, or whose answers are not DuckDB's."""
    duck, wrong = database(data), []
    wanted = [q for q in queries if q not in engine.cannot and q not in engine.partly]
    with tempfile.TemporaryDirectory(prefix="nexmark-") as directory:
        folder = Path(directory)
        more = ("--answers", str(folder))
        run(engine, ",".join(wanted), data, warm, timeout, folder, *more)
        for query in wanted:
            told = json.loads((folder / f"{query}.json").read_text())
            if "error" in told:
                say(f"{query:4} failed: {told['error'][:300]}")
                wrong.append(query)
            elif not same(
                query,
                as_numbers(told["rows"]),
                in_microseconds(duck, query),
                unfinished=engine is SPARK,
            ):
                wrong.append(query)
    return wrong


def same(query: str, found: Rows, wanted: Rows, unfinished: bool = False) -> bool:
    """An engine that cannot be told that streams are over leaves some of its last rows unsaid."""
    missing, extra = wanted - found, found - wanted
    if not extra and (not missing or (unfinished and found)):
        short = f", {missing.total():,} not yet out" if missing else ""
        say(f"{query:4} right: {found.total():,} rows{short}")
        return True
    say(
        f"{query:4} wrong: {found.total():,} rows of {wanted.total():,}; {missing.total():,} are "
        f"missing, as {next(iter(missing), None)}, and {extra.total():,} too many, as "
        f"{next(iter(extra), None)}"
    )
    return False


def in_microseconds(duck: duckdb.DuckDBPyConnection, query: str) -> Rows:
    return as_numbers(
        [
            [
                round(v.replace(tzinfo=UTC).timestamp() * MICROSECONDS)
                if isinstance(v, datetime)
                else v
                for v in row
            ]
            for row in expected(duck, query).elements()
        ]
    )


def as_numbers(rows: list[list[Any]]) -> Rows:
    return Counter(tuple(map(_number, row)) for row in rows)


def _number(value: Any) -> Any:
    """Times to the millisecond: Flink has no finer ones."""
    if isinstance(value, int | float):
        return value // 1000 * 1000.0 if value > FIRST_TIME else round(float(value), 6)
    return value
