"""Paths that users give: the state directory, and files of rows.

Both are of this machine, or of a file system that is mounted there. A URL of another is refused:
taken for a path, `s3://bucket/x` would be a directory `s3:` where the process happens to run.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from penstock.errors import PlanError, StateError
from penstock.state.storage import storage_error, storage_errors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Batches: TypeAlias = Iterator[pa.RecordBatch]

_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/")


def state_directory(path: str | Path) -> Path:
    """The directory that a user names, made where there is none."""
    directory = local_path(path, "state is kept in a directory of this machine, or a mounted one")
    directory = directory.absolute()
    with storage_errors(directory):
        if directory.exists() and not directory.is_dir():
            raise PlanError(f"{directory} is a file; the state of a session needs a directory")
        directory.mkdir(parents=True, exist_ok=True)
    return directory


def local_path(path: str | Path, instead: str) -> Path:
    """A path of this machine, given as it is or as a file: URL; anything else is refused.

    A Path of a URL is no URL any more: the host of `file://host/x` would be its first folder.
    """
    text = os.fspath(path)
    if not text or "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise PlanError(f"{text[:60]!r} is no path; {instead}")
    url = _URL.match(text)
    if url is None:
        return Path(path).expanduser() if text == "~" or text.startswith("~/") else Path(path)
    parts = urlsplit(text)
    local = isinstance(path, str) and url[1].lower() == "file"
    if not local or parts.netloc not in ("", "localhost"):
        raise PlanError(f"{text[:200]!r} is not on this machine; {instead}")
    return Path(unquote(parts.path))


def rows_file(path: str | Path) -> Path:
    """A file or folder of rows."""
    instead = (
        "a text is taken for the path of a Parquet file. For one elsewhere append "
        "spark.read.parquet(path), and for rows a list of dicts or tuples"
    )
    found = local_path(path, instead)
    try:
        there = found.exists()
    except OSError as error:
        raise PlanError(f"{str(path)[:200]!r} cannot be read: {error.strerror}") from error
    if not there:
        raise PlanError(f"there is no file {str(path)[:200]!r}; {instead}")
    return found


def check_shared(spark: SparkSession, directory: Path) -> None:
    """An error where tasks and this process do not see each other's files in a directory.

    Executors of a local master are this machine's own.
    """
    if re.match(r"local(\[|$)", spark.sparkContext.master or ""):
        return
    token = uuid.uuid4().hex
    mine = directory / f"probe-{token}"
    tasks = spark.sparkContext.defaultParallelism
    found = []
    try:
        with storage_errors(directory):
            mine.write_text(token)
        rows = spark.range(0, tasks, 1, tasks).mapInArrow(_probe(mine, token), "answer STRING")
        answers = rows.toArrow().column("answer").to_pylist()
        found = [Path(f"{mine}-{answer}") for answer in answers if answer.isalnum()]
        problems = [answer for answer in answers if not answer.isalnum()]
        problems += [f"{path} of a task is not there" for path in found if not path.exists()]
        if problems:
            raise StateError(
                directory,
                f"the driver and the executors do not share it ({problems[0]}). The state "
                "directory must be on a file system that all of them have under the same path",
            )
    finally:
        for path in (mine, *found):
            path.unlink(missing_ok=True)


def _probe(file: Path, token: str) -> Callable[[Batches], Batches]:
    def run(batches: Batches) -> Batches:
        for _ in batches:
            pass
        answer = uuid.uuid4().hex
        try:
            if file.read_text() != token:
                answer = f"{file} has another content there"
            else:
                Path(f"{file}-{answer}").write_text(token)
        except OSError as error:
            answer = storage_error(file, error).sentence
        yield pa.record_batch([pa.array([answer])], names=["answer"])

    return run
