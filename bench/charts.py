"""Charts of a few lines, as SVG, without a library to draw them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 84, 150, 40, 48
COLORS = ("#b5483a", "#2b5d9b", "#2a7f62", "#8a6d1f", "#6b4fa0", "#3d3d3d")
TEXT = 'font-family="sans-serif" font-size="12" fill="#333"'


@dataclass(frozen=True)
class Line:
    name: str
    points: Sequence[tuple[float, float]]


def chart(title: str, x_name: str, y_name: str, lines: Sequence[Line]) -> str:
    """Lines over one pair of axes that begin at zero."""
    most_x = max(x for line in lines for x, _ in line.points) or 1
    most_y = max(y for line in lines for _, y in line.points) or 1

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            LEFT + x / most_x * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - y / most_y * (HEIGHT - TOP - BOTTOM),
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="22" {TEXT} font-weight="bold">{escape(title)}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" {TEXT} text-anchor="middle">'
        f"{escape(x_name)}</text>",
    ]
    for i in range(5):
        x, y = most_x * i / 4, most_y * i / 4
        left, level = place(0, y)
        across, bottom = place(x, 0)
        parts += [
            f'<line x1="{left:.1f}" y1="{level:.1f}" x2="{WIDTH - RIGHT}" y2="{level:.1f}" '
            'stroke="#ddd"/>',
            f'<text x="{left - 8:.1f}" y="{level + 4:.1f}" {TEXT} text-anchor="end">'
            f"{_number(y)}</text>",
            f'<text x="{across:.1f}" y="{bottom + 18:.1f}" {TEXT} text-anchor="middle">'
            f"{_number(x)}</text>",
        ]
    parts.append(f'<text x="{LEFT - 8}" y="{TOP - 8}" {TEXT} text-anchor="end">{y_name}</text>')
    for number, line in enumerate(lines):
        color = COLORS[number % len(COLORS)]
        path = " ".join("{:.1f},{:.1f}".format(*place(x, y)) for x, y in line.points)
        label = TOP + 12 + 18 * number
        parts += [
            f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="2"/>',
            f'<line x1="{WIDTH - RIGHT + 12}" y1="{label - 4}" x2="{WIDTH - RIGHT + 30}" '
            f'y2="{label - 4}" stroke="{color}" stroke-width="2"/>',
            f'<text x="{WIDTH - RIGHT + 36}" y="{label}" {TEXT}>{escape(line.name)}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _number(value: float) -> str:
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if value >= size:
            return f"{value / size:.3g}{unit}"
    return f"{value:.3g}"
