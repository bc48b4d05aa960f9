"""Directories that earlier versions wrote go on as if they had never been interrupted."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.golden.changed_code import with_more_fields
from tests.golden.pipeline import (
    CUT,
    HERE,
    OPTIONS,
    Outcome,
    continued,
    move,
    opened,
    uninterrupted,
    unpacked,
)

ARCHIVES = sorted(HERE.glob("*.tar.xz"))
FORMATS = ("layout-2", "layout-3")
"""Every format that was released."""


def test_there_is_a_directory_of_each_format_and_kind() -> None:
    expected = {f"{name}-{kind}.tar.xz" for name in FORMATS for kind in OPTIONS}
    assert {path.name for path in ARCHIVES} == expected


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcome]:
    """Of a kind, what comes of a run that was never interrupted."""
    return cache(lambda kind: uninterrupted(tmp_path_factory.mktemp(kind), OPTIONS[kind]))


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_a_golden_directory_goes_on(
    archive: Path, expected: Callable[[str], Outcome], tmp_path: Path
) -> None:
    kind = archive.name.removesuffix(".tar.xz").rpartition("-")[2]
    found = continued(unpacked(archive, tmp_path), OPTIONS[kind])
    for what, by_name in vars(expected(kind)).items():
        for name, rows in by_name.items():
            assert rows == getattr(found, what)[name], f"{what} of {name}"
    assert sum(map(len, expected(kind).changes.values())) > 200


@pytest.mark.parametrize("name", ["layout-2-kept", "layout-3-retained"])
def test_a_golden_directory_goes_on_with_classes_renamed_moved_and_with_another_field(
    name: str, expected: Callable[[str], Outcome], tmp_path: Path
) -> None:
    kind = name.rpartition("-")[2]
    copy, directory, outcome = tmp_path / "copy", tmp_path / "directory", tmp_path / "outcome"
    changed = with_more_fields(copy)
    unpacked(HERE / f"{name}.tar.xz", directory)
    path = os.pathsep.join(map(str, (copy, HERE.parents[1])))
    done = subprocess.run(
        [sys.executable, "-m", "tests.golden.changed_code", copy, directory, kind, outcome],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    moved, found = pickle.loads(outcome.read_bytes())
    assert moved == changed > 80
    for what, by_name in vars(expected(kind)).items():
        for view, rows in by_name.items():
            assert rows == found[what][view], f"{what} of {view}"


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_the_pipeline_of_a_golden_directory_can_be_changed(archive: Path, tmp_path: Path) -> None:
    """A view gets another query and one another name, and sources get more columns."""
    kind = archive.name.removesuffix(".tar.xz").rpartition("-")[2]
    directory = unpacked(archive, tmp_path)
    changes = """
        ALTER SOURCE auctions ADD COLUMN place STRING;
        ALTER SOURCE readings ADD COLUMN humidity DOUBLE;
        CREATE OR REPLACE VIEW pricey AS SELECT auction, bids, highest FROM lately WHERE bids > 1;
        ALTER VIEW lately RENAME TO latest_bids;
        ALTER VIEW latest_bids RENAME TO lately;
        ALTER VIEW busy RENAME TO busier
    """
    for steps in (range(CUT, CUT + 2), range(CUT + 2, CUT + 4)):
        session = opened(directory, OPTIONS[kind])
        session.sql(changes)
        changes = "SHOW VIEWS"
        assert session.engine.source("auctions").schema.names[-1] == "place"
        for step in steps:
            move(session, step)
            pricey, lately = (session.view(n).snapshot().toArrow() for n in ("pricey", "lately"))
            found = [row for row in lately.to_pylist() if row["bids"] > 1]
            assert sorted(map(str, pricey.to_pylist())) == sorted(map(str, found))
        assert session.view("busier").snapshot().toArrow().num_rows > 0
        if kind == "kept":
            places = session.sql("SELECT id, place FROM auctions").to_arrow()
            assert places.num_rows == 8
            assert places.column("place").null_count == places.num_rows
        session.close()
