"""What is whole is called whole, whatever is in it; what is not is named."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

import penstock
from penstock.directory.state_tables import references
from penstock.errors import PlanError
from penstock.ingest.checkpoints import has_its_checksum
from penstock.state.log import Log, read_manifest
from penstock.state.manifest import Action, Changed, Delivered, Published, Received, SourceState
from penstock.state.store import ByteRange, RunReference
from tests.directory.killed import opened, produce
from tests.faults.damages import flip, prepare, settings
from tests.golden.pipeline import HERE, unpacked


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("full") / "state"
    with settings():
        prepare(directory)
    return directory


@pytest.fixture
def state(full: Path, tmp_path: Path) -> Path:
    """A copy of a directory with all that one can hold."""
    shutil.copytree(full, tmp_path / "state")
    return tmp_path / "state"


def found(directory: Path) -> set[tuple[str, str]]:
    problems = penstock.verify(directory).problems
    return {(str(each.file.relative_to(directory)), each.problem) for each in problems}


@pytest.mark.parametrize("archive", sorted(HERE.glob("*.tar.xz")), ids=lambda path: path.name[:-7])
def test_directories_of_every_format_are_whole(archive: Path, tmp_path: Path) -> None:
    told = penstock.verify(unpacked(archive, tmp_path) / "state")
    assert told.problems == ()
    assert told.runs > told.files > 100


def test_all_that_there_is_is_counted_and_the_rest_is_named(state: Path) -> None:
    before = penstock.verify(state)
    manifest = read_manifest(state / "log")
    assert (before.version, before.layout) == (manifest.version, 3)
    assert before.files == len(manifest.segments())
    strange = [
        state / "notes.txt",
        state / "log" / ".half.json",
        state / "runs" / f"{'0' * 32}.arrow",
        state / "checkpoints" / "nobody",
    ]
    for path in strange:
        path.touch()
    after = penstock.verify(state)
    assert after.is_whole
    assert set(after.unnamed) - set(before.unnamed) == set(strange)


def test_the_watcher_hears_of_all_bytes(state: Path) -> None:
    told: list[tuple[int, int]] = []
    penstock.verify(state, lambda done, total: told.append((done, total)))
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert told[-1][0] == told[-1][1]


def committed(state: Path, *actions: Action) -> None:
    log = Log(state / "log")
    log.commit(actions)
    log.close()


def other_statistics(ref: RunReference, **changes: object) -> RunReference:
    return replace(ref, statistics=replace(ref.statistics, **changes))  # type: ignore[arg-type]


def test_a_log_that_speaks_of_what_is_not_there(state: Path) -> None:
    """The checksums are right: it was written so."""
    manifest = read_manifest(state / "log")
    nobody = "which is not defined"
    committed(
        state,
        Received("gone", SourceState()),
        Published("lost", 0, 5, ()),
        Delivered("orphan", "absent", 3),
        Delivered("eager", "v", manifest.version + 9),
        Published("v", 0, 5, ()),
    )
    problems = {problem for _, problem in found(state)}
    assert problems == {
        f"it has the state of source 'gone', {nobody}",
        f"it has changes of view 'lost', {nobody}",
        f"it has a sink of view 'absent', {nobody}",
        f"sink 'eager' has version {manifest.version + 9}, which is yet to come",
        "changes of view 'v' from 0 on come twice",
    }


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda ref: other_statistics(ref, rows=99), "rows, and the log has 99"),
        (lambda ref: other_statistics(ref, hash_range=(1, 1)), "in the range that the log has"),
        (lambda ref: other_statistics(ref, keep_quantiles=(1, 1)), "needed for another time"),
        (lambda ref: replace(ref, owners=(0, 1)), "belong to another task"),
        (lambda ref: replace(ref, rows=ref.index), "it is no run"),
        (lambda ref: replace(ref, segment="../../victim"), "names a file"),
        (lambda ref: replace(ref, segment="0" * 32), "No such file"),
    ],
)
def test_a_reference_that_is_not_true_of_its_run(
    change: Callable[[RunReference], RunReference], problem: str, state: Path
) -> None:
    state_table = read_manifest(state / "log").state_tables["view v"]
    committed(state, Changed("view v", (change(state_table.refs[-1]),)))
    (told,) = found(state)
    assert problem in told[1]


def test_a_run_in_the_place_of_another_is_noticed(state: Path) -> None:
    """Its bytes are whole and the log names them: they are of other columns or in no order."""
    state_tables = read_manifest(state / "log").state_tables
    input_buffer = next(
        name for name in state_tables if name.startswith("lane ") and state_tables[name].refs
    )
    groups = next(
        name for name in state_tables if name.endswith("/current") and state_tables[name].refs
    )
    committed(
        state,
        Changed("input s", state_tables["input r"].refs[:1]),
        Changed(input_buffer, state_tables[groups].refs[:1]),
        Changed(groups, state_tables["input s"].refs[:1]),
    )
    assert len(penstock.verify(state).problems) >= 3


def test_damage_is_found_wherever_the_log_names_bytes(state: Path) -> None:
    """In each part of each file. Others are of runs that were merged since, or between two runs."""
    parts: dict[Path, set[ByteRange]] = {}
    for _, ref, _ in references(read_manifest(state / "log")):
        path = state / "runs" / f"{ref.segment}.arrow"
        parts.setdefault(path, set()).update((ref.index, ref.rows))
    rng, unread = Random("places"), 0
    for path, own in parts.items():
        rest = {*range(path.stat().st_size)}.difference(*(range(p.offset, _end(p)) for p in own))
        if rest:
            flip(path, rng.choice(sorted(rest)))
            unread += 1
    assert unread
    assert penstock.verify(state).is_whole
    for number in range(max(map(len, parts.values()))):
        flipped = {
            path: rng.randrange(own[number].offset, _end(own[number]))
            for path, own in ((path, sorted(own)) for path, own in parts.items())
            if number < len(own)
        }
        for damaged in (set(flipped), set[Path]()):
            for path, place in flipped.items():
                flip(path, place)
            assert {problem.file for problem in penstock.verify(state).problems} == damaged


def _end(part: ByteRange) -> int:
    return part.offset + part.length


def test_a_gap_in_the_old_part_of_the_log_is_found(state: Path) -> None:
    """Readers begin with the newest checkpoint and never see it."""
    oldest, *_ = sorted((state / "log").glob("*.json"))
    second = oldest.with_stem(f"{int(oldest.stem) + 1:020d}")
    content = second.read_bytes()
    second.unlink()
    read_manifest(state / "log")
    assert {name for name, _ in found(state)} == {f"log/{second.name}"}
    second.write_bytes(oldest.read_bytes())
    assert {name for name, _ in found(state)} >= {f"log/{second.name}"}
    second.write_bytes(content)
    assert found(state) == set()


def test_a_log_that_names_files_elsewhere(state: Path, tmp_path: Path) -> None:
    place = replace(read_manifest(state / "log").sources["r"], checkpoint="../../victim")
    committed(state, Received("r", place))
    assert "names a checkpoint" in str(found(state))
    ref = read_manifest(state / "log").state_tables["view v"].refs[-1]
    committed(state, Changed("view v", (replace(ref, segment="../../victim"),)))
    with pytest.raises(penstock.StateError, match="names a file"):
        penstock.backup(state, tmp_path / "a" / "backup")
    assert not list((tmp_path / "a").iterdir())


def test_files_of_the_log_with_strange_numbers(state: Path) -> None:
    newest = max((state / "log").glob("*.json"))
    for name in (f"{'9' * 20}.json", f"{int(newest.stem) + 1:020d}.json"):
        path = newest.with_name(name)
        path.write_text("00000000\n[]")
        assert str(path) in {str(each.file) for each in penstock.verify(state).problems}
        path.unlink()
    assert penstock.verify(state).is_whole


def test_a_directory_that_is_written_to_meanwhile(tmp_path: Path) -> None:
    """Each time that a file is looked at, a step has deleted some."""
    produce(tmp_path / "state")
    with opened(tmp_path / "state") as db:
        at = iter(range(100, 130))

        def step(done: int, total: int) -> None:
            if (now := next(at, None)) is not None:
                db.source("s").append([("a", 1, now)])
                db.step()
                db.engine.collect_garbage()

        assert penstock.verify(tmp_path / "state", step).is_whole
    assert penstock.verify(tmp_path / "state").is_whole


def test_what_is_no_state_directory(state: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path, tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(PlanError, match="is not a state directory"):
            penstock.verify(path)
    with pytest.raises(PlanError, match="not on this machine"):
        penstock.verify("s3://bucket/state")
    with pytest.raises(penstock.ArgumentError, match="Found 3 for watch"):
        penstock.verify(state, 3)  # type: ignore[arg-type]
    (tmp_path / "log").mkdir()
    assert penstock.verify(tmp_path).is_whole  # of a process that was killed as it began


def test_spark_has_checksums_of_its_own(tmp_path: Path) -> None:
    sums, file = tmp_path / ".a.crc", tmp_path / "a"
    file.write_bytes(b"x" * 1300)
    assert has_its_checksum(file)  # without a sum there is nothing to compare
    for content in (b"", b"crc", b"crc\0\0\0\2\0", b"CRC\0\0\0\2\0" + bytes(12), os.urandom(20)):
        sums.write_bytes(content)
        assert not has_its_checksum(file)
