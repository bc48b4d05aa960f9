"""Random rows for sources: few values, few times, many coincidences."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa

from penstock.errors import PlanError
from penstock.sql.binding.local_analyser import LocalAnalyser
from penstock.sql.schemas import parse_schema

NULLS = 0.2  # how many values are NULL
FIRST = datetime(2026, 1, 1, tzinfo=UTC)


def random_rows(
    rng: Random, columns: str, time: str, size: int = 20, horizon: int = 12
) -> list[tuple[Any, ...]]:
    """Rows for a source of these columns, in the order of their times, the same for a seed.

    Times are integers from 0 to `horizon`, or as many seconds from the beginning of 2026. Values
    are few and often NULL, so that joins match, groups have several rows, and rows are equal.
    """
    kinds = {c.name: LocalAnalyser().named_type(c.type) for c in parse_schema(columns)}
    required = {c.name for c in parse_schema(columns) if not c.nullable}
    if time not in kinds:
        raise PlanError(f"no column {time!r}; there are: {', '.join(kinds)}")
    rows = []
    for t in sorted(rng.randint(0, horizon) for _ in range(size)):
        rows.append(
            tuple(
                _time(kind, t)
                if name == time
                else None
                if name not in required and rng.random() < NULLS
                else rng.choice(_domain(kind))
                for name, kind in kinds.items()
            )
        )
    return rows


def random_batches(
    rng: Random, rows: Sequence[tuple[Any, ...]], most: int = 5
) -> list[list[tuple[Any, ...]]]:
    """The rows cut into batches of 1 to `most`, at random."""
    batches, rest = [], list(rows)
    while rest:
        size = rng.randint(1, most)
        batches.append(rest[:size])
        rest = rest[size:]
    return batches


def _domain(kind: pa.DataType) -> Sequence[Any]:
    if pa.types.is_integer(kind):
        return (-1, 0, 1, 2, 3)
    if pa.types.is_floating(kind):
        return (-1.5, 0.0, 0.5, 2.0)
    if pa.types.is_decimal(kind):
        return tuple(Decimal(n).scaleb(-kind.scale) for n in (-1, 0, 1, 2))
    if pa.types.is_boolean(kind):
        return (False, True)
    if pa.types.is_date(kind):
        return (date(2024, 2, 28), date(2024, 2, 29), date(2026, 1, 1))
    if pa.types.is_timestamp(kind):
        return tuple(_time(kind, t) for t in (0, 1, 60))
    return ("", "a", "b", "ab", "B")


def _time(kind: pa.DataType, t: int) -> Any:
    if pa.types.is_integer(kind):
        return t
    if pa.types.is_date(kind):
        return FIRST.date() + timedelta(days=t)
    zoned = FIRST + timedelta(seconds=t)
    return zoned if kind.tz is not None else zoned.replace(tzinfo=None)
