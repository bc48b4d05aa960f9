"""Rows that nobody would send, by every way in: rows, frames, tables, files, lines.

    python -m tests.faults.fuzz_rows --count 20000 --seed 1

A batch may be received, or refused by an error that fits on a screen; anything else is a finding.
Of what is received every record is accounted for, what is accepted is what was given, and the same
records are accepted by all ways that can tell them.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import json
import logging
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from penstock import Session
from penstock.errors import PenstockError
from penstock.ingest.file_sources.batch import FileBatch, format_of
from penstock.ingest.fitting import Rejected, fitted_values
from penstock.ingest.rows import table_of
from penstock.ingest.sources import IngestReport
from penstock.ingest.text_values import record_of
from penstock.testing.local_session import local_session

TYPES: dict[str, pa.DataType] = {
    str(kind): kind
    for kind in (
        *(pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.bool_(), pa.string()),
        *(pa.decimal128(5, 2), pa.decimal128(38, 10), pa.date32(), pa.timestamp("us", "UTC")),
        *(pa.timestamp("us"), pa.binary(), pa.list_(pa.int32()), pa.map_(pa.string(), pa.int32())),
        pa.struct([("a", pa.int32()), ("b", pa.string())]),
        pa.list_(pa.struct([("x", pa.float64())])),
    )
}
PARIS = datetime(2026, 7, 1, 12, tzinfo=UTC)


class Unshowable:
    def __repr__(self) -> str:
        raise RuntimeError


def _deep(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2, 127, 128, -129, 2**31 - 1, 2**31, 2**53, 2**53 + 1),
    *(2**63 - 1, 2**63, -(2**63), 10**20, 10**400, 10**5000, 0.0, -0.0, 0.5, 1.0, 1.5, 2.0, 1e22),
    *(1e300, 5e-324, float("inf"), float("-inf"), float("nan"), 3.4028235e38, 0.1, 16777217.0),
    *(Decimal("1.5"), Decimal("2.00"), Decimal("123.456"), Decimal("NaN"), Decimal("sNaN")),
    *(Decimal("Infinity"), Decimal("1e400"), Decimal("1e999999"), Decimal("-0"), Decimal(10**30)),
    *("", "a", "1", "1.5", "true", "NULL", "null", "NaN", "2026-01-01", "2026-01-01T10:00:00Z"),
    *("2026-01-01 10:00", "2026-01-01T10:00:00.1234567", "[1, 2]", '{"a": 1}', "\0", "\ud800"),
    *("é" * 100, "x" * 20_000, 'say "hi"', "a,b", "line\nend", "\r", "\\", "'", "aGk=", "+5"),
    *(b"", b"\xff\x00", bytearray(b"ab"), memoryview(b"cd")),
    *(date(2026, 1, 1), date(1, 1, 1), date(9999, 12, 31), datetime(2026, 1, 1), PARIS),
    *(datetime(2026, 1, 1, 1, 2, 3, 4), datetime.min, datetime.max.replace(tzinfo=UTC)),
    *(timedelta(days=1), np.int64(5), np.float32(0.5), np.bool_(True), np.datetime64("NaT")),
    *(np.datetime64("2026-01-01T00:00:00.000000001"), np.datetime64("2026-01-01"), np.array([1])),
    *([], [1, 2], [1.5], [None], ["a"], [[1]], (), (1, 2), {}, {"a": 1}, {"a": 1, "b": "x"}),
    *({"a": "1"}, {"b": None}, {1: 2}, {"x": 0.5}, [{"x": 1}], [{"x": 2**53 + 1}], {"c": 1}),
    *([("a", 1)], [("a",)], _deep(40), _deep(5_000), Unshowable(), object(), int, {1, 2}, 1j),
)
TEXTS = (
    *("", " ", "{}", "[]", "null", "1", '""', "{", "]", "[[[[", "{" * 3_000, "[" * 100_000, "a,b"),
    *('{"k": 1}', '{"k": "a", "k": "b"}', '{"nosuch": 1}', '{"v": 1e400}', '{"v": NaN}', "\0"),
    *('{"v": 1e999999999}', '{"t": 99999999999999999999}', '"open', 'a"b,1,2', ",,", ",,,,", "\\"),
    *('"a""b",1,2', '"a\\"b",1,2', '"a"b,1,2', "\ufeff{}", "\x85", "é,1,1", "1" * 5_000, "{}{}"),
    *('{"k": "\\ud800", "t": 1}', '{"t": 1}', "x,1,1", 'x,"1",1', "[null, null, 1]", '[{"t": 1}]'),
)
WAYS = ("tuples", "dicts", "arrow", "pandas", "objects", "parquet", "port", "json", "csv")
LONGEST, MOST_LINES = 3_000, 24


@dataclass
class Finding:
    way: str
    kind: str
    rows: Any
    problem: str

    def __str__(self) -> str:
        try:
            rows = repr(self.rows)[:600]
        except Exception:  # which some values are for
            rows = "?"
        return f"{self.problem}\n  {self.way} into {self.kind}: {rows}"


class Sources:
    """A session with a source for each type, and what was sent into it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        directory.mkdir(parents=True)
        self.db: Session = local_session(directory / "state")
        self.names = {kind: f"s{i}" for i, kind in enumerate(TYPES)}
        for kind, name in self.names.items():
            columns = [("k", pa.string()), ("v", TYPES[kind]), ("t", pa.int64())]
            self.db.create_source(name, pa.schema(columns), "t")
        self._numbers = count()

    def schema(self, kind: str) -> pa.Schema:
        return self.db.engine.source(self.names[kind]).given

    def send(self, way: str, kind: str, rows: Any) -> tuple[int, int, int]:
        """How many records were accepted, late and rejected."""
        source, schema = self.db.source(self.names[kind]), self.schema(kind)
        match way:
            case "tuples":
                return _counts(source.append(rows))
            case "dicts":
                return _counts(
                    source.append([dict(zip(schema.names, r, strict=False)) for r in rows])
                )
            case "arrow":
                return _counts(source.append(_table(rows)))
            case "pandas":
                frame = pd.DataFrame([tuple(r) for r in rows], columns=list(schema.names))
                return _counts(source.append(frame))
            case "objects":
                columns = [pd.Series([r[i] for r in rows], dtype=object) for i in range(3)]
                return _counts(
                    source.append(pd.DataFrame(dict(zip(schema.names, columns, strict=True))))
                )
            case "parquet":
                path = self.directory / f"{next(self._numbers)}.parquet"
                pq.write_table(_table(rows), path)
                return _counts(source.append(path))
            case "port":
                return _of_report(self._lines(source.name, schema, rows))
        path = self.directory / f"{next(self._numbers)}.{way}"
        path.write_bytes("\n".join(rows).encode("utf-8", "surrogatepass"))
        files = FileBatch.of(_format(way), schema, [str(path)], largest=64)
        return _of_report(self.db.engine.receive_files(source.name, files))

    def _lines(self, name: str, schema: pa.Schema, lines: Sequence[str]) -> IngestReport:
        """As a port does it."""
        good, bad = [], []
        for line in lines:
            try:
                good.append(record_of(line, schema))
            except ValueError as error:
                bad.append(Rejected(line, str(error)))
        fitted = fitted_values([[r[i] for r in good] for i in range(len(schema))], schema)
        bad += [Rejected("", reason) for reason in fitted.reasons.values()]
        table = pa.Table.from_batches([fitted.good])
        return self.db.engine.receive_table(name, table, rejected=bad)


