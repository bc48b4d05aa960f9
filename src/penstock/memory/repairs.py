"""What would bound a query: candidates are made by small edits, and the checker itself judges them.

A condition that bounds a column, DISTINCT, a column less, groups by windows in time, a condition on
the times of two streams, a window after a stream's name, a key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice, permutations
from typing import TypeAlias

import pyarrow as pa

from penstock.algebra.plan import append_only
from penstock.errors import PenstockError
from penstock.memory.check_context import CheckContext
from penstock.memory.report import OperatorVerdict
from penstock.sql import edits
from penstock.sql import statements as s
from penstock.sql.binding import AnalysisError, Relation
from penstock.sql.dialect import quote
from penstock.sql.text import Name
from penstock.sql.windows import Duration, RangeWindow, RowsWindow, Window

MOST_REPAIRS = 4
MOST_TRIES = 8  # of one way
MOST_CONDITIONS = 3  # that a reader would still call a small change

Script: TypeAlias = tuple[s.Statement, ...]
Edit: TypeAlias = Callable[[s.Query], s.Query | None]

HOUR = 3_600_000_000


def repairs(
    script: Script,
    context: CheckContext,
    operators: tuple[OperatorVerdict, ...],
    judge: Callable[[Script], tuple[OperatorVerdict, ...]],
) -> Iterator[Script]:
    """Scripts like this one that are bounded, one for each way to do it."""

    def accepted() -> Iterator[Script]:
        for ways in _Candidates(script, context, operators).all():
            found = next(filter(bounded, ways), None)
            if found is not None:
                yield found

    def bounded(candidate: Script) -> bool:
        try:
            return all(verdict.bounded for verdict in judge(candidate))
        except (PenstockError, AnalysisError):
            return False

    return accepted()


class _Candidates:
    def __init__(
        self, script: Script, context: CheckContext, operators: tuple[OperatorVerdict, ...]
    ) -> None:
        self._script = script
        self._context = context.after(script[:-1])
        self._integer_time = self._context.catalog.integer_time
        failing = [operator for operator in operators if not operator.bounded]
        named = [target for operator in failing for target in operator.targets]
        self._targets = list(dict.fromkeys(named))

    def all(self) -> Iterator[Iterator[Script]]:
        """The ways to bound a query, and for each the scripts that might."""
        yield islice(self._bounded_columns(), MOST_TRIES)
        yield self._anywhere(edits.with_distinct)
        yield islice(self._fewer_columns(), MOST_TRIES)
        length = "100" if self._integer_time else "'1 hour'"
        yield self._anywhere(lambda query: edits.grouped_by_window(query, length))
        yield self._anywhere(self._with_times)
        yield self._windows(
            RangeWindow(Duration(100 if self._integer_time else HOUR, self._integer_time))
        )
        yield self._keys()
        yield self._windows(RowsWindow(1000))

    def _bounded_columns(self) -> Iterator[Script]:
        conditions = [c for target in self._targets if (c := self._condition(target)) is not None]
        for condition in conditions:
            yield from self._anywhere(_conditions([condition]))
        if len(conditions) <= MOST_CONDITIONS:
            yield from self._anywhere(_conditions(conditions))
            yield from self._everywhere(_conditions(conditions))

    def _fewer_columns(self) -> Iterator[Script]:
        short = [target.split(".")[-1] for target in self._targets]
        for column in (*self._targets, *short):
            yield from self._anywhere(_without([column]))
        yield from self._anywhere(_without(short))

    def _anywhere(self, edit: Edit) -> Iterator[Script]:
        """The edit in one query of the script, the last one first."""
        for place in reversed(range(len(self._script))):
            edited = _at(self._script[place], edit)
            if edited is not None:
                yield (*self._script[:place], edited, *self._script[place + 1 :])

    def _everywhere(self, edit: Edit) -> Iterator[Script]:
        yield tuple(_at(statement, edit) or statement for statement in self._script)

    # --- conditions -----------------------------------------------------------------------------

    def _condition(self, target: str) -> tuple[str, str] | None:
        """A relation, and a condition that leaves one of its columns finitely many values."""
        for alias, name in self._relations():
            prefix, _, column = target.rpartition(".")
            found = self._context.catalog.find(name)
            if found is None or not isinstance(found[1], Relation):
                continue
            schema = found[1].plan.schema
            if column not in schema.names or (prefix and prefix.lower() not in _names(alias, name)):
                continue
            written = f"{quote(alias)}.{quote(column)}"
            values = _some_values(schema.field(column).type, f"{quote(alias)}.ts")
            if values is not None:
                return alias, f"{written} {values}"
        return None

    def _relations(self) -> Iterator[tuple[str, str]]:
        for statement in reversed(self._script):
            query = _query(statement)
            yield from edits.relations(query) if query is not None else ()

    # --- time -----------------------------------------------------------------------------------

    def _with_times(self, query: s.Query) -> s.Query | None:
        """The times of all streams of a query close to those of the first."""
        found = [alias for alias, name in edits.relations(query) if self._can_have_window(name)]
        edited: s.Query | None = None
        for one, other in islice(permutations(found, 2), len(found) - 1 if found else 0):
            near = "100" if self._integer_time else "INTERVAL 1 HOUR"
            first, second = f"{quote(one)}.ts", f"{quote(other)}.ts"
            condition = f"{second} BETWEEN {first} AND {first} + {near}"
            edited = edits.with_join_condition(edited or query, other, condition)
        return edited

    def _windows(self, window: Window) -> Iterator[Script]:
        names = [name for _, name in self._relations() if self._can_have_window(name)]
        names = list(dict.fromkeys(names))
        for name in names if len(names) == 2 else ():
            yield from self._anywhere(_windowed([name], window))
        yield from self._anywhere(_windowed(names, window))
        yield from self._everywhere(_windowed(names, window))

    def _can_have_window(self, name: str) -> bool:
        found = self._context.catalog.find(name)
        return (
            found is not None
            and isinstance(found[1], Relation)
            and found[1].kind != "table"
            and append_only(found[1].plan)
        )

    # --- keys -----------------------------------------------------------------------------------

    def _keys(self) -> Iterator[Script]:
        """Sources read by a key: the first column that is at fault, or the first one."""
        streams: list[s.Statement] = []
        script = self._script
        for alias, name in dict.fromkeys(self._relations()):
            found = self._context.catalog.find(name)
            if found is None or not isinstance(found[1], Relation) or found[1].kind != "source":
                continue
            names = found[1].columns
            wanted = [t.rpartition(".") for t in self._targets]
            own = [c for p, _, c in wanted if c in names and p.lower() in _names(alias, name)]
            schema = found[1].plan.schema
            plain = [c for c in (*own, *names) if not _is_measure(schema.field(c).type)]
            key = plain[0] if plain else names[0]
            stream = f"{name}_by_{key}"
            streams.append(s.CreateStream(Name(stream), Name(name), (Name(key),)))
            changed = [_at(x, _reading(name, stream)) for x in script]
            script = tuple(new or old for new, old in zip(changed, script, strict=True))
            yield (*dict.fromkeys(streams), *script)


def _conditions(conditions: list[tuple[str, str]]) -> Edit:
    def edit(query: s.Query) -> s.Query | None:
        edited = None
        for relation, condition in conditions:
            edited = edits.with_condition(edited or query, relation, condition) or edited
        return edited

    return edit


def _without(columns: list[str]) -> Edit:
    return lambda query: edits.without_columns(query, columns)


def _windowed(names: list[str], window: Window) -> Edit:
    return lambda query: edits.with_window(query, names, window)


def _reading(name: str, instead: str) -> Edit:
    return lambda query: edits.reading(query, name, instead)


def _at(statement: s.Statement, edit: Edit) -> s.Statement | None:
    query = _query(statement)
    edited = None if query is None else edit(query)
    if edited is None:
        return None
    return replace(statement, query=edited) if isinstance(statement, s.CreateView) else edited


def _query(statement: s.Statement) -> s.Query | None:
    match statement:
        case s.Query():
            return statement
        case s.CreateView(query=query):
            return query
    return None


def _names(alias: str, name: str) -> tuple[str, str]:
    return alias.lower(), name.lower()


def _is_measure(kind: pa.DataType) -> bool:
    """Whether values of a type are measured rather than given: nobody's key."""
    return bool(pa.types.is_timestamp(kind) or pa.types.is_floating(kind))


def _some_values(kind: pa.DataType, time: str) -> str | None:
    """Finitely many values of a type, to be changed to those that matter."""
    if pa.types.is_timestamp(kind):
        return f"<= {time} + INTERVAL 1 HOUR"
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return "BETWEEN 0 AND 99"
    if pa.types.is_date(kind):
        return "BETWEEN DATE '2025-01-01' AND DATE '2025-12-31'"
    if pa.types.is_string(kind):
        return "IN ('a', 'b', 'c')"
    return None
