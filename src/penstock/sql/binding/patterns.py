"""The patterns that a statement writes for columns, with constants of their types."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import Decimal
from typing import Any, TypeAlias

import pyarrow as pa
from sqlglot import exp

from penstock.punctuation import Constant, Pattern, Range, ValueList, literals
from penstock.sql import statements as s
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.text import Name

ColumnOf: TypeAlias = Callable[[Name], str]
"""The column that a name means, in the spelling of the schema."""


def named_patterns(
    patterns: Iterable[s.Pattern], schema: pa.Schema, column_of: ColumnOf, diagnostics: Diagnostics
) -> dict[str, Pattern]:
    found: dict[str, Pattern] = {}
    for pattern in patterns:
        name = column_of(pattern.column)
        kind = schema.field(name).type

        def value(tree: exp.Expr | None, kind: pa.DataType = kind) -> Any:
            return None if tree is None else _constant(tree, kind, diagnostics)

        match pattern:
            case s.OneOf(_, values):
                found[name] = listed([value(each) for each in values])
            case s.Between(_, low, high, low_open, high_open):
                found[name] = Range(value(low), value(high), not low_open, not high_open)
    return found


def _constant(tree: exp.Expr, kind: pa.DataType, diagnostics: Diagnostics) -> Any:
    """The value of the type that a constant expression is."""
    match tree:
        case exp.Null():
            return None
        case exp.Boolean():
            return bool(tree.this)
        case exp.Paren() | exp.Cast():
            return _constant(tree.this, kind, diagnostics)
        case exp.Neg():
            return -_constant(tree.this, kind, diagnostics)
        case exp.Literal(is_string=True) if pa.types.is_string(kind):
            return tree.this
        case exp.Literal():
            try:
                if not tree.is_string and pa.types.is_decimal(kind):
                    return Decimal(tree.this)
                return literals.read(tree.this, kind)
            except literals.READ_ERRORS:
                diagnostics.wrong(f"{tree.sql('spark')} is not {literals.expected(kind)}.", tree)
    diagnostics.unsupported(
        f"{tree.sql('spark')} is not a constant that a punctuation can hold.",
        "Write a number, a text, TRUE, FALSE, NULL, DATE '...' or TIMESTAMP '...'.",
        tree,
    )


def listed(values: list[Any]) -> Pattern:
    return Constant(values[0]) if len(values) == 1 else ValueList(tuple(values))
