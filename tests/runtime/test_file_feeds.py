"""Files that come to a source by themselves: record by record, each once, the bad ones by name."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import penstock
from penstock.errors import PenstockError, RejectedRowError
from penstock.ingest.file_sources.batch import FileBatch, format_of

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


@pytest.mark.spark
def test_other_formats_policies_and_batches_that_come_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A batch that Spark brings once more, as after a crash, is known with what it rejected."""
    folders = {name: tmp_path / name for name in ("csv", "parquet", "careless")}
    for folder in folders.values():
        folder.mkdir()
    (folders["csv"] / "a.csv").write_text("t,more,k\n1,x,a\nx,x,b\n")
    (folders["csv"] / "b.csv").write_text("t,key\n1,a\n")
    for day in (1, 2):
        (folders["parquet"] / f"day={day}").mkdir()
        path = folders["parquet"] / f"day={day}" / "a.parquet"
        pq.write_table(pa.table({"k": ["a", "b"], "t": [day, 2**40]}), path)
    (folders["parquet"] / "torn.parquet").write_bytes(path.read_bytes()[:99])
    (folders["careless"] / "a.json").write_text('{"k": "a", "t": 1}\nx\n')
    with penstock.connect(tmp_path / "state", spark, tasks=2) as db:
        db.sql(f"""
            CREATE SOURCE csv (k STRING, t INT)
                USING csv OPTIONS (path '{folders["csv"]}', header 'true') EVENT TIME t;
            CREATE SOURCE parquet (k STRING, day INT, t INT)
                USING parquet OPTIONS (path '{folders["parquet"]}') EVENT TIME t DELAY 5;
            CREATE SOURCE careless (k STRING, t INT)
                USING json OPTIONS (path '{folders["careless"]}') EVENT TIME t ON ERROR DROP;
            CREATE VIEW v AS SELECT k, day FROM parquet
        """)
        db.step()
        expected = {"csv": (1, 2), "parquet": (2, 3), "careless": (1, 1)}
        for name, counts in expected.items():
            known = db.metrics()["sources"][name]
            assert (known["accepted"], known["rejected"]) == counts, name
        assert [row[:2] for row in rejected(db, "csv")] == [("a.csv", "line 3"), ("b.csv", None)]
        files = [row[0] for row in rejected(db, "parquet")]
        assert files == ["a.parquet", "a.parquet", "torn.parquet"]
        assert not rejected(db, "careless")
    commits = list((tmp_path / "state").glob("checkpoints/csv.*/commits/*0*"))
    assert commits
    for path in commits:  # with its checksum
        path.unlink()
    with penstock.connect(tmp_path / "state", spark, tasks=2) as db:
        (folders["csv"] / "c.csv").write_text("k,t\nc,3\n")
        db.step()
        known = db.metrics()["sources"]["csv"]
        assert (known["accepted"], known["rejected"]) == (2, 2)
        strict = tmp_path / "strict"
        strict.mkdir()
        (strict / "a.json").write_text('{"k": 1, "t": 1}\n')
        db.sql(f"""
            CREATE SOURCE strict (k STRING, t INT)
                USING json OPTIONS (path '{strict}') EVENT TIME t ON ERROR FAIL
        """)
        for _ in range(2):
            with pytest.raises(
                RejectedRowError, match=r"k is 1, which is no STRING .*a.json, line 1"
            ):
                db.step()
        assert "k is 1, which is no STRING" in db.failures()["source strict"]
        (strict / "a.json").write_text('{"k": "x", "t": 1}\n')
        for name in [*expected, "strict"]:
            db.step()
            db.source(name).end()
        db.step()
        assert db.metrics()["sources"]["strict"]["accepted"] == 1
        held = sorted((r["k"], r["day"]) for r in db.view("v").snapshot().toArrow().to_pylist())
        assert held == [("a", 1), ("a", 2)]


@pytest.mark.spark
def test_files_that_only_spark_can_reach_and_tables(spark: SparkSession, tmp_path: Path) -> None:
    """Rows of tables all fit, or there is no table."""
    good, bad = tmp_path / "good 1%.csv", tmp_path / "bad.csv"
    good.write_text("v,k\n1,a\n")
    bad.write_text("v,k\n1,a\n\nx,b\n")
    torn = tmp_path / "torn.csv.gz"
    torn.write_bytes(gzip.compress(b"v,k\n1,a\n")[:-4])
    with penstock.connect(tmp_path / "state", spark, tasks=2) as db:
        db.sql("CREATE SOURCE s (k STRING, v INT, t INT) EVENT TIME t")
        format = format_of("csv", [("header", "true")])
        assert format is not None
        given = pa.schema([("k", pa.string()), ("v", pa.int32())])
        files = FileBatch.of(format, given, [path.as_uri() for path in (good, bad, torn)])
        through = replace(files, through_spark=True)
        kept = spark_rows(db, through)
        assert kept == spark_rows(db, files)
        assert [row for row in kept if row[3] is None] == [
            ("bad.csv", "line 2", "a", None),
            ("good 1%.csv", "line 2", "a", None),
        ]
        assert [row[:2] for row in kept if row[3]] == [("bad.csv", "line 4"), ("torn.csv.gz", None)]
        table = "CREATE TABLE {} (k STRING, v INT) USING csv OPTIONS (path '{}', header 'true')"
        db.sql(table.format("good", good))
        assert db.sql("SELECT v, k FROM good").to_arrow().to_pylist() == [{"v": 1, "k": "a"}]
        why = r"1 records do not fit its columns: v is 'x', which is no INT \(.*bad.csv, line 4\)"
        with pytest.raises(PenstockError, match=why):
            db.sql(table.format("bad", bad))
        with pytest.raises(PenstockError, match="Compressed file ended"):
            db.sql(table.format("torn", torn))
        rows = spark.createDataFrame([(2**40,)], "x BIGINT")
        with pytest.raises(PenstockError, match="x is 1099511627776, which is no INT"):
            db.create_table("large", rows, "x INT")
        assert set(db.engine.definitions) == {"s", "good"}


def spark_rows(db: penstock.Session, files: FileBatch) -> list[tuple[Any, ...]]:
    rows = db.engine.state.jobs.rows_of(files).toArrow().to_pylist()
    return sorted((Path(r["__file"]).name, r["__position"], r["k"], r["__reason"]) for r in rows)
