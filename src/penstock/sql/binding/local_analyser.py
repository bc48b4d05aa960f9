"""Types and constants without Spark: enough to judge a query, not to run it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal, InvalidOperation
from typing import Any, NoReturn

import pyarrow as pa
import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from penstock.algebra.expr import Expr, Literal
from penstock.algebra.settings import PLAIN, Settings
from penstock.algebra.times import TIMESTAMP
from penstock.errors import PenstockError
from penstock.sql.binding.analyser import AnalysisError
from penstock.sql.binding.types import INTEGERS, whole_number
from penstock.sql.dialect import Penstock

TYPES: dict[str, pa.DataType] = {
    "BOOLEAN": pa.bool_(),
    **dict.fromkeys(("TINYINT", "BYTE"), pa.int8()),
    **dict.fromkeys(("SMALLINT", "SHORT"), pa.int16()),
    **dict.fromkeys(("INT", "INTEGER"), pa.int32()),
    **dict.fromkeys(("BIGINT", "LONG"), pa.int64()),
    **dict.fromkeys(("FLOAT", "REAL"), pa.float32()),
    "DOUBLE": pa.float64(),
    **dict.fromkeys(("DECIMAL", "DEC", "NUMERIC"), pa.decimal128(10, 0)),
    "STRING": pa.string(),
    "DATE": pa.date32(),
    **dict.fromkeys(("TIMESTAMP", "TIMESTAMP_LTZ"), TIMESTAMP),
    "TIMESTAMP_NTZ": pa.timestamp("us"),
}
_WIDENING = (
    (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.float32(), pa.float64()),
    (pa.date32(), TIMESTAMP),
)
_DECIMAL = re.compile(r"(?:DECIMAL|DEC|NUMERIC)\s*\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\)")
_TEXT = re.compile(r"(?:VARCHAR|CHAR)\s*\(\s*\d+\s*\)")


class LocalAnalyser:
    """Knows the plain types and their constants; says of anything else that Spark is needed."""

    def settings(self) -> Settings:
        return PLAIN

    def type_of(self, sql: str, columns: pa.Schema) -> pa.DataType:
        """The type in which two numbers or times come together, which is all that is known here."""
        if sql == "coalesce(a, b)":
            for order in _WIDENING:
                if all(kind in order for kind in columns.types):
                    return max(columns.types, key=order.index)
        _needs_spark(f"The type of {sql}")

    def named_type(self, sql: str) -> pa.DataType:
        name = " ".join(sql.upper().split())
        if name in TYPES:
            return TYPES[name]
        if found := _DECIMAL.fullmatch(name):
            precision, scale = int(found[1]), int(found[2] or 0)
            if not (0 < precision <= 38 and scale <= precision):
                raise AnalysisError(f"{sql}: a decimal has 1 to 38 digits, its scale among them.")
            return pa.decimal128(precision, scale)
        if _TEXT.fullmatch(name):
            return pa.string()
        _needs_spark(f"The type {sql}")

    def value(self, expr: Expr) -> Literal | None:
        return expr if isinstance(expr, Literal) else None

    def constant(self, sql: str) -> Literal:
        try:
            tree = sqlglot.parse_one(sql, dialect=Penstock)
        except (SqlglotError, PenstockError):
            _needs_spark(f"The value of {sql}")
        match tree:
            case exp.Neg(this=exp.Literal(is_string=False, this=text)) if (
                str(text).isdigit() and int(text) <= 2**63
            ):
                return whole_number(-int(text))
            case exp.Neg(this=inner):
                value = self.constant(inner.sql(Penstock))
                lowest = value.type in INTEGERS and value.value in (-(2**31), -(2**63))
                if isinstance(value.value, int | float | Decimal) and not lowest:
                    return Literal(-value.value, value.type)
            case exp.Literal(is_string=True, this=text):
                return Literal(str(text), pa.string())
            case exp.Literal(this=text):
                return _number(str(text))
            case exp.Cast(this=exp.Literal(is_string=True, this=text), to=to):
                return self._cast(str(text), self.named_type(to.sql(Penstock)), sql)
        _needs_spark(f"The value of {sql}")

    def _cast(self, text: str, kind: pa.DataType, sql: str) -> Literal:
        for known, read in _READERS.items():
            if kind == known:
                try:
                    return Literal(read(text.strip()), kind)
                except ValueError:
                    raise AnalysisError(f"{text!r} is not a {_name(kind)}.") from None
        if pa.types.is_decimal(kind):
            try:
                return Literal(Decimal(text).quantize(Decimal(1).scaleb(-kind.scale)), kind)
            except InvalidOperation:
                raise AnalysisError(f"{text!r} is not a {_name(kind)}.") from None
        _needs_spark(f"The value of {sql}")


def _number(text: str) -> Literal:
    """As Spark reads numbers: with a point they are decimals, with an exponent doubles."""
    if "e" in text.lower():
        return Literal(float(text), pa.float64())
    value = Decimal(text)
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(-exponent, 0)
    if max(len(digits), scale) > 38:
        raise AnalysisError(f"{len(digits)} digits are more than the 38 of a DECIMAL.")
    return Literal(value, pa.decimal128(max(len(digits), scale), scale))


def _time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


_READERS: dict[pa.DataType, Callable[[str], Any]] = {
    pa.date32(): date.fromisoformat,
    TIMESTAMP: _time,
    pa.timestamp("us"): datetime.fromisoformat,
    pa.int32(): int,
    pa.int64(): int,
    pa.float64(): float,
    pa.string(): str,
}


def _needs_spark(what: str) -> NoReturn:
    raise AnalysisError(
        f"{what} is known to Spark alone, and this is asked without it. "
        "Ask a session: db.sql('EXPLAIN MEMORY SELECT ...')."
    )


def _name(kind: pa.DataType) -> str:
    return next((name for name, known in TYPES.items() if known == kind), "DECIMAL")
