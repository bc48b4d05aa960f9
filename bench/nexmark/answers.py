"""The right answers: DuckDB's, to queries of its own over the whole files."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from bench.nexmark.penstock_run import HERE, SIDE_INPUT, published

TIMES = {"person": ("dateTime",), "auction": ("dateTime", "expires"), "bid": ("dateTime",)}


def database(data: Path) -> duckdb.DuckDBPyConnection:
    """The files as tables; times without a zone, so that functions of DuckDB take them as UTC."""
    duck = duckdb.connect()
    duck.execute("SET TimeZone = 'UTC'")
    for kind, times in TIMES.items():
        plain = ", ".join(f"CAST({time} AS TIMESTAMP) AS {time}" for time in times)
        files = data / kind / "*.parquet"
        duck.execute(f"CREATE TABLE {kind} AS SELECT * REPLACE ({plain}) FROM '{files}'")
    duck.register("side_input", SIDE_INPUT)
    return duck


def expected(duck: duckdb.DuckDBPyConnection, query: str) -> Counter[tuple[Any, ...]]:
    name = f"{published(query)}.sql"
    own = HERE / "expected" / name
    text = (own if own.exists() else HERE / "queries" / name).read_text()
    return Counter(tuple(map(_plain, row)) for row in duck.execute(text).fetchall())


def multiset(rows: pa.Table) -> Counter[tuple[Any, ...]]:
    columns = [[_plain(value) for value in column.to_pylist()] for column in rows.columns]
    return Counter(zip(*columns, strict=True))


def _plain(value: Any) -> Any:
    """Values that are equal whatever type an engine gives them."""
    match value:
        case datetime():
            return value.replace(tzinfo=None)
        case float() | Decimal():
            return round(float(value), 6)
        case bool():
            return value
        case int():
            return float(value)
    return value
