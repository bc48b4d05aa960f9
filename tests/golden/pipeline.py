"""What golden directories hold: a pipeline of every kind of state, stopped in the middle of it.

    python -m tests.golden.pipeline NAME

makes the directories of the code at hand, `NAME-kept.tar.xz` and `NAME-retained.tar.xz`, beside
this file. They are made once for each format that was released, and never again: what matters of
them is that older code wrote them.
"""

from __future__ import annotations

import json
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, TypeAlias

from penstock.runtime.options import Options
from penstock.session import Session
from penstock.state import compaction
from penstock.state.manifest import Manifest
from penstock.testing import local_session

HERE = Path(__file__).parent

PIPELINE = """
CREATE SOURCE bids (auction BIGINT, bidder BIGINT, price BIGINT, t BIGINT, p STRING)
  EVENT TIME t DELAY 5;
CREATE SOURCE auctions (id BIGINT, seller STRING, t BIGINT) EVENT TIME t DELAY 5;
CREATE SOURCE readings (room STRING, temp DOUBLE, t BIGINT) EVENT TIME t;
CREATE STREAM offers OVER bids KEY NULL PUNCTUATED BY COLUMN p;
CREATE STREAM latest OVER readings KEY (room);
CREATE VIEW every7 AS SELECT timepoint FROM clock WHERE timepoint % 7 = 0;
CREATE VIEW lately AS
  SELECT auction, count(*) AS bids, max(price) AS highest FROM bids [RANGE 20] GROUP BY auction;
CREATE VIEW sales AS
  SELECT a.seller, sum(b.price) AS total
  FROM bids [RANGE 20] AS b JOIN auctions [RANGE 60] AS a ON b.auction = a.id GROUP BY a.seller;
CREATE VIEW busy AS
  SELECT bidder, count(*) AS n, avg(price) AS mean FROM bids [FIXED 30] GROUP BY bidder;
CREATE VIEW closed AS
  SELECT auction, count(*) AS n, min(price) AS least FROM offers GROUP BY auction EMIT FINAL;
CREATE VIEW offered AS
  SELECT a.id, b.price FROM auctions AS a LEFT JOIN bids [RANGE 9] AS b ON a.id = b.auction;
CREATE VIEW bidders AS SELECT DISTINCT auction, bidder FROM bids;
CREATE VIEW hot AS SELECT room, temp FROM latest WHERE temp > 20;
CREATE VIEW hottest AS SELECT max(temp) AS temp, sum(temp) AS heat FROM hot;
CREATE VIEW paced AS SELECT room, temp FROM latest SYNC BY every7 WHERE temp > 10;
CREATE VIEW best AS
  SELECT auction, price FROM (
    SELECT auction, price, ROW_NUMBER() OVER (PARTITION BY auction ORDER BY price DESC) AS place
    FROM bids [RANGE 40]
  ) WHERE place <= 2;
CREATE VIEW quiet AS
  SELECT id FROM auctions EXCEPT SELECT auction AS id FROM bids [RANGE 30];
CREATE VIEW pricey AS
  SELECT auction, count(*) AS bids, max(price) AS highest FROM bids [RANGE 20]
  WHERE price > 50 GROUP BY auction;
"""
SINKS = ("lately", "sales", "closed", "hottest")
TABLE = [("anna", 1), ("bert", 2), ("carl", 3)]
OVER_THE_TABLE = """
CREATE VIEW named AS
  SELECT r.name, count(*) AS n FROM bids [RANGE 20] AS b JOIN people AS r ON b.bidder = r.id
  GROUP BY r.name;
"""
STEPS, CUT = 34, 24
PART = 1500
"""Of a merge, a step makes so few bytes that there is always one under way."""

KEPT = Options(tasks=2, grace=0.0)
RETAINED = Options(tasks=3, grace=0.0, retention=30, keep_input=False)
OPTIONS = {"kept": KEPT, "retained": RETAINED}

Records: TypeAlias = Counter[tuple[Any, ...]]


@dataclass(frozen=True)
class Outcome:
    """What a directory tells in the end, by view."""

    changes: dict[str, Records]
    snapshots: dict[str, Records]
    histories: dict[str, Records]
    delivered: dict[str, Records]
    late: dict[str, Records]
    received: dict[str, tuple[int, int]]


def opened(directory: Path, options: Options) -> Session:
    """A session on the `state` of a directory, whose sinks write beside it."""
    session = local_session(directory / "state", options)
    if "people" not in session.engine.definitions:
        session.create_table("people", _table())
        session.sql(PIPELINE + OVER_THE_TABLE)
    for name in SINKS:
        session.view(name).sink(partial(deliver, directory / "sinks" / name), name=name)
    return session


def _table() -> Any:
    import pyarrow as pa

    names, ids = zip(*TABLE, strict=True)
    return pa.table({"name": pa.array(names), "id": pa.array(ids, pa.int64())})


