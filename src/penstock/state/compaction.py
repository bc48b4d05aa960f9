"""Compaction: fewer, smaller runs that mean the same from the frontier on.

Law: every row that stays can be justified. A run whose rows are all needed no more is dropped, one
mostly of such rows is rewritten, and where retractions pile up they are added to what they retract.
Cost: runs of one size class are merged when there are `FAN` of them, so a row is rewritten a number
of times that grows with the logarithm of the area.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from penstock.element import concat, consolidation
from penstock.state.run import AreaSpec, Run, Statistics, clamped, run_of, without_dead

FAN = 8
_CLASS_BITS = 3
_SLACK = 1024


def choose(statistics: Sequence[Statistics], frontier: int) -> list[list[int]]:
    """Which runs to rewrite together, by index; a run that is in no list stays as it is."""
    dead = [s.dead(frontier) for s in statistics]
    rows = sum(s.rows for s in statistics)
    cancelled = 2 * min(_minority(statistics), _outside_largest(statistics))
    if rows > _SLACK and 3 * (rows - sum(dead) - cancelled) < rows:
        return [list(range(len(statistics)))]
    chosen: list[list[int]] = []
    classes: defaultdict[int, list[int]] = defaultdict(list)
    for i, s in enumerate(statistics):
        if 2 * dead[i] > s.rows:
            chosen.append([i])
        else:
            classes[s.rows.bit_length() // _CLASS_BITS].append(i)
    full = [size for size, members in classes.items() if len(members) >= FAN]
    if full:
        chosen.append([i for size in sorted(classes) if size <= max(full) for i in classes[size]])
    return chosen


def merge(spec: AreaSpec, runs: Sequence[Run], frontier: int) -> Run:
    """One run for many: dead rows dropped, weights of equal rows added up, zeros dropped."""
    alive = [without_dead(run, frontier) for run in runs]
    x = concat(spec.schema, [run.elements for run in alive])
    hashes = np.concatenate([run.hashes for run in alive])
    keep = np.concatenate([run.keep for run in alive])
    if spec.order == "hash":
        x = clamped(x, frontier)
    if len(spec.key) == len(spec.schema) or _minority([run.statistics for run in alive]):
        x, rows = consolidation(x)
        hashes, keep = hashes[rows], keep[rows]
    return run_of(spec, x, hashes, keep)


def _minority(statistics: Sequence[Statistics]) -> int:
    """Rows of the rarer sign: each may cancel one of the other sign."""
    rows = sum(s.rows for s in statistics)
    retractions = sum(s.retractions for s in statistics)
    return min(retractions, rows - retractions)


def _outside_largest(statistics: Sequence[Statistics]) -> int:
    """Rows that may cancel one of another run; within a run they have done so."""
    return sum(s.rows for s in statistics) - max((s.rows for s in statistics), default=0)
