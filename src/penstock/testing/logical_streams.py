"""Logical streams: what is there at each time, as the temporal algebra defines its operators."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from penstock.element import Elements, in_time_order, intervals, snapshot


def logical(x: Elements, times: Iterable[int]) -> dict[tuple[tuple[Any, ...], int], int]:
    """Tau: the logical stream, `(e, t) -> n`, over the given time points."""
    return {(e, t): n for t in times for e, n in snapshot(x, t).items()}


def physical(schema: pa.Schema, stream: Mapping[tuple[tuple[Any, ...], int], int]) -> Elements:
    """The inverse of tau: unit intervals, merged where they adjoin."""
    units = Elements.of(schema, ((e, t, t + 1, n) for (e, t), n in stream.items()))
    return in_time_order(intervals(units))
