"""Records of files: what is taken, what is rejected and why, and that no neighbour matters."""

from __future__ import annotations

import bz2
import errno
import gzip
import json
import os
from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import PlanError
from penstock.ingest.file_sources import csv_format, json_format, splits
from penstock.ingest.file_sources.batch import FileBatch, FileFormat, check_columns, format_of
from penstock.ingest.file_sources.options import check_needed
from penstock.ingest.file_sources.records import empty
from penstock.ingest.file_sources.text_columns import taken
from penstock.ingest.fitting import fit_values, optional
from penstock.ingest.text_values import TextValues, TimePattern

TS = pa.timestamp("us", "UTC")
SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32()), ("d", pa.float64()), ("t", TS)])
DAY = datetime(2026, 1, 1, tzinfo=UTC)


def form(name: str, **options: str) -> FileFormat:
    found = format_of(name, list(options.items()))
    assert found is not None
    return found


def read(
    format: FileFormat, path: Path, schema: pa.Schema = SCHEMA, largest: int = splits.SIZE
) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
    """The values and places of rows, and the places, texts and reasons of others."""
    batch = FileBatch.of(format, schema, [str(path)], largest)
    rows = [row for part in batch.rows() for row in part.to_pylist()]
    good = [row for row in rows if row["__reason"] is None]
    assert all(row["__file"] == str(path) for row in rows)
    return (
        [(*(row[name] for name in schema.names), row["__position"]) for row in good],
        [(r["__position"], r["__record"], r["__reason"]) for r in rows if r["__reason"]],
    )


LINE = pa.schema([("line", pa.string())])


@pytest.mark.parametrize("largest", [splits.SIZE, 5])
def test_lines_of_text(tmp_path: Path, largest: int) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"\xef\xbb\xbf GET /\r\n\n\xc3\xa4, b\nlast")
    good, bad = read(form("text"), path, LINE, largest)
    assert [value for value, _ in good] == [" GET /", "", "ä, b", "last"]
    assert not bad


def test_a_line_that_is_no_text_is_rejected_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"a\n\xff\nc\n")
    assert read(form("text"), path, LINE) == (
        [("a", "line 1"), ("c", "line 3")],
        [("line 2", "\ufffd", "it is no text in UTF-8")],
    )


def test_text_has_one_column_and_those_of_folders(tmp_path: Path) -> None:
    path = tmp_path / "day=2026-01-01" / "a.log"
    path.parent.mkdir()
    path.write_text("x\n")
    both = pa.schema([*LINE, ("day", pa.date32())])
    assert read(form("text"), path, both)[0] == [("x", date(2026, 1, 1), "line 1")]
    _, ((_, _, reason),) = read(form("text"), path, pa.schema([*LINE, ("v", pa.string())]))
    assert reason.endswith("its lines are one column, and the source has line, v")
    for columns in (pa.schema([("v", pa.int32()), *LINE]), pa.schema([])):
        with pytest.raises(PlanError, match="USING text gives each line"):
            check_columns("text", columns)
    check_columns("text", both)


