"""Directories that earlier versions wrote go on as if they had never been interrupted."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from penstock.state.log import read_manifest
from tests.golden.changed_code import with_more_fields
from tests.golden.kinds import CONTINUED, FORMATS, UNINTERRUPTED
from tests.golden.pipeline import (
    CUT,
    HERE,
    OPTIONS,
    SINKS,
    Outcome,
    merges,
    move,
    opened,
    unpacked,
)

ARCHIVES = sorted(HERE.glob("*.tar.xz"))


def test_there_is_a_directory_of_each_format_and_kind() -> None:
    expected = {f"{name}-{kind}.tar.xz" for name, kinds in FORMATS.items() for kind in kinds}
    assert {path.name for path in ARCHIVES} == expected


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Outcome]:
    """Of a kind, what comes of a run that was never interrupted."""
    return cache(lambda kind: UNINTERRUPTED[kind](tmp_path_factory.mktemp(kind)))


def nodes(data: object) -> Iterator[str]:
    """The kinds of all that a definition is made of."""
    if isinstance(data, dict):
        yield from ([data["is"]] if "is" in data else [])
    for each in data.values() if isinstance(data, dict) else data if isinstance(data, list) else ():
        yield from nodes(each)


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_a_golden_directory_holds_every_kind_of_state(archive: Path, tmp_path: Path) -> None:
    manifest = read_manifest(unpacked(archive, tmp_path) / "state" / "log")
    kinds = {kind for each in manifest.definitions.values() for kind in nodes(each)}
    operators = {kind for needs in manifest.needs.values() for kind in needs.values()}
    shared = Counter(area for needs in manifest.needs.values() for area in needs)
    if "more" in archive.name:
        assert operators >= {"sessions", "change stream", "netting join", "message join", "trigger"}
        assert operators >= {"expire", "negative tuples", "groups", "top rows", "multiplicity"}
        assert kinds >= {"session", "row window", "changes", "set operation", "union"}
        assert manifest.producers.keys() == {"clicks", "prices"}
        assert manifest.failures.keys() == {"failing"}
        assert any(name.startswith("held ") and a.refs for name, a in manifest.areas.items())
        assert manifest.sources["clicks"].rejected
        return
    assert kinds >= {"join", "aggregate", "window", "distinct", "rank", "sync", "set operation"}
    assert kinds >= {"upsert", "stream", "clock view"}
    assert manifest.punctuations["bids"]
    assert manifest.sinks.keys() == set(SINKS)
    assert merges(manifest)
    assert manifest.sources["bids"].late
    if manifest.layout > 2:  # so far, no names of areas were in the log
        assert operators >= {"groups", "top rows", "multiplicity", "synchronization"}
        assert {area.split(" ")[0] for area, views in shared.items() if views > 1} >= {"lane"}


@pytest.mark.parametrize("archive", ARCHIVES, ids=lambda path: path.name.removesuffix(".tar.xz"))
def test_a_golden_directory_goes_on(
    archive: Path, expected: Callable[[str], Outcome], tmp_path: Path
) -> None:
    kind = archive.name.removesuffix(".tar.xz").rpartition("-")[2]
    found = CONTINUED[kind](unpacked(archive, tmp_path))
    for what, by_name in vars(expected(kind)).items():
        for name, rows in by_name.items():
            assert rows == getattr(found, what)[name], f"{what} of {name}"
    assert sum(map(len, expected(kind).changes.values())) > 200


@pytest.mark.parametrize("name", ["layout-2-kept", "layout-3-retained", "layout-3-more"])
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


@pytest.mark.parametrize(
    "archive",
    [path for path in ARCHIVES if "more" not in path.name],
    ids=lambda path: path.name.removesuffix(".tar.xz"),
)
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
            assert places.num_rows >= 8
            assert places.column("place").null_count == places.num_rows
        session.close()
