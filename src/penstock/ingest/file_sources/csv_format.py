"""Files of CSV: a record a line; with `multiLine` a quoted value may hold ends of lines.

With `header` the first line names the columns, in any order; without, values come in the order of
the columns. In quotes, a quote is written twice or behind the escape sign. An empty value is NULL,
an empty value in quotes the empty text.
"""

from __future__ import annotations

import io
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
import pyarrow.types as t

from penstock.errors import PlanError
from penstock.ingest.file_sources.options import TEXT, TIMES, checked, flag, sign, text_values
from penstock.ingest.file_sources.records import (
    Records,
    Values,
    empty,
    present,
    records_of,
    too_long,
)
from penstock.ingest.file_sources.splits import Split, UnreadableFileError, lines_of
from penstock.ingest.file_sources.text_columns import taken
from penstock.ingest.fitting import is_optional, shortened
from penstock.ingest.text_values import TextValues
from penstock.record import Mask

_LONGEST_RECORD = 1 << 20
_KNOWN = (
    "header", "sep", "delimiter", "quote", "escape", "comment", "nullValue", "multiLine",
    "ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace", "enforceSchema",
)  # fmt: skip


@dataclass(frozen=True)
class CsvFormat:
    """Records of values between separators."""

    values: TextValues
    header: bool = False
    separator: str = ","
    quote: str = '"'
    escape: str = "\\"
    comment: str = ""
    null: str = ""
    whole_file: bool = False
    trims: tuple[bool, bool] = (False, False)

    record: ClassVar[str] = "line"

    @staticmethod
    def of(options: Iterable[tuple[str, str]]) -> CsvFormat:
        found = checked("csv", options, (*TEXT, *TIMES, *_KNOWN))
        header = flag(found, "header")
        if header and flag(found, "enforceschema"):
            raise PlanError(
                "USING csv with enforceSchema 'true' would not look at the header: columns go by "
                "its names. Leave the option out"
            )
        return CsvFormat(
            text_values(found),
            header,
            sign(found, ("sep", "delimiter"), ",", 8),
            sign(found, ("quote",), '"'),
            sign(found, ("escape",), "\\"),
            sign(found, ("comment",), "") if "comment" in found else "",
            found.get("nullvalue", ""),
            flag(found, "multiline"),
            (flag(found, "ignoreleadingwhitespace"), flag(found, "ignoretrailingwhitespace")),
        )

    @property
    def divisible(self) -> bool:
        return not self.whole_file

    def read(self, split: Split, schema: pa.Schema) -> Iterator[Records]:
        """The first line that is not empty is the header, which all splits of a file look at."""
        reader = None
        if not self.header:
            reader = _Rows.without_header(self, schema)
        elif split.start:
            reader = self._reader_of(replace(split, start=0, end=None), schema)
        for block in self._blocks(split):
            if block.is_cut:
                yield too_long(block.lines[0], block.numbers[0], schema)
                continue
            lines = block.lines
            if reader is None and any(lines):
                at = next(i for i, line in enumerate(lines) if line)
                reader = self._under(lines[at], schema)
                lines = [*lines[:at], b"", *lines[at + 1 :]]
            if reader is not None:
                yield records_of(lines, block.numbers, reader.schema, reader.quick, reader.exact)

    def _reader_of(self, split: Split, schema: pa.Schema) -> _Rows | None:
        """How the lines are read that come after the header of a file."""
        lines = (line for block in self._blocks(split) for line in block.lines if line)
        first = next(lines, None)
        return None if first is None else self._under(first, schema)

    def _under(self, header: bytes, schema: pa.Schema) -> _Rows:
        try:
            names = [value or "" for value in self.parts(header.decode())]
        except ValueError as error:
            raise UnreadableFileError(f"its header cannot be read: {error}") from None
        return _Rows.of(self, names, schema)

    def _blocks(self, split: Split) -> Iterator[_Lines]:
        """The texts of records, with the number of the line in which each begins."""
        if self.whole_file:
            return self._joined(split)
        return (
            _Lines(list(map(self._line, block.lines)), block.numbers, block.is_cut)
            for block in lines_of(split)
        )

    def _line(self, line: bytes) -> bytes:
        """A line without what ends it; a comment is as an empty one."""
        return b"" if self._is_comment(line) else line.rstrip(b"\r")

    def _is_comment(self, line: bytes) -> bool:
        return bool(self.comment) and line.startswith(self.comment.encode())

    # --- values that hold ends of lines ---------------------------------------------------------

    def _joined(self, split: Split) -> Iterator[_Lines]:
        """Lines with those that belong to the same record. A quote that is not closed in a
        reasonable length costs the line that it is in, and not what comes after it."""
        waiting: deque[tuple[int, bytes]] = deque()
        for block in lines_of(split):
            if block.is_cut:
                yield self._records(waiting, whole=True)
                yield _Lines(block.lines, block.numbers, is_cut=True)
                continue
            waiting.extend(zip(block.numbers, block.lines, strict=True))
            yield self._records(waiting, whole=False)
        yield self._records(waiting, whole=True)

    def _records(self, waiting: deque[tuple[int, bytes]], whole: bool) -> _Lines:
        """Take records out of lines; the last one may go on where this is not the whole."""
        lines: list[bytes] = []
        numbers: list[int] = []
        while waiting:
            number, text = waiting[0]
            if self._is_comment(text):
                waiting.popleft()
                continue
            used, size = self._extent(waiting)
            if not used and not whole and size < _LONGEST_RECORD:
                break
            part = [waiting.popleft()[1] for _ in range(max(used, 1))]
            lines.append(b"\n".join(part).rstrip(b"\r"))
            numbers.append(number)
        return _Lines(lines, numbers)

    def _extent(self, lines: Iterable[tuple[int, bytes]]) -> tuple[int, int]:
        """How many lines the first record takes, or 0 where it has no end, and how long it is."""
        is_open, size = False, 0
        for used, (_, line) in enumerate(lines, 1):
            size += len(line)
            is_open = self._is_open(line.decode("utf-8", "replace"), is_open)
            if not is_open:
                return used, size
            if size >= _LONGEST_RECORD:
                break
        return 0, size

    def _is_open(self, line: str, is_open: bool) -> bool:
        """Whether a value in quotes goes on after a line, before which one was open or was not."""
        at, start = 0, self.separator + self.quote
        if not is_open and line.startswith(self.quote):
            at, is_open = 1, True
        while True:
            if not is_open:
                found = line.find(start, at)
                if found < 0:
                    return False
                at = found + len(start)
            end = self._closing.match(line, at)
            if end is None:
                return True
            at, is_open = end.end(), False

    # --- a record -------------------------------------------------------------------------------

    @cached_property
    def _closing(self) -> re.Pattern[str]:
        """What is in quotes, and the quote behind it."""
        q, e = re.escape(self.quote), re.escape(self.escape)
        inside = rf"[^{q}]" if self.escape == self.quote else rf"[^{q}{e}]|{e}."
        return re.compile(rf"((?:{inside}|{q}{q})*+){q}", re.DOTALL)

    @cached_property
    def _escaped(self) -> re.Pattern[str]:
        q, e = re.escape(self.quote), re.escape(self.escape)
        return re.compile(rf"{q}{q}|{e}([{q}{e}])")

    def parts(self, line: str) -> list[str | None]:
        """The values of a line; a ValueError where its quotes are not closed."""
        found: list[str | None] = []
        at, step = 0, len(self.separator)
        while True:
            if line.startswith(self.quote, at):
                quoted = self._closing.match(line, at + 1)
                if quoted is None:
                    raise ValueError(
                        "a quote is not closed in its line; files whose values hold ends of lines "
                        "need OPTIONS (multiLine 'true')"
                    )
                found.append(self._escaped.sub(lambda m: m[1] or self.quote, quoted[1]))
                end = quoted.end()
                if end < len(line) and not line.startswith(self.separator, end):
                    raise ValueError(
                        f"behind a closing quote is {shortened(line[end : end + 20])!r}"
                    )
            else:
                end = line.find(self.separator, at)
                end = len(line) if end < 0 else end
                found.append(self._plain(line[at:end]))
            if end == len(line):
                return found
            at = end + step

    def _plain(self, value: str) -> str | None:
        before, after = self.trims
        value = value.lstrip() if before else value
        value = value.rstrip() if after else value
        return None if value in ("", self.null) else value


