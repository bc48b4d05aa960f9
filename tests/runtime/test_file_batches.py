"""Batches of files: policies, what comes again, the order of rows, and which files they are."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.errors import RejectedRowError, StateError
from penstock.ingest.file_sources.batch import FileBatch, FileFormat, format_of
from penstock.ingest.file_sources.listing import files_of
from penstock.ingest.file_sources.splits import Split, as_pattern, local_path
from penstock.session import Session
from penstock.testing.local_session import local_session

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64())])


def form(name: str) -> FileFormat:
    found = format_of(name, [])
    assert found is not None
    return found


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with local_session(tmp_path / "state") as session:
        yield session


def sent(db: Session, source: str, paths: list[Path], number: int, format: str = "json") -> Any:
    given = db.engine.source(source).given
    files = FileBatch.of(form(format), given, [f"file://{path}" for path in paths], largest=40)
    return db.engine.receive_files(source, files, number)


def test_policies_and_batches_that_come_again(db: Session, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.json", tmp_path / "bad.json"
    good.write_text('{"k":"a","t":1}\n{"k":"b","t":2}\n')
    bad.write_text('{"k":1,"t":3}\n{"k":"c","t":3}\nx\n')
    gone = tmp_path / "gone.json"
    for name in ("keep", "drop", "fail"):
        db.sql(f"CREATE SOURCE s_{name} (k STRING, t INT) EVENT TIME t ON ERROR {name.upper()}")
        db.sql(f"CREATE VIEW v_{name} AS SELECT k FROM s_{name}")
    for _ in range(2):  # the second time it is known
        for name in ("keep", "drop"):
            sent(db, f"s_{name}", [good, bad, gone], 0)
        with pytest.raises(
            RejectedRowError,
            match=r"3 records cannot be taken, k is 1, which is .*bad.json, line 1\)",
        ):
            sent(db, "s_fail", [good, bad, gone], 0)
    assert sent(db, "s_fail", [good], 0).accepted == 2
    counts = {name: db.metrics()["sources"][f"s_{name}"] for name in ("keep", "drop", "fail")}
    assert {n: (c["accepted"], c.get("rejected", 0)) for n, c in counts.items()} == {
        "keep": (3, 3),
        "drop": (3, 3),
        "fail": (2, 0),
    }
    kept = db.sql("SHOW REJECTED FOR s_keep").to_arrow().to_pylist()
    assert sorted(
        (Path(r["file"]).name, r["position"], r["record"]) for r in kept if r["record"]
    ) == [
        ("bad.json", "line 1", '{"k":1,"t":3}'),
        ("bad.json", "line 3", "x"),
    ]
    assert [r["reason"] for r in kept if not r["record"]] == ["the file cannot be read: it is gone"]
    assert not db.source("s_drop").rejected().toArrow().num_rows
    for name in counts:
        db.source(f"s_{name}").end()
    db.step()
    assert db.view("v_keep").snapshot().toArrow().num_rows == 3


def test_rows_of_files_keep_their_order_and_their_places(db: Session, tmp_path: Path) -> None:
    """The last row of a key is that of the last file; what is no operation says where it was."""
    db.sql("""
        CREATE SOURCE c (op STRING, k STRING, v INT, t INT) EVENT TIME t;
        CREATE STREAM s OVER c KEY (k) OP op; CREATE VIEW v AS SELECT k, v FROM s
    """)
    paths = []
    for i in range(20):
        paths.append(tmp_path / f"{i}.csv")
        paths[-1].write_text(f"+,a,{2 * i},1\n?,b,{i},1\n+,a,{2 * i + 1},1\n")
    report = sent(db, "c", paths, 0, "csv")
    assert (report.accepted, report.rejected) == (40, 20)
    db.source("c").end()
    db.step()
    assert db.view("v").snapshot().toArrow().to_pylist() == [{"k": "a", "v": 39}]
    places = db.source("c").rejected().toArrow()
    assert set(places.column("position").to_pylist()) == {"line 2"}
    assert sorted(places.column("file").to_pylist()) == sorted(map(str, paths))


def test_punctuations_in_files(db: Session, tmp_path: Path) -> None:
    """Refused records neither punctuate nor count."""
    db.sql("""
        CREATE SOURCE r (hour INT, v INT, t INT) EVENT TIME t;
        CREATE STREAM s OVER r KEY NULL PUNCTUATED BY ORDER (hour);
        CREATE VIEW v AS SELECT hour, sum(v) AS v FROM s GROUP BY hour EMIT FINAL
    """)
    path = tmp_path / "a.json"
    path.write_text(
        '{"hour":1,"v":1,"t":1}\n{"hour":9,"v":"x","t":1}\n{"hour":2,"v":2,"t":2}\nx\n'
        '{"hour":3,"v":4,"t":3}\n'
    )
    report = sent(db, "r", [path], 0)
    assert (report.accepted, report.broken, report.rejected) == (3, 0, 2)
    db.source("r").advance(5)
    db.step()
    found = db.view("v").changes().toArrow().to_pylist()
    assert [(row["hour"], row["v"]) for row in found] == [(1, 1), (2, 2)]


# --- what Spark lists -----------------------------------------------------------------------------


def written(folder: Path, name: str, *lines: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("\n".join(("v1", *lines)))


def test_files_of_a_batch_are_those_that_spark_lists(tmp_path: Path) -> None:
    lists = tmp_path / "sources" / "0"

    def entries(*numbers: int) -> list[str]:
        return [json.dumps({"path": f"file:///in/{n}%20a.json", "batchId": n}) for n in numbers]

    for batch, offset in enumerate((0, 2, 9)):
        written(tmp_path / "offsets", str(batch), "{}", json.dumps({"logOffset": offset}))
    for number in (0, 1, 2, 10):
        written(lists, str(number), *entries(number))
    written(lists, "9.compact", *entries(*range(10)))
    assert [local_path(p) for p in files_of(tmp_path, 0)] == ["/in/0 a.json"]
    assert files_of(tmp_path, 1) == [f"file:///in/{n}%20a.json" for n in (1, 2)]
    assert files_of(tmp_path, 2) == [f"file:///in/{n}%20a.json" for n in range(3, 10)]
    (lists / "9.compact").write_text("v2\n")
    with pytest.raises(StateError, match="version 'v2'"):
        files_of(tmp_path, 2)
    (lists / "9.compact").unlink()
    with pytest.raises(StateError, match="it is gone, and with it the names"):
        files_of(tmp_path, 2)
    written(tmp_path / "offsets", "3", "{}", "7")
    with pytest.raises(StateError, match="which is no offset of files"):
        files_of(tmp_path, 3)
    written(lists, "0", "[]")
    with pytest.raises(StateError, match="no entry of a file"):
        files_of(tmp_path, 0)


def test_paths() -> None:
    assert local_path("file:///a%20b/100%25%3F.json") == "/a b/100%?.json"
    assert local_path("/a b/100%25") == "/a b/100%25"
    assert local_path("s3a://bucket/x") is None
    assert as_pattern("s3a://bucket/a%20[1]*") == r"s3a://bucket/a \[1\]\*"
    batch = FileBatch.of(form("json"), SCHEMA, ["s3a://bucket/t=5/x.json", "s3a://bucket/y.json"])
    assert batch.through_spark
    assert [part.splits for part in batch.shares(1)] == [batch.splits]


def test_shares_are_about_as_large_and_in_order() -> None:
    sizes = [1, 1, 1, 100, 1, 1, 50, 50]
    whole = tuple(Split(str(i), size=size) for i, size in enumerate(sizes))
    batch = FileBatch(form("json"), SCHEMA, whole)
    parts = [part.splits for part in batch.shares(4)]
    assert [split for part in parts for split in part] == list(whole)
    assert max(sum(split.size for split in part) for part in parts) <= 104
    assert replace(batch, splits=()).tasks(4) == 1
