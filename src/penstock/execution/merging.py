"""Runs of an area that one task merges into one, in this step or in several.

Law: at every commit a row is either in a part of what is being made or still in the run that it
came in, never in both. Rows go over in the order of their hashes; a run that is not yet through
keeps those from some hash on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from penstock.state.compaction import rest_of, size_of
from penstock.state.run import AreaSpec, Run, place_of
from penstock.state.store import ALL_HASHES, RunRef


@dataclass(frozen=True)
class Merge:
    """With the rows of each run that the task owns."""

    area: str
    spec: AreaSpec
    opened: tuple[tuple[RunRef, Run], ...]
    owners: tuple[int, int]

    @property
    def runs(self) -> list[Run]:
        return [run for _, run in self.opened]

    @cached_property
    def size(self) -> int:
        return size_of(self.runs)

    @property
    def into(self) -> str:
        """The name of what they are being merged into since an earlier step, or none."""
        return self.opened[0][0].into

    @property
    def can_wait(self) -> bool:
        """Whether it can be said by a range of hashes which rows of a run a task has left."""
        low, high = self.owners
        mine = all(low <= ref.owners[0] and ref.owners[1] <= high for ref, _ in self.opened)
        return self.spec.order == "hash" and (mine or self.spec.owner is None)

    def rest(self, into: str, since: int) -> Iterator[RunRef]:
        """What is left of the runs when all hashes before this one have been merged."""
        bounds = self.owners if self.spec.owner is None else ALL_HASHES
        for ref, run in self.opened:
            rows = len(run) - place_of(run.hashes, since)
            if rows:
                low, high = ref.hashes
                hashes = max(low, since, bounds[0]), min(high, bounds[1])
                yield replace(
                    ref,
                    statistics=rest_of(ref.statistics, rows, hashes[0]),
                    owners=hashes if self.spec.owner is None else ref.owners,
                    hashes=hashes,
                    into=into,
                )
