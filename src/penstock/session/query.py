"""Queries put together by methods, with the names of a Spark DataFrame's; each is a SQL text.

    db.table("temps").where("temp > 80").groupBy("room").agg("max(temp) AS hottest")

Columns and conditions are texts of SQL, as in `selectExpr` and `where` of a DataFrame. A Column of
Spark will not do: it does not tell its text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from penstock.boundary import public
from penstock.errors import PlanError

if TYPE_CHECKING:
    from penstock.session.results import Result
    from penstock.session.session import Session

How = Literal["inner", "left", "right", "full", "cross", "left semi", "left anti"]
_NAME = re.compile(r"[A-Za-z_]\w*")


@public
@dataclass(frozen=True)
class Query:
    """What to select from, under which conditions; `sql` is the SELECT that says it."""

    _session: Session
    _item: str
    _name: str
    _conditions: tuple[str, ...] = ()
    _selected: str = ""

    @property
    def sql(self) -> str:
        """The SELECT that the query is."""
        return self._selected or self._select("*")

    def alias(self, name: str) -> Query:
        """Another name for its rows, for columns of joins: `a.room`."""
        return Query(self._session, f"{self._bare} AS {name}", name)

    def window(self, window: str) -> Query:
        """A window, as it is written after the name of a stream: `RANGE 5 MINUTES`, `ROWS 10`."""
        if self._item != self._name or self._conditions:
            raise PlanError(
                f"a window is on a stream, and not on {self.sql}; "
                'write db.table("...").window("...") before anything else'
            )
        return replace(self, _item=f"{self._name} [{window}]")

    def sync(self, by: str) -> Query:
        """As of the latest point in time of a view over the clock, or of one that selects ts."""
        return Query(self._session, f"{self._bare} SYNC BY {by} AS {self._name}", self._name)

    def where(self, condition: str) -> Query:
        """Only rows that meet this condition, too. `filter` is the same."""
        found = self._inside if self._selected else self
        return replace(found, _conditions=(*found._conditions, condition))

    filter = where

    def select(self, *columns: str) -> Query:
        """These columns or expressions: `room`, `temp * 2 AS twice`."""
        return self._as(self._select(", ".join(columns) or "*"))

    def distinct(self) -> Query:
        """Each row once, however often it is there."""
        return self._as(f"SELECT DISTINCT * FROM {self._inside._item}")

    def union(self, other: Query) -> Query:
        """All rows of both, as `union` of a DataFrame does; `distinct()` removes duplicates."""
        return self._as(f"{self.sql} UNION ALL {other.sql}")

    def join(self, other: Query, on: str | Sequence[str] = (), how: How = "inner") -> Query:
        """With columns that both have, by name, or under a condition: `a.room = b.room`."""
        names = (on,) if isinstance(on, str) else tuple(on)
        condition = ""
        if names and all(map(_NAME.fullmatch, names)):
            condition = f" USING ({', '.join(names)})"
        elif names:
            condition = f" ON {_every(names)}"
        sides = [
            q._item if not q._conditions and not q._selected else q._inside._item
            for q in (self, other)
        ]
        return Query(self._session, f"{sides[0]} {how.upper()} JOIN {sides[1]}{condition}", "")

    def groupBy(self, *keys: str) -> Grouped:  # noqa: N802
        """Groups by these columns or expressions; `agg` says what is told of each."""
        return Grouped(self, keys)

    def agg(self, *aggregates: str) -> Query:
        """Aggregates over all rows: `count(*) AS rows`."""
        return self.groupBy().agg(*aggregates)

    def result(self) -> Result:
        """The answer as of the frontier, as `db.sql` gives it."""
        return self._session.sql(self.sql)

    def __str__(self) -> str:
        return self.sql

    @property
    def _bare(self) -> str:
        """What stands before AS."""
        plain = not self._conditions and not self._selected and self._name
        return self._item.removesuffix(f" AS {self._name}") if plain else f"({self.sql})"

    @property
    def _inside(self) -> Query:
        """The same as a query in FROM."""
        name = self._name or "q"
        return Query(self._session, f"({self.sql}) AS {name}", name)

    def _select(self, columns: str) -> str:
        found = self._inside if self._selected else self
        where = f" WHERE {_every(found._conditions)}" if found._conditions else ""
        return f"SELECT {columns} FROM {found._item}{where}"

    def _as(self, text: str) -> Query:
        return Query(self._session, "", self._name or "q", _selected=text)


@public
@dataclass(frozen=True)
class Grouped:
    """A query by groups, which `agg` completes."""

    _query: Query
    _keys: tuple[str, ...]

    def agg(self, *aggregates: str) -> Query:
        """The keys, and aggregates of each group: `max(temp) AS hottest`."""
        text = self._query._select(", ".join((*self._keys, *aggregates)))
        keys = f" GROUP BY {', '.join(self._keys)}" if self._keys else ""
        return self._query._as(text + keys)


def _every(conditions: Sequence[str]) -> str:
    if len(conditions) == 1:
        return conditions[0]
    return " AND ".join(f"({condition})" for condition in conditions)