def _format(way: str) -> Any:
    found = format_of(way, [])
    assert found is not None
    return found


def _counts(counts: dict[str, Any]) -> tuple[int, int, int]:
    return counts["accepted"], counts["late"], counts.get("rejected", 0)


def _of_report(report: IngestReport) -> tuple[int, int, int]:
    return report.accepted, report.late, report.rejected


def _table(rows: Sequence[Sequence[Any]]) -> pa.Table:
    """As Arrow would have it, which does not take all values, and ends over some."""
    if any(isinstance(value, np.datetime64) for row in rows for value in row):
        raise ValueError("times of NumPy")
    columns = [pa.array([row[i] for row in rows]) for i in range(3)]
    return pa.table(dict(zip(("k", "v", "t"), columns, strict=True)))


def _rows(random: Random) -> list[tuple[Any, ...]]:
    """Rows with an odd value here and there."""
    made = []
    for _ in range(random.randint(1, 4)):
        row: list[Any] = [
            random.choice(("a", "b", None)),
            random.choice(VALUES),
            random.randint(0, 9),
        ]
        if random.random() < 0.1:
            row[random.randrange(3)] = random.choice(VALUES)
        if random.random() < 0.02:
            row = row[: random.randrange(4)]
        made.append(tuple(row))
    return made


def _lines(random: Random, way: str) -> list[str]:
    """Lines of JSON or CSV, whole ones and others."""
    made = []
    for row in _rows(random):
        text = random.choice(TEXTS)
        if random.random() < 0.8:
            with contextlib.suppress(
                TypeError, ValueError, RecursionError, RuntimeError, csv.Error
            ):
                text = _line(row, way if way != "port" else random.choice(("json", "csv")))
        for _ in range(random.choice((0, 0, 0, 1, 2))):
            text = _accident(random, text)
        made.append(text.replace("\n", " "))
    return made


def _line(row: Sequence[Any], form: str) -> str:
    if form == "json":
        return json.dumps(dict(zip(("k", "v", "t"), row, strict=False)), default=str)
    out = io.StringIO()
    csv.writer(out).writerow(["" if value is None else value for value in row])
    return out.getvalue().strip("\r\n")


def _accident(random: Random, text: str) -> str:
    i, j = sorted(random.choices(range(len(text) + 1), k=2))
    part = random.choice(
        ('"', ",", "}", "]", "\\", "9", "e", ":", "\r", "\ufeff", " ", text[i:j][:50])
    )
    return random.choice((text[:i] + text[j:], text[:i] + part + text[i:]))


