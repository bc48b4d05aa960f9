"""A view that was replaced is what it would be had it been there from the start."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import pytest

from penstock.runtime.options import Options
from penstock.runtime.replacement import Building
from penstock.session import Session
from penstock.testing.local_session import local_session

SOURCES = """
CREATE SOURCE bids (auction INT, price INT, t INT) EVENT TIME t DELAY 3;
CREATE SOURCE auctions (id INT, seller STRING, t INT) EVENT TIME t DELAY 3;
CREATE STREAM latest OVER bids KEY (auction);
CREATE VIEW every5 AS SELECT timepoint FROM clock WHERE timepoint % 5 = 0;
"""
QUERIES = (
    "SELECT auction, count(*) AS n, max(price) AS most FROM bids [RANGE 7] GROUP BY auction",
    "SELECT auction, sum(price) AS n, min(price) AS most FROM bids [FIXED 10] GROUP BY auction",
    "SELECT auction, price AS n, price + 1 AS most FROM latest WHERE price > 40",
    "SELECT auction, CAST(price AS BIGINT) AS n, price AS most FROM bids [RANGE 9] SYNC BY every5",
    "SELECT auction, n, most FROM other WHERE n > 1",
    "SELECT b.auction, count(*) AS n, max(b.price) AS most FROM bids [RANGE 9] AS b "
    "JOIN auctions [RANGE 20] AS a ON b.auction = a.id GROUP BY b.auction",
    "SELECT auction, n, most FROM (SELECT auction, CAST(price AS BIGINT) AS n, price AS most, "
    "ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS place FROM bids [RANGE 12]) "
    "WHERE place <= 2",
)
READERS = """
CREATE VIEW above AS SELECT auction, n FROM v WHERE n > 1;
CREATE VIEW summed AS SELECT n, count(*) AS m FROM above GROUP BY n;
CREATE VIEW joined AS SELECT v.auction, v.most, o.n FROM v JOIN other AS o ON v.auction = o.auction;
CREATE VIEW whole AS SELECT * FROM v;
"""
OTHER = "SELECT auction, count(*) AS n, max(price) AS most FROM bids [RANGE 30] GROUP BY auction"


def opened(path: Path, **options: Any) -> Session:
    return local_session(path, Options(**{"tasks": 2, "grace": 0.0, **options}))


def defined(db: Session, query: str) -> None:
    db.sql(f"{SOURCES} CREATE VIEW other AS {OTHER}; CREATE VIEW v AS {query}; {READERS}")


def move(db: Session, step: int, steps: bool = True) -> None:
    rng, now = Random(f"step {step}"), 4 * step
    bids = [(rng.randrange(5), rng.randrange(100), now + rng.randrange(-3, 4)) for _ in range(6)]
    db.source("bids").append(bids)
    db.source("auctions").append([(rng.randrange(5), rng.choice("xyz"), now)])
    if steps:
        db.step()


def rows(frame: Any) -> list[tuple[Any, ...]]:
    table = frame.toArrow()
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)


def everything(db: Session) -> dict[str, list[list[tuple[Any, ...]]]]:
    views = {name: db.view(name) for name in db.engine.views}
    return {n: [rows(v.snapshot()), rows(v.changes()), rows(v.history())] for n, v in views.items()}


class Follower:
    """A sink that applies the changes of a view, whatever columns they have."""

    def __init__(self, db: Session, view: str) -> None:
        self.view, self.versions = view, list[int]()
        self.answer: Counter[tuple[Any, ...]] = Counter()
        self._key = "n" if view == "summed" else "auction"
        db.view(view).sink(self.deliver, name=f"of {view}")

    def deliver(self, frame: Any, version: int) -> None:
        self.versions.append(version)
        table = frame.toArrow()
        names = table.schema.names[1:-1]
        changes = sorted(
            (row["ts"], "-u+".index(row["op"]), tuple(row[name] for name in names))
            for row in table.to_pylist()
        )
        assert changes, "a delivery of nothing"
        for _, op, row in changes:
            if op == 1:
                place = names.index(self._key)
                self.answer.subtract([old for old in self.answer if old[place] == row[place]])
            self.answer.update([row]) if op else self.answer.subtract([row])
            self.answer = +self.answer

    def check(self, db: Session) -> None:
        assert sorted(self.answer.elements(), key=repr) == rows(db.view(self.view).snapshot())


@pytest.mark.parametrize("seed", range(2))
def test_oracle_a_view_that_was_replaced_as_if_it_had_been_there(seed: int, tmp_path: Path) -> None:
    """With readers, with sinks, after which the directory is opened again and goes on."""
    rng = Random(seed)
    queries = rng.sample(QUERIES, 3)
    last = 8
    when = {rng.randrange(0, last): query for query in queries[1:]}
    db = opened(tmp_path / "replaced")
    defined(db, queries[0])
    followers = [Follower(db, name) for name in ("v", "above", "summed", "joined")]
    query = queries[0]
    for step in range(last):
        move(db, step)
        if step in when:
            query = when[step]
            before = everything(db)["other"]
            assert "replaced" in str(db.sql(f"CREATE OR REPLACE VIEW v AS {query}"))
            assert everything(db)["other"] == before
        if rng.random() < 0.3:
            db.close()
            db = opened(tmp_path / "replaced", tasks=rng.choice((1, 2, 3)))
            for one in followers:
                db.view(one.view).sink(one.deliver, name=f"of {one.view}")
        for one in followers:
            one.check(db)
    with opened(tmp_path / "there") as plain:
        defined(plain, query)
        for step in range(last):
            move(plain, step)
        assert everything(db) == everything(plain)
        assert db.engine.manifest.state_tables.keys() == plain.engine.manifest.state_tables.keys()
        move(db, last)
        move(plain, last)
        assert everything(db) == everything(plain)
    db.close()


def test_a_sink_that_was_away_gets_all_that_it_missed(tmp_path: Path) -> None:
    """Of two views that were replaced since, with other keys and other columns."""
    queries = [QUERIES[0], QUERIES[3], "SELECT auction, price AS n, t AS most, price FROM bids"]
    db = opened(tmp_path)
    db.sql(f"{SOURCES} CREATE VIEW other AS {OTHER}; CREATE VIEW v AS {queries[0]}")
    follower = Follower(db, "v")
    for step in range(3):
        move(db, step)
    delivered = len(follower.versions)
    db.close()
    db = opened(tmp_path)
    for step, query in zip((3, 5), queries[1:], strict=True):
        move(db, step)
        db.sql(f"CREATE OR REPLACE VIEW v AS {query}")
        move(db, step + 1)
    db.engine.collect_garbage()
    db.close()
    db = opened(tmp_path)
    assert len(db.engine.manifest.sinks["of v"].pending) == 6
    db.view("v").sink(follower.deliver, name="of v")
    follower.check(db)
    assert follower.versions == sorted(set(follower.versions))
    assert len(follower.versions) == delivered + 8
    assert not db.engine.manifest.sinks["of v"].pending
    named = {f"{name}.arrow" for name in db.engine.manifest.segments()}
    db.engine.collect_garbage()
    assert named == {path.name for path in db.engine.runs.glob("*.arrow")}
    db.close()


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[int], None]], None]:
    """What happens each time when a view that is built has made a step."""
    advance = Building.advance

    def install(happen: Callable[[int], None]) -> None:
        calls = iter(range(100))

        def advanced(self: Building, manifest: Any) -> None:
            advance(self, manifest)
            happen(next(calls))

        monkeypatch.setattr(Building, "advance", advanced)

    return install


@pytest.mark.parametrize(("query", "rounds"), [(QUERIES[4], 3), (QUERIES[5], 9)])
def test_steps_go_on_while_a_view_is_built(
    query: str, rounds: int, tmp_path: Path, meanwhile: Any
) -> None:
    """And old changes are given up, but not those that it is built from."""
    with opened(tmp_path / "replaced", retention=12) as db, opened(tmp_path / "there") as plain:
        defined(db, QUERIES[1])
        defined(plain, query)
        follower, told = Follower(db, "v"), []
        for step in range(6):
            move(db, step)
            move(plain, step)

        def happen(call: int) -> None:
            told.append(str(db.sql("SHOW VIEWS")))
            if call < rounds and not db.engine.state.step_lock.locked():
                move(db, 6 + call)
            follower.check(db)

        meanwhile(happen)
        db.sql(f"CREATE OR REPLACE VIEW v AS {query}")
        made = db.engine.manifest
        for step in range(6, 6 + rounds):
            if plain.frontier < made.frontier:
                move(plain, step)
        assert plain.frontier == made.frontier > 25
        for step in range(15, 17):
            move(db, step)
            move(plain, step)
            follower.check(db)
        for name in ("v", "above", "summed", "joined"):
            assert rows(db.view(name).snapshot()) == rows(plain.view(name).snapshot())
        assert all("another is built beside it with above" in one for one in told)
        assert "replacing" not in str(db.sql("SHOW VIEWS"))
