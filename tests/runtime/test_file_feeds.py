"""Files that come to a source by themselves: record by record, each once, the bad ones by name."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock
from penstock.errors import PenstockError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = "(op STRING, k STRING, v INT, t BIGINT)"


@pytest.fixture
def incoming(tmp_path: Path) -> Path:
    """A folder of files, good and bad ones."""
    folder = tmp_path / "in"
    folder.mkdir()
    lines = [
        '{"op": "+", "k": "a", "v": 1, "t": 1, "more": [1]}',
        '{"op": "+", "k": "b", "v": 1.5, "t": 2}',
        '{"op": "?", "k": "c", "v": 1, "t": 3}',
        "no json",
        '{"op": "+", "k": "d", "v": 2.0, "t": 4}',
    ]
    (folder / "1 100% mixed.json").write_text("\n".join(lines))
    whole = gzip.compress(b'{"op": "+", "k": "e", "v": 3, "t": 5}\n' * 3)
    (folder / "2.json.gz").write_bytes(whole)
    (folder / "3.json.gz").write_bytes(whole[:-9])
    return folder


def rejected(db: Any, source: str = "s") -> list[tuple[Any, ...]]:
    rows = db.source(source).rejected().toArrow().to_pylist()
    return sorted(
        (Path(r["file"]).name, r["position"], r["record"], r["reason"].split(":")[0]) for r in rows
    )


@pytest.mark.spark
def test_a_folder_of_good_and_bad_files(
    spark: SparkSession, incoming: Path, tmp_path: Path
) -> None:
    """What is computed by Spark on the way to a view changes nothing; nor do further batches, and a
    session that goes on."""
    with penstock.connect(tmp_path / "state", spark, tasks=2) as db:
        db.sql(f"""
            CREATE SOURCE s {COLUMNS} USING json OPTIONS (path '{incoming}') EVENT TIME t;
            CREATE STREAM c OVER s KEY (k) OP op;
            CREATE VIEW plain AS SELECT k, v FROM c;
        """)
        db.step()
        bad = [
            ("1 100% mixed.json", "line 2", '{"op": "+", "k": "b", "v": 1.5, "t": 2}',
             "v is 1.5, which is no INT"),
            ("1 100% mixed.json", "line 3", '{"op": "?", "k": "c", "v": 1, "t": 3}',
             "op is '?', which is no operation; expected " ),
            ("1 100% mixed.json", "line 4", "no json", "it is no JSON"),
            ("3.json.gz", None, None, "the file cannot be read"),
        ]  # fmt: skip
        found = rejected(db)
        assert [row[:2] for row in found] == [row[:2] for row in bad]
        assert [row[3][:20] for row in found] == [row[3][:20] for row in bad]
        assert [row[2] for row in found if row[1] != "line 3"] == [bad[0][2], bad[2][2], None]
        assert json.loads(found[1][2]) == {"op": "?", "k": "c", "v": 1, "t": 3}
        counts = db.metrics()["sources"]["s"]
        assert (counts["accepted"], counts["rejected"]) == (5, 4)
    with penstock.connect(tmp_path / "state", spark, tasks=2) as db:
        db.sql("CREATE VIEW regex AS SELECT regexp_extract(k, '(.)', 1) AS k, v FROM s WHERE v > 0")
        (incoming / "4.json").write_text('{"op": "+", "k": "f", "v": 4, "t": 9}\n[1]\n{"t": 6}\n')
        db.step()
        db.source("s").end()
        db.step()
        assert len(rejected(db)) == 6
        for view in ("plain", "regex"):
            held = {(r["k"], r["v"]) for r in db.view(view).snapshot().toArrow().to_pylist()}
            assert held == {("a", 1), ("d", 2), ("e", 3), ("f", 4)}
