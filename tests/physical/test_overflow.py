"""Sums that do not fit their type: an error, or NULL for as long as that is so."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import ArithmeticOverflowError
from penstock.testing import local_session

LARGEST = 2**63 - 1


def test_try_sum_is_null_while_the_sum_does_not_fit(tmp_path: Path) -> None:
    with local_session(tmp_path / "state") as db:
        db.sql("CREATE SOURCE s (v BIGINT, t INT) EVENT TIME t")
        db.source("s").append([(LARGEST, 1), (1, 2)])
        changes = db.sql("SELECT STREAMED try_sum(v) AS c FROM s [RANGE 3]").to_arrow()
    values = {row["ts"]: row["c"] for row in changes.to_pylist() if row["op"] != "-"}
    assert [values[t] for t in (1, 2, 4)] == [LARGEST, None, 1]


def test_sum_is_an_error_that_names_try_sum(tmp_path: Path) -> None:
    with local_session(tmp_path / "state") as db:
        db.sql("CREATE SOURCE s (v BIGINT, t INT) EVENT TIME t")
        db.source("s").append([(LARGEST, 1), (1, 2)])
        with pytest.raises(ArithmeticOverflowError, match="try_sum"):
            db.sql("SELECT sum(v) AS c FROM s")
