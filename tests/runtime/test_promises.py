"""What a source promises of its rows holds of all rows that views see."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import penstock
from penstock import connect
from penstock.session import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark


@pytest.fixture
def db(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    with connect(tmp_path / "state", spark) as session:
        yield session


@pytest.mark.parametrize("policy", ["KEEP", "DROP", "FAIL"])
def test_a_row_that_breaks_a_promise_is_refused(db: Session, policy: str) -> None:
    db.sql(f"""
        CREATE SOURCE s (k INT CHECK (k BETWEEN 1 AND 3), v INT NOT NULL, t INT)
          EVENT TIME t LATE {policy};
        CREATE SOURCE r (j INT, t INT) EVENT TIME t;
        CREATE VIEW pairs AS SELECT k, count(*) AS n FROM s JOIN r ON k = j GROUP BY k
    """)
    assert "a count for each k" in str(db.sql("EXPLAIN SELECT k, 1 FROM s JOIN r ON k = j"))
    broken = [(4, 1, 2), (1, None, 3)]
    kept = [(3, 1, 1), (None, 2, 4)]
    source = db.source("s")
    if policy == "FAIL":
        with pytest.raises(penstock.UngrammaticalRowError, match="a CHECK or NOT NULL"):
            source.append([*kept, *broken])
        assert source.append(kept) == {"accepted": 2, "late": 0}
    else:
        found = source.append([*kept, *broken])
        assert found == {"accepted": 2, "late": 0, "ungrammatical": 2}
    db.source("r").append([(3, 1), (4, 2), (1, 3)])
    for name in ("s", "r"):
        db.source(name).end()
    db.step()
    late = sorted(tuple(row) for row in source.late().collect())
    assert late == (sorted(broken) if policy == "KEEP" else [])
    assert [tuple(row) for row in db.view("pairs").snapshot().collect()] == [(3, 1)]


@pytest.mark.parametrize("as_frame", [False, True])
def test_a_promise_that_spark_has_to_look_at(db: Session, as_frame: bool) -> None:
    db.sql("CREATE SOURCE s (k STRING CHECK (k LIKE 'a%'), t INT) EVENT TIME t")
    rows = [("ab", 1), ("b", 2), (None, 3)]
    given = db.spark.createDataFrame(rows, "k STRING, t INT") if as_frame else rows
    found = db.source("s").append(given)
    assert found == {"accepted": 2, "late": 0, "ungrammatical": 1}
