"""What a statement answers: rows that print, iterate, and turn into Arrow, pandas and Spark."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from penstock.boundary import public

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql import DataFrame

SHOWN = 20
_OPS = {"-": 0, "u": 1, "+": 2}
_COLORS = {"-": "#b3261e", "u": "#9a6700", "+": "#1a7f37"}


class Outline(str):
    """A text of several lines, which notebooks show as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self)}</pre>"


@public
class Result:
    """The rows that a statement answers, or a sentence where it has none to give.

    Changes are told in the order of their times. `explain()` is how they come about.
    """

    def __init__(
        self,
        message: str = "",
        rows: pa.Table | Callable[[], DataFrame] | None = None,
        plan: str = "",
        changes: bool = False,
        key: Sequence[str] | None = None,
    ) -> None:
        self._message = message
        self._rows = rows
        self._plan = plan
        self._changes = changes
        self._key = key
        self._table: pa.Table | None = rows if isinstance(rows, pa.Table) else None

    @property
    def has_rows(self) -> bool:
        """Whether the statement answers with rows, be they none, rather than a sentence."""
        return self._rows is not None

    @property
    def key(self) -> Sequence[str] | None:
        """The columns that tell one record from another, where there are such."""
        return self._key

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table; they are computed once."""
        if self._table is None:
            table = self.df().toArrow() if self._rows is not None else pa.table({})
            self._table = _in_order(table) if self._changes else table
        return self._table

    def df(self) -> DataFrame:
        """The rows as a Spark DataFrame."""
        if callable(self._rows):
            return self._rows()
        from pyspark.sql import SparkSession

        spark = SparkSession.active()
        return spark.createDataFrame(self.to_arrow())

    def to_pandas(self) -> pd.DataFrame:
        """The rows as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def explain(self) -> str:
        """The plan, one line for each operator."""
        return Outline(self._plan)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.to_arrow().to_pylist())

    def __len__(self) -> int:
        return self.to_arrow().num_rows

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        if self._rows is None:
            return self._message
        header, lines, more = self._cells()
        right = _aligned_right(self.to_arrow().schema)
        widths = [max(len(row[i]) for row in (header, *lines)) for i in range(len(header))]
        rows = [
            "  ".join(
                cell.rjust(width) if aligned else cell.ljust(width)
                for cell, width, aligned in zip(row, widths, right, strict=True)
            ).rstrip()
            for row in (header, ["-" * width for width in widths], *lines)
        ]
        return "\n".join([*rows, *([f"... and {more} more"] if more else []), self._count()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        if self._rows is None:
            return Outline(self._message)._repr_html_()
        header, lines, more = self._cells()
        right = _aligned_right(self.to_arrow().schema)
        head = _row("th", header, right)
        body = "".join(
            _row("td", line, right, _COLORS.get(line[0]) if self._changes else None)
            for line in lines
        )
        rest = f"... and {more} more " if more else ""
        return (
            f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
            f'<p style="opacity: 0.7">{rest}{self._count()}</p>'
        )

    def _count(self) -> str:
        count, noun = len(self), "change" if self._changes else "row"
        return f"({count} {noun}{'' if count == 1 else 's'})"

    def _cells(self) -> tuple[list[str], list[list[str]], int]:
        """The header, the first rows as texts, and how many more there are."""
        table = self.to_arrow()
        first = table.slice(0, SHOWN).to_pylist()
        names = table.schema.names
        lines = [[_text(row[name]) for name in names] for row in first]
        if self._changes and self._key is not None:
            told = {names[0], *self._key, names[-1]}
            for row, line in zip(first, lines, strict=True):
                if row[names[0]] == "-":
                    line[:] = [c if n in told else "" for n, c in zip(names, line, strict=True)]
        return list(names), lines, table.num_rows - len(first)


def _aligned_right(schema: pa.Schema) -> list[bool]:
    """Whether each column holds numbers."""
    return [
        pa.types.is_integer(t) or pa.types.is_floating(t) or pa.types.is_decimal(t)
        for t in schema.types
    ]


def _row(tag: str, cells: list[str], right: list[bool], color: str | None = None) -> str:
    """A row of a table; a change has the color of its operation."""
    styles = [f"text-align: {'right' if aligned else 'left'}" for aligned in right]
    if color is not None:
        styles[0] += f"; color: {color}; font-weight: bold"
    texts = zip(cells, styles, strict=True)
    inside = "".join(f'<{tag} style="{s}">{html.escape(cell)}</{tag}>' for cell, s in texts)
    return f"<tr>{inside}</tr>"


def _in_order(table: pa.Table) -> pa.Table:
    """Changes by time; of one time, what goes before what is new."""
    rows = table.to_pylist()
    op, *rest, time = table.schema.names
    order = sorted(
        range(len(rows)),
        key=lambda i: (
            rows[i][time] is not None,
            rows[i][time],
            _OPS[rows[i][op]],
            [repr(rows[i][name]) for name in rest],
        ),
    )
    return table.take(pa.array(order, pa.int64()))


def _text(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return str(value).lower()
        case dict():
            return "{" + ", ".join(_text(item) for item in value.values()) + "}"
        case list():
            return "[" + ", ".join(map(_text, value)) + "]"
    text = str(value).replace("\n", "\\n")
    return text.removesuffix("+00:00") if hasattr(value, "tzinfo") else text
