"""What is wrong with a run is told; that its state table has other columns by now is nothing
wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from penstock.element import Elements
from penstock.state.run import StateTableSpec, sorted_run
from penstock.state.run_check import problems_of
from penstock.state.store import FileStore, RunReference

SCHEMA = pa.schema([("k", pa.int64()), ("x", pa.string())])
SPEC = StateTableSpec("input s", SCHEMA, ("k", "x"), order="time")
ROWS = [((k, f"text {k}"), k, k + 5, 1) for k in range(20)]


@pytest.fixture
def ref(tmp_path: Path) -> RunReference:
    with FileStore(tmp_path).segment() as segment:
        return segment.write(sorted_run(SPEC, Elements.of(SCHEMA, ROWS)), packed=True)


def problems(
    directory: Path, spec: StateTableSpec, ref: RunReference, by_key: bool = True
) -> list[str]:
    return list(problems_of(FileStore(directory), spec, ref, by_key=by_key))


def test_a_run_is_what_its_state_table_says(ref: RunReference, tmp_path: Path) -> None:
    assert problems(tmp_path, SPEC, ref) == []
    assert problems(tmp_path, replace(SPEC, order="hash"), ref) == [
        "its rows are not in the order of their hash"
    ]
    assert problems(tmp_path, replace(SPEC, key=("k",)), ref) == [
        "its hashes are not those of its rows"
    ]
    other = pa.schema([("k", pa.int64()), ("y", pa.string())])
    assert "its columns are k, x, and k, y are expected" in problems(
        tmp_path, replace(SPEC, schema=other, key=("k", "y")), ref
    )


def test_an_state_table_may_have_got_columns_since(ref: RunReference, tmp_path: Path) -> None:
    more = SCHEMA.append(pa.field("y", pa.int64()))
    spec = replace(SPEC, schema=more, key=("k", "x", "y"))
    assert problems(tmp_path, spec, ref, by_key=False) == []
    assert problems(tmp_path, spec, ref) == ["its hashes are not those of its rows"]
