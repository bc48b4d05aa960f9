"""Rows as users give them, and the schemas they fit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow.dataset import ParquetFileFormat, dataset

from penstock.errors import ArgumentError, PlanError, brief
from penstock.ingest.file_sources.batch import FileBatch
from penstock.ingest.fitting import (
    Fitted,
    Rejected,
    convertible,
    fitted_columns,
    fitted_values,
    is_optional,
    row_text,
    sql_type,
)

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    Rows: TypeAlias = (
        Sequence[dict[str, Any]]
        | Sequence[tuple[Any, ...]]
        | pa.Table
        | pd.DataFrame
        | DataFrame
        | FileBatch
        | Path
        | str
    )
    Schema: TypeAlias = str | pa.Schema | StructType


def arrow_schema(schema: Schema) -> pa.Schema:
    """The schema in the types that Spark has, which are those that can be read again."""
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import StructType

    struct: Any = StructType.fromDDL(schema) if isinstance(schema, str) else schema
    if not isinstance(schema, str | pa.Schema | StructType):
        raise ArgumentError(
            f"Found {brief(schema)} for a schema, expected a text such as 'k STRING, v INT', an "
            "Arrow schema or a StructType."
        )
    if isinstance(schema, pa.Schema):
        try:
            struct = from_arrow_schema(schema)
        except PySparkTypeError as error:
            raise PlanError(f"a source of {shown(schema)}: {error.getMessage()}") from error
    return to_arrow_schema(struct, timezone="UTC")


def schema_of(rows: Any) -> pa.Schema:
    """The schema that rows say they have."""
    from pyspark.sql import DataFrame

    if isinstance(rows, DataFrame | pa.Table):
        return arrow_schema(rows.schema)
    dicts = isinstance(rows, Sequence) and rows and all(isinstance(row, dict) for row in rows)
    if _is_pandas(rows) or dicts:
        _check_kinds(rows if dicts else (rows[c] for c in rows.columns if rows[c].dtype == object))
        try:
            if dicts:
                return arrow_schema(pa.Table.from_pylist(list(rows)).schema)
            return arrow_schema(pa.Schema.from_pandas(rows, preserve_index=False))
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise PlanError(
                f"the types of these rows are unclear: {brief(error, show=str)}"
            ) from None
    raise PlanError("these rows do not say which columns they have; give a schema=")


def _check_kinds(values: Iterable[Any]) -> None:
    """Refuse times of NumPy among other scalars of NumPy, over which Arrow ends the process."""
    kinds = {type(one) for value in values for one in _scalars(value, 3)}
    if np.datetime64 in kinds and len(kinds) > 1:
        raise PlanError(
            "the types of these rows are unclear: times of NumPy are among other values; write "
            "datetimes of Python, or give a schema="
        )


def _scalars(value: Any, depth: int) -> Iterator[np.generic]:
    """The scalars of NumPy in a value."""
    if isinstance(value, np.generic):
        yield value
    elif depth and isinstance(value, dict):
        for one in value.values():
            yield from _scalars(one, depth - 1)
    elif depth and not isinstance(value, str | bytes) and isinstance(value, Iterable):
        for one in value:
            yield from _scalars(one, depth - 1)


def table_of(rows: Any, schema: pa.Schema) -> tuple[pa.Table, list[Rejected]]:
    """Rows that are in this process, as a table of the schema, and those whose values do not fit.

    Rows of another shape, without the columns or of types that are none, are an error: then the
    caller has something else in mind.
    """
    if isinstance(rows, pa.RecordBatch):
        rows = pa.Table.from_batches([rows])
    if isinstance(rows, Sequence) and not isinstance(rows, str | bytes):
        columns = _columns(rows, schema)
        fitted = fitted_values(columns, schema)
    elif isinstance(rows, pa.Table):
        arrays = [_arrow_column(rows, field, schema) for field in schema]
        columns, fitted = arrays, fitted_columns(arrays, schema)
    elif _is_pandas(rows):
        columns, fitted = _pandas_columns(rows, schema)
    else:
        raise PlanError(
            f"rows are {type(rows).__name__}; expected a list of dicts or tuples, an Arrow table, "
            "a pandas or Spark DataFrame, or the path of a Parquet file"
        )
    rejected = [
        Rejected(row_text(_row(columns, i, schema)), reason, position=f"row {i + 1}")
        for i, reason in sorted(fitted.reasons.items())
    ]
    return pa.Table.from_batches([fitted.good]), rejected


def _columns(rows: Sequence[Any], schema: pa.Schema) -> list[list[Any]]:
    """The values of each column of a list of rows."""
    try:
        given = [_dict(row, schema) for row in rows]
    except (TypeError, ValueError) as error:
        raise _misshapen(str(error), schema) from error
    return [[row.get(name) for row in given] for name in schema.names]


def _arrow_column(rows: pa.Table, field: pa.Field, schema: pa.Schema) -> pa.Array:
    if is_optional(field) and field.name not in rows.schema.names:
        return pa.nulls(rows.num_rows, field.type)
    _check_once(field.name, rows.schema.names, schema)
    column = rows.column(field.name)
    _check_type(field, column.type, schema)
    return column.combine_chunks()


def _pandas_columns(rows: pd.DataFrame, schema: pa.Schema) -> tuple[list[Any], Fitted]:
    """Columns of objects hold values of Python, the others are Arrow's."""
    columns: list[Any] = []
    parts = []
    for field in schema:
        if is_optional(field) and field.name not in rows.columns:
            columns.append(pa.nulls(len(rows), field.type))
            parts.append(fitted_columns(columns[-1:], pa.schema([field])))
            continue
        _check_once(field.name, list(rows.columns), schema)
        series, column = rows[field.name], None
        if series.dtype != object:
            with suppress(pa.ArrowException):  # of types that Arrow does not have
                column = pa.array(series, from_pandas=True)
        if column is None:
            values = [None if _is_missing(value) else value for value in series]
            parts.append(fitted_values([values], pa.schema([field])))
            columns.append(values)
        else:
            column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
            _check_type(field, column.type, schema)
            parts.append(fitted_columns([column], pa.schema([field])))
            columns.append(column)
    reasons = {i: why for part in reversed(parts) for i, why in part.reasons.items()}
    whole = pa.RecordBatch.from_arrays([part.rows.column(0) for part in parts], schema=schema)
    return columns, Fitted(whole, reasons)


