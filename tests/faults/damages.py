"""Damages to all kinds of files of a state directory, and what verifying and opening say to them.

    python -m tests.faults.damages --count 500 --seed 1

Law: an answer is right, or there is a `StateError` that names a file of the directory. `verify`
says no less: what it calls whole gives the right answers, and what it complains about is the
file that was damaged.
"""

from __future__ import annotations

import argparse
import os
import shutil
import tarfile
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from penstock.directory import verify
from penstock.directory.state_tables import references
from penstock.errors import PenstockError, StateError
from penstock.ingest import checkpoints
from penstock.runtime import jobs, maintenance
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.state import compaction, log
from penstock.state.log import read_manifest
from penstock.state.manifest import Received
from penstock.testing import local_session
from tests.faults.test_damaged_files import flipped, overwritten, truncated, zeroed
from tests.golden.pipeline import merges

CHECKPOINT = Path(__file__).with_name("spark-checkpoint.tar.xz")
"""What Spark wrote of a stream of files, in twelve batches."""
BATCH, STEPS = 11, 11
OPTIONS = Options(tasks=1, grace=0.0, retention=30)
PIPELINE = """
CREATE SOURCE s (k BIGINT, x BIGINT, t BIGINT) EVENT TIME t DELAY 5;
CREATE SOURCE files (k STRING, t BIGINT) EVENT TIME t;
CREATE SOURCE r (k BIGINT, y BIGINT, t BIGINT) EVENT TIME t;
CREATE STREAM latest OVER r KEY (k);
CREATE VIEW v AS SELECT k, count(*) AS n, max(x) AS most FROM s GROUP BY k;
CREATE VIEW lately AS SELECT k, count(*) AS n FROM s [RANGE 15] GROUP BY k;
CREATE VIEW joined AS SELECT s.k, s.x, latest.y FROM s [RANGE 20] JOIN latest ON s.k = latest.k;
CREATE VIEW failing AS SELECT k, 10 % sum(x) AS q FROM s GROUP BY k;
"""


@contextmanager
def settings() -> Iterator[None]:
    """Checkpoints come early, and there is always a merge under way."""
    before = log.CHECKPOINT_EVERY, compaction.PART, maintenance.MERGED_PER_BYTE
    log.CHECKPOINT_EVERY, compaction.PART, maintenance.MERGED_PER_BYTE = 12, 500, 0
    try:
        yield
    finally:
        log.CHECKPOINT_EVERY, compaction.PART, maintenance.MERGED_PER_BYTE = before


def prepare(directory: Path) -> None:
    """A directory with all that one can hold."""
    db = _opened(directory)
    db.sql(PIPELINE)
    db.view("v").sink(lambda rows, version: None, name="mine")
    for step in range(STEPS):
        now = 10 * step
        rows: list[tuple[Any, ...]] = [(k, step + k, now) for k in range(4)]
        rows += [(1, 1, now - 20), (2, "no number", now)]
        rows += [(0, -sum(range(step + 1)), now)] if step == 5 else []
        db.source("s").append(rows, batch=f"p/{step}")
        db.source("r").append([(step % 3, step, now)])
        db.source("files").advance(now)
        db.step()
    state = db.engine.source_state("files")
    place = checkpoints.place_of(directory, "files", state)
    with tarfile.open(CHECKPOINT) as tar:
        tar.extractall(place, filter="data")
    db.engine.commit(Received("files", replace(state, batch=BATCH)))
    assert "failing" in db.engine.manifest.failures
    assert {name.split()[0] for name in merges(db.engine.manifest)} == {"adaptive", "top", "groups"}
    db.engine.collect_garbage()
    db.close()


def _opened(directory: Path) -> Session:
    jobs._stores.clear()
    return local_session(directory, OPTIONS)


def finish(directory: Path) -> Any:
    """Open as a new process would, receive and step, and read all there is."""
    delivered: list[Any] = []
    db = _opened(directory)
    try:
        for name in ("s", "r", "files"):
            state = db.engine.source_state(name)
            place = checkpoints.place_of(directory, name, state)
            checkpoints.check_whole(place, name, state)  # as it is when the stream is attached
        db.view("v").sink(lambda rows, _: delivered.extend(_rows(rows)), name="mine")
        now = 10 * STEPS
        answers = [db.source("s").append([(1, 99, now), (3, 1, now)], batch=f"p/{STEPS - 1}")]
        answers += [db.source("s").append([(1, 99, now), (3, 1, now)], batch=f"p/{STEPS}")]
        db.source("r").append([(1, 5, now)])
        db.source("files").advance(now)
        db.step()
        db.sql("CREATE VIEW later AS SELECT k, x FROM s WHERE x > 3")
        found = [Counter(delivered), answers]
        for name in ("v", "lately", "joined", "later"):
            view = db.view(name)
            reads = (view.snapshot(), view.changes(), view.history())
            found += [Counter(_rows(frame)) for frame in reads]
        found += [Counter(_rows(db.source("s").late()))]
        found += [Counter(row[:4] for row in _rows(db.source("s").rejected()))]
        try:
            db.sql("ALTER VIEW failing RESUME")
        except PenstockError as error:
            if isinstance(error, StateError):
                raise
            found += [str(error)]
        return found
    finally:
        db.close()


def _rows(frame: Any) -> Iterator[tuple[Any, ...]]:
    table = frame.toArrow()
    yield from zip(*(column.to_pylist() for column in table.columns), strict=True)


# --- damages --------------------------------------------------------------------------------------

Damage = Callable[[Path, list[Path], Random], list[Path]]
"""What is done to a file, one of several of its kind: the files that are not what they were."""


