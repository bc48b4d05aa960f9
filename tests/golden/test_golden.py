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
from tests.golden.pipeline import HERE, SINKS, Outcome, merges, unpacked

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
