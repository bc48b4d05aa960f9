"""Spans of time, as they are shown."""

from __future__ import annotations

from penstock.sql.windows import Duration


def shown(length: int, integer_time: bool) -> str:
    """A span as SQL writes it; a tick more than a whole number of seconds is not worth a word."""
    if not integer_time and length > 1_000_000 and length % 1_000_000 <= 2:
        length -= length % 1_000_000
    return str(Duration(length, ticks=integer_time))
