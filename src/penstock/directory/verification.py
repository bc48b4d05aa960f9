"""Is a state directory whole? Every file of it is read, and compared with what the log says.

Law: what is damaged, missing or put elsewhere is a problem that names a file, and nothing else is.
A directory may be verified while another process writes to it: what that deletes meanwhile is
looked at again in the newest commit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from penstock.boundary import public
from penstock.directory.listing import LIST, listed_in
from penstock.directory.state_tables import (
    LOG,
    Defined,
    existing_directory,
    is_of_source,
    references,
)
from penstock.errors import ArgumentError, PenstockError, StateError, brief
from penstock.ingest import checkpoints
from penstock.runtime.files import RUNS
from penstock.state import layout_2
from penstock.state.log import check_log, log_files, read_manifest
from penstock.state.manifest import Manifest, SourceState
from penstock.state.run import StateTableSpec
from penstock.state.run_check import problems_of
from penstock.state.storage import storage_errors
from penstock.state.store import FileStore, RunReference

Watch: TypeAlias = Callable[[int, int], None]
"""Is told how many bytes are done, and of how many."""
LOCK = "writer.lock"
_LOOKS = 5


@dataclass(frozen=True)
class Problem:
    """What is wrong with a file."""

    file: Path
    problem: str

    def __str__(self) -> str:
        return f"{self.file}: {self.problem}"


@dataclass(frozen=True)
class Verification:
    """What was found in a state directory as of a version.

    `unnamed` are files that nothing names: of tasks that died, of what is being written, or of
    somebody else. They are harmless.
    """

    directory: Path
    version: int
    layout: int
    entries: int
    files: int
    runs: int
    rows: int
    bytes: int
    problems: tuple[Problem, ...]
    unnamed: tuple[Path, ...]

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def watching(watch: Watch | None) -> Watch:
    """The watcher that a caller gives, or nobody."""
    if watch is not None and not callable(watch):
        raise ArgumentError(f"Found {brief(watch)} for watch, expected a function of two numbers.")
    return watch or nobody


def nobody(done: int, total: int) -> None:
    """For those who do not watch."""


@public
def verify(path: str | Path, watch: Watch | None = None) -> Verification:
    """Read all of a state directory and say what is wrong with it; `watch` is told of progress.

    Needs no Spark, and may be done while another process writes to the directory.
    """
    directory, watch = existing_directory(path), watching(watch)
    with storage_errors(directory):
        return verified(directory, watch)


def verified(directory: Path, watch: Watch = nobody) -> Verification:
    log = directory / LOG
    problems = [Problem(error.path, _reason(error)) for error in check_log(log)]
    entries = len(log_files(log))
    if not entries and not any(log.glob("*.head")) and any((directory / RUNS).glob("*.arrow")):
        gone = Problem(log, "the log is gone, and only it can tell the meaning of the runs")
        return Verification(directory, 0, 0, 0, 0, 0, 0, 0, (gone,), ())
    if (directory / LIST).exists():
        try:
            listed_in(directory)
        except StateError as error:
            problems.append(Problem(error.path, _reason(error)))
    try:
        manifest = read_manifest(log)
    except StateError as error:
        if not problems:
            problems.append(Problem(error.path, _reason(error)))
        return Verification(directory, 0, 0, entries, 0, 0, 0, 0, tuple(problems), ())
    specs: dict[str, StateTableSpec] = {}
    try:
        defined = Defined.by(manifest)
        specs = defined.specs(manifest)
    except PenstockError as error:
        problems.append(Problem(log, _reason(error)))
    else:
        problems += _of_meaning(log, manifest, defined)
        problems += _of_checkpoints(directory, manifest, defined)
    refs = list(references(manifest))
    problems += _of_runs(directory, manifest, refs, specs, watch)
    return Verification(
        directory,
        manifest.version,
        manifest.layout,
        entries,
        len(manifest.segments()),
        len({ref for _, ref, _ in refs}),
        sum(ref.statistics.rows for ref in {ref for _, ref, _ in refs}),
        sum(_size(directory / RUNS / f"{name}.arrow") for name in manifest.segments()),
        tuple(dict.fromkeys(problems)),
        tuple(_unnamed(directory, manifest)),
    )


def _reason(error: PenstockError) -> str:
    """What an error says, without the path that it begins with."""
    path = f"{error.path}: " if isinstance(error, StateError) else ""
    return error.sentence.removeprefix(path)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


# --- the log --------------------------------------------------------------------------------------


def _of_meaning(log: Path, manifest: Manifest, defined: Defined) -> Iterator[Problem]:
    """Whether what the log names is defined, and what the views need is named."""
    if manifest.layout != layout_2.LAYOUT:
        try:
            defined.check(log, manifest)
        except StateError as error:
            yield Problem(log, _reason(error))
    for kind, names, there in (
        ("the state of source", manifest.sources, defined.sources),
        ("punctuations of source", manifest.punctuations, defined.sources),
        ("producers of source", manifest.producers, defined.sources),
        ("changes of view", manifest.changelogs, defined.views),
        ("the needs of view", manifest.needs, defined.views),
        ("a failure of view", manifest.failures, defined.views),
        ("a sink of view", [sink.view for sink in manifest.sinks.values()], defined.views),
    ):
        for name in names:
            if name not in there:
                yield Problem(log, f"it has {kind} {name!r}, which is not defined")
    for name, sink in manifest.sinks.items():
        if sink.version > manifest.version:
            yield Problem(log, f"sink {name!r} has version {sink.version}, which is yet to come")
    for view, changes in manifest.changelogs.items():
        for before, entry in zip((None, *changes), changes, strict=False):
            if entry.w0 > entry.w1 or (before is not None and entry.w0 < before.w1):
                yield Problem(log, f"changes of view {view!r} from {entry.w0} on come twice")


def _of_checkpoints(directory: Path, manifest: Manifest, defined: Defined) -> Iterator[Problem]:
    """A stream may be under way: what does not fit is looked at again with the newest commit."""
    for name in sorted(defined.sources.keys() & manifest.sources.keys()):
        problems: list[StateError] = []
        for _ in range(_LOOKS):
            problems = list(_of_checkpoint(directory, name, manifest))
            if not problems:
                break
            manifest = _newest(directory, manifest)
        yield from (Problem(error.path, _reason(error)) for error in problems)


def _of_checkpoint(directory: Path, source: str, manifest: Manifest) -> Iterator[StateError]:
    state = manifest.sources.get(source, SourceState())
    try:
        place = checkpoints.place_of(directory, source, state)
    except StateError as error:
        yield error
        return
    if state.batch >= 0 or place.exists():
        yield from checkpoints.problems_of(place, source, state)


# --- the runs -------------------------------------------------------------------------------------


def _of_runs(
    directory: Path,
    manifest: Manifest,
    refs: Iterable[tuple[str, RunReference, bool]],
    specs: dict[str, StateTableSpec],
    watch: Watch,
) -> Iterator[Problem]:
    """File by file; what several state tables hold alike is looked at once."""
    store, now = FileStore(directory / RUNS), manifest
    by_file: dict[str, dict[tuple[RunReference, str], tuple[str, bool]]] = {}
    for state_table, ref, in_order in refs:
        holds = specs[state_table].name if state_table in specs else state_table
        by_file.setdefault(ref.segment, {}).setdefault((ref, holds), (state_table, in_order))
    total, done = sum(_end(ref) for each in by_file.values() for ref, _ in each), 0
    for segment, found in by_file.items():
        problems: list[Problem] = []
        for (ref, _), (state_table, in_order) in found.items():
            problems += _of_run(store, ref, state_table, specs.get(state_table), in_order)
            store.forget(())
            done += _end(ref)
            watch(done, total)
        if problems and not (directory / RUNS / f"{segment}.arrow").exists():
            now = _newest(directory, now)
            if segment not in now.segments():
                continue
        yield from problems


def _of_run(
    store: FileStore,
    ref: RunReference,
    state_table: str,
    spec: StateTableSpec | None,
    in_order: bool,
) -> Iterator[Problem]:
    try:
        file = store.path(ref.segment)
        if spec is None:  # the log has a state table that nothing uses: its bytes are to be there
            len(store.open(StateTableSpec(state_table, pa.schema([]), ()), ref).elements)
            return
        for problem in problems_of(store, spec, ref, in_order, not is_of_source(spec)):
            yield Problem(
                file, f"at byte {ref.index.offset}, of state table {state_table!r}: {problem}"
            )
    except StateError as error:
        yield Problem(error.path, _reason(error))
    except (ValueError, KeyError, IndexError, TypeError, pa.ArrowException) as error:
        problem = f"of state table {state_table!r}: it is no run ({type(error).__name__}: {error})"
        yield Problem(file, f"at byte {ref.index.offset}, {problem}")


def _end(ref: RunReference) -> int:
    return ref.index.length + ref.rows.length


def _newest(directory: Path, known: Manifest) -> Manifest:
    try:
        return read_manifest(directory / LOG, known)
    except StateError:
        return known


# --- what nobody names ----------------------------------------------------------------------------


def _unnamed(directory: Path, manifest: Manifest) -> Iterator[Path]:
    """Whatever there is besides."""
    log = directory / LOG
    named = {*log_files(log), log / LOCK, *log.glob("*.head"), directory / LIST}
    named |= {directory / RUNS / f"{name}.arrow" for name in manifest.segments()}
    for name, state in manifest.sources.items():
        with suppress(StateError):  # which is a problem, and told as one
            named.add(checkpoints.place_of(directory, name, state))
    for folder in (directory, log, directory / RUNS, directory / checkpoints.FOLDER):
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            own = folder == directory and path.name in (LOG, RUNS, checkpoints.FOLDER)
            if not own and path not in named:
                yield path


def as_json(found: Verification) -> dict[str, Any]:
    return {
        "directory": str(found.directory),
        "whole": found.is_whole,
        "version": found.version,
        "layout": found.layout,
        "entries": found.entries,
        "files": found.files,
        "runs": found.runs,
        "rows": found.rows,
        "bytes": found.bytes,
        "problems": [{"file": str(p.file), "problem": p.problem} for p in found.problems],
        "unnamed": [str(path) for path in found.unnamed],
    }
