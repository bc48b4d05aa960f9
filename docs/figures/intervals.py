"""Pictures of streams as intervals, drawn from what the engine computes.

`python -m docs.figures.intervals` writes them to docs/images.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.element import INF, intervals
from penstock.testing.local_runs import run_in_steps

IMAGES = Path(__file__).parents[1] / "images"
FIRST, LAST = 0, 15
TICK, ROW, LEFT, TOP = 44, 24, 110, 30
GREEN, BLUE = "#2a7f62", "#2b5d9b"

Rows = list[tuple[tuple[Any, ...], int, int, int]]
SCHEMA = pa.schema([("room", pa.string()), ("temp", pa.int64())])
READINGS: Rows = [
    (("a", 80), 1, INF, 1),
    (("b", 70), 2, INF, 1),
    (("a", 90), 4, INF, 1),
    (("b", 75), 9, INF, 1),
]
STREAM = p.Scan("readings", SCHEMA, append_only=True)
WINDOW = p.Window(STREAM, "sliding", 5)
SHORT = p.Window(STREAM, "sliding", 3)
COUNTED = p.Aggregate(WINDOW, (), (AggregateCall("count", (), "n"),))
FIGURES: dict[str, tuple[tuple[str, p.Node], ...]] = {
    "stream": (("FROM readings", STREAM),),
    "window": (("FROM readings", STREAM), ("FROM readings [RANGE 5]", WINDOW)),
    "aggregate": (
        ("FROM readings [RANGE 5]", WINDOW),
        ("SELECT count(*) FROM readings [RANGE 5]", COUNTED),
    ),
    "sync": (
        ("FROM readings [RANGE 3]", SHORT),
        ("SYNC BY every fourth tick", p.Sync(SHORT, (p.Periodic(4),))),
    ),
}


def result(plan: p.Node) -> Rows:
    """What the engine makes of the readings, in as few intervals as can be."""
    return sorted(intervals(run_in_steps(plan, {"readings": READINGS}, [INF], Random(0))).rows())


def figure(parts: Sequence[tuple[str, p.Node]]) -> str:
    """Each part with a title and a line for each record, from the earliest to the latest."""
    lines, y = [], TOP
    for color, (title, plan) in zip((GREEN, BLUE), parts, strict=False):
        lines.append(_title(y, title))
        y += ROW
        spans: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
        for record, ts, te, _ in sorted(result(plan), key=lambda row: row[1]):
            if ts <= LAST:
                spans.setdefault(record, []).append((ts, te))
        for record, times in spans.items():
            lines.append(_text(12, y + ROW // 2 + 5, ", ".join(map(str, record))))
            for ts, te in times:
                lines += _bar(y + ROW // 2, ts, te, color)
            y += ROW
        y += ROW // 2
    width = _x(LAST) + TICK
    axis = [
        f'<line x1="{_x(t)}" x2="{_x(t)}" y1="{TOP - 8}" y2="{y}" stroke="#e4e4e0"/>'
        + _text(_x(t), TOP - 14, str(t), "middle")
        for t in range(FIRST, LAST + 1)
    ]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {y}" '
            'font-family="sans-serif" font-size="13">',
            f'<rect width="{width}" height="{y}" fill="white"/>',
            *axis,
            *lines,
            "</svg>\n",
        ]
    )


def _bar(y: int, ts: int, te: int, color: str) -> list[str]:
    """A half-open interval: a dot where it begins, a ring where it ends, else an arrow."""
    begin, end = _x(max(ts, FIRST)), _x(min(te, LAST))
    line = f'<line x1="{begin}" x2="{end}" y1="{y}" y2="{y}" stroke="{color}" stroke-width="4"/>'
    dot = f'<circle cx="{begin}" cy="{y}" r="5" fill="{color}"/>'
    ring = f'<circle cx="{end}" cy="{y}" r="4" fill="white" stroke="{color}" stroke-width="2"/>'
    arrow = f'<path d="M{end} {y - 6} l11 6 l-11 6 z" fill="{color}"/>'
    return [line, *([dot] if ts >= FIRST else []), ring if te <= LAST else arrow]


def _x(t: int) -> int:
    return LEFT + (t - FIRST) * TICK


def _title(y: int, text: str) -> str:
    """In the letters of SQL, on a ground that hides the lines of the times."""
    ground = f'<rect x="0" y="{y}" width="{len(text) * 8 + 12}" height="{ROW - 4}" fill="white"/>'
    return (
        f'{ground}<text x="0" y="{y + 15}" font-family="monospace" font-weight="bold" '
        f'fill="#333">{escape(text)}</text>'
    )


def _text(x: int, y: int, text: str, anchor: str = "start") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="#333">{escape(text)}</text>'


if __name__ == "__main__":
    for name, parts in FIGURES.items():
        (IMAGES / f"{name}.svg").write_text(figure(parts), "utf-8")