def deliver(folder: Path, rows: Any, version: int) -> None:
    """Each version in a file of its own; again: the same."""
    folder.mkdir(parents=True, exist_ok=True)
    path, found = folder / f"{version}.json", sorted(map(list, rows_of(rows)), key=repr)
    text = json.dumps(found, default=str)
    assert not path.exists() or json.loads(path.read_text()) == json.loads(text), path
    path.write_text(text)


def rows_of(frame: Any) -> Iterator[tuple[Any, ...]]:
    table = frame.toArrow()
    yield from zip(*(column.to_pylist() for column in table.columns), strict=True)


def move(session: Session, step: int) -> None:
    """Rows for each source, some of them late, some punctuations, and a step."""
    rng, now = Random(f"golden {step}"), 4 * step
    bids: list[tuple[Any, ...]] = [
        (rng.randrange(12), rng.randrange(6), rng.randrange(100), now + rng.randrange(-14, 4), None)
        for _ in range(4)
    ]
    if step % 10 == 9:
        closed = 100 + step // 10
        bids += [(closed, 1, step, now - 1, None), (None, None, None, now + 4, f"<{closed},*,*,*>")]
    session.source("bids").append(bids)
    if step % 3 == 0:
        session.source("auctions").append([(rng.randrange(12), rng.choice("xyz"), now)])
    else:
        session.source("auctions").advance(now - 5)
    session.source("readings").append([(rng.choice("abc"), rng.choice((0.1, 15.5, 25.25)), now)])
    if step % 10 == 5:
        session.sql(f"PUNCTUATE offers WHERE auction BETWEEN 200 AND {200 + step}")
    session.step()
    if step % 20 == 19:
        session.engine.collect_garbage()


def outcome(session: Session, directory: Path) -> Outcome:
    return total(session, directory, SINKS)


def total(session: Session, directory: Path, sinks: Sequence[str]) -> Outcome:
    """All that a session tells, and what its sinks have written."""
    engine = session.engine
    views = {name: session.view(name) for name in engine.views}
    states = {name: engine.source_state(name) for name in engine.sources}
    delivered = {
        name: Counter(
            tuple(row)
            for path in (directory / "sinks" / name).glob("*.json")
            for row in json.loads(path.read_text())
        )
        for name in sinks
    }
    return Outcome(
        changes={name: Counter(rows_of(view.changes())) for name, view in views.items()},
        snapshots={name: Counter(rows_of(view.snapshot())) for name, view in views.items()},
        histories={name: Counter(rows_of(view.history())) for name, view in views.items()},
        delivered=delivered,
        late={n: Counter(rows_of(session.source(n).late())) for n in states if n != "people"},
        received={name: (state.accepted, state.late) for name, state in states.items()},
    )


def uninterrupted(directory: Path, options: Options) -> Outcome:
    """What comes of all steps in one go."""
    session = opened(directory, options)
    try:
        for step in range(STEPS):
            move(session, step)
        return outcome(session, directory)
    finally:
        session.close()


def continued(directory: Path, options: Options) -> Outcome:
    """What comes of the steps that are left, in a session that is opened again halfway."""
    for steps in (range(CUT, CUT + 2), range(CUT + 2, STEPS)):
        session = opened(directory, options)
        try:
            for step in steps:
                move(session, step)
            found = outcome(session, directory)
        finally:
            session.close()
    return found


def unpacked(archive: Path, directory: Path) -> Path:
    with tarfile.open(archive) as tar:
        tar.extractall(directory, filter="data")
    return directory


@contextmanager
def in_small_parts() -> Iterator[None]:
    before, compaction.PART = compaction.PART, PART
    try:
        yield
    finally:
        compaction.PART = before


def _make(name: str) -> None:
    for kind, options in OPTIONS.items():
        with tempfile.TemporaryDirectory() as scratch, in_small_parts():
            directory = Path(scratch)
            session = opened(directory, options)
            for step in range(CUT):
                move(session, step)
            assert merges(session.engine.manifest), "no merge is under way: choose another CUT"
            archive(session, directory, f"{name}-{kind}")


def archive(session: Session, directory: Path, name: str) -> None:
    """Close a session, and keep its directory beside this file."""
    session.close()
    (directory / "state" / "log" / "writer.lock").unlink()
    with tarfile.open(HERE / f"{name}.tar.xz", "w:xz") as tar:
        for path in sorted(directory.iterdir()):
            tar.add(path, path.name, filter=_anonymous)
    print(name)


def merges(manifest: Manifest) -> list[str]:
    """The state tables that are being merged."""
    return [
        name
        for name, state_table in manifest.state_tables.items()
        if any(ref.into for ref in state_table.refs)
    ]


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = member.mtime = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    _make(sys.argv[1])