def _problem(sources: Sources, way: str, kind: str, rows: Any, many: int) -> str | None:
    """What is wrong with how a batch was taken."""
    try:
        accepted, late, rejected = sources.send(way, kind, rows)
    except PenstockError as error:
        text = str(error)
        long = len(text) > LONGEST or text.count("\n") > MOST_LINES
        return f"an error of {len(text)} characters" if long else None
    if way in ("json", "csv"):  # an array of JSON is several records, and an empty line is none
        data = "\n".join(rows).encode("utf-8", "surrogatepass")
        lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
        many = sum(bool(x.rstrip(b"\r") if way == "csv" else x.strip()) for x in lines)
        many += 0 if way == "csv" else sum(_arrays(row) for row in rows)
    if accepted + late + rejected != many:
        return f"{many} records, and {accepted} accepted, {late} late, {rejected} rejected"
    return _bent(rows, sources.schema(kind)) if way in ("tuples", "dicts", "objects") else None


def _arrays(line: str) -> int:
    """How many records more than one a line of JSON has."""
    try:
        found = json.loads(line.encode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError):
        return 0
    return len(found) - 1 if isinstance(found, list) else 0


def _bent(rows: Sequence[Sequence[Any]], schema: pa.Schema) -> str | None:
    """A value that is taken and is not what was given."""
    table, rejected = table_of([dict(zip(schema.names, r, strict=False)) for r in rows], schema)
    bad = {int(str(one.position).removeprefix("row ")) - 1 for one in rejected}
    good = [row for i, row in enumerate(rows) if i not in bad]
    for row, held in zip(good, table.to_pylist(), strict=True):
        for value, name in zip(row, schema.names, strict=False):
            if not _same(value, held[name], schema.field(name).type):
                return f"{value!r} was taken as {held[name]!r}"
    return None


def _same(given: Any, held: Any, kind: pa.DataType) -> bool:
    """Whether a column holds what it was given: the same number, the same text, the same moment."""
    if given is None or held is None:
        return given is held or (isinstance(given, np.datetime64) and np.isnat(given))
    if isinstance(given, np.generic):
        given = given.item()
    if pa.types.is_floating(kind):
        rounded = np.float32 if pa.types.is_float32(kind) else float
        number = isinstance(given, int | float | Decimal) and not isinstance(given, bool)
        return number and bool(given != given or rounded(given) == held)
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        exact = Decimal(repr(given)) if isinstance(given, float) else given
        return not isinstance(given, bool | str) and bool(exact == held)
    if pa.types.is_date(kind):
        return isinstance(given, date) and str(given)[:10] == str(held)
    if pa.types.is_timestamp(kind):
        if isinstance(given, datetime) and kind.tz is not None and given.tzinfo is None:
            given = given.replace(tzinfo=UTC)
        return str(given)[:10] == str(held)[:10]
    if pa.types.is_binary(kind):
        return bool(bytes(given) == held)
    if pa.types.is_nested(kind):
        return True  # it is made of columns
    return type(given) is type(held) and bool(given == held)


def findings(count: int, seed: int, directory: Path) -> Iterator[Finding]:
    """What is wrong, in so many tries."""
    random, sources = Random(seed), None
    for number in range(count):
        if number % 100 == 0:
            if sources is not None:
                sources.db.close()
            sources = Sources(directory / str(number))
        assert sources is not None
        way, kind = random.choice(WAYS), random.choice(list(TYPES))
        rows: Any = _lines(random, way) if way in ("port", "json", "csv") else _rows(random)
        if not _can_be_made(way, rows):
            continue
        try:
            problem = _problem(sources, way, kind, rows, len(rows))
        except Exception:  # which is what this is about
            problem = traceback.format_exc(limit=-4)
        if problem is not None:
            yield Finding(way, kind, rows, f"try {number}: {problem}")
    if sources is not None:
        sources.db.close()


def _can_be_made(way: str, rows: Any) -> bool:
    """Whether others than Penstock take the rows in this form."""
    try:
        match way:
            case "arrow":
                _table(rows)
            case "parquet":
                pq.write_table(_table(rows), io.BytesIO())
            case "pandas":
                pd.DataFrame([tuple(row) for row in rows], columns=["k", "v", "t"])
            case "objects":
                return all(len(row) == 3 for row in rows)
    except Exception:
        return False
    return True


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args(arguments)
    began, found = time.monotonic(), 0
    logging.disable()  # each batch that is not taken is told of there
    os.fsync = lambda fd: None
    with tempfile.TemporaryDirectory() as directory:
        for finding in findings(given.count, given.seed, Path(directory)):
            found += 1
            print(finding, flush=True)
    print(f"{given.count} tries from seed {given.seed}: {found} findings, "
          f"{time.monotonic() - began:.0f} s")  # fmt: skip
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
