"""Published changes merge with age: consecutive publications of a view become one, and so again.

Law: what a merge makes stands for the same changes at the same times. It has the times of the first
and of the last of its publications, and the version of the last: whoever has had all up to then
goes on after it. Where somebody has had only some of them, they are not merged.
Cost: of `FAN` of a level comes one of the next. So the number of publications follows the logarithm
of the number of steps, and a change is rewritten that often. A block that is too large for one step
stays as it is: then its runs are few for what they hold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from penstock.element import BEGIN, INF, Elements, concat, intervals
from penstock.state import compaction
from penstock.state.manifest import Manifest, Publication
from penstock.state.run import Run, StateTableSpec, hash_keys, run_of
from penstock.state.store import ALL_HASHES, FileStore, RunReference

FAN = 8
_BYTES_TO_OPEN = 1 << 16
"""Opening a run takes about as long as rewriting so many bytes."""
_FEW = 2
_PER_RETENTION = 8


class Block(NamedTuple):
    """Consecutive publications of a view that become one."""

    view: str
    publications: tuple[Publication, ...]

    @property
    def refs(self) -> tuple[RunReference, ...]:
        return tuple(ref for one in self.publications for ref in one.refs)

    @property
    def version(self) -> int:
        return self.publications[-1].version

    @property
    def size(self) -> int:
        return sum(ref.statistics.bytes for ref in self.refs)

    @property
    def work(self) -> int:
        return sum(max(ref.statistics.bytes, _BYTES_TO_OPEN) for ref in self.refs)

    @property
    def stays(self) -> bool:
        """Whether its runs are so few that none has to be rewritten."""
        return len(self.refs) <= _FEW


class Piece(NamedTuple):
    """What one task does of a block: the records with hashes in a range."""

    block: Block
    low: int
    high: int


def blocks(
    log: Sequence[Publication], until: int, most: int, longest: int
) -> Iterator[list[Publication]]:
    """What can be merged of the publications up to a version, oldest first.

    A block has at most so many bytes, and spans at most so much of event time.
    """
    found: list[Publication] = []
    for one in log:
        if one.version > until:
            break
        if found and found[0].level != one.level:
            found = []
        found.append(one)
        if len(found) == FAN:
            size = sum(ref.statistics.bytes for each in found for ref in each.refs)
            if size <= most and one.w1 - found[0].w0 <= longest:
                yield found
            found = []


def chosen(
    manifest: Manifest, views: Sequence[str], tasks: int, retention: int | None
) -> tuple[Block, ...]:
    """The blocks that the tasks of a step merge: the smallest first, and only so much."""
    most = compaction.PART * tasks
    longest = INF - BEGIN if retention is None else retention // _PER_RETENTION
    found = [
        Block(view, tuple(block))
        for view in views
        for block in blocks(
            manifest.changelogs.get(view, ()), served(manifest, view), most, longest
        )
    ]
    found.sort(key=lambda block: block.work)
    count = sum(total <= most for total in accumulate(block.work for block in found))
    return tuple(found[: max(count, 1)])


def served(manifest: Manifest, view: str) -> int:
    """The version up to which all sinks of a view have been served."""
    mine = [sink.version for sink in manifest.sinks.values() if sink.view == view]
    return min(mine, default=manifest.version)


def pieces(blocks: Sequence[Block], task: int, tasks: int) -> list[Piece]:
    """What a task does; no piece is much larger than a part of a merge of state."""
    found = [piece for block in blocks if not block.stays for piece in _pieces(block)]
    return found[task::tasks]


def _pieces(block: Block) -> Iterator[Piece]:
    count, end = -(-block.size // compaction.PART) or 1, ALL_HASHES[1]
    for i in range(count):
        yield Piece(block, i * end // count, (i + 1) * end // count)


def merged(spec: StateTableSpec, piece: Piece, store: FileStore, frontier: int) -> list[Run]:
    """The changes of a piece: as a run what was over before the frontier, and as another the rest.

    Where nothing is taken back, elements stay as they are: who relies on that goes on relying.
    """
    parts = []
    for ref in piece.block.refs:
        run = store.open(spec, ref)
        parts.append(run.elements.where((run.hashes >= piece.low) & (run.hashes < piece.high)))
    x = concat(spec.schema, parts)
    if np.any(x.n < 0) and not x.sums:
        x = intervals(x)
    over = x.te < frontier
    return [_run(spec, part) for part in (x.where(over), x.where(~over)) if len(part)]


def _run(spec: StateTableSpec, x: Elements) -> Run:
    run = run_of(spec, x, hash_keys(spec, x), x.te)
    columns = tuple(map(_written_once, run.elements.columns))
    elements = replace(run.elements, columns=columns)
    return Run(run.hashes, run.statistics, lambda: (elements, run.keep))


def _written_once(column: pa.Array) -> pa.Array:
    """A column of texts, each of them once where that is shorter."""
    if not (pa.types.is_string(column.type) or pa.types.is_binary(column.type)):
        return column
    once = column.dictionary_encode()
    return once if 2 * once.nbytes < column.nbytes else column