def test_lines_of_json(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    lines = [
        b'\xef\xbb\xbf{"k":"a","v":1,"d":1.5,"t":"2026-01-01T00:00:00Z","more":{"x":[1]}}',
        b"",
        b' {"k":"b","v":2.0,"t":"2026-01-01 01:00"}\r',
        b'{"v":1.5}',
        b'{"k":5}',
        b'{"v":"1"}',
        b'{"d":9007199254740993}',
        b'{"d":1e400}',
        b'{"d":"NaN","k":"c"}',
        b'[{"k":"d"},{"k":"e","v":3000000000},5]',
        b'{"t":1767225600}',
        b"no json",
        b'{"k":"\xff"}',
        b'{"k":"\\ud800"}',
        b'{"t":"2026-01-01T00:00:00.1234567Z"}',
        b'{"v":1}{"v":2}',
        b'{"v":1,',
        b"{}",
        b'{"d":1e99999999999999999999}',
    ]
    path.write_bytes(b"\n".join(lines))
    good, bad = read(form("json", timeZone="Europe/Paris"), path)
    assert [str(row) for row in good] == [
        str(row)
        for row in [
            ("a", 1, 1.5, DAY.astimezone(good[0][3].tzinfo), "line 1"),
            ("b", 2, None, DAY.astimezone(good[0][3].tzinfo), "line 3"),
            ("c", None, float("nan"), None, "line 9"),
            ("d", None, None, None, "line 10"),
            (None, None, None, None, "line 18"),
        ]
    ]
    assert [(place, reason) for place, _, reason in bad] == [
        ("line 4", "v is 1.5, which is no INT"),
        ("line 5", "k is 5, which is no STRING"),
        ("line 6", "v is '1', which is no INT"),
        ("line 7", "d is 9007199254740993, which is no DOUBLE"),
        ("line 8", "d is 1E+400, which is no DOUBLE"),
        ("line 10", "it is no object of JSON"),
        ("line 10", "v is 3000000000, which is no INT"),
        ("line 11", "t is 1767225600, which is no TIMESTAMP"),
        ("line 12", "it is no JSON: Expecting value at character 1"),
        ("line 13", "it is no text in UTF-8"),
        ("line 14", "k is '\\ud800', which is no STRING"),
        ("line 15", "t is '2026-01-01T00:00:00.1234567Z', which is no TIMESTAMP"),
        ("line 16", "it is no JSON: Extra data at character 8"),
        ("line 17", "it is no JSON: Expecting property name enclosed in double quotes at "
                    "character 8"),
        ("line 19", "it is no JSON: a number has too many digits in its exponent"),
    ]  # fmt: skip
    assert [text for _, text, _ in bad][:2] == ['{"v":1.5}', '{"k":5}']


def test_nested_values_of_json(tmp_path: Path) -> None:
    inner = pa.struct([("at", TS), ("x", pa.decimal128(20, 18))])
    schema = pa.schema([("l", pa.list_(inner)), ("m", pa.map_(pa.string(), pa.date32()))])
    path = tmp_path / "a.json"
    path.write_text(
        '{"l":[{"at":"2026-01-01T00:00:00Z","x":0.123456789012345678,"y":1}],'
        '"m":{"a":"2026-01-01"}}\n{"l":[{"x":0.1234567890123456789}]}\n{"m":{"a":5}}\n'
    )
    ((elements, days, _),), bad = read(form("json"), path, schema)
    assert str(elements[0]["x"]) == "0.123456789012345678"
    assert elements[0]["at"] == DAY
    assert days == [("a", DAY.date())]
    assert [place for place, _, _ in bad] == ["line 2", "line 3"]


def test_a_document_of_json(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"k":"a"},\n\n {"v":"x"},\n {"k":\n"b"}]')
    good, bad = read(form("json", multiLine="true"), path)
    assert [(row[0], row[-1]) for row in good] == [("a", "record 1"), ("b", "record 3")]
    assert bad == [("record 2", '{"v": "x"}', "v is 'x', which is no INT")]
    path.write_text('{"k":')
    good, bad = read(form("json", multiLine="true"), path)
    assert not good
    why = "the file cannot be read: it is no JSON: Expecting value at character 6"
    assert bad == [(None, None, why)]


def test_columns_of_csv_go_by_its_header(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        'V, k ,more,t,d\n1,a,zz,2026-01-01,0.1\nx,b,,,\n2,"q ""x"" \\"y\\"",,,\r\n3,"",,,\n'
        '4,"open\n5,short\n6,"a"b,,,\n\n7,plain"q,,,\n 8 ,c,,,\n1_0,d,,,\n9,e,,"2026-01-01",1e400\n'
    )
    good, bad = read(form("csv", header="true"), path)
    assert good == [
        ("a", 1, 0.1, DAY, "line 2"),
        ('q "x" "y"', 2, None, None, "line 4"),
        ("", 3, None, None, "line 5"),
        ('plain"q', 7, None, None, "line 10"),
        ("c", 8, None, None, "line 11"),
    ]
    assert [(place, text) for place, text, _ in bad] == [
        ("line 3", "x,b,,,"),
        ("line 6", '4,"open'),
        ("line 7", "5,short"),
        ("line 8", '6,"a"b,,,'),
        ("line 12", "1_0,d,,,"),
        ("line 13", '9,e,,"2026-01-01",1e400'),
    ]
    assert [reason[:25] for _, _, reason in bad] == [
        "v is 'x', which is no INT",
        "a quote is not closed in ",
        "it has 2 values, expected",
        "behind a closing quote is",
        "v is '1_0', which is no I",
        "d is '1e400', which is no",
    ]
    for header, why in {
        "k,d,t\n": "its header has no column v; it is: k, d, t",
        "k,v,V,d,t\n": "its header has column v 2 times; it is: k, v, V, d, t",
        'k,"v\n': "its header cannot be read: a quote is not closed in its line",
    }.items():
        path.write_text(f"{header}a,1,2,3\n")
        _, ((place, text, reason),) = read(form("csv", header="true"), path)
        assert (place, text) == (None, None)
        assert reason.startswith(f"the file cannot be read: {why}")
    path.write_text("")
    assert read(form("csv", header="true"), path) == ([], [])


