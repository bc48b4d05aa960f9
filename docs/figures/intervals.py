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
FIRST, LAST = 0, 14
TICK, ROW, LEFT, TOP = 44, 24, 120, 28
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
COUNTED = p.Aggregate(WINDOW, (), (AggregateCall("count", (), "n"),))
FIGURES: dict[str, tuple[tuple[str, p.Node], ...]] = {
    "stream": (("readings", STREAM),),
    "window": (("readings", STREAM), ("[RANGE 5]", WINDOW)),
    "aggregate": (("[RANGE 5]", WINDOW), ("count(*)", COUNTED)),
    "sync": (
        ("[RANGE 5]", WINDOW),
        ("SYNC BY every fourth tick", p.Sync(WINDOW, (p.Periodic(4),))),
    ),
}


def result(plan: p.Node) -> Rows:
    """What the engine makes of the readings, in as few intervals as can be."""
    return sorted(intervals(run_in_steps(plan, {"readings": READINGS}, [INF], Random(0))).rows())


def figure(parts: Sequence[tuple[str, p.Node]]) -> str:
    lines, y = [], TOP
    for color, (title, plan) in zip((GREEN, BLUE), parts, strict=False):
        lines.append(_text(0, y + 14, title, "bold"))
        y += ROW
        for record, ts, te, _ in result(plan):
            if ts < LAST:
                lines += _bar(y, ", ".join(map(str, record)), ts, te, color)
                y += ROW
        y += ROW // 2
    width = LEFT + (LAST - FIRST + 1) * TICK
    axis = [
        f'<line x1="{_x(t)}" x2="{_x(t)}" y1="{TOP - 8}" y2="{y}" stroke="#ddd"/>'
        + _text(_x(t) - 4, TOP - 12, str(t))
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


def _bar(y: int, label: str, ts: int, te: int, color: str) -> list[str]:
    """A half-open interval: a dot where it begins, a ring where it ends, else an arrow."""
    begin, end = _x(max(ts, FIRST)), _x(min(te, LAST))
    middle = y + ROW // 2
    tip = (
        f'<circle cx="{end}" cy="{middle}" r="4" fill="white" stroke="{color}" stroke-width="2"/>'
        if te < LAST
        else f'<path d="M{end} {middle - 5} l9 5 l-9 5 z" fill="{color}"/>'
    )
    return [
        _text(16, middle + 5, label),
        f'<line x1="{begin}" x2="{end}" y1="{middle}" y2="{middle}" stroke="{color}" '
        'stroke-width="4"/>',
        f'<circle cx="{begin}" cy="{middle}" r="5" fill="{color}"/>' if ts >= FIRST else "",
        tip,
    ]


def _x(t: int) -> int:
    return LEFT + (t - FIRST) * TICK


def _text(x: int, y: int, text: str, weight: str = "normal") -> str:
    return f'<text x="{x}" y="{y}" font-weight="{weight}" fill="#333">{escape(text)}</text>'


if __name__ == "__main__":
    for name, parts in FIGURES.items():
        (IMAGES / f"{name}.svg").write_text(figure(parts), "utf-8")
