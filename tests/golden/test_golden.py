"""Directories that earlier versions wrote go on as if they had never been interrupted."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import penstock
from penstock.kinds import Kind, kinds
from penstock.state.log import read_manifest
from tests.golden.changed_code import meetings, with_more_fields
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
    shared = Counter(state_table for needs in manifest.needs.values() for state_table in needs)
    if "rest" in archive.name:
        assert operators >= {"distinct product", "counted product", "restriction"}
        assert kinds >= {"midnights", "moment", "time points", "never", "in order", "split"}
        assert manifest.declared.keys() >= {"events", "counted"}
        assert manifest.sinks["counted"].pending
        assert manifest.replaced
        return
    if "more" in archive.name:
        assert operators >= {"sessions", "change stream", "netting join", "message join", "trigger"}
        assert operators >= {"expire", "negative tuples", "groups", "top rows", "multiplicity"}
        assert kinds >= {"session", "row window", "changes", "set operation", "union"}
        assert manifest.producers.keys() == {"clicks", "prices"}
        assert manifest.failures.keys() == {"failing"}
        assert any(name.startswith("held ") and a.refs for name, a in manifest.state_tables.items())
        assert manifest.sources["clicks"].rejected
        return
    assert kinds >= {"join", "aggregate", "window", "distinct", "rank", "sync", "set operation"}
    assert kinds >= {"upsert", "stream", "clock view"}
    assert manifest.punctuations["bids"]
    assert manifest.sinks.keys() == set(SINKS)
    assert merges(manifest)
    assert manifest.sources["bids"].late
    if manifest.layout > 2:  # so far, no names of state tables were in the log
        assert operators >= {"groups", "top rows", "multiplicity", "synchronization"}
        assert {
            state_table.split(" ")[0] for state_table, views in shared.items() if views > 1
        } >= {"lane"}


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


@dataclass(frozen=True)
class Changed:
    """What comes of a directory that changed code continues.

    How many classes had one more field, and another name; and the kinds that the code met.
    """

    fields: int
    moved: int
    met: set[str]
    outcome: dict[str, dict[str, Counter[Any]]]


CHANGED = ("layout-2-kept", "layout-3-retained", "layout-3-more", "layout-3-rest")


@pytest.fixture(scope="module")
def continued(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Changed]:
    """What comes of an archive, by code with classes renamed, moved and with another field."""
    copy = tmp_path_factory.mktemp("copy")
    fields = with_more_fields(copy)

    def run(name: str) -> Changed:
        scratch = tmp_path_factory.mktemp(name)
        unpacked(HERE / f"{name}.tar.xz", scratch / "directory")
        given = (copy, scratch / "directory", name.rpartition("-")[2], scratch / "outcome")
        path = os.pathsep.join(map(str, (copy, HERE.parents[1])))
        done = subprocess.run(
            [sys.executable, "-m", "tests.golden.changed_code", *given],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        return Changed(fields, *pickle.loads((scratch / "outcome").read_bytes()))

    return cache(run)


@pytest.mark.parametrize("name", CHANGED)
def test_a_golden_directory_goes_on_with_classes_renamed_moved_and_with_another_field(
    name: str, expected: Callable[[str], Outcome], continued: Callable[[str], Changed]
) -> None:
    found = continued(name)
    assert found.moved == found.fields == len(own_kinds()) > 80
    for what, by_name in vars(expected(name.rpartition("-")[2])).items():
        for view, rows in by_name.items():
            assert rows == found.outcome[what][view], f"{what} of {view}"


def own_kinds() -> dict[str, Kind]:
    return {each.name: each for each in kinds() if each.made.__module__.startswith("penstock.")}


def test_every_kind_is_in_a_golden_directory(continued: Callable[[str], Changed]) -> None:
    """Constants and places in files are written in a way of their own, and what only questions to
    punctuations have is never written."""
    met = set().union(*(continued(name).met for name in CHANGED))
    assert own_kinds().keys() - met == {"literal", "stretch", "inverse"}


def test_what_has_another_meaning_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever opening meets: with another version of it, a directory that has it is not opened.

    Operators without state that no state depends on are not in the log. They do what the plan says,
    whose kinds are.
    """
    met: set[str] = set()
    refused: set[str] = set()
    for name in ("layout-3-kept", "layout-3-more", "layout-3-rest"):
        state = unpacked(HERE / f"{name}.tar.xz", tmp_path / name) / "state"
        with monkeypatch.context() as patched:
            for method in ("parts", "build"):
                patched.setattr(Kind, method, getattr(Kind, method))
            here = meetings()
            assert not penstock.upgrade(state, dry_run=True).is_needed
        met |= here
        for kind in sorted(here - refused):
            if problem := refusal(state, own_kinds()[kind]):
                assert kind in problem or "runs the views in another way" in problem
                refused.add(kind)
    assert met - refused <= {"explicit", "negate"}
    assert len(refused) > 90


def refusal(state: Path, kind: Kind) -> str:
    """What is said of a directory by code that has a kind in another version; nothing if it can
    go on."""
    before = kind.version
    object.__setattr__(kind, "version", 2)
    try:
        penstock.upgrade(state, dry_run=True)
    except penstock.StateError as error:
        return str(error)
    finally:
        object.__setattr__(kind, "version", before)
    return ""


@pytest.mark.parametrize(
    "archive",
    [path for path in ARCHIVES if path.name.removesuffix(".tar.xz").rpartition("-")[2] in OPTIONS],
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