def test_csv_of_other_forms(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("# hello\na;1;NA;31/12/2026 10:00\nb;1;2;2026-01-01\n'x;y';;;\n")
    options = {"sep": ";", "quote": "'", "comment": "#", "nullValue": "NA"}
    good, bad = read(form("csv", timestampFormat="dd/MM/yyyy HH:mm", **options), path)
    assert good == [
        ("a", 1, None, datetime(2026, 12, 31, 10, tzinfo=UTC), "line 2"),
        ("x;y", None, None, None, "line 4"),
    ]
    assert bad == [("line 3", "b;1;2;2026-01-01", "t is '2026-01-01', which is no TIMESTAMP")]
    path.write_text("a||1||||\n")
    assert read(form("csv", sep="||"), path)[0] == [("a", 1, None, None, "line 1")]
    path.write_text(" a , 1 ,,\n")
    trims = {"ignoreLeadingWhiteSpace": "true", "ignoreTrailingWhiteSpace": "true"}
    assert read(form("csv", **trims), path)[0] == [("a", 1, None, None, "line 1")]


def test_a_quoted_value_of_several_lines(tmp_path: Path) -> None:
    """In it are no comments. A quote that nobody closes costs its line."""
    path = tmp_path / "a.csv"
    lines = ['"a\r', 'b",1,,\r', "c,2,,", '"d,3,,', "e,4,,", '"f ""', '"" g",5,,']
    path.write_text("\n".join(lines))
    good, bad = read(form("csv", multiLine="true", comment="b"), path)
    # the quote of line 4 is closed by the first one of line 6, as far as anybody can tell
    assert [row[0] for row in good] == ["a\r\nb", "c"]
    assert bad[0][0] == "line 4"
    path.write_text("\n".join(lines[:5]))
    good, bad = read(form("csv", multiLine="true", comment="b"), path)
    assert [(row[0], row[-1]) for row in good] == [
        ("a\r\nb", "line 1"),
        ("c", "line 3"),
        ("e", "line 5"),
    ]
    assert [place for place, _, _ in bad] == ["line 4"]


def test_parquet_by_names_and_types(tmp_path: Path) -> None:
    schema, path = pa.schema([("k", pa.string()), ("v", pa.int32())]), tmp_path / "a.parquet"
    table = pa.table({"K": ["a", "b", "c"], "v": [1, 2**40, 3], "z": [1, 2, 3]})
    pq.write_table(table, path, row_group_size=1)
    for largest in (splits.SIZE, 60):
        good, bad = read(form("parquet"), path, schema, largest)
        assert [row[:2] for row in good] == [("a", 1), ("c", 3)]
        assert [row[2] for row in bad] == ["v is 1099511627776, which is no INT"]
        assert bad[0][0].startswith("row 2")
    long_ago = datetime(9999, 1, 1, tzinfo=UTC)  # which nanoseconds do not reach
    times = pa.schema([("t", TS)])
    old = pa.table({"t": pa.array([long_ago], TS)})
    pq.write_table(old, path, use_deprecated_int96_timestamps=True)
    assert read(form("parquet"), path, times)[0] == [(long_ago, "row 1")]
    pq.write_table(table, path, row_group_size=1)
    whole = path.read_bytes()
    for data, why in {
        whole[:-5]: "Parquet magic bytes not found in footer",
        b"": "Parquet file size is 0 bytes",
    }.items():
        path.write_bytes(data)
        good, ((place, text, reason),) = read(form("parquet"), path, schema)
        assert (good, place, text) == ([], None, None)
        assert why in reason
    for columns, why in {
        "k": "column k is BIGINT, which is no STRING",
        "x": "it has no column k; there are: x, v",
    }.items():
        pq.write_table(pa.table({columns: [1], "v": [1]}), path)
        assert read(form("parquet"), path, schema)[1][0][2].endswith(why)


def test_files_that_cannot_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a torn file nothing is taken, however much of it could be read."""
    lines = b'{"k":"a"}\n' * 10_000
    cases = {
        "torn.json.gz": (gzip.compress(lines)[:-9], "Compressed file ended"),
        "text.json.gz": (b"text", "Not a gzipped file"),
        "wrong.json.gz": (gzip.compress(lines)[:-8] + b"\0" * 8, "CRC check failed"),
        "torn.json.bz2": (bz2.compress(lines)[:-9], "Compressed file ended"),
        "torn.json.zst": (pa.compress(lines, "zstd", asbytes=True)[:-9], ""),
        "a.json.xz": (b"", "files that end with .xz are not read"),
    }
    for name, (data, why) in cases.items():
        (tmp_path / name).write_bytes(data)
        good, ((place, text, reason),) = read(form("json"), tmp_path / name)
        assert (good, place, text) == ([], None, None), name
        assert reason.startswith(f"the file cannot be read: {why}"), reason
    packed = {"gz": gzip.compress(lines), "bz2": bz2.compress(lines)}
    for end, data in {**packed, "zst": pa.compress(lines, "zstd", asbytes=True)}.items():
        name = f"a.json.{end}"
        (tmp_path / name).write_bytes(data)
        assert len(read(form("json"), tmp_path / name)[0]) == 10_000
    assert read(form("json"), tmp_path / "gone.json")[1][0][2].endswith("it is gone")
    os.mkfifo(tmp_path / "pipe.json")
    assert read(form("json"), tmp_path / "pipe.json")[1][0][2].endswith("it is no regular file")

    def forbidden(*_: Any) -> Any:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(splits, "open", forbidden, raising=False)
    _, ((_, _, reason),) = read(form("json"), tmp_path / "a.json.xz".replace(".xz", ".gz"))
    assert reason == "the file cannot be read: Permission denied"


def test_columns_in_paths(tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.string()), ("day", pa.int32())])
    for folder in ("day=5", "day=x", "day=__HIVE_DEFAULT_PARTITION__"):
        path = tmp_path / folder / "a.json"
        path.parent.mkdir()
        path.write_text('{"k":"a","day":9}\n')
    assert read(form("json"), tmp_path / "day=5" / "a.json", schema)[0] == [("a", 5, "line 1")]
    null = tmp_path / "day=__HIVE_DEFAULT_PARTITION__" / "a.json"
    assert read(form("json"), null, schema)[0] == [("a", None, "line 1")]
    _, ((_, _, reason),) = read(form("json"), tmp_path / "day=x" / "a.json", schema)
    assert reason.endswith("in its path day is 'x', which is no INT")


@pytest.mark.parametrize(
    ("format", "options", "why"),
    [
        ("csv", {"sepp": ","}, "no option 'sepp' here; did you mean sep"),
        ("json", {"allowComments": "true"}, "no option 'allowComments' here"),
        ("csv", {"header": "yes"}, "option header is 'yes'; expected 'true' or 'false'"),
        ("csv", {"quote": "''"}, "expected one sign"),
        ("json", {"timestampFormat": "MMM d"}, "has 'MMM', which is not read here"),
        ("json", {"dateFormat": "yyyy yyyy"}, "a part of a time twice"),
        ("csv", {"header": "true", "enforceSchema": "true"}, "would not look at the header"),
        ("csv", {"encoding": "UTF-16"}, "files are of UTF-8"),
        ("json", {"lineSep": "|"}, "their lines end with"),
    ],
)
def test_options_that_are_refused(format: str, options: dict[str, str], why: str) -> None:
    with pytest.raises(PlanError, match=why):
        form(format, **options)


def test_options_that_are_no_longer_needed() -> None:
    with pytest.raises(PlanError, match="ON ERROR KEEP, DROP or FAIL"):
        check_needed("csv", [("mode", "PERMISSIVE")])
    assert form("csv", mode="PERMISSIVE") == form("csv")  # as sources that are there have it


@pytest.mark.parametrize(
    ("kind", "name"),
    [(pa.duration("us"), "v"), (pa.string(), "__File"), (pa.month_day_nano_interval(), "v")],
)
def test_columns_that_are_refused(kind: pa.DataType, name: str) -> None:
    with pytest.raises(PlanError, match=r"has no text|choose another name"):
        check_columns("json", pa.schema([(name, pa.list_(kind) if name == "v" else kind)]))
    check_columns("parquet", pa.schema([("v", kind)]))


# --- laws -----------------------------------------------------------------------------------------

TEXTS = (
    *("1", "-1", "+5", " 7", "007", "128", "2147483648", "9223372036854775808", "0x10", "1.5"),
    *("2.0", "1e2", "1e400", "3.5e38", "0.1", "16777217", "1_0", "nan", "inf", "true", "TRUE"),
    *("123.45", "123.456", ".5", "-0", "2026-01-01", "2026-02-30", "0000-01-01", "9999-12-31"),
    *("20260101", "2026-01-01T00:00", "2026-01-01 10:11:12", "2026-01-01T10:11:12.123456"),
    *("2026-01-01T10:11:12.1234567", "2026-01-01T10:11:12Z", "2026-01-01T10:11:12-17:59"),
    *("2026-01-01T24:00:00", "2026-03-29T02:30:00", "2026-10-25T02:30:00", "1890-01-01 00:00"),
    *("0001-01-01T00:00:00+05:00", "9999-12-31T23:59:59-05:00", "[1,2]", "", "a", "٣", "1\n"),
)
KINDS = (
    *(pa.int8(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.bool_(), pa.string()),
    *(pa.decimal128(5, 2), pa.decimal128(38, 18), pa.date32(), TS, pa.timestamp("us")),
    pa.list_(pa.int32()),
)


def changed(random: Random, text: str) -> str:
    for _ in range(random.randint(0, 2)):
        i = random.randint(0, len(text))
        text = (
            text[:i]
            + random.choice(("", *"0123456789-+:.TZe ,_"))
            + text[i + random.randint(0, 1) :]
        )
    return text


@pytest.mark.parametrize("zone", ["UTC", "Europe/Paris", "+01:00"])
def test_texts_are_read_quickly_as_they_are_exactly(zone: str) -> None:
    random, values, quick = Random(5), TextValues(zone), 0
    for kind in KINDS:
        texts = [*TEXTS, *(changed(random, random.choice(TEXTS)) for _ in range(300))]
        found, done = taken(pa.array(texts), kind, values)
        exact = texts if pa.types.is_string(kind) else [values.of_text(x, kind) for x in texts]
        held, bad = fit_values(exact, kind)
        assert (found.type, len(found)) == (kind, len(texts))
        assert not np.any(done & bad)
        mine, theirs = found.filter(pa.array(done)), held.filter(pa.array(done))
        assert list(map(str, mine.to_pylist())) == list(map(str, theirs.to_pylist()))
        quick += int(done.sum())
    assert quick > 100


def odd_lines(random: Random, name: str) -> Iterator[str]:
    for _ in range(60):
        values = [changed(random, random.choice(TEXTS)) for _ in range(4)]
        if name == "json":
            shown = [random.choice((x, json.dumps(x))) for x in values]
            line = "{" + ", ".join(f'"{k}": {x}' for k, x in zip("kvdt", shown, strict=True)) + "}"
        else:
            line = ",".join(random.choice((x, f'"{x}"')) for x in values)
        for _ in range(random.choice((0, 0, 1))):
            i = random.randint(0, len(line))
            line = line[:i] + random.choice(('"', ",", "\\", "}", '""', "\r", "")) + line[i + 1 :]
        yield line.replace("\n", " ")


@pytest.mark.parametrize("name", ["json", "csv"])
def test_neighbours_and_splits_do_not_show(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether lines are read together or alone, quickly or not, in one split or in many."""
    random, path = Random(3), tmp_path / "all"
    lines: Sequence[str] = [line for _ in range(6) for line in odd_lines(random, name)]
    path.write_text("\n".join(lines), newline="")
    good, bad = read(form(name), path)
    assert good
    assert bad

    def records(found: tuple[Any, Any]) -> tuple[list[str], list[str]]:
        """Without their places, which are told from where a split begins."""
        return [str(row[:-1]) for row in found[0]], [str(row[1:]) for row in found[1]]

    assert records(read(form(name), path, largest=500)) == records((good, bad))
    alone: tuple[list[Any], list[Any]] = ([], [])
    for line in lines:
        path.write_text(line, newline="")
        for part, found in zip(alone, read(form(name), path), strict=True):
            part += found
    assert records(alone) == records((good, bad))

    def nothing(_: Any, lines: list[bytes], *__: Any) -> Any:
        return empty(SCHEMA), np.zeros(len(lines), dtype=np.bool_)

    monkeypatch.setattr(json_format.JsonFormat, "_quick", nothing)
    monkeypatch.setattr(csv_format._Rows, "quick", nothing)
    path.write_text("\n".join(lines), newline="")
    assert (list(map(str, good)), bad) == (
        list(map(str, read(form(name), path)[0])),
        read(form(name), path)[1],
    )


def test_a_line_that_is_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splits, "_LONGEST_LINE", 5_000)
    monkeypatch.setattr(splits, "_BLOCK", 1_000)
    path = tmp_path / "a.json"
    path.write_text('{"k":"a"}\n' * 50 + '{"k":"%s"}\n' % ("x" * 9_000) + '{"k":"b"}\n' * 50)
    for largest in (splits.SIZE, 700, 100):
        good, bad = read(form("json"), path, largest=largest)
        assert [row[0] for row in good] == ["a"] * 50 + ["b"] * 50
        assert [reason for _, _, reason in bad] == ["it is longer than 64 MiB"]


