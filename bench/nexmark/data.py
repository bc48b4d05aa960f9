"""The files that all engines read: the events as parquet, and once more for those that cannot.

A folder for each kind of event, and in `csv` the same files as text: plain for Flink, and under
`headed` with the names of the columns, for Pathway, where a column `id` is called `number` as
Pathway has one of its own. Times are numbers of microseconds there.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from bench.nexmark.generate import SCHEMAS, Settings, events
from bench.nexmark.penstock_run import SIDE_INPUT
from bench.nexmark.worker import EVENTS

WARM_EVENTS, WARM_FILES = 20_000, 2


def made(directory: Path, count: int, files: int, settings: Settings, text: bool) -> Path:
    """The first `count` events, unless they have been made before."""
    name = f"{count}-{files}-{settings.rate}-{settings.disorder}"
    data = directory / name
    if not (data / EVENTS).exists():
        shutil.rmtree(data, ignore_errors=True)
        _write(data, count, files, settings)
    if text and not (data / "csv" / EVENTS).exists():
        _write_text(data, data / "csv")
    return data


def _write(data: Path, count: int, files: int, settings: Settings) -> None:
    rows = dict.fromkeys(SCHEMAS, 0)
    for kind in SCHEMAS:
        (data / kind).mkdir(parents=True)
    for i in range(files):
        for kind, table in events(i * count // files, (i + 1) * count // files, settings).items():
            pq.write_table(table, data / kind / f"{i:05}.parquet")
            rows[kind] += table.num_rows
    (data / EVENTS).write_text(json.dumps(rows))


def _write_text(data: Path, text: Path) -> None:
    for path in sorted(data.glob("*/*.parquet")):
        _write_both(_with_numbers(pq.read_table(path)), text, path.parent.name, path.stem)
    _write_both(SIDE_INPUT, text, "side_input", "0")
    shutil.copy(data / EVENTS, text / EVENTS)


def _write_both(table: pa.Table, text: Path, kind: str, name: str) -> None:
    table = table.rename_columns(["number" if n == "id" else n for n in table.column_names])
    for folder, header in ((text / kind, False), (text / "headed" / kind, True)):
        folder.mkdir(parents=True, exist_ok=True)
        options = pa.csv.WriteOptions(include_header=header)
        pa.csv.write_csv(table, folder / f"{name}.csv", options)


def _with_numbers(table: pa.Table) -> pa.Table:
    numbers = [
        column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
        for column in table.columns
    ]
    return pa.table(numbers, names=table.column_names)
