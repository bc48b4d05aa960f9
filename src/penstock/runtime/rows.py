"""Rows as users give them, and the schemas they fit."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from penstock.errors import PlanError

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
        | Path
    )
    Schema: TypeAlias = str | pa.Schema | StructType


def arrow_schema(schema: Schema) -> pa.Schema:
    """The schema in the types that Spark has, which are those that can be read again."""
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
    from pyspark.sql.types import StructType

    struct: Any = StructType.fromDDL(schema) if isinstance(schema, str) else schema
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
    if _is_pandas(rows):
        return arrow_schema(pa.Schema.from_pandas(rows, preserve_index=False))
    if isinstance(rows, Sequence) and rows and all(isinstance(row, dict) for row in rows):
        return arrow_schema(pa.Table.from_pylist(list(rows)).schema)
    raise PlanError("these rows do not say which columns they have; give a schema=")


def table_of(rows: Any, schema: pa.Schema) -> pa.Table:
    """Rows that are in this process, as an Arrow table of the schema."""
    try:
        if isinstance(rows, pa.Table):
            return rows.select(schema.names).cast(schema)
        if isinstance(rows, Sequence):
            return pa.Table.from_pylist([_dict(row, schema) for row in rows], schema=schema)
        if _is_pandas(rows):
            return pa.Table.from_pandas(rows, schema=schema, preserve_index=False)
    except (pa.ArrowException, KeyError, OverflowError, TypeError, ValueError) as error:
        problem = _misfit(rows, schema) or str(error)
        raise PlanError(
            f"rows do not fit the source: {problem}; expected {shown(schema)}"
        ) from error
    raise PlanError(
        f"rows are {type(rows).__name__}; expected a list of dicts or tuples, an Arrow table, "
        "a pandas or Spark DataFrame, or the path of a Parquet file"
    )


def parquet_of(path: Path, schema: pa.Schema) -> pa.Table:
    """Columns of a Parquet file, or of all files in a folder, as an Arrow table of the schema."""
    try:
        if not path.is_file():
            return table_of(pq.read_table(path, columns=schema.names), schema)
        with pq.ParquetFile(path) as file:  # which comes as one batch
            return table_of(file.read(columns=schema.names), schema)
    except (OSError, pa.ArrowInvalid) as error:
        raise PlanError(f"{path} cannot be read as Parquet: {error}") from error


def _misfit(rows: Any, schema: pa.Schema) -> str:
    """The first value of a list that its column does not take; empty if all are taken."""
    for row in rows if isinstance(rows, Sequence) else ():
        try:
            given = _dict(row, schema)
        except (TypeError, ValueError):
            return ""
        for field in schema:
            value = given.get(field.name)
            try:
                pa.array([value], field.type)
            except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
                return f"{value!r} is no value of column {field.name!r} ({error})"
    return ""


def columns_of(rows: DataFrame, schema: pa.Schema) -> DataFrame:
    """The columns of the schema, in its order."""
    found = {name.lower() for name in rows.columns}
    missing = [name for name in schema.names if name.lower() not in found]
    if missing:
        raise PlanError(
            f"rows do not fit the source: no column {missing[0]!r} in {rows.columns}; "
            f"expected {shown(schema)}"
        )
    return rows.select(*schema.names)


def fitted(rows: Any, schema: pa.Schema) -> Any:
    """Rows of any kind, as an Arrow table or a Spark DataFrame of the schema."""
    from pyspark.sql import DataFrame

    return columns_of(rows, schema) if isinstance(rows, DataFrame) else table_of(rows, schema)


def _is_pandas(rows: Any) -> bool:
    return type(rows).__module__.startswith("pandas.")


def _dict(row: Any, schema: pa.Schema) -> dict[str, Any]:
    """A row by its columns; a column that a dict does not have is NULL."""
    if not isinstance(row, dict):
        if len(row) != len(schema):
            raise ValueError(f"{row!r} has {len(row)} values")
        return dict(zip(schema.names, row, strict=True))
    unknown = [name for name in row if name not in schema.names]
    if unknown:
        raise ValueError(f"no column {unknown[0]!r}")
    return row


def shown(schema: pa.Schema) -> str:
    return ", ".join(f"{field.name} {_type(field.type)}" for field in schema)


def _type(kind: pa.DataType) -> str:
    """As SQL names it, where it does."""
    from pyspark.errors import PySparkTypeError
    from pyspark.sql.pandas.types import from_arrow_type

    try:
        return from_arrow_type(kind).simpleString().upper()
    except PySparkTypeError:
        return str(kind)
