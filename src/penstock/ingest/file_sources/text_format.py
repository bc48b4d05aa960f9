"""Files of text: each line is the one column of a row, empty lines too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pyarrow as pa

from penstock.ingest.file_sources.options import checked
from penstock.ingest.file_sources.records import Records, Values, exactly, too_long
from penstock.ingest.file_sources.splits import Lines, Split, UnreadableFileError, lines_of


@dataclass(frozen=True)
class TextFormat:
    """Lines as they are, without what ends them."""

    record: ClassVar[str] = "line"
    divisible: ClassVar[bool] = True

    @staticmethod
    def of(options: Iterable[tuple[str, str]]) -> TextFormat:
        checked("text", options, ())
        return TextFormat()

    def read(self, split: Split, schema: pa.Schema) -> Iterator[Records]:
        if len(schema) != 1:
            names = ", ".join(schema.names) or "no column"
            raise UnreadableFileError(f"its lines are one column, and the source has {names}")
        for block in lines_of(split):
            if block.is_cut:
                yield too_long(block.lines[0], block.before + 1, schema)
            else:
                yield _records(block, schema)


def _records(block: Lines, schema: pa.Schema) -> Records:
    lines = [line.removesuffix(b"\r") for line in block.lines]
    try:
        column = pa.array(lines, pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:  # one of them is no text
        shown = (line.decode("utf-8", "replace") for line in lines)
        return exactly(zip(block.numbers, shown, map(_values, lines), strict=True), schema)
    rows = pa.RecordBatch.from_arrays([column], schema=schema)
    return Records(rows, np.array(block.numbers, dtype=np.int64))


def _values(line: bytes) -> Values:
    try:
        return [line.decode()]
    except UnicodeDecodeError:
        return ValueError("it is no text in UTF-8")
