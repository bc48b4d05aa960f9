"""Random input streams: few records, few times, many coincidences.

A stream of changes has elements with finite and infinite validities, and signed ones: each negative
element takes back, from some time on, weight of one earlier element, so that no snapshot is ever
negative. An append-only stream has elements that never end and are never taken back.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any, TypeAlias

from penstock.algebra.plan import Scan
from penstock.element import INF
from penstock.testing.random_expressions import random_value
from penstock.testing.random_plans import is_append_only

Stream: TypeAlias = list[tuple[tuple[Any, ...], int, int, int]]

HORIZON = 12
"""The latest time at which an element of a random stream begins or, if it does, ends."""


def random_streams(rng: Random, scans: Iterable[Scan], size: int = 6) -> dict[str, Stream]:
    """By name, a stream of up to `size` positive elements for each scan, in the order of time."""
    return {
        scan.name: _appends(rng, scan, size) if is_append_only(scan) else _changes(rng, scan, size)
        for scan in sorted(set(scans), key=lambda scan: scan.name)
    }


def _appends(rng: Random, scan: Scan, size: int) -> Stream:
    times = _times(rng)
    return _in_time_order(
        (e, rng.choice(times), INF, rng.choice((1, 1, 2))) for e in _records(rng, scan, size)
    )


def _changes(rng: Random, scan: Scan, size: int) -> Stream:
    found: Stream = []
    times = _times(rng)
    for e in _records(rng, scan, size):
        ts, n = min(rng.choice(times), HORIZON - 1), rng.choice((1, 1, 2))
        te = rng.choice((INF, rng.randint(ts + 1, HORIZON)))
        found.append((e, ts, te, n))
        if rng.random() < 0.4:
            since = rng.randint(ts, min(te - 1, HORIZON))
            found.append((e, since, te, -rng.randint(1, n)))
    return _in_time_order(found)


def _times(rng: Random) -> list[int]:
    """The times at which elements may begin: all, or so few that many begin together."""
    times = range(HORIZON + 1)
    return rng.sample(times, rng.choice((2, 4, len(times))))


def _records(rng: Random, scan: Scan, size: int) -> list[tuple[Any, ...]]:
    """Up to `size` records, some of them equal and some that differ in one column."""
    types = scan.schema.types
    found: list[tuple[Any, ...]] = []
    for _ in range(rng.choice((0, *range(size // 2, size + 1)))):
        if found and rng.random() < 0.4:
            changed = rng.randint(0, len(types))
            again = rng.choice(found)
            e = tuple(
                random_value(rng, types[i]) if i == changed else v for i, v in enumerate(again)
            )
        else:
            e = tuple(random_value(rng, kind) for kind in types)
        found.append(e)
    return found


def _in_time_order(elements: Iterable[tuple[tuple[Any, ...], int, int, int]]) -> Stream:
    return sorted(elements, key=lambda element: (element[1], element[2]))
