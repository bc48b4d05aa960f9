"""Rows that come as one text, read as the files of sources are.

Law: what is no record of its source is rejected by itself, with its text and the reason. A text
that cannot be taken apart into records is an error, and nothing of it is taken.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeAlias

import pyarrow as pa

from penstock.errors import PlanError
from penstock.ingest.file_sources.batch import FileFormat
from penstock.ingest.file_sources.csv_format import CsvFormat
from penstock.ingest.file_sources.json_format import JsonFormat
from penstock.ingest.file_sources.splits import Split, UnreadableFileError
from penstock.ingest.fitting import Rejected
from penstock.ingest.rows import completed

TextForm: TypeAlias = Literal["json lines", "json", "csv"]


def rows_in(
    data: bytes, form: TextForm, schema: pa.Schema, origin: str
) -> tuple[pa.Table, list[Rejected]]:
    """The rows of a text, and what of it is none; `origin` says where that came from."""
    format, split = _format(form), Split("text", content=data)
    rows, rejected = [schema.empty_table()], []
    try:
        for found in format.read(split, schema):
            rows.append(completed(pa.Table.from_batches([found.rows]), schema))
            rejected += [
                replace(one, file=origin, position=split.position(format.record, number))
                for number, one in found.rejected
            ]
    except UnreadableFileError as error:
        raise PlanError(f"These rows cannot be read as {form}: {error}.") from error
    return pa.concat_tables(rows), rejected


def _format(form: TextForm) -> FileFormat:
    if form == "csv":
        return CsvFormat.of([("header", "true")])
    return JsonFormat.of([("multiLine", str(form == "json").lower())])
