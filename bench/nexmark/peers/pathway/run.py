"""A query in Pathway over CSV files that it takes for a stream, into a sink that discards.

A stream of files has no end: it is over when all rows have been counted in, and the time at which
the last of them came has passed every output.
"""

from __future__ import annotations

import inspect
import os
import threading
from pathlib import Path
from typing import Any

import pathway as pw
from pathway.internals.parse_graph import G

from bench.nexmark.peers.pathway.queries import COLUMNS, QUERIES
from bench.nexmark.worker import Job, count_of

Row = dict[str, Any]


def tables(query: str, data: Path, mode: str) -> dict[str, Any]:
    """The tables that a query reads, by the names of the parameters of its function."""
    return {
        kind: pw.io.csv.read(
            data / "headed" / kind,
            schema=pw.schema_from_types(**COLUMNS[kind]),
            mode="static" if whole else mode,
        )
        for kind in inspect.signature(QUERIES[query]).parameters
        for whole in [kind == "side_input"]
    }


class Watch:
    """Knows when all rows have come, and the output has nothing more to say about them.

    The output is counted with the rows: a time is over when it is over in every count.
    """

    def __init__(self, wanted: dict[str, int], read: dict[str, Any], output: Any) -> None:
        self._missing = {kind for kind, count in wanted.items() if count}
        self._wanted = wanted
        self.over = threading.Event()
        counted = [
            rows.reduce(n=pw.reducers.count()).select(pw.this.n, kind=kind)
            for kind, rows in {**read, "output": output}.items()
        ]
        pw.io.subscribe(
            pw.Table.concat_reindex(*counted), on_change=self._changed, on_time_end=self._passed
        )

    def _changed(self, key: Any, row: Row, time: int, is_addition: bool) -> None:
        if is_addition and row["n"] == self._wanted.get(row["kind"]):
            self._missing.discard(row["kind"])

    def _passed(self, time: int) -> None:
        if not self._missing:
            self.over.set()


def answer(query: str, data: Path) -> list[list[Any]]:
    rows: dict[Any, list[Any]] = {}

    def changed(key: Any, row: Row, time: int, is_addition: bool) -> None:
        if is_addition:
            rows[key] = list(row.values())
        else:
            rows.pop(key, None)

    G.clear()
    pw.io.subscribe(QUERIES[query](**tables(query, data, "static")), changed)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)
    return list(rows.values())


def main() -> None:
    job = Job.of_arguments()
    if job.answers:
        job.answer(lambda query: answer(query, job.data))
        return
    read = tables(job.query, job.data, "streaming")
    result = QUERIES[job.query](**read)
    pw.io.null.write(result)
    streams = {kind: rows for kind, rows in read.items() if kind != "side_input"}
    watch = Watch({kind: count_of(job.data, kind) for kind in streams}, streams, result)
    run = threading.Thread(
        target=pw.run, kwargs={"monitoring_level": pw.MonitoringLevel.NONE}, daemon=True
    )
    with job.timed():
        run.start()
        while not watch.over.wait(0.5):
            if not run.is_alive():
                raise SystemExit("the run ended before its rows did")
    job.finish()
    os._exit(0)


if __name__ == "__main__":
    main()
