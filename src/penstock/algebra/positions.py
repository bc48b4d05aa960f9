"""Inputs of unions and set operations correspond by position; their names may differ."""

from __future__ import annotations

import pyarrow as pa

from penstock.algebra.expr import Column, Expr, substitute


def renamed(expression: Expr, schema: pa.Schema, other: pa.Schema) -> Expr:
    """An expression over one schema as an expression over the other."""
    return substitute(
        expression,
        {name: Column(f.name, f.type) for name, f in zip(schema.names, other, strict=True)},
    )
