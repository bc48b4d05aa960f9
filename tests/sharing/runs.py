"""Overlapping queries run as views of one session, there from the start or attached on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.element import Elements, changes, concat
from penstock.errors import UnsupportedError
from penstock.ingest.sources import SourceDefinition
from penstock.runtime.options import Options
from penstock.session import Session
from penstock.testing.engine_runs import over_sources, published, rows_of, source_of
from penstock.testing.local_session import local_session
from penstock.testing.random_overlaps import CHANGES, LOG, OTHER
from penstock.testing.random_streams import HORIZON, Stream


def opened(directory: Path, **options: Any) -> Session:
    db = local_session(directory, Options(tasks=2, unbounded="allow", **options))
    for scan in (LOG, OTHER):
        source = SourceDefinition(scan.name, scan.schema, "at", delay=2 * HORIZON)
        db.engine.define(scan.name, source)
    db.engine.define(CHANGES.name, source_of(CHANGES))
    return db


def over(plan: p.Node) -> p.Node:
    """The plan over the sources of the session."""
    match plan:
        case p.Scan() if plan.name == CHANGES.name:
            return over_sources(plan)
        case p.Scan():
            return plan
    return plan.with_inputs(*map(over, plan.inputs))


def append(db: Session, streams: Mapping[str, Stream], w0: int, w1: int, rng: Random) -> None:
    """All elements that begin in a span of time, in any order, some of them in another batch."""
    for scan in (LOG, OTHER, CHANGES):
        found = [row for row in streams[scan.name] if w0 <= row[1] < w1]
        rng.shuffle(found)
        middle = rng.randint(0, len(found))
        for part in (found[:middle], found[middle:]):
            if scan.name == CHANGES.name:
                db.engine.receive_table(scan.name, rows_of(scan, part))
            else:
                rows = [
                    dict(zip(scan.schema.names, e, strict=True))
                    for e, _, _, n in part
                    for _ in range(n)
                ]
                table = pa.Table.from_pylist(rows, schema=scan.schema)
                db.engine.receive_table(scan.name, table)
        db.engine.advance_watermark(scan.name, w1)


def run(
    directory: Path,
    plans: Mapping[str, p.Node],
    streams: Mapping[str, Stream],
    cuts: Sequence[int],
    rng: Random,
    late: Mapping[str, int] | None = None,
    **options: Any,
) -> dict[str, Elements | None]:
    """What each view published; None of those that were refused.

    `late` says after how many steps a view is attached, which is 0 for the others.
    """
    when = {name: (late or {}).get(name, 0) for name in plans}
    found: dict[str, Elements | None] = {}
    with opened(directory, **options) as db:

        def attach(step: int) -> None:
            for name in [name for name, at in when.items() if at == step]:
                try:
                    db.create_view(name, over(plans[name]))
                except UnsupportedError:
                    found[name] = None

        attach(0)
        for number, (w0, w1) in enumerate(zip((0, *cuts), cuts, strict=False), start=1):
            append(db, streams, w0, w1, rng)
            db.step()
            attach(number)
        for name in plans:
            found.setdefault(name, published(db.engine, name) if name in db.engine.views else None)
    return found


def net(a: Elements, b: Elements) -> Elements:
    """How the changes of one differ from those of the other."""
    return changes(concat(a.schema, [a, b.negated()]))
