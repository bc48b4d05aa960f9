"""What `penstock.testing` offers to others, beyond what its page in the documentation shows."""

from datetime import datetime
from pathlib import Path
from random import Random

import pytest

import penstock
from penstock.testing import (
    KILL,
    STEP,
    Advance,
    Rows,
    Script,
    ScriptError,
    assert_same_snapshots,
    local_session,
    random_batches,
    random_rows,
)

COLUMNS = "a TINYINT, b DOUBLE, c DECIMAL(8, 2), d BOOLEAN NOT NULL, e DATE, f STRING, at TIMESTAMP"


@pytest.mark.parametrize("time", ["at", "a", "e"])
def test_random_rows_fit_their_source(time: str, tmp_path: Path) -> None:
    rows = random_rows(Random(3), COLUMNS, time=time, size=40)
    assert rows == random_rows(Random(3), COLUMNS, time=time, size=40)
    assert all(row[3] is not None for row in rows)
    assert any(row[5] is None for row in rows)
    with local_session(tmp_path) as db:
        db.sql(f"CREATE SOURCE s ({COLUMNS.replace(' NOT NULL', '')}) EVENT TIME {time}")
        assert db.source("s").append(rows) == {"accepted": 40, "late": 0}


def test_batches_are_the_rows() -> None:
    rows = random_rows(Random(3), "x INT, t INT", time="t", size=40)
    batches = random_batches(Random(4), rows, most=3)
    assert [row for batch in batches for row in batch] == rows
    assert {len(batch) for batch in batches} == {1, 2, 3}


def test_a_time_that_is_no_column() -> None:
    with pytest.raises(penstock.PlanError, match="no column 'tt'; there are: x, t"):
        random_rows(Random(3), "x INT, t INT", time="tt")


def test_a_difference_in_numbers_or_in_time_alone_is_one(tmp_path: Path) -> None:
    with local_session(tmp_path) as db:
        db.sql("CREATE SOURCE s (x INT, t INT) EVENT TIME t")
        db.source("s").append([(7, 1), (7, 2)])
        assert_same_snapshots(db, "SELECT x FROM s [RANGE 9]", "SELECT x FROM s [RANGE 9]")
        with pytest.raises(AssertionError, match=r"at 2 differ(?s:.*)\n  alone has \(7,\)"):
            assert_same_snapshots(db, "SELECT x FROM s", "SELECT DISTINCT x FROM s")
        with pytest.raises(AssertionError, match="at 9 differ"):
            assert_same_snapshots(db, "SELECT x FROM s [RANGE 9]", "SELECT x FROM s [RANGE 8]")
        with pytest.raises(ValueError, match="expected one SELECT"):
            assert_same_snapshots(db, "SELECT x FROM s", "SHOW VIEWS")


def test_a_script_in_timestamps_that_dies_while_it_defines(tmp_path: Path) -> None:
    pipeline = """
    CREATE SOURCE bids (auction INT, at TIMESTAMP) EVENT TIME at;
    CREATE STREAM latest OVER bids KEY (auction);
    CREATE VIEW open AS SELECT auction, count(*) FROM bids [RANGE 1 MINUTE] GROUP BY auction;
    CREATE VIEW all_open AS SELECT count(*) AS auctions FROM open;
    """
    rows = [(1, datetime(2026, 1, 1, 12, 0, second)) for second in (1, 2)]
    script = Script(
        pipeline, [KILL, Rows("bids", rows), KILL, Advance("bids", datetime(2026, 1, 2)), STEP]
    )
    found = script.run(tmp_path / "killed")
    assert found == script.without_kills().run(tmp_path / "calm")
    assert found.kills == 2
    assert found.received == {"bids": (2, 0)}
    assert found.snapshots["all_open"] == {(0,): 1}
    assert found.delivered == found.changes


def test_a_pipeline_is_made_of_definitions(tmp_path: Path) -> None:
    with pytest.raises(ScriptError, match="a pipeline is CREATE statements, and not SHOW VIEWS"):
        Script("SHOW VIEWS", [STEP]).run(tmp_path)
