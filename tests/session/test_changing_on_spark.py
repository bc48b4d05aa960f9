"""What Spark feeds, what reads by itself, and steps in the background, while a pipeline changes."""

from __future__ import annotations

import json
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import penstock
from penstock.errors import PlanError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


def written(path: Path, text: str) -> None:
    """A file that appears whole."""
    draft = path.parent.parent / f"{path.name}.draft"
    draft.write_text(text)
    draft.rename(path)


def at(second: int) -> datetime:
    return datetime(2026, 1, 1, 10, 0, second, tzinfo=UTC)


def rows(frame: Any) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.05)


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


def test_files_ports_and_readers_while_a_pipeline_changes(
    spark: SparkSession, tmp_path: Path
) -> None:
    csv, lines, port = tmp_path / "csv", tmp_path / "json", free_port()
    for folder in (csv, lines):
        folder.mkdir()
    state = tmp_path / "state"
    db = penstock.connect(state, spark, tasks=2, unbounded="allow")
    db.sql(f"""
        CREATE SOURCE a (k INT, x INT, at TIMESTAMP) USING csv
          OPTIONS (path '{csv}', header true) EVENT TIME at;
        CREATE SOURCE b (k INT, x INT, at TIMESTAMP) USING json OPTIONS (path '{lines}')
          EVENT TIME at;
        REGISTER SOURCE p (k INT) FROM port{port};
        CREATE VIEW v AS SELECT k, sum(x) AS total FROM a GROUP BY k;
        CREATE VIEW w AS SELECT v.k, total, b.x FROM v JOIN b ON v.k = b.k;
        CREATE VIEW u AS SELECT upper(string(k)) AS name, count(*) AS n FROM a GROUP BY 1
    """)
    written(csv / "1.csv", "k,x,at\n1,2,2026-01-01T10:00:01Z\n2,5,2026-01-01T10:00:02Z\n")
    written(lines / "1.json", '{"k": 1, "x": 7, "at": "2026-01-01T10:00:01Z"}\n')
    db.start()
    wait_for(lambda: db.engine.source_state("a").accepted == 2)
    wait_for(lambda: db.engine.source_state("b").accepted == 1)
    stream = spark.readStream.format("penstock").option("view", "v").option("what", "changes")

    def read() -> Any:
        """All changes that there are by now, from where an earlier call has read to."""
        writer = stream.load(str(state)).writeStream.format("noop")
        writer = writer.option("checkpointLocation", str(tmp_path / "seen"))
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return query

    db.source("p").idle()
    for name in ("a", "b"):
        db.source(name).advance(at(5))
    assert db.await_frontier(at(5), timeout=120)
    read()
    db.sql("ALTER SOURCE a ADD COLUMN y INT; ALTER SOURCE b ADD COLUMN y STRING")
    db.sql("ALTER SOURCE p ADD COLUMN y INT")
    db.sql("CREATE VIEW ys AS SELECT k, y FROM a; CREATE VIEW ps AS SELECT k, y FROM p")
    answer = db.sql("CREATE OR REPLACE VIEW v AS SELECT k, sum(x + 1) AS total FROM a GROUP BY k")
    assert str(answer) == "View v is replaced. Built anew with it: w."
    written(csv / "2.csv", "k,x,at,y\n1,3,2026-01-01T10:00:11Z,8\n")
    written(csv / "3.csv", "k,x,at\n2,4,2026-01-01T10:00:12Z\n")
    moment = "2026-01-01T10:00:12Z"
    more = [{"k": 1, "x": 9, "at": moment, "y": "z"}, {"k": 2, "x": 1, "at": moment}]
    written(lines / "2.json", "\n".join(map(json.dumps, more)))
    wait_for(lambda: db.engine.source_state("a").accepted == 4)
    wait_for(lambda: db.engine.source_state("b").accepted == 3)
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.sendall(b'{"k": 1, "y": 2}\n3\n{"k": 4}\n')
    wait_for(lambda: db.engine.source_state("p").accepted == 3)
    later = spark.createDataFrame([(5, "2026-01-01T10:00:13Z")], "k INT, at STRING").selectExpr(
        "k", "k AS x", "timestamp(at) AS at"
    )
    assert db.source("a").append(later)["accepted"] == 1
    db.sql("ALTER SOURCE a ALTER COLUMN x TYPE BIGINT")
    for name in ("a", "b"):
        db.source(name).advance(at(20))
    db.source("p").idle()
    assert db.await_frontier(at(20), timeout=120)
    db.stop()
    assert rows(db.view("v").snapshot()) == [(1, 7), (2, 11), (5, 6)]
    assert rows(db.view("w").snapshot()) == [(1, 7, 7), (1, 7, 9), (2, 11, 1)]
    assert rows(db.view("u").snapshot()) == [("1", 2), ("2", 2), ("5", 1)]
    assert rows(db.view("ys").snapshot()) == sorted(
        [(1, None), (2, None), (1, 8), (2, None), (5, None)], key=repr
    )
    with pytest.raises(Exception, match="view v was replaced by another query at version"):
        read()
    db.close()
    db = penstock.connect(state, spark, tasks=1)
    assert rows(db.view("w").snapshot()) == [(1, 7, 7), (1, 7, 9), (2, 11, 1)]
    with pytest.raises(PlanError, match="There is no source v"):
        db.sql("ALTER SOURCE v ADD COLUMN x INT")
    db.close()
