"""A damaged file is an error that names it, never an answer, and no error of somebody else's."""

from __future__ import annotations

import json
import os
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple
from unittest.mock import patch

import pytest

from penstock.directory.state_tables import references
from penstock.errors import StateError
from penstock.runtime import jobs
from penstock.state import changelog
from penstock.state.log import LAYOUT, Log, read_manifest
from penstock.testing import scripts
from penstock.testing.scripts import STEP, Advance, Operation, Outcome, Rows, Script
from tests.faults.pipelines import assert_same, operations, script

pytestmark = pytest.mark.long

STEPS = 10
NOW = 10 * STEPS + 20
MORE: tuple[Operation, ...] = (
    Rows("bids", [(1, 5, NOW), (2, 6, NOW + 9)]),
    Rows("auctions", [(1, "seller 1", NOW)]),
    Advance("bids", NOW + 10),
    Advance("auctions", NOW + 10),
    STEP,
)


def flipped(data: bytes, rng: Random) -> bytes:
    """One bit is not what it was."""
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def truncated(data: bytes, rng: Random) -> bytes:
    return data[: rng.choice((0, 1, len(data) - 1, rng.randrange(len(data))))]


def zeroed(data: bytes, rng: Random) -> bytes:
    """A block that never reached the disk."""
    start = rng.randrange(len(data)) // 512 * 512
    return (data[:start] + bytes(512) + data[start + 512 :])[: len(data)]


def overwritten(data: bytes, rng: Random) -> bytes:
    start = rng.randrange(len(data))
    length = min(rng.randrange(1, 100), len(data) - start)
    return data[:start] + rng.randbytes(length) + data[start + length :]


DAMAGES: tuple[Callable[[bytes, Random], bytes], ...] = (flipped, truncated, zeroed, overwritten)


class Example(NamedTuple):
    """A state directory in the middle of a script, and what should come of it in the end."""

    directory: Path
    script: Script
    expected: Outcome

    def finish(self, directory: Path) -> Outcome:
        """Open a directory as a new process would; receive, step, serve sinks and read in it."""
        jobs._stores.clear()
        with patch.object(changelog, "FAN", changelog.FAN):  # which the script changes
            session = scripts._opened(self.script, directory, 0)
            try:
                for number, operation in enumerate(MORE, start=len(self.script.operations)):
                    scripts._perform(session, operation, number)
                return scripts._outcome(session, directory)
            finally:
                session.close()

    def files(self, pattern: str) -> list[Path]:
        """Files of runs, whose names are random, in the order in which the log names them."""
        state = self.directory / "state"
        refs = [ref.segment for _, ref, _ in references(read_manifest(state / "log"))]
        places = {segment: place for place, segment in reversed([*enumerate(refs)])}
        found = sorted(state.glob(pattern))
        return sorted(found, key=lambda path: places.get(path.stem, len(refs)))

    def with_other(self, path: Path, content: bytes, directory: Path) -> Path:
        """A copy of the directory with other content in one file; the path of that file."""
        if directory.exists():
            shutil.rmtree(directory)
        shutil.copytree(self.directory, directory, copy_function=os.link)
        changed = directory / path.relative_to(self.directory)
        changed.unlink()
        changed.write_bytes(content)
        return changed


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Example:
    directory = tmp_path_factory.mktemp("damaged")
    plain = script(operations(5, STEPS))
    plain.run(directory / "origin")
    shutil.copytree(directory / "origin", directory / "finished")
    found = Example(directory / "origin", plain, Outcome({}, {}, {}, {}))
    return found._replace(expected=found.finish(directory / "finished"))


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("pattern", ["runs/*.arrow", "log/*[0-9].[cj]*"])
def test_the_engine_says_which_file_is_damaged_or_is_right(
    pattern: str, damage: Callable[[bytes, Random], bytes], example: Example, tmp_path: Path
) -> None:
    rng = Random(f"{pattern} {damage.__name__}")
    files, errors = example.files(pattern), 0
    for path in rng.sample(files, min(len(files), 16)):
        content = damage(path.read_bytes(), rng)
        changed = example.with_other(path, content, tmp_path / "copy")
        try:
            assert_same(example.finish(tmp_path / "copy"), example.expected)
        except StateError as error:
            assert error.path == changed
            assert str(changed) in str(error)
            errors += 1
    assert errors > 0, "no damage was noticed: the test proves nothing"