def _is_missing(value: Any) -> bool:
    """Whether pandas would call a value missing, among objects of Python."""
    if isinstance(value, float | np.floating | np.datetime64 | np.timedelta64):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


def _row(columns: Sequence[Any], i: int, schema: pa.Schema) -> dict[str, Any]:
    values = [c[i].as_py() if isinstance(c, pa.Array) else c[i] for c in columns]
    return dict(zip(schema.names, values, strict=True))


def _check_once(name: str, names: Sequence[Any], schema: pa.Schema) -> None:
    count = names.count(name)
    if count != 1:
        there = f"{count} columns" if count else "no column"
        raise _misshapen(f"{there} {name!r} in {brief(list(names))}", schema)


def _check_type(field: pa.Field, given: pa.DataType, schema: pa.Schema) -> None:
    if not convertible(given, field.type):
        problem = f"column {field.name!r} is {sql_type(given)}, which is no {sql_type(field.type)}"
        raise _misshapen(problem, schema)


def _misshapen(problem: str, schema: pa.Schema) -> PlanError:
    return PlanError(f"rows do not fit the source: {problem}; expected {shown(schema)}")


def parquet_of(path: Path, schema: pa.Schema) -> tuple[pa.Table, list[Rejected]]:
    """Columns of a Parquet file, or of all files in a folder, and the rows that do not fit."""
    rows, rejected = table_of(read_parquet(path, schema.names), schema)
    return rows, [replace(one, file=str(path)) for one in rejected]


def read_parquet(path: Path, columns: list[str] | None = None) -> pa.Table:
    """A Parquet file, or all files in a folder."""
    try:
        if not path.is_file():
            return _whole_folder(path, columns)
        # which comes as one batch
        with pq.ParquetFile(path, coerce_int96_timestamp_unit="us") as file:
            return file.read(columns=columns)
    except (OSError, pa.ArrowInvalid) as error:
        raise PlanError(f"{path} cannot be read as Parquet: {error}") from error


