"""Types and constants are read without Spark, as Spark reads them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from penstock.algebra.expr import Literal
from penstock.sql.binding import AnalysisError
from penstock.sql.binding.local_analyser import LocalAnalyser

ANALYSER = LocalAnalyser()
INSTANT = pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("INT", pa.int32()),
        ("bigint", pa.int64()),
        ("SMALLINT", pa.int16()),
        ("TINYINT", pa.int8()),
        ("STRING", pa.string()),
        ("VARCHAR(10)", pa.string()),
        ("BOOLEAN", pa.bool_()),
        ("DOUBLE", pa.float64()),
        ("FLOAT", pa.float32()),
        ("DECIMAL(12, 2)", pa.decimal128(12, 2)),
        ("DECIMAL(5)", pa.decimal128(5, 0)),
        ("DECIMAL", pa.decimal128(10, 0)),
        ("DATE", pa.date32()),
        ("TIMESTAMP", INSTANT),
    ],
)
def test_types_have_names(name: str, kind: pa.DataType) -> None:
    assert ANALYSER.named_type(name) == kind


@pytest.mark.parametrize(
    ("sql", "literal"),
    [
        ("1.50", Literal(Decimal("1.50"), pa.decimal128(3, 2))),
        ("-0.5", Literal(Decimal("-0.5"), pa.decimal128(1, 1))),
        ("1e3", Literal(1000.0, pa.float64())),
        ("DATE '2025-03-01'", Literal(date(2025, 3, 1), pa.date32())),
        ("CAST('2025-03-01' AS DATE)", Literal(date(2025, 3, 1), pa.date32())),
        ("TIMESTAMP '2025-03-01 10:00:00'", Literal(datetime(2025, 3, 1, 10, tzinfo=UTC), INSTANT)),
        ("CAST('1.5' AS DECIMAL(4, 2))", Literal(Decimal("1.50"), pa.decimal128(4, 2))),
    ],
)
def test_constants_have_values(sql: str, literal: Literal) -> None:
    assert ANALYSER.constant(sql) == literal


@pytest.mark.parametrize("sql", ["sha2('a', 256)", "1 + 1", "ARRAY(1)"])
def test_what_only_spark_knows_is_said_to_be(sql: str) -> None:
    with pytest.raises(AnalysisError, match="known to Spark alone"):
        ANALYSER.constant(sql)


def test_other_types_need_spark() -> None:
    with pytest.raises(AnalysisError, match="known to Spark alone"):
        ANALYSER.named_type("MAP<STRING, INT>")
    with pytest.raises(AnalysisError, match="known to Spark alone"):
        ANALYSER.type_of("upper(a)", pa.schema([("a", pa.string())]))


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        (pa.int32(), pa.int64(), pa.int64()),
        (pa.int8(), pa.float64(), pa.float64()),
        (INSTANT, pa.date32(), INSTANT),
    ],
)
def test_numbers_and_times_come_together(
    one: pa.DataType, other: pa.DataType, both: pa.DataType
) -> None:
    assert ANALYSER.type_of("coalesce(a, b)", pa.schema([("a", one), ("b", other)])) == both


def test_what_is_no_date_is_said_to_be_none() -> None:
    with pytest.raises(AnalysisError, match="'soon' is not a DATE"):
        ANALYSER.constant("DATE 'soon'")