@pytest.mark.parametrize("pattern", ["runs/*.arrow", "log/*.checkpoint"])
def test_a_missing_file_is_an_error_that_names_it(
    pattern: str, example: Example, tmp_path: Path
) -> None:
    directory, found = tmp_path / "copy", 0
    for path in example.files(pattern)[:10]:
        missing = example.with_other(path, b"", directory)
        missing.unlink()
        try:
            assert_same(example.finish(directory), example.expected)
        except StateError as error:
            assert error.path == missing or missing.suffix == ".checkpoint"
            found += 1
    assert found > 0 or pattern == "log/*.checkpoint"


def test_every_byte_of_the_log_matters(example: Example, tmp_path: Path) -> None:
    """Each byte changed, and the file cut off before each byte: an error, or the same manifest."""
    expected = read_manifest(example.directory / "state" / "log")
    rng = Random("every byte")
    files = example.files("log/*.json")
    for path in (*files[-3:], *example.files("log/*.checkpoint")):
        changed = example.with_other(path, b"", tmp_path / "copy")
        data = path.read_bytes()
        places = range(len(data)) if len(data) < 2000 else rng.sample(range(len(data)), 2000)
        for place in places:
            other = data[place] ^ 1 << rng.randrange(8)
            for content in (data[:place], data[:place] + bytes([other]) + data[place + 1 :]):
                changed.write_bytes(content)
                try:
                    assert read_manifest(changed.parent) == expected
                except StateError as error:
                    assert error.path == changed


@pytest.mark.parametrize(
    "body",
    [
        {"actions": [{"is": "teleported", "to": "elsewhere"}]},
        {"actions": [{"is": "advanced"}]},
        {"actions": [{"is": "advanced", "frontier": 1, "colour": "blue"}]},
        {"actions": [{"is": "advanced", "frontier": "1"}]},
        {"actions": [{"is": "advanced/2", "frontier": 1}]},
        {"actions": [{"is": "scan", "name": "s", "columns": []}]},
        {"actions": [{"is": "changed", "area": "a", "added": [{"segment": "s"}]}]},
        {"actions": 3},
        {"action": []},
        [],
        None,
    ],
    ids=str,
)
def test_a_log_of_another_version_is_an_error_that_names_it(body: object, tmp_path: Path) -> None:
    if isinstance(body, dict):
        body = {"layout": LAYOUT, "number": 1, "previous": "", "note": {}, **body}
    text = json.dumps(body).encode()
    path = tmp_path / f"{1:020d}.json"
    path.write_bytes(b"%08x\n" % zlib.crc32(text) + text)
    with pytest.raises(StateError) as error:
        Log(tmp_path)
    assert error.value.path == path


@pytest.mark.parametrize("layout", [{}, {"layout": LAYOUT + 1}, {"layout": "new"}], ids=str)
def test_state_of_another_layout_is_refused(layout: dict[str, object], tmp_path: Path) -> None:
    text = json.dumps({**layout, "actions": [], "note": {}}).encode()
    path = tmp_path / f"{1:020d}.json"
    path.write_bytes(b"%08x\n" % zlib.crc32(text) + text)
    with pytest.raises(StateError, match=r"another version of Penstock.*another path") as error:
        Log(tmp_path)
    assert error.value.path == path


def test_a_log_that_could_not_be_read_is_not_locked(tmp_path: Path) -> None:
    path = tmp_path / f"{1:020d}.json"
    path.write_bytes(b"nothing")
    with pytest.raises(StateError) as kept:
        Log(tmp_path)
    path.unlink()
    Log(tmp_path).close()
    assert kept.value.path == path


def test_drafts_of_a_killed_writer_go_and_are_never_read(example: Example, tmp_path: Path) -> None:
    directory = tmp_path / "copy"
    path = example.files("log/*.json")[-1]
    example.with_other(path, path.read_bytes(), directory)
    draft = directory / "state" / "log" / f".{path.name}.1"
    draft.write_bytes(b"half a com")
    assert_same(example.finish(directory), example.expected)
    assert not draft.exists()
