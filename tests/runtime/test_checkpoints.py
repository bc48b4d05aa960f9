"""A checkpoint is in the state directory whatever its source is called, and fits the log."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import penstock
from penstock.errors import PenstockError, PlanError, StateError
from penstock.ingest.checkpoints import check_agrees, check_next, place_of
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.state.manifest import SourceState
from penstock.testing.local_session import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64())])


@pytest.fixture
def scratch(tmp_path: Path) -> Iterator[Path]:
    """A directory with a state directory in it, and a victim beside that, which must survive."""
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "precious").write_text("precious")
    yield tmp_path
    assert (victim / "precious").read_text() == "precious"
    others = {path.name for path in tmp_path.iterdir()}
    assert others <= {"victim", "state", "in"}


def names(scratch: Path) -> list[str]:
    """Names that would lead to the victim if they were paths, and others that files cannot have."""
    up = [f"{'../' * n}victim" for n in range(1, 4)]
    return [
        *up,
        str(scratch / "victim"),
        "a/../../../victim",
        ".",
        "..",
        "a/b",
        "Ä",
        "'",
        "x" * 255,
    ]


def test_a_name_is_never_a_path(scratch: Path) -> None:
    for defined in range(2):  # the second time, each has been there before
        with local_session(scratch / "state", Options(tasks=2, grace=0.0)) as db:
            for name in names(scratch):
                source = db.create_source(name, SCHEMA, "t")
                checkpoint = place_of(db.path, name, db.engine.source_state(name))
                assert checkpoint.parent == db.path / "checkpoints"
                assert checkpoint.resolve().parent == (db.path / "checkpoints").resolve()
                checkpoint.mkdir(parents=True)
                (checkpoint / "metadata").write_text("{}")
                source.append([("a", 1)])
                source.end()
                db.create_view(f"{name[:240]} v", db.scan(name)).sink(lambda *_: None, name=name)
            db.step()
            assert db.engine.collect_garbage() >= 0
            assert len(list((db.path / "checkpoints").iterdir())) == len(names(scratch))
            for name in names(scratch):
                db.drop(f"{name[:240]} v")
                db.drop(name)
            db.engine.collect_garbage()
            assert list((db.path / "checkpoints").iterdir()) == [], defined
        shutil.rmtree(scratch / "state" / "log")
        shutil.rmtree(scratch / "state" / "runs")


def test_names_in_sql_are_no_paths_either(scratch: Path) -> None:
    with local_session(scratch / "state", Options(tasks=2)) as db:
        for number, name in enumerate(names(scratch)):
            db.sql(f"CREATE SOURCE `{name}` (k STRING, t BIGINT) EVENT TIME t")
            db.sql(f"CREATE STREAM `{number} {name[:200]}` OVER `{name}` KEY (k)")
            db.sql(f"CREATE VIEW `{number} {name[:200]} v` AS SELECT k FROM `{name}`")
            db.source(name).append([("a", 1)])


def test_names_that_are_refused(tmp_path: Path) -> None:
    with local_session(tmp_path / "state") as db:
        db.create_source("s", SCHEMA, "t")
        view = db.create_view("v", db.scan("s"))
        for name in ("", " ", "a\0b", "a\nb", "\ud800", "x" * 300, "S", "one row", "VALUES (1)"):
            makers: tuple[Callable[[], object], ...] = (
                partial(db.create_source, name, SCHEMA, "t"),
                partial(db.create_table, name, [{"a": 1}]),
                partial(db.create_view, name, db.scan("s")),
            )
            for make in makers:
                with pytest.raises(PlanError) as refused:
                    make()
                assert len(str(refused.value)) < 400
            for text in (
                "CREATE SOURCE `{}` (k STRING, t BIGINT) EVENT TIME t",
                "CREATE STREAM `{}` OVER s KEY (k)",
                "CREATE VIEW `{}` AS SELECT k FROM s",
            ):
                with pytest.raises(PenstockError):
                    db.sql(text.format(name))
        for name in ("", "a\0b", "\ud800", "x" * 10_001):
            with pytest.raises(PlanError, match="the name of a sink"):
                view.sink(lambda *_: None, name=name)
        assert list(db.engine.definitions) == ["s", "v"]


def test_checkpoints_of_directories_that_do_not_name_them_are_where_they_were() -> None:
    state, directory = SourceState(), Path("state")
    assert place_of(directory, "s", state) == directory / "checkpoints" / "s"
    for name in ("", ".", "..", "/etc", "a/b", "a\0b", "../.."):
        assert place_of(directory, name, state).parent == directory / "checkpoints"
        assert place_of(directory, name, state).name not in ("", ".", "..")
    with pytest.raises(StateError, match="names a checkpoint"):
        place_of(directory, "s", SourceState(checkpoint="../../victim"))


def written(checkpoint: Path, offsets: int, commits: int) -> Path:
    """A checkpoint in which so many batches were begun and ended."""
    for kind, count in (("offsets", offsets), ("commits", commits)):
        (checkpoint / kind).mkdir(parents=True)
        for number in range(max(count - 3, 0), count):  # Spark deletes old ones
            (checkpoint / kind / str(number)).touch()
            (checkpoint / kind / f".{number}.crc").touch()
    return checkpoint


@pytest.mark.parametrize(
    ("batch", "offsets", "commits", "fits"),
    [
        (-1, 0, 0, True),  # nothing yet
        (-1, 1, 0, True),  # killed in the first batch
        (4, 5, 5, True),
        (4, 5, 4, True),  # killed after our commit
        (4, 6, 5, True),  # killed before it
        (4, 0, 0, False),  # deleted
        (4, 4, 4, False),  # one of a backup
        (4, 7, 6, False),  # the log is one of a backup
        (-1, 1, 1, False),
    ],
)
def test_a_checkpoint_fits_the_log_or_is_refused(
    batch: int, offsets: int, commits: int, fits: bool, tmp_path: Path
) -> None:
    checkpoint = written(tmp_path / "checkpoint", offsets, commits)
    state = SourceState(batch=batch)
    if fits:
        check_agrees(checkpoint, "s", state)
    else:
        with pytest.raises(StateError, match=r"source s has received .*drop the source") as error:
            check_agrees(checkpoint, "s", state)
        assert error.value.path == checkpoint


def test_batches_come_without_a_gap(tmp_path: Path) -> None:
    state = SourceState(batch=4)
    for number in (4, 5):
        check_next(tmp_path, "s", state, number)
    for number in (0, 3, 6):
        with pytest.raises(StateError, match=f"Spark brings batch {number}"):
            check_next(tmp_path, "s", state, number)


@pytest.mark.spark
def test_attached_files_are_received_once_or_the_source_fails_by_name(
    spark: SparkSession, scratch: Path
) -> None:
    """Under a name that is a path; then with the checkpoint gone, and with the log rolled back."""
    incoming, name = scratch / "in", "../../victim"
    incoming.mkdir()
    statement = (
        f"CREATE SOURCE `{name}` (k STRING, t BIGINT) "
        f"USING json OPTIONS (path '{incoming}') EVENT TIME t"
    )

    def received(db: Session) -> int:
        db.step()
        return db.engine.source_state(name).accepted

    with penstock.connect(scratch / "state", spark, tasks=1) as db:
        db.sql(statement)
        db.sql(f"CREATE VIEW v AS SELECT k FROM `{name}`")
        for number in range(3):
            (incoming / f"{number}.json").write_text(f'{{"k": "a", "t": {number}}}\n')
            assert received(db) == number + 1
        version = db.engine.manifest.version
    (checkpoint,) = (scratch / "state" / "checkpoints").iterdir()
    kept = shutil.copytree(checkpoint, scratch / "state" / "kept")
    (incoming / "3.json").write_text('{"k": "a", "t": 3}\n')

    shutil.rmtree(checkpoint)
    with (
        penstock.connect(scratch / "state", spark, tasks=1) as db,
        pytest.raises(StateError, match="is gone: rows would be lost"),
    ):
        received(db)
    shutil.copytree(kept, checkpoint)
    with penstock.connect(scratch / "state", spark, tasks=1) as db:
        assert received(db) == 4
    shutil.rmtree(checkpoint / "sources")
    with (
        penstock.connect(scratch / "state", spark, tasks=1) as db,
        pytest.raises(StateError, match="sources/0/0: it is gone"),
    ):
        received(db)
    shutil.rmtree(checkpoint)
    shutil.copytree(kept, checkpoint)
    with (
        penstock.connect(scratch / "state", spark, tasks=1) as db,
        pytest.raises(StateError, match="ends with batch 2"),
    ):
        received(db)
    log = scratch / "state" / "log"
    for commit in log.glob("*.json"):
        if int(commit.stem) > version - 2:
            commit.unlink()
    newest, (head,) = max(log.glob("*.json")), log.glob("*.head")
    head.rename(log / f"{newest.stem}-{newest.read_text()[:8]}.head")  # as it was then
    with (
        penstock.connect(scratch / "state", spark, tasks=1) as db,
        pytest.raises(StateError, match="is at batch 2"),
    ):
        received(db)
