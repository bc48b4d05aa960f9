"""What keeps a state directory small: which runs a step rewrites, and which files it deletes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

from penstock.algebra.closing import ALWAYS
from penstock.execution.task import Report, hash_range
from penstock.physical.program import base_state_table
from penstock.runtime.failures import holders
from penstock.runtime.pipeline_state import PipelineState
from penstock.runtime.step_commit import alive
from penstock.state import changelog, compaction
from penstock.state.changelog import Block
from penstock.state.compaction import Use, choose, together
from penstock.state.manifest import (
    Action,
    Changed,
    Manifest,
    Merged,
    Punctuated,
    Retired,
    StateTableRuns,
    held_state_table,
)
from penstock.state.run import StateTableSpec
from penstock.state.storage import storage_errors
from penstock.state.store import FileStore, RunReference

MERGED_PER_BYTE = 2


def compactions(
    state_tables: Mapping[str, StateTableRuns],
    frontiers: Mapping[str, int],
    tasks: int,
    closed: Mapping[str, StateTableSpec],
    uses: Mapping[str, Use],
) -> dict[str, frozenset[str]]:
    """Which runs of which state tables the tasks are to rewrite in this step.

    The parts of one run are rewritten together, when there are all of them; those that are needed
    no more are merely left out. What is being merged goes on. State tables that the end of a stream
    closes as a whole are looked at whatever their size.
    """
    over = {name for name, state_table in closed.items() if state_table.until == ALWAYS}
    found: dict[str, frozenset[str]] = {}
    for name, state_table in state_tables.items():
        needed = alive(state_table.refs, frontiers[name])
        chosen = {ref.name for ref in needed if ref.into}
        unfinished = {ref.into for ref in needed}
        idle = [ref for ref in needed if not ref.into and ref.whole not in unfinished]
        for task in range(tasks):
            low, high = hash_range(task, tasks)
            parts: dict[str, list[RunReference]] = {}
            for ref in idle:
                if ref.owners[0] < high and low < ref.owners[1]:
                    parts.setdefault(ref.whole, []).append(ref)
            wholes = list(parts.values())
            known = [together([ref.statistics for ref in refs]) for refs in wholes]
            groups = choose(known, frontiers[name], name in closed, uses.get(name))
            for group in [range(len(wholes))] if name in over else groups:
                chosen |= {ref.name for i in group for ref in wholes[i]}
        if chosen:
            found[name] = frozenset(chosen)
    return found


def used(before: Mapping[str, Use], reports: Iterable[Report]) -> dict[str, Use]:
    """How a step used state tables; of those that it did not, what was known before."""
    found: defaultdict[str, list[Use]] = defaultdict(list)
    for report in reports:
        for name, use in report.uses.items():
            found[name].append(use)
    sums = {name: Use(*map(sum, zip(*each, strict=True))) for name, each in found.items()}
    return {**before, **{name: use for name, use in sums.items() if any(use)}}


def bytes_to_merge(uses: Mapping[str, Use], tasks: int) -> int:
    """How much a task merges in a step, given how much came to all state tables in the one before.

    A row is merged a few times in its life. What is more than that may wait for other steps.
    """
    return compaction.PART + MERGED_PER_BYTE * sum(use.bytes for use in uses.values()) // tasks


def delete_left(
    directory: Path, private: Iterable[str], before: Mapping[str, StateTableRuns], now: Manifest
) -> None:
    """Delete the files of state tables that only steps read, when the last commit did without
    them."""
    then = {ref.segment for name in private for ref in before[name].refs}
    held = (
        held_state_table(view, a)
        for view, failure in now.failures.items()
        for a in failure.state_tables
    )
    live = (*private, *held)
    for segment in then - {ref.segment for name in live for ref in now.state_table(name).refs}:
        with storage_errors(directory):
            FileStore(directory).path(segment).unlink(missing_ok=True)


def merged_changes(
    blocks: Iterable[Block], reports: Iterable[Report], views: Iterable[str], now: Manifest
) -> Iterable[Action]:
    """What a step has merged of publications. Not where a sink came that has had none of them."""
    found: defaultdict[tuple[str, int], list[RunReference]] = defaultdict(list)
    for report in reports:
        for key, refs in report.merged.items():
            found[key] += refs
    there = set(views)
    for block in blocks:
        if block.view in there and changelog.served(now, block.view) >= block.version:
            new = block.refs if block.stays else tuple(found[block.view, block.version])
            yield Merged(block.view, block.publications[0].version, block.version, new)


def old_changes(manifest: Manifest, retention: int | None) -> list[Action]:
    """Move publications that are older than the retention into the base of their view.

    What a sink has not had yet is kept for it.
    """
    actions: list[Action] = []
    if retention is None:
        return actions
    horizon = manifest.frontier - retention
    for view, log in manifest.changelogs.items():
        served = changelog.served(manifest, view)
        old = [entry for entry in log if entry.w1 <= horizon and entry.version <= served]
        if old:
            refs = tuple(ref for entry in old for ref in entry.refs)
            actions += [Changed(base_state_table(view), refs, frontier=old[-1].w1 - 1)]
            actions += [Retired(view, old[-1].version)]
    return actions


def sizes(manifest: Manifest, names: Iterable[str]) -> dict[str, dict[str, int]]:
    """How much state tables hold."""
    refs = {
        name: manifest.state_tables[name].refs for name in names if name in manifest.state_tables
    }
    return {
        name: {
            "rows": sum(ref.statistics.rows for ref in found),
            "bytes": sum(ref.statistics.bytes for ref in found),
            "runs": len(found),
        }
        for name, found in refs.items()
    }


class Maintenance:
    """What makes the log and the directory smaller, beside steps."""

    def __init__(self, state: PipelineState) -> None:
        self._state = state

    def give_up_old_changes(self) -> None:
        if old := old_changes(self._state.manifest, self._state.options.retention):
            self._state.commit(*old)

    def condense(self) -> None:
        """Write what punctuations have said in fewer words, where time has passed them.

        Those who look at what was said from before the frontier must have it as it was.
        """
        state = self._state
        for name, source in state.sources.items():
            if holders(state.manifest, name):
                continue
            with state.mutex:
                entries = state.punctuations.condensed(source, state.manifest)
                if entries is not None:
                    closings = state.punctuations.of(source, state.manifest)
                    state.commit(Punctuated(name, entries, anew=True))
                    state.punctuations.cache(name, state.manifest, closings)

    def collect_garbage(self) -> int:
        """Delete files that no commit names and no reader can be reading; how many."""
        with self._state.step_lock:
            return self._state.garbage.collect(lambda: self._state.manifest)
