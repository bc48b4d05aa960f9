"""A stream is a sequence: among rows of one time, the last one is that which arrived last.

`oracle_*` recomputes from scratch, row by row. How rows were cut into batches, how many tasks ran,
where the process was restarted and when a view was created never shows.
"""

from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.local_session import local_session

SETUP = """
CREATE SOURCE s (op STRING, k STRING, v INT, lsn INT, t INT) EVENT TIME t DELAY 100;
CREATE STREAM plain OVER s KEY (k);
CREATE STREAM cdc OVER s KEY (k) OP op;
CREATE STREAM ordered OVER s KEY (k) OP op SEQUENCE BY lsn;
"""
VIEWS = {
    "a": "SELECT k, v, t FROM plain",
    "b": "SELECT k, v, t FROM cdc",
    "c": "SELECT k, v, t FROM ordered",
    "d": "SELECT k, v, t FROM s [PARTITION BY k ROWS 2]",
    "e": "SELECT k, v, t FROM s [ROWS 3]",
    "f": "SELECT k, v, t FROM (SELECT k, v, t FROM s WHERE v > 1) [ROWS 3]",
}
END = 12
DELETES, IGNORED = ("-", "D", "delete", "-D"), ("-U",)
UPSERTS = ("+", "u", "I", "Insert", "+U")
Row = tuple[str, str, int, int, int]


def random_rows(rng: Random, count: int) -> list[Row]:
    operations = (*UPSERTS, *DELETES, *IGNORED)
    return [
        (rng.choice(operations), rng.choice("xyz"), rng.randrange(9), rng.randrange(4), t)
        for t in (rng.randrange(END) for _ in range(count))
    ]


def oracle_rows(view: str, rows: list[Row], at: int) -> list[tuple[str, int, int]]:
    """What a view holds at a time."""
    seen = [row for row in rows if row[4] <= at]
    seen.sort(key=lambda row: (row[4], row[3]) if view == "c" else (row[4],))
    if view in "def":
        groups = defaultdict(list)
        for row in seen:
            if view != "f" or row[2] > 1:
                groups[row[1] if view == "d" else ""].append(row)
        kept = [row for group in groups.values() for row in group[-2 if view == "d" else -3 :]]
    else:
        tagged = [row for row in seen if view == "a" or row[0] not in IGNORED]
        last = {row[1]: row for row in tagged}
        kept = [row for row in last.values() if view == "a" or row[0] not in DELETES]
    return sorted((k, v, t) for _, k, v, _, t in kept)


def contents(history: pa.Table, at: int) -> list[tuple[str, int, int]]:
    rows: list[Any] = history.to_pylist()
    there = [
        row
        for row in rows
        if row["valid_from"] <= at and (row["valid_to"] is None or at < row["valid_to"])
    ]
    return sorted((row["k"], row["v"], row["t"]) for row in there)


@pytest.mark.parametrize("seed", range(25))
def test_oracle_last_rows(seed: int, tmp_path: Path) -> None:
    rng = Random(seed)
    rows, missing = random_rows(rng, rng.randint(1, 60)), dict(VIEWS)
    db = opened(tmp_path, rng)
    db.sql(SETUP)
    sent = 0
    while sent < len(rows):
        for name in [name for name in missing if rng.random() < 0.2]:
            db.sql(f"CREATE VIEW {name} AS {missing.pop(name)}")
        size = rng.randint(1, 20)
        db.source("s").append(list(rows[sent : sent + size]))
        sent += size
        if rng.random() < 0.3:
            db.step()
        if rng.random() < 0.3:
            db.close()
            db = opened(tmp_path, rng)
    if rng.random() < 0.5:
        db.source("s").end()
        db.step()
    for name, query in missing.items():
        db.sql(f"CREATE VIEW {name} AS {query}")
    db.source("s").end()
    db.step()
    for name in VIEWS:
        history = db.view(name).history().toArrow()
        for at in range(END):
            assert contents(history, at) == oracle_rows(name, rows, at), (name, at)
    db.close()


def opened(directory: Path, rng: Random) -> Session:
    return local_session(directory, Options(tasks=rng.randint(1, 3)))


def test_a_delete_after_its_row_takes_it_away(tmp_path: Path) -> None:
    with local_session(tmp_path) as db:
        db.sql(SETUP + "CREATE VIEW b AS SELECT k, v, t FROM cdc")
        db.source("s").append([("+", "s", 1, 0, 5)])
        db.source("s").append([("-", "s", 1, 0, 5), ("u", "x", 9, 0, 6), ("u", "x", 2, 0, 6)])
        db.source("s").end()
        db.step()
        assert contents(db.view("b").history().toArrow(), 6) == [("x", 2, 6)]


def test_batches_of_one_source_are_one_after_the_other(tmp_path: Path) -> None:
    """Numbers of rows that come at once from several threads never repeat."""
    from concurrent.futures import ThreadPoolExecutor

    with local_session(tmp_path) as db:
        db.sql(SETUP + "CREATE VIEW e AS SELECT k, v, t FROM s [ROWS 1]")
        with ThreadPoolExecutor(4) as pool:
            batches = [[("+", "x", i, 0, 5), ("+", "x", i, 1, 5)] for i in range(20)]
            list(pool.map(db.source("s").append, batches))
        assert db.engine.source_state("s").sequence == 40