def _whole_folder(path: Path, columns: list[str] | None) -> pa.Table:
    """All files of a folder; columns that only some of them have are NULL in the others."""
    found = dataset(path, format=ParquetFileFormat(coerce_int96_timestamp_unit="us"))
    schema = pa.unify_schemas([file.physical_schema for file in found.get_fragments()])
    if schema.names == found.schema.names or not schema.names:
        return pq.read_table(path, columns=columns, coerce_int96_timestamp_unit="us")
    wanted = None if columns is None else [name for name in columns if name in schema.names]
    return found.replace_schema(schema).to_table(columns=wanted)


def columns_of(rows: DataFrame, schema: pa.Schema) -> DataFrame:
    """The columns of the schema, in its order."""
    found = {name.lower() for name in rows.columns}
    if any(is_optional(f) and f.name.lower() not in found for f in schema):
        rows = completed(rows, schema)
        found = {name.lower() for name in rows.columns}
    missing = [name for name in schema.names if name.lower() not in found]
    if missing:
        raise PlanError(
            f"rows do not fit the source: no column {missing[0]!r} in {rows.columns}; "
            f"expected {shown(schema)}"
        )
    for field, given in zip(schema, arrow_schema(rows.select(*schema.names).schema), strict=True):
        _check_type(field, given.type, schema)
    return rows.select(*schema.names)


def taken(rows: DataFrame | pa.Table, schema: pa.Schema) -> DataFrame | pa.Table:
    """Of the records of files those that were taken, without what tells where they were."""
    if isinstance(rows, pa.Table):
        return rows.filter(pc.is_null(rows.column("__reason"))).select(schema.names)
    return rows.where("__reason IS NULL").select(*(f"`{name}`" for name in schema.names))


def completed(rows: Any, schema: pa.Schema) -> Any:
    """Rows, Arrow's or a DataFrame, with the columns that were added since they were made."""
    there = rows.schema.names if isinstance(rows, pa.Table) else rows.columns
    known = {name.lower() for name in there}
    missing = [f for f in schema if is_optional(f) and f.name.lower() not in known]
    if not missing:
        return rows
    others = [name for name in there if name.lower() not in {n.lower() for n in schema.names}]
    names = [
        name for name in schema.names if name.lower() in known or schema.field(name) in missing
    ]
    if isinstance(rows, pa.Table):
        for field in missing:
            rows = rows.append_column(field, pa.nulls(rows.num_rows, field.type))
        return rows.select([*names, *others])
    from pyspark.sql import functions as f
    from pyspark.sql.pandas.types import from_arrow_type

    nulls = {one.name: f.lit(None).cast(from_arrow_type(one.type)) for one in missing}
    return rows.withColumns(nulls).select(*names, *others)


def fitted(rows: Any, schema: pa.Schema) -> Any:
    """The rows of a table that is to be, all of which must fit: Arrow's, files, or a DataFrame."""
    from pyspark.sql import DataFrame

    if isinstance(rows, FileBatch):
        return rows
    if isinstance(rows, DataFrame):
        return columns_of(rows, schema)
    table, rejected = table_of(rows, schema)
    if rejected:
        raise _misshapen(rejected[0].reason, schema)
    return table


def _is_pandas(rows: Any) -> bool:
    return type(rows).__module__.startswith("pandas.") and type(rows).__name__ == "DataFrame"


def _dict(row: Any, schema: pa.Schema) -> dict[str, Any]:
    """A row by its columns; a column that a dict does not have is NULL, and so is one that a tuple
    ends before, where it was added later."""
    if not isinstance(row, dict):
        if isinstance(row, str | bytes):  # whose characters are no values
            raise ValueError(f"the row {row[:60]!r} is a text")
        least = next((i for i, f in enumerate(schema) if is_optional(f)), len(schema))
        if not least <= len(row) <= len(schema):
            raise ValueError(f"{brief(row)} has {len(row)} values")
        return dict(zip(schema.names, row, strict=False))
    unknown = [name for name in row if name not in schema.names]
    if unknown:
        raise ValueError(f"no column {brief(unknown[0])}")
    return row


def shown(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {sql_type(field.type)}" for field in schema)
