"""Do two queries mean the same on the rows that a session has received?"""

from __future__ import annotations

from collections import Counter
from typing import Any, TypeAlias

from penstock.element import BEGIN, hashable
from penstock.ingest.times import Time, shown, ticks, time_of
from penstock.session import Session
from penstock.session.commands import Commands
from penstock.sql import parse
from penstock.sql import statements as s

Record: TypeAlias = tuple[Any, ...]


def assert_same_snapshots(db: Session, first: str, second: str) -> None:
    """Both SELECTs have the same answer at every time, over all rows received so far.

    Columns are compared by their place. The error shows how they differ, at the first time at
    which they do.
    """
    texts = first.strip(), second.strip()
    one, other = (_changes(db, text) for text in texts)
    times = sorted(t for t, _ in (one - other) + (other - one))
    if not times:
        return
    when = shown(times[0], time_of(db.engine.sources.values()))
    found = [_snapshot(changes, times[0]) for changes in (one, other)]
    raise AssertionError(
        f"the snapshots at {when} differ\n"
        f"{texts[0]}\n  alone has {_shown(found[0] - found[1])}\n"
        f"{texts[1]}\n  alone has {_shown(found[1] - found[0])}\n"
        f"both have {(found[0] & found[1]).total()} rows in common"
    )


def _changes(db: Session, text: str) -> Counter[tuple[int, Record]]:
    """By time and record, by how much its number changes; nothing where it does not.

    A counter subtracts down to zero only, so what goes is counted under its record and a mark.
    """
    queries = parse(text)
    if len(queries) != 1 or not isinstance(queries[0], s.Query):
        raise ValueError(f"expected one SELECT, found: {text}")
    history = db.answer(Commands(db).plan(queries[0])).history().toArrow()
    weights: Counter[tuple[int, Record]] = Counter()
    for row in history.to_pylist():
        *values, begins, ends = row.values()
        record = hashable(tuple(values))
        weights[_ticks(begins), record] += 1
        if ends is not None:
            weights[_ticks(ends), record] -= 1
    return Counter({(t, (n > 0, *record)): abs(n) for (t, record), n in weights.items() if n})


def _snapshot(changes: Counter[tuple[int, Record]], at: int) -> Counter[Record]:
    found: Counter[Record] = Counter()
    for (t, (comes, *record)), n in changes.items():
        if t <= at:
            found[tuple(record)] += n if comes else -n
    return +found


def _ticks(t: Time | None) -> int:
    return BEGIN if t is None else ticks(t)


def _shown(snapshot: Counter[Record]) -> str:
    return ", ".join(map(str, sorted(snapshot.elements(), key=repr))) or "nothing"