@dataclass(frozen=True)
class _Lines:
    """The texts of records, the numbers of their lines, and whether it is one that is cut."""

    lines: list[bytes]
    numbers: Sequence[int]
    is_cut: bool = False


@dataclass(frozen=True)
class _Rows:
    """Lines as rows: where the columns are among so many values of a line."""

    format: CsvFormat
    schema: pa.Schema
    places: tuple[int, ...]
    width: int
    least: int

    @staticmethod
    def without_header(format: CsvFormat, schema: pa.Schema) -> _Rows:
        """In the order of the columns, the last of which may be missing where they were added."""
        count = len(schema)
        least = next((i for i, field in enumerate(schema) if is_optional(field)), count)
        return _Rows(format, schema, tuple(range(count)), count, least)

    @staticmethod
    def of(format: CsvFormat, names: list[str], schema: pa.Schema) -> _Rows:
        """By the names of a header: each column is there once, but for those that were added."""
        known = [name.strip().lower() for name in names]
        schema = present(schema, known)
        for name in schema.names:
            if (count := known.count(name.lower())) != 1:
                column = f"column {name} {count} times" if count else f"no column {name}"
                there = shortened(", ".join(names), 200)
                raise UnreadableFileError(f"its header has {column}; it is: {there}")
        places = tuple(known.index(name.lower()) for name in schema.names)
        return _Rows(format, schema, places, len(names), len(names))

    def exact(self, text: str) -> list[tuple[str, Values]]:
        try:
            parts = self.format.parts(text)
        except ValueError as error:
            return [(text, error)]
        if not self.least <= len(parts) <= self.width:
            few = "" if self.least == self.width else f"{self.least} to "
            return [(text, ValueError(f"it has {len(parts)} values, expected {few}{self.width}"))]
        parts = [*parts, *([None] * (self.width - len(parts)))]
        wanted = zip(self.places, self.schema, strict=True)
        return [(text, [self._value(parts[i], field) for i, field in wanted])]

    def _value(self, text: str | None, field: pa.Field) -> Any:
        if text is None or t.is_string(field.type):
            return text
        return self.format.values.of_text(text, field.type)

    def quick(self, lines: list[bytes]) -> tuple[pa.RecordBatch, Mask]:
        """Lines whose separators and quotes are where they should be, read by Arrow."""
        format = self.format
        nothing = empty(self.schema), np.zeros(len(lines), dtype=np.bool_)
        if len(format.separator) != 1 or format.separator > "\x7f" or format.quote > "\x7f":
            return nothing
        sep, quote, gaps = format.separator.encode(), format.quote.encode(), self.width - 1
        like = np.array(
            [
                (quote not in x and x.count(sep) == gaps and b"\r" not in x)
                or self._well_formed.fullmatch(x) is not None
                for x in lines
            ],
            dtype=np.bool_,
        )
        if not like.any() or any(format.trims):
            return nothing
        some = [x for x, good in zip(lines, like.tolist(), strict=True) if good]
        texts = self._texts(some)
        if texts is None:
            return nothing
        columns, done = [], np.ones(len(some), dtype=np.bool_)
        for place, field in zip(self.places, self.schema, strict=True):
            held, good = taken(texts.column(place), field.type, format.values)
            columns.append(held)
            done &= good
        rows = pa.RecordBatch.from_arrays(columns, schema=self.schema)
        mask = np.zeros(len(lines), dtype=np.bool_)
        mask[np.flatnonzero(like)[done]] = True
        return (rows if done.all() else rows.filter(pa.array(done))), mask

    def _texts(self, lines: list[bytes]) -> pa.RecordBatch | None:
        """The values of lines as texts; None where Arrow does not read each line as one row."""
        format, data = self.format, b"\n".join(lines) + b"\n"
        names = [str(i) for i in range(self.width)]
        try:
            found = pcsv.read_csv(
                io.BytesIO(data),
                pcsv.ReadOptions(use_threads=False, block_size=len(data) + 16, column_names=names),
                pcsv.ParseOptions(
                    delimiter=format.separator,
                    quote_char=format.quote,
                    double_quote=True,
                    newlines_in_values=format.whole_file,
                    ignore_empty_lines=False,
                ),
                pcsv.ConvertOptions(
                    column_types=dict.fromkeys(names, pa.string()),
                    null_values=["", format.null],
                    strings_can_be_null=True,
                    quoted_strings_can_be_null=False,
                ),
            )
        except (pa.ArrowException, ValueError):
            return None
        if found.num_rows != len(lines):
            return None
        batches = found.combine_chunks().to_batches()
        return batches[0] if batches else None

    @cached_property
    def _well_formed(self) -> re.Pattern[bytes]:
        """Values in quotes, in which nothing is escaped but quotes, and plain ones without any."""
        format = self.format
        s, q, e = (re.escape(x.encode()) for x in (format.separator, format.quote, format.escape))
        value = (
            rb"(?:[^"
            + s
            + q
            + rb"\r]*+|"
            + q
            + rb"(?:[^"
            + q
            + e
            + rb"\r]|"
            + q
            + q
            + rb")*+"
            + q
            + rb")"
        )
        rest = rb"(?:" + s + value + rb"){%d}" % (self.width - 1)
        return re.compile(value + rest)
