"""What a disk refuses is an error that says what to do; afterwards the same call succeeds."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import penstock
from penstock.errors import StateError
from penstock.runtime.options import Options
from penstock.state import store
from penstock.testing.local_session import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64())])

PROGRAM = """
import json, os, resource, sys
from pathlib import Path
import penstock
from penstock.runtime.places import state_directory
from penstock.testing.local_session import local_session

found = {}

def attempt(name, function):
    try:
        found[name] = function()
    except penstock.PenstockError as error:
        found[name] = f"{type(error).__name__} {error}"

def limit(bytes):
    resource.setrlimit(resource.RLIMIT_FSIZE, (bytes, hard))

_, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
rows = [(str(number), 1) for number in range(20000)]
with local_session(Path.cwd() / "state") as db:
    db.sql("CREATE SOURCE s (k STRING, t BIGINT) EVENT TIME t")
    db.sql("CREATE VIEW v AS SELECT k FROM s")
    limit(20000)
    attempt("append", lambda: db.source("s").append(rows))
    limit(20)
    attempt("advance", lambda: db.source("s").advance(2))
    attempt("step", lambda: db.step())
    limit(hard)
    attempt("append again", lambda: db.source("s").append(rows))
    db.source("s").advance(2)
    limit(20000)
    attempt("step", lambda: db.step())
    limit(hard)
    db.step()
    attempt("rows", lambda: db.view("v").snapshot().toArrow().num_rows)
locked = Path.cwd() / "locked"
locked.mkdir()
locked.chmod(0o500)
Path.cwd().chmod(0o755)
if os.geteuid() == 0:
    os.seteuid(65534)
attempt("no permission", lambda: str(state_directory(locked / "state")))
attempt("cannot write", lambda: local_session(locked))
print(json.dumps(found))
"""


def test_limits_and_permissions(tmp_path: Path) -> None:
    """In a process of its own, which may write files of so many bytes only."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    for call in ("append", "advance", "step"):
        assert found[call].startswith("StateError"), found
        assert "raise the limit (ulimit -f)" in found[call]
    assert found["append again"] == {"accepted": 20000, "late": 0}
    assert found["rows"] == 20000
    for call in ("no permission", "cannot write"):
        assert found[call].startswith("StateError"), found
        assert "grant it or choose another path" in found[call]
    assert max(map(len, map(str, found.values()))) < 1000


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("a", 1), ("b", 1)]
    with local_session(tmp_path / "state", Options(tasks=2)) as db:
        source = db.create_source("s", SCHEMA, "t")
        view = db.create_view("v", db.scan("s"))

        def full(*_: Any) -> None:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        for call in (lambda: source.append(rows), lambda: source.advance(2), db.step):
            with monkeypatch.context() as patched:
                patched.setattr(os, "fsync", full)
                with pytest.raises(StateError, match="the disk is full; free some space"):
                    call()
            call()
        assert view.snapshot().toArrow().num_rows == 2
        with monkeypatch.context() as patched:
            patched.setattr(store, "open", full, raising=False)
            with pytest.raises(StateError, match="the disk is full"):
                source.append([("c", 3)])


@pytest.mark.spark
def test_tasks_of_spark_say_it_too(spark: SparkSession, tmp_path: Path) -> None:
    with penstock.connect(tmp_path / "state", spark, tasks=1) as db:
        source = db.create_source("s", SCHEMA, "t")
        db.create_view("v", db.scan("s"))
        rows = spark.createDataFrame([("a", 1)], "k STRING, t BIGINT")
        runs = tmp_path / "state" / "runs"
        if runs.exists():
            runs.rename(tmp_path / "state" / "moved")
        runs.touch()
        with pytest.raises(StateError, match="not a directory; choose another path") as error:
            source.append(rows)
        assert runs in (error.value.path, *error.value.path.parents)
        runs.unlink()
        assert source.append(rows)["accepted"] == 1
