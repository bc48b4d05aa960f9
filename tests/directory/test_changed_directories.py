"""What is done to whole directories, and what changes definitions, do not get in each other's way.

    python -m tests.directory.test_changed_directories --count 100 --seed 1

Law: whatever was replaced, renamed, altered, backed up, restored, verified and opened again on the
way, views are those of a pipeline that had the last definitions from the beginning, sinks have all
changes once, and no batch is received twice.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pytest

import penstock
from penstock.algebra import evaluate
from penstock.directory.state_tables import Defined, references
from penstock.errors import DivisionByZeroError, PlanError, StateError
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.state import compaction
from penstock.state.log import read_manifest
from penstock.testing.local_session import local_session
from tests.faults.damages import flip, settings
from tests.session.test_pipeline import carried_out, told

QUERIES = (
    "SELECT k, count(*) AS n FROM s [RANGE 10] GROUP BY k",
    "SELECT k, sum(x) AS n FROM s GROUP BY k",
    "SELECT k, max(x) AS n FROM s [FIXED 6] WHERE x > 2 GROUP BY k",
    "SELECT k, x AS n FROM s [RANGE 6]",
    "SELECT k, n FROM other WHERE n > 1",
)
READERS = (
    "SELECT n, count(*) AS m FROM {v} GROUP BY n",
    "SELECT n, max(k) AS m FROM {v} WHERE k > 0 GROUP BY n",
)
FAILING = "SELECT k, 10 % sum(x) AS q FROM s [RANGE 4] GROUP BY k"
HARMLESS = "SELECT k, 10 % (2 * sum(x) + 1) AS q FROM s [RANGE 4] GROUP BY k"
SPOILED = {
    "early": "SELECT k, 10 - x AS q FROM s [RANGE 9]",
    "after": "SELECT k, 10 - sum(x) AS q FROM s GROUP BY k",
}
OTHER = "SELECT k, count(*) AS n FROM s GROUP BY k"
COLUMNS = ("c STRING", "d INT", "e DOUBLE")
HAPPENINGS = (
    *("replace", "reader", "rename", "column", "type", "fail", "resume"),
    *("spoil", "mend", "restore", "reopen", "garbage", "away", "sound"),
)
STEPS = 24


def opened(path: Path, **options: Any) -> Session:
    return local_session(path, Options(**{"tasks": 2, "unbounded": "allow", **options}))


def rows(frame: Any) -> list[tuple[Any, ...]]:
    table = frame.toArrow()
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)


def answers(db: Session) -> dict[str, Any]:
    views = {name: db.view(name) for name in db.engine.views}
    found: dict[str, Any] = {
        n: [rows(v.snapshot()), rows(v.changes()), rows(v.history())] for n, v in views.items()
    }
    for name in db.engine.sources:
        found[f"late {name}"] = rows(db.source(name).late())
        found[f"rejected {name}"] = [row[:4] for row in rows(db.source(name).rejected())]
    return found


class Follower:
    """A sink that applies the changes of a view, and may be away when a directory is opened."""

    def __init__(self, view: str, key: str) -> None:
        self.name, self.view, self._key = f"of {view}", view, key
        self.answer: Counter[tuple[Any, ...]] = Counter()
        self.versions: list[int] = []
        self.there = False

    def come(self, db: Session) -> None:
        self.there = True
        db.view(self.view).sink(self._deliver, name=self.name)

    def _deliver(self, frame: Any, version: int) -> None:
        self.versions.append(version)
        table = frame.toArrow()
        names = table.schema.names[1:-1]
        place = names.index(self._key)
        changes = [
            (row["ts"], "-u+".index(row["op"]), tuple(row[name] for name in names))
            for row in table.to_pylist()
        ]
        for _, op, row in sorted(changes, key=lambda each: each[:2]):
            if op == 1:
                self.answer.subtract([old for old in self.answer if old[place] == row[place]])
            self.answer.update([row]) if op else self.answer.subtract([row])
            self.answer = +self.answer

    def check(self, db: Session) -> None:
        if self.there:
            found = sorted(self.answer.elements(), key=repr)
            assert found == rows(db.view(self.view).snapshot()), self.view
            assert self.versions == sorted(set(self.versions)), self.view


class Spoiled:
    """A function that fails for some values, for as long as it is told to."""

    def __init__(self, of: Any) -> None:
        self.there, self.of = False, of

    def __call__(self, a: pa.Array, b: pa.Array) -> pa.Array:
        if self.there and {5, 6, 7} & {*b.to_pylist()}:
            raise ZeroDivisionError
        return self.of(a, b)


class Life:
    """A directory to which all of it happens, in an order that a seed decides."""

    def __init__(self, scratch: Path, seed: int, spoiled: Spoiled) -> None:
        self.scratch, self.rng, self.spoiled = scratch, Random(seed), spoiled
        self.path = scratch / "state"
        self.columns, self.wide = 0, False
        self.v, self.queries = "v", {"v": QUERIES[0], "w": READERS[0], "failing": FAILING}
        self.sent: list[list[tuple[Any, ...]]] = []
        self.done: list[str] = []
        self.copies = 0
        self.retention = self.rng.choice([None, None, 6])
        self.followers = [Follower("v", "k"), Follower("w", "n")]
        self.db = self._opened(tasks=2)
        self.db.sql("CREATE SOURCE s (k INT, x INT, t INT) EVENT TIME t DELAY 2")
        self.db.sql(f"CREATE VIEW other AS {OTHER}; CREATE VIEW star AS SELECT * FROM s")
        for name, query in (self.queries | SPOILED).items():
            self.db.sql(f"CREATE VIEW {name} AS {query.format(v='v')}")
        for one in self.followers:
            one.come(self.db)

    def _opened(self, tasks: int) -> Session:
        return opened(self.path, tasks=tasks, grace=0.0, retention=self.retention)

    def live(self, steps: int) -> None:
        for step in range(steps):
            self.send(step)
            name = self.rng.choice(HAPPENINGS)
            self.done.append(name)
            getattr(self, name)()
            for one in self.followers:
                one.check(self.db)
        self.back()

    def send(self, step: int) -> None:
        rng = self.rng
        batch: list[tuple[Any, ...]] = []
        for _ in range(rng.randrange(1, 6)):
            x = 2**40 if self.wide and rng.random() < 0.3 else rng.randrange(0, 9)
            row = (rng.randrange(4), x, 2 * step + rng.randrange(-3, 2))
            more = (rng.choice(["a", None]), rng.randrange(3), 0.5)[: rng.randint(0, self.columns)]
            batch.append(row + more)
        batch.append((9, "bad", 2 * step))
        found = self.db.source("s").append(batch, batch=f"p/{step}")
        again = self.db.source("s").append(batch, batch=f"p/{step}")
        assert found["rejected"] == again["duplicate"] == 1, again
        self.sent.append(batch)
        self.db.step()

    # --- what happens ---------------------------------------------------------------------------

    def replace(self) -> None:
        self.queries["v"] = self.rng.choice(QUERIES)
        self.db.sql(f"CREATE OR REPLACE VIEW `{self.v}` AS {self.queries['v']}")

    def reader(self) -> None:
        self.queries["w"] = self.rng.choice(READERS)
        query = self.queries["w"].format(v=f"`{self.v}`")
        self.db.sql(f"CREATE OR REPLACE VIEW w AS {query}")

    def rename(self) -> None:
        to = {"v": "other name", "other name": "v"}[self.v]
        self.db.sql(f"ALTER VIEW `{self.v}` RENAME TO `{to}`")
        self.followers[0].view = to
        self.v = to

    def column(self) -> None:
        if self.columns < len(COLUMNS):
            self.db.sql(f"ALTER SOURCE s ADD COLUMN {COLUMNS[self.columns]}")
            self.columns += 1
            name = COLUMNS[self.columns - 1].split()[0]
            self.db.sql(f"CREATE VIEW of_{name} AS SELECT k, {name} FROM s")

    def type(self) -> None:
        self.wide |= self._fits(
            "ALTER SOURCE s ALTER COLUMN x TYPE BIGINT", "which are built together"
        )

    def fail(self) -> None:
        query, who = self.rng.choice([FAILING, HARMLESS]), "view 'failing' fails on the rows"
        if self._fits(f"CREATE OR REPLACE VIEW failing AS {query}", who):
            self.queries["failing"] = query

    def _fits(self, statement: str, who: str) -> bool:
        """Whether a change can be made of the rows so far; where not, all stays as it was."""
        before = answers(self.db)
        try:
            self.db.sql(statement)
        except DivisionByZeroError as error:
            found = str(error)
        else:
            return True
        assert who in found
        assert "failing" in found
        assert answers(self.db) == before
        return False

    def spoil(self) -> None:
        self.spoiled.there = True

    def mend(self) -> None:
        self.spoiled.there = False
        for name in self.db.engine.manifest.failures.keys() & SPOILED.keys():
            self.db.sql(f"ALTER VIEW {name} RESUME")

    def resume(self) -> None:
        if "failing" in self.db.engine.manifest.failures:
            with pytest.raises(DivisionByZeroError):
                self.db.sql("ALTER VIEW failing RESUME")

    def garbage(self) -> None:
        self.db.engine.collect_garbage()
        files = {path.stem for path in self.db.engine.runs.glob("*.arrow")}
        assert files == self.db.engine.manifest.segments()

    def reopen(self) -> None:
        self.db.close()
        self.db = self._opened(tasks=self.rng.choice([1, 2, 3]))
        for one in self.followers:
            if one.there:
                one.come(self.db)

    def away(self) -> None:
        for one in self.followers:
            one.there = self.rng.random() < 0.4
        self.reopen()

    def back(self) -> None:
        self.mend()
        for one in self.followers:
            one.there = True
        self.reopen()
        for one in self.followers:
            one.check(self.db)

    def sound(self) -> None:
        found = penstock.verify(self.path)
        assert found.is_whole, found.problems
        assert not penstock.upgrade(self.path, dry_run=True).is_needed
        refs = {ref for _, ref, _ in references(self.db.engine.manifest)}
        assert {ref.segment for ref in refs} == self.db.engine.manifest.segments()
        assert found.runs == len(refs)

    def restore(self) -> None:
        """The copy goes on in the place of the original."""
        self.sound()
        before = answers(self.db)
        self.copies += 1
        to = self.scratch / f"restored {self.copies}"
        penstock.backup(self.path, self.scratch / f"backup {self.copies}", self.rng.random() < 0.5)
        penstock.restore(self.scratch / f"backup {self.copies}", to)
        self.path = to
        self.reopen()
        assert answers(self.db) == before
        self.sound()

    # --- what it is to be -----------------------------------------------------------------------

    def check(self) -> None:
        """It is what it would be with the last definitions from the beginning."""
        columns = ["k INT", f"x {'BIGINT' if self.wide else 'INT'}", "t INT"]
        more = COLUMNS[: self.columns]
        with opened(self.scratch / "plain") as plain:
            plain.sql(f"CREATE SOURCE s ({', '.join([*columns, *more])}) EVENT TIME t DELAY 2")
            plain.sql(f"CREATE VIEW other AS {OTHER}; CREATE VIEW star AS SELECT k, x, t FROM s")
            for name, query in (self.queries | SPOILED).items():
                to, read = self.v if name == "v" else name, f"`{self.v}`"
                plain.sql(f"CREATE VIEW `{to}` AS {query.format(v=read)}")
            for name in (one.split()[0] for one in more):
                plain.sql(f"CREATE VIEW of_{name} AS SELECT k, {name} FROM s")
            width = len(columns) + len(more)
            for batch in self.sent:
                plain.source("s").append([(*row, *[None] * (width - len(row))) for row in batch])
                plain.step()
            found, right = answers(self.db), answers(plain)
            for each in (found, right):  # of a record, the columns that there were are told
                each["rejected s"] = len(each["rejected s"])
            failed = self.db.engine.manifest.failures
            assert failed.keys() == plain.engine.manifest.failures.keys()
            if self.retention is not None:  # what is still known of the past may differ
                for each in (found, right):
                    each |= {name: each[name][0] for name in self.db.engine.views}
            assert found == right
        manifest = self.db.engine.manifest
        assert manifest.state_tables.keys() <= Defined.by(manifest).specs(manifest).keys()


def lived(scratch: Path, seed: int, steps: int = STEPS) -> Life:
    """A life that went well."""
    minus = evaluate._FUNCTIONS["-"]
    spoiled = Spoiled(minus)
    with settings(), patch.object(compaction, "FANS", (2, 4)):
        life = Life(scratch, seed, spoiled)
        evaluate._FUNCTIONS["-"] = spoiled
        try:
            life.live(steps)
            life.check()
            life.sound()
        except Exception as error:
            error.add_note(f"seed {seed}: {' '.join(life.done)}")
            raise
        finally:
            evaluate._FUNCTIONS["-"] = minus
            life.db.close()
    return life


@pytest.mark.parametrize("seed", [1, 5])
def test_oracle_a_directory_to_which_everything_happens(seed: int, tmp_path: Path) -> None:
    lived(tmp_path, seed, 14)


@pytest.fixture
def held_up(tmp_path: Path) -> Path:
    """A directory of a pipeline file whose sink is due changes of a view that was replaced."""
    with opened(tmp_path / "state") as db:
        carried_out(db, FILE)
        db.view("v").sink(lambda frame, version: None, name="mine")
    with opened(tmp_path / "state") as db:
        for step in range(4):
            db.source("s").append([(step, 2, step)], batch=f"p/{step}")
            db.step()
        carried_out(db, FILE.replace("count(*) AS n", "sum(x) AS n"))
        db.engine.collect_garbage()
    return tmp_path / "state"


FILE = """
CREATE SOURCE s (k INT, x INT, t INT) EVENT TIME t;
CREATE VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k;
CREATE VIEW w AS SELECT n, count(*) AS m FROM v GROUP BY n;
"""


def test_what_a_sink_is_due_is_looked_at_too(held_up: Path, tmp_path: Path) -> None:
    manifest = read_manifest(held_up / "log")
    mine = [ref for name, ref, _ in references(manifest) if name.startswith("due 'mine'")]
    others = {ref for name, ref, _ in references(manifest) if not name.startswith("due ")}
    assert mine
    assert not others & {*mine}
    for ref in mine:
        path = held_up / "runs" / f"{ref.segment}.arrow"
        flip(path, ref.rows.offset + 100)
        found = penstock.verify(held_up).problems
        assert {one.file for one in found} == {path}
        with pytest.raises(StateError) as error:
            penstock.backup(held_up, tmp_path / "backup")
        assert error.value.path == path
        flip(path, ref.rows.offset + 100)
    assert penstock.verify(held_up).is_whole


def test_a_pipeline_file_and_a_directory_that_was_restored(held_up: Path, tmp_path: Path) -> None:
    penstock.backup(held_up, tmp_path / "backup")
    penstock.restore(tmp_path / "backup", tmp_path / "restored")
    now = FILE.replace("count(*) AS n", "sum(x) AS n")
    wider = now.replace("x INT", "x BIGINT").replace("t INT", "t INT, c STRING")
    with opened(tmp_path / "restored") as db:
        source = db.source("s")
        assert source.append([(9, 9, 9)], batch="p/3") == {
            "accepted": 0,
            "late": 0,
            "duplicate": 1,
        }
        assert carried_out(db, now).is_empty
        assert told(carried_out(db, wider))[:2] == ["alter s", "alter s"]
        assert carried_out(db, wider).is_empty
        assert source.append([(9, 9, 9)], batch="p/3")["duplicate"] == 1
        assert source.append([(9, 2**40, 9, "c")], batch="p/4") == {"accepted": 1, "late": 0}
        db.sql("ALTER SOURCE s ADD COLUMN d INT; ALTER VIEW w RENAME TO u")
        assert told(db.plan(wider, "p.sql"))[:2] == ["drop u", "drop v"]
        by_hand = wider.replace("VIEW w", "VIEW u").replace("c STRING", "c STRING, d INT")
        assert db.plan(by_hand, "p.sql").is_empty
        assert carried_out(db, by_hand).is_empty
        with pytest.raises(PlanError, match="--allow-drop"):
            carried_out(db, wider)
        db.step()
        assert penstock.verify(db.path).is_whole
        told_now: list[Any] = []
        db.view("v").sink(lambda frame, version: told_now.extend(rows(frame)), name="mine")
        assert [row[:3] for row in told_now] == [
            *(("+", k, 1) for k in range(3)),
            *(("u", k, 2) for k in range(3)),
            ("+", 3, 2),
        ]
        assert not db.engine.manifest.sinks["mine"].pending
        assert rows(db.view("v").snapshot()) == [(0, 2), (1, 2), (2, 2), (3, 2)]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    chosen = parser.parse_args()
    happened: Counter[str] = Counter()
    for seed in range(chosen.seed, chosen.seed + chosen.count):
        scratch = Path(tempfile.mkdtemp(prefix="changed"))
        happened.update(lived(scratch, seed).done)
        shutil.rmtree(scratch)
    print(chosen.count, "lives:", *(f"{n} {name}," for name, n in happened.most_common()))


if __name__ == "__main__":
    main()
