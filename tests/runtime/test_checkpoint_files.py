"""What Spark notes of a stream is whole, or the stream is refused with the name of the file."""

from __future__ import annotations

import tarfile
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from pyspark.sql import DataFrame

from penstock.errors import StateError
from penstock.ingest.checkpoints import check_whole
from penstock.state.manifest import SourceState
from penstock.testing import local_session
from tests.faults.damages import BATCH, CHECKPOINT

STATE = SourceState(batch=BATCH)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """As Spark has written it of a stream of files, in twelve batches."""
    with tarfile.open(CHECKPOINT) as tar:
        tar.extractall(tmp_path, filter="data")
    return tmp_path


def replaced(path: Path, content: str) -> None:
    """Other content, and no sum of the old one."""
    path.write_text(content)
    path.with_name(f".{path.name}.crc").unlink()


def edited(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    replaced(path, text.replace(old, new))


@pytest.mark.parametrize(
    ("name", "damage", "problem"),
    [
        ("offsets/7", Path.unlink, "it is gone"),
        ("commits/3", Path.unlink, "it is gone"),
        ("sources/0/11", Path.unlink, "it is gone"),
        ("sources/0/9.compact", Path.unlink, "it is gone"),
        ("sources/0/10", lambda path: path.write_text("v1\n"), "checksum"),
        ("metadata", lambda path: path.write_text("{}"), "checksum"),
        ("offsets/4", lambda path: replaced(path, "v1"), "not what Spark writes"),
        ("offsets/4", lambda path: replaced(path, "?\n{}\n{}"), "not what Spark writes"),
        ("offsets/4", lambda path: edited(path, '"logOffset":4', '"logOffset":2'), "earlier place"),
        ("sources/0/10", lambda path: edited(path, '"batchId":10', '"batchId":3'), "another batch"),
        ("sources/0/10", lambda path: replaced(path, "nothing\nat all"), "not what Spark writes"),
    ],
)
def test_a_file_that_is_not_as_spark_wrote_it_is_named(
    name: str, damage: Callable[[Path], object], problem: str, checkpoint: Path
) -> None:
    check_whole(checkpoint, "s", STATE)
    damage(checkpoint / name)
    with pytest.raises(StateError, match=problem) as error:
        check_whole(checkpoint, "s", STATE)
    assert error.value.path == checkpoint / name


def test_what_other_streams_write_is_left_alone(checkpoint: Path) -> None:
    """Of a stream that is not of files, Spark notes other things."""
    for position in ('{"topic":{"0":17}}', "17", "-", '["a"]'):
        for number in range(BATCH + 1):
            path = checkpoint / "offsets" / str(number)
            head = path.read_text().split("\n")[:2]
            path.write_text("\n".join([*head, position]))
            path.with_name(f".{number}.crc").unlink(missing_ok=True)
        (checkpoint / "sources" / "0" / "5").unlink(missing_ok=True)
        check_whole(checkpoint, "s", STATE)


def test_a_list_of_all_files_so_far_is_all_that_is_needed(checkpoint: Path) -> None:
    """Spark deletes what is older."""
    for number in range(9):
        (checkpoint / "sources" / "0" / str(number)).unlink()
        (checkpoint / "offsets" / str(number)).unlink()
        (checkpoint / "commits" / str(number)).unlink()
    check_whole(checkpoint, "s", STATE)


def test_a_stream_with_a_damaged_checkpoint_does_not_begin(tmp_path: Path) -> None:
    """It is told before Spark is asked for anything."""
    with local_session(tmp_path / "state") as db:
        db.sql("CREATE SOURCE s (k INT, t INT) EVENT TIME t")
        place = tmp_path / "state" / "checkpoints" / db.engine.source_state("s").checkpoint
        with tarfile.open(CHECKPOINT) as tar:
            tar.extractall(place, filter="data")
        with pytest.raises(StateError, match="is at batch 11"):
            db.source("s").attach(Mock(spec=DataFrame))
        (place / "metadata").write_text("{}")
        with pytest.raises(StateError, match="metadata"):
            db.source("s").attach(Mock(spec=DataFrame))
