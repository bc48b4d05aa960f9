"""Paths of users are of this machine, or refused; and of all executors, or refused."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import PenstockError, PlanError, StateError
from penstock.runtime.places import check_shared, rows_file, state_directory
from penstock.session import Session
from penstock.testing.local_session import local_session

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64())])
URLS = ("s3://bucket/x", "s3a://b/x", "hdfs://host:9000/x", "dbfs:/x", "http://h/x", "file://h/x")


@pytest.fixture
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to be in, and to find empty afterwards."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.chdir(scratch)
    monkeypatch.setenv("HOME", str(scratch / "home"))
    return scratch


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize("kind", [str, Path])
def test_a_url_of_elsewhere_is_no_directory(
    url: str, kind: type, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "mkdir", lambda *_, **__: pytest.fail("a directory is made"))
    with pytest.raises(PlanError, match="is not on this machine"):
        state_directory(kind(url))
    monkeypatch.undo()
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800"])
def test_what_is_no_path(path: str, scratch: Path) -> None:
    with pytest.raises(PlanError, match="is no path"):
        state_directory(path)
    assert list(scratch.iterdir()) == []


def test_paths_of_this_machine(scratch: Path) -> None:
    given = {
        "a/b": scratch / "a/b",
        f"file://{scratch}/with%20blank": scratch / "with blank",
        f"file:{scratch}/c": scratch / "c",
        f"FILE://localhost{scratch}/d": scratch / "d",
        "a:b": scratch / "a:b",
        "./s3:/x": scratch / "s3:/x",
        "~/state": scratch / "home/state",
    }
    for path, directory in given.items():
        assert state_directory(path) == directory
        assert directory.is_dir()


def test_places_where_no_directory_can_be_are_errors_of_ours(scratch: Path) -> None:
    (scratch / "file").touch()
    (scratch / "circle").symlink_to("circle")
    (scratch / "nowhere").symlink_to("missing")
    for path in ("file", "file/below", "circle/x", "nowhere", "x" * 300, "a/" * 5000):
        with pytest.raises(PenstockError) as error:
            state_directory(path)
        assert len(str(error.value)) < 20_000


@pytest.fixture
def db(scratch: Path) -> Iterator[Session]:
    with local_session(scratch / "state") as session:
        session.create_source("s", SCHEMA, "t")
        yield session


def test_a_text_is_the_path_of_a_file(db: Session, scratch: Path) -> None:
    table = pa.Table.from_pylist([{"k": "a", "t": 1}, {"k": "b", "t": 1}], SCHEMA)
    pq.write_table(table, scratch / "today.parquet")
    for path in ("today.parquet", f"file://{scratch}/today.parquet", scratch / "today.parquet"):
        assert db.source("s").append(path)["accepted"] == 2
        db.create_table(f"table {path!r}", path)
    with pytest.raises(PlanError, match="no file 'abc'; a text is taken for the path of a"):
        db.source("s").append("abc")
    (scratch / "rows.csv").write_text("k,t\n")
    with pytest.raises(PlanError, match="cannot be read as Parquet"):
        db.source("s").append("rows.csv")
    for url in URLS:
        with pytest.raises(PlanError, match=r"append spark.read.parquet\(path\)"):
            db.source("s").append(url)
    for rows in (b"ab", ["ab"], [b"ab"], "", "x" * 5000, "\0"):
        with pytest.raises(PlanError):
            db.source("s").append(rows)
    with pytest.raises(PlanError, match="no file"):
        db.create_table("other", "ab", SCHEMA)
    assert db.engine.source_state("s").accepted == 6


def test_a_file_of_rows_is_there() -> None:
    with pytest.raises(PlanError, match="there is no file"):
        rows_file("missing.parquet")


def cluster(run: Callable[[Callable[..., Any]], Any], master: str = "spark://host:7077") -> Any:
    """A Spark that runs the function of `mapInArrow` as it is told."""
    frame = SimpleNamespace(
        mapInArrow=lambda function, _: SimpleNamespace(
            toArrow=lambda: pa.Table.from_batches(run(lambda: list(function(iter(())))))
        )
    )
    context = SimpleNamespace(master=master, defaultParallelism=1)
    return SimpleNamespace(sparkContext=context, range=lambda *_: frame)


@pytest.mark.parametrize("shares", ["all", "nothing", "until now"])
def test_executors_share_the_directory_or_connect_says_so(shares: str, tmp_path: Path) -> None:
    """Tasks run with another directory at the path: an empty one, or a copy of the driver's."""
    directory, other, mine = (tmp_path / name for name in ("state", "other", "mine"))
    directory.mkdir()

    def on_another_disk(task: Callable[[], Any]) -> Any:
        if shares == "all":
            return task()
        shutil.copytree(directory, other) if shares == "until now" else other.mkdir()
        directory.rename(mine)
        other.rename(directory)
        try:
            return task()
        finally:
            directory.rename(other)
            mine.rename(directory)

    if shares == "all":
        check_shared(cluster(on_another_disk), directory)
    else:
        with pytest.raises(StateError, match="do not share it") as error:
            check_shared(cluster(on_another_disk), directory)
        assert error.value.path == directory
    assert list(directory.iterdir()) == []


def test_a_local_master_is_not_asked(tmp_path: Path) -> None:
    for master in ("local", "local[*]", "local[2, 4]"):
        check_shared(cluster(lambda _: pytest.fail("asked"), master), tmp_path)
