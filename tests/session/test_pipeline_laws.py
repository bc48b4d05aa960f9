"""Whatever files a directory has seen, it is what the last one says, and that one says no more.

`python -m tests.session.test_pipeline_laws --count 1000` looks at more pairs than a test may.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import penstock
from penstock.errors import PenstockError
from penstock.runtime.options import Options
from penstock.session.changes import Drop
from penstock.session.pipeline import InFile
from penstock.session.rollout import Rollout
from penstock.sql import parse
from penstock.testing import local_session

OPTIONS = Options(tasks=2, unbounded="allow")
NAMES = ("v0", "v1", "v2", "v3", "v4")


def pipeline(rng: Random) -> list[tuple[str, str]]:
    """The names and statements of a random file; each view reads what stands before it."""
    kind, more = rng.choice(("INT", "INT", "BIGINT")), rng.choice(("", "c INT, "))
    found = [("s", f"CREATE SOURCE s (a {kind}, b STRING, {more}t INT) EVENT TIME t")]
    columns = {"s": ["a", "b", *(["c"] if more else [])]}
    if rng.random() < 0.7:
        key = rng.choice(("KEY (a)", "KEY (b)", "KEY NULL"))
        found.append(("k", f"CREATE STREAM k OVER s {key}"))
        columns["k"] = columns["s"]
    if rng.random() < 0.4:
        points = f"SELECT timepoint FROM clock WHERE timepoint % {rng.choice((2, 3))} = 0"
        found.append(("every", f"CREATE VIEW every AS {points}"))
        columns["every"] = []
    for name in rng.sample(NAMES, rng.randint(1, 5)):
        query, own = _query(rng, columns)
        found.append((name, f"CREATE VIEW {name} AS {query}"))
        columns[name] = own
    return found


def _query(rng: Random, columns: dict[str, list[str]]) -> tuple[str, list[str]]:
    names = [name for name, known in columns.items() if known]
    read, other = rng.choice(names), rng.choice(names)
    mine, limit = columns[read], rng.randrange(3)
    match rng.randrange(6):
        case 0:
            some = rng.sample(mine, rng.randint(1, len(mine)))
            return f"SELECT {', '.join(some)} FROM {read}", some
        case 1 if read not in ("s", "k"):
            return f"SELECT * FROM {read}", mine
        case 2 if "a" in mine:
            return f"SELECT {', '.join(mine)} FROM {read} WHERE a > {limit}", mine
        case 3:
            key = rng.choice(mine)
            return f"SELECT {key}, count(*) AS n FROM {read} GROUP BY {key}", [key, "n"]
        case 4 if "a" in mine and "a" in columns[other] and "every" in columns:
            return f"SELECT a FROM {read} SYNC BY every", ["a"]
        case 5 if "a" in mine and "a" in columns[other]:
            join = f"{read} AS x JOIN {other} AS y ON x.a = y.a"
            return f"SELECT x.a FROM {join}", ["a"]
    return f"SELECT DISTINCT {', '.join(mine)} FROM {read}", mine


def changed(rng: Random, before: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Another file, which has much of the one before, in some order that can be run."""
    kept = dict(before)
    found = [
        (name, kept[name] if name in kept and rng.random() < 0.5 else text)
        for name, text in pipeline(rng)
    ]
    return found if rng.random() < 0.8 else found[: rng.randint(1, len(found))]


def text_of(statements: list[tuple[str, str]]) -> str:
    return ";\n".join(text for _, text in statements)


def carried_out(db: penstock.Session, text: str) -> Rollout:
    rollout = Rollout(db, [InFile("p.sql", one) for one in parse(text)])
    rollout.check(allow_drop=True)
    for step in rollout.steps:
        rollout.carry_out(step)
    return rollout


def feed(db: penstock.Session, since: int, batch: list[tuple[Any, ...]]) -> None:
    names = db.engine.source("s").schema.names
    rows = [dict(zip(("a", "b", "t", "c"), row, strict=True)) for row in batch]
    db.source("s").append([tuple(row[name] for name in names) for row in rows])
    db.source("s").advance(since + 5)
    db.step()


def batch_of(rng: Random, since: int) -> list[tuple[Any, ...]]:
    return [(rng.randrange(4), rng.choice("xyz"), since + at, rng.randrange(3)) for at in range(5)]


def snapshots(db: penstock.Session) -> dict[str, Any]:
    return {
        name: sorted(map(str, db.view(name).snapshot().toArrow().to_pylist()))
        for name in db.engine.views
    }


def check(seed: int, folder: Path) -> bool:
    """Whether two random files could be run one after the other, and it was as it should be."""
    rng = Random(f"pipelines {seed}")
    first = pipeline(rng)
    second = changed(rng, first)
    one, other = batch_of(rng, 0), batch_of(rng, 5)
    told = f"seed {seed}\n{text_of(first)}\n--\n{text_of(second)}"
    try:
        with local_session(folder / f"{seed} anew", OPTIONS) as db:
            carried_out(db, text_of(second))
    except PenstockError:
        return False
    with local_session(folder / f"{seed} changed", OPTIONS) as db:
        try:
            carried_out(db, text_of(first))
        except PenstockError:
            return False
        feed(db, 0, one)
        try:
            rollout = carried_out(db, text_of(second))
        except PenstockError as error:
            raise AssertionError(told) from error
        lost = any(isinstance(c, Drop) and c.name == "s" for c in rollout.plan)
        assert db.plan(text_of(second), file="p.sql").is_empty, told
        assert set(db.engine.definitions) == {name for name, _ in second}, told
        assert db.engine.manifest.declared.keys() == db.engine.definitions.keys(), told
        feed(db, 5, other)
        found = snapshots(db)
        assert db.plan(text_of(second), file="p.sql").is_empty, told
    with local_session(folder / f"{seed} anew", OPTIONS) as db:
        if not lost:
            had = "c" in db.engine.source("s").schema.names and ("c INT" in first[0][1])
            feed(db, 0, one if had else [(a, b, t, None) for a, b, t, _ in one])
        feed(db, 5, other)
        expected = snapshots(db)
    assert found == expected, told
    return True


def test_a_directory_is_what_the_last_file_says(tmp_path: Path) -> None:
    compared = sum(check(seed, tmp_path) for seed in range(40))
    assert compared >= 20


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    compared = 0
    for seed in range(given.seed, given.seed + given.count):
        with tempfile.TemporaryDirectory(prefix="pipelines-") as folder:
            compared += check(seed, Path(folder))
    print(f"{compared} of {given.count} pairs of files compared")


if __name__ == "__main__":
    main()
