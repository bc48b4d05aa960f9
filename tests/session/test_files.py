"""A Parquet file as a batch: only what views need is read of it, and nothing is lost."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import PlanError
from penstock.runtime.options import Options
from penstock.testing.local_session import local_session

TS = pa.timestamp("us", "UTC")


def file_of(path: Path, *rows: tuple[int, str, int]) -> Path:
    ids, names, seconds = zip(*rows, strict=True)
    times = pa.array([datetime.fromtimestamp(s, UTC) for s in seconds], TS)
    pq.write_table(pa.table({"id": list(ids), "name": list(names), "ts": times}), path)
    return path


@pytest.mark.parametrize("keep", [True, False])
def test_columns_are_read_as_needed(keep: bool, tmp_path: Path) -> None:
    with local_session(tmp_path / "db", Options(keep_input=keep)) as db:
        db.sql("CREATE SOURCE s (id BIGINT, name STRING, ts TIMESTAMP) EVENT TIME ts")
        db.sql("CREATE VIEW v AS SELECT count(*) AS n FROM s WHERE id > 1")
        first = file_of(tmp_path / "1.parquet", (1, "a", 1), (2, "b", 2), (3, "c", 3))
        assert db.source("s").append(first) == {"accepted": 3, "late": 0}
        db.step()
        second = file_of(tmp_path / "2.parquet", (4, "late", 1), (5, "e", 5))
        assert db.source("s").append(second) == {"accepted": 1, "late": 1}
        db.source("s").end()
        db.step()
        assert db.view("v").snapshot().toArrow().to_pylist() == [{"n": 3}]
        late = db.source("s").late().toArrow().to_pylist()
        assert [row["name"] for row in late] == ["late"]


def test_a_file_that_does_not_fit_says_so(tmp_path: Path) -> None:
    with local_session(tmp_path / "db") as db:
        db.sql("CREATE SOURCE s (id BIGINT, other STRING, ts TIMESTAMP) EVENT TIME ts")
        db.sql("CREATE VIEW v AS SELECT other FROM s")
        with pytest.raises(PlanError, match="other"):
            db.source("s").append(file_of(tmp_path / "1.parquet", (1, "a", 1)))
        (tmp_path / "text.parquet").write_text("no parquet at all")
        with pytest.raises(PlanError, match="cannot be read as Parquet"):
            db.source("s").append(tmp_path / "text.parquet")