# --- on the way into a source ---------------------------------------------------------------------


def test_patterns_of_times() -> None:
    pattern = TimePattern("yyyy-MM-dd'T'HH:mm:ss.SSSXXX 'o''clock'")
    read = pattern.read("2026-01-01T01:00:00.250+01:00 o'clock")
    assert read == datetime(2026, 1, 1, 0, 0, 0, 250_000, tzinfo=UTC)
    for wrong in ("2026-01-01T01:00:00.25+01:00 o'clock", "2026-13-01T01:00:00.250Z o'clock"):
        with pytest.raises(ValueError, match=r"form|month"):
            pattern.read(wrong)


def test_files_may_lack_columns_that_were_added_later(tmp_path: Path) -> None:
    schema = pa.schema([("k", pa.string()), ("v", pa.int32()), optional(pa.field("x", pa.int32()))])
    path = tmp_path / "a"
    path.write_text("k,v\na,1\nb,c\n")
    good, bad = read(form("csv", header="true"), path, schema)
    assert good == [("a", 1, None, "line 2")]
    assert [where for where, _, _ in bad] == ["line 3"]
    path.write_text("x,k,v\n7,a,1\n")
    assert read(form("csv", header="true"), path, schema)[0] == [("a", 1, 7, "line 2")]
    path.write_text("x,k\n7,a\n")
    assert "no column v" in read(form("csv", header="true"), path, schema)[1][0][2]
    path.write_text("a,1\nb,2,8\nc\nd,3\n")
    good, bad = read(form("csv"), path, schema)
    assert good == [("a", 1, None, "line 1"), ("b", 2, 8, "line 2"), ("d", 3, None, "line 4")]
    assert [(where, reason) for where, _, reason in bad] == [
        ("line 3", "it has 1 values, expected 2 to 3")
    ]
    path.write_text('{"k":"a","v":1}\n{"k":"b","v":2,"x":9}\n')
    assert [row[2] for row in read(form("json"), path, schema)[0]] == [None, 9]
    pq.write_table(pa.table({"v": pa.array([1], pa.int32()), "k": ["a"]}), path)
    assert read(form("parquet"), path, schema) == ([("a", 1, None, "row 1")], [])
