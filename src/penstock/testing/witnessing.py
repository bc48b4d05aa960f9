"""Watch the engine's state grow on rows that no evaluation of a query can forget.

`python -m penstock.testing.witnessing "SELECT DISTINCT a FROM s" "s: a INT, b INT"` prints how many
rows came and how many are kept. Runs in this process, without Spark.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa

from penstock.algebra.plan import Node
from penstock.errors import PlanError
from penstock.memory.api import context_of
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.sql import parse
from penstock.sql import statements as s
from penstock.sql.binding.local_analyser import LocalAnalyser
from penstock.testing.local_session import local_session
from penstock.testing.prefixes import Prefix, Row, prefix_of

STATE = ("lane ", "view ", "base ")
"""How the names of state tables begin that hold input yet to be read, and answers."""


def witness_of(sql: str, sources: Mapping[str, str], size: int) -> Prefix:
    """Rows that a query of unbounded memory must all remember, and rows that show it did."""
    scene = context_of(sources)
    found = prefix_of(_plan(sql, sources), scene.declared, size)
    if found is None:
        raise PlanError("There is no witness: the query is bounded, or the theory cannot tell.")
    return found


def rows_kept(
    sql: str, sources: Mapping[str, str], rows: Sequence[Row], steps: int = 8
) -> list[tuple[int, int]]:
    """How many rows came, and how many the operators of a query keep, after each of some steps."""
    options = Options(tasks=1, unbounded="allow", keep_input=False)
    with (
        tempfile.TemporaryDirectory() as directory,
        local_session(Path(directory), options) as db,
    ):
        db.__dict__["analyser"] = LocalAnalyser()
        for name, columns in sources.items():
            db.sql(f"CREATE SOURCE {name} ({columns}, ts TIMESTAMP) EVENT TIME ts")
        db.sql(f"CREATE VIEW watched AS {sql}")
        return list(_fed(db, rows, steps))


def _fed(db: Session, rows: Sequence[Row], steps: int) -> Iterator[tuple[int, int]]:
    start = datetime(2025, 1, 1, tzinfo=UTC)
    for step in range(steps):
        first, last = (len(rows) * n // steps for n in (step, step + 1))
        for name, source in db.engine.sources.items():
            found = [
                {**row.values, "ts": start + timedelta(seconds=i)}
                for i, row in enumerate(rows[first:last], start=first)
                if row.source == name
            ]
            db.source(name).append(pa.Table.from_pylist(found, schema=source.schema))
            db.source(name).advance(start + timedelta(seconds=last))
        db.step()
        yield last, _kept(db)


def _kept(db: Session) -> int:
    state_tables = db.engine.manifest.state_tables.items()
    refs = [
        ref
        for name, state_table in state_tables
        if not name.startswith(STATE)
        for ref in state_table.refs
    ]
    return sum(ref.statistics.rows for ref in refs)


def _plan(sql: str, sources: Mapping[str, str]) -> Node:
    (statement,) = parse(sql)
    plan = context_of(sources).plan(statement) if isinstance(statement, s.Query) else None
    if plan is None:
        raise PlanError("Only a query has a witness. Write a SELECT.")
    return plan


def main() -> None:
    sql, *listed = sys.argv[1:]
    sources = {name: columns for name, _, columns in (each.partition(":") for each in listed)}
    for came, kept in rows_kept(sql, sources, witness_of(sql, sources, 4000).items):
        print(f"{came:>8,} rows came, {kept:>8,} are kept")


if __name__ == "__main__":
    main()
