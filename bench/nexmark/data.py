"""The files that all engines read: the events as parquet, and once more for those that cannot.

A folder for each kind of event, and in `csv` the same rows as text, with times as numbers of
microseconds. For Flink, which reads files in no particular order, they are two files that take
turns at the rows, one for each of its readers: as two partitions of a stream. For Pathway, under
`headed`, they are the files as they are, with the names of the columns; a column `id` is called
`number`, as Pathway has one of its own.
"""

from __future__ import annotations

import json
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from bench.nexmark.generate import SCHEMAS, Settings, events
from bench.nexmark.penstock_run import SIDE_INPUT
from bench.nexmark.worker import EVENTS

WARM_EVENTS, WARM_FILES = 20_000, 2


def made(directory: Path, count: int, files: int, settings: Settings, text: bool) -> Path:
    """The first `count` events, unless they have been made before."""
    data = place(directory, count, files, settings)
    if not (data / EVENTS).exists():
        shutil.rmtree(data, ignore_errors=True)
        _write(data, count, files, settings)
    if text and not (data / "csv" / EVENTS).exists():
        shutil.rmtree(data / "csv", ignore_errors=True)
        _write_text(data, data / "csv")
    return data


def place(directory: Path, count: int, files: int, settings: Settings) -> Path:
    return directory / f"{count}-{files}-{settings.rate}-{settings.disorder}"


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
    for kind in SCHEMAS:
        (text / kind).mkdir(parents=True)
        with ExitStack() as stack:
            turns = [stack.enter_context((text / kind / f"{i}.csv").open("wb")) for i in range(2)]
            for path in sorted((data / kind).iterdir()):
                table = _with_numbers(pq.read_table(path))
                for i, file in enumerate(turns):
                    _write_csv(table.take(np.arange(i, table.num_rows, 2)), file, header=False)
                _write_headed(table, text, kind, path.stem)
    (text / "side_input").mkdir()
    with (text / "side_input" / "0.csv").open("wb") as file:
        _write_csv(SIDE_INPUT, file, header=False)
    _write_headed(SIDE_INPUT, text, "side_input", "0")
    shutil.copy(data / EVENTS, text / EVENTS)


def _write_headed(table: pa.Table, text: Path, kind: str, name: str) -> None:
    (text / "headed" / kind).mkdir(parents=True, exist_ok=True)
    names = ["number" if name == "id" else name for name in table.column_names]
    with (text / "headed" / kind / f"{name}.csv").open("wb") as file:
        _write_csv(table.rename_columns(names), file, header=True)


def _write_csv(table: pa.Table, file: BinaryIO, header: bool) -> None:
    pa.csv.write_csv(table, file, pa.csv.WriteOptions(include_header=header))


def _with_numbers(table: pa.Table) -> pa.Table:
    numbers = [
        column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
        for column in table.columns
    ]
    return pa.table(numbers, names=table.column_names)
