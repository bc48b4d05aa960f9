"""Whatever a row is, it is accepted as it is, rejected, or refused by an error of ours."""

from __future__ import annotations

import logging
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from penstock.errors import PlanError
from penstock.ingest.file_sources.batch import FileBatch, format_of
from penstock.testing.local_session import local_session
from tests.faults.fuzz_rows import findings


def test_rows_that_nobody_would_send(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.fsync", lambda _: None)  # no disk will fail here
    logging.disable()  # each batch with something to reject is told of there
    try:
        found = list(findings(200, 11, tmp_path / "rows"))
    finally:
        logging.disable(logging.NOTSET)
    assert not found, found[0]


def test_what_was_found_once(tmp_path: Path) -> None:
    with local_session(tmp_path / "state") as db:
        db.sql("CREATE SOURCE s (k STRING, v DECIMAL(38, 18), t INT) EVENT TIME t DELAY 9")
        strange = [("a", Decimal("sNaN"), 1), ("b", Decimal("1e999999999"), 2)]
        exact = [("c", Decimal("12345678901234567890.123456789012345678"), 3), (None, None, 4)]
        rows = [*strange, *exact]
        assert db.source("s").append(rows)["rejected"] == 2
        frame = pd.DataFrame(rows, columns=["k", "v", "t"], dtype=object)
        assert db.source("s").append(frame)["rejected"] == 2
        kept = db.sql("SELECT v FROM s WHERE k = 'c'").to_arrow().to_pylist()
        assert kept == [{"v": exact[0][1]}] * 2


def test_times_of_numpy_among_other_values_do_not_end_the_process(tmp_path: Path) -> None:
    values = [np.datetime64("2026-01-01"), np.True_]
    with local_session(tmp_path / "state") as db:
        for rows in ([{"v": v} for v in values], pd.DataFrame({"v": values}, dtype=object)):
            with pytest.raises(PlanError, match="times of NumPy are among other values"):
                db.create_table("t", rows)
        db.create_table("t", [{"v": np.datetime64("2026-01-01T00:00:00")}])


def test_what_cannot_be_written_is_rejected_in_arrays_too(tmp_path: Path) -> None:
    path, schema = tmp_path / "a.json", pa.schema([("k", pa.string())])
    path.write_text('[{"k": "\\ud800"}, {"k": "a"}]\n')
    for whole in ("true", "false"):
        format = format_of("json", [("multiLine", whole)])
        assert format is not None
        found = [r for b in FileBatch.of(format, schema, [str(path)]).rows() for r in b.to_pylist()]
        assert [(row["k"], row["__record"]) for row in found] == [("a", None), (None, '{"k": "?"}')]