def dropped(path: Path, others: list[Path], rng: Random) -> list[Path]:
    path.unlink()
    return [path]


def copied(path: Path, others: list[Path], rng: Random) -> list[Path]:
    """Another file of its kind is there in its place."""
    _write(path, rng.choice(others).read_bytes())
    return [path]


def exchanged(path: Path, others: list[Path], rng: Random) -> list[Path]:
    other = rng.choice(others)
    own, theirs = path.read_bytes(), other.read_bytes()
    _write(path, theirs)
    _write(other, own)
    return [path, other]


def repeated(path: Path, others: list[Path], rng: Random) -> list[Path]:
    """The newest file comes again with the next number."""
    newest = max(others)
    if newest.suffix != ".json":
        return copied(path, others, rng)
    again = newest.with_stem(f"{int(newest.stem) + 1:020d}")
    again.write_bytes(newest.read_bytes())
    return [again]


def _changed(change: Callable[[bytes, Random], bytes]) -> Damage:
    def damaged(path: Path, others: list[Path], rng: Random) -> list[Path]:
        content = path.read_bytes()
        _write(path, change(content, rng) if content else b"?")
        return [path]

    damaged.__name__ = change.__name__
    return damaged


def flip(path: Path, place: int) -> None:
    """Change one bit; a second time, and all is as it was."""
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    _write(path, bytes(content))


def _write(path: Path, content: bytes) -> None:
    """Another file of this name: the one that was may be linked to from elsewhere."""
    path.unlink()
    path.write_bytes(content)


DAMAGES: tuple[Damage, ...] = (
    *(dropped, copied, exchanged, repeated),
    *map(_changed, (flipped, truncated, zeroed, overwritten)),
)


def kinds_of_files(directory: Path) -> dict[str, list[Path]]:
    """All files of a directory by what they hold; one with runs of several state tables is of each.

    Names of runs are random: they come in the order in which the log names them.
    """
    found: dict[str, list[Path]] = {}
    for path in sorted(directory.rglob("*")):
        if path.is_file() and path.suffix != ".arrow" and path.name != "writer.lock":
            folder = path.parent.name if path.suffix == "" or path.suffix == ".compact" else ""
            kind = "crc" if path.suffix == ".crc" else folder or path.suffix
            kind = "metadata" if path.name == "metadata" else kind
            kind = "listed files" if path.parent.name == "0" and kind != "crc" else kind
            found.setdefault(kind, []).append(path)
    manifest = read_manifest(directory / "log")
    for state_table, ref, _ in references(manifest):
        path = directory / "runs" / f"{ref.segment}.arrow"
        kind = f"runs of {state_table.split(' ')[0]}"
        if path not in found.setdefault(kind, []):
            found[kind].append(path)
    published = [r for changes in manifest.changelogs.values() for e in changes for r in e.refs]
    files = [directory / "runs" / f"{ref.segment}.arrow" for ref in published]
    found["runs of changes"] = list(dict.fromkeys(files))
    return found


@dataclass(frozen=True)
class Tally:
    """How many damages of each kind were done, and how many of them were noticed."""

    done: Counter[str]
    noticed: Counter[str]
    harmless: Counter[str]


def damaged(scratch: Path, count: int, seed: int) -> Tally:
    """So many damages, each to a copy of one directory."""
    tally = Tally(Counter(), Counter(), Counter())
    with settings():
        origin = scratch / "origin"
        prepare(origin)
        shutil.copytree(origin, scratch / "right")
        expected = finish(scratch / "right")
        assert verify(origin).is_whole, verify(origin).problems
        kinds = kinds_of_files(origin)
        for number in range(count):
            rng = Random(f"damage {seed} {number}")
            directory = scratch / f"copy {number}"
            shutil.copytree(origin, directory, copy_function=os.link)
            kind = sorted(kinds)[number % len(kinds)]
            files = [directory / path.relative_to(origin) for path in kinds[kind]]
            damage = rng.choice(DAMAGES)
            touched = damage(rng.choice(files), files, rng)
            noticed = _judged(directory, touched, expected, f"{seed}: {number} {kind}")
            for name in (kind, damage.__name__):
                tally.done[name] += 1
                (tally.noticed if noticed else tally.harmless)[name] += 1
            shutil.rmtree(directory)
    return tally


def _judged(directory: Path, touched: list[Path], expected: Any, which: str) -> bool:
    """Whether a damage was noticed; an error where it was not, and gives another answer."""
    found = verify(directory)
    story = (which, [str(path.relative_to(directory)) for path in touched], found.problems)
    if found.problems:
        named = {problem.file for problem in found.problems}
        assert any(_names(named, path) for path in touched), story
    try:
        answers = finish(directory)
    except StateError as error:
        assert directory in (error.path, *error.path.parents), (story, error)
        assert found.problems, (story, error)
        return True
    assert answers == expected, story
    return bool(found.problems)


def _names(files: set[Path], damaged: Path) -> bool:
    """Whether one of these files is the one that was damaged.

    The sum of a file's bytes is about that file. A head is about the log, and what Spark wrote last
    of a stream is about the whole checkpoint: an older one may be there in its place.
    """
    plain = damaged.name.removeprefix(".").removesuffix(".crc")
    meant = {damaged, damaged.with_name(plain)} if damaged.suffix == ".crc" else {damaged}
    if "checkpoints" in damaged.parts:
        meant.add(damaged.parents[1])
    return bool(files & meant) or damaged.suffix == ".head"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.faults.damages")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="penstock-damages-") as folder:
        tally = damaged(Path(folder), given.count, given.seed)
    for name in sorted(tally.done):
        print(f"{name:20} {tally.done[name]:5} done {tally.noticed[name]:5} noticed")
