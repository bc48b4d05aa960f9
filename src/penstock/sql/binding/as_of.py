"""`AS OF`: the event time at which a SELECT that is answered once looks at what it reads."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from penstock.algebra import times
from penstock.algebra.expr import Literal
from penstock.element import INF
from penstock.sql.binding import types
from penstock.sql.binding.analyser import Analyser
from penstock.sql.binding.catalog import Catalog, Relation
from penstock.sql.binding.clauses import check_read
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.scalars import Scalars
from penstock.sql.dialect import Penstock
from penstock.sql.statements import Query

END = "END"


@dataclass(frozen=True)
class Asked:
    """A query without its AS OF, and the time that it names; None where it names none.

    INF is the end of time, when no more rows come.
    """

    query: Query
    at: int | None = None


def asked(query: Query, catalog: Catalog, analyser: Analyser) -> Asked:
    """What a SELECT asks, and as of when: one time for all that it reads."""
    found = [node for node in query.tree.find_all(exp.Table) if node.args.get("version")]
    if not found:
        return Asked(query)
    diagnostics = Diagnostics(query)
    reader = _Times(catalog, Scalars(analyser, diagnostics), diagnostics)
    ends = {reader.time(node.args["version"]) for node in found}
    silent = [node for node in _moving(query.tree, catalog) if not node.args.get("version")]
    if len(ends) > 1 or silent:
        diagnostics.unsupported(
            "A query looks at all that it reads at one time.",
            "Write the same AS OF after each source, stream and view; tables need none.",
            silent[0] if silent else found[1],
        )
    for node in found:
        _check_moving(node, catalog, diagnostics)
    tree = query.tree.copy()
    for node in tree.find_all(exp.Table):
        node.set("version", None)
    return Asked(replace(query, tree=tree), ends.pop())


def _moving(tree: exp.Expr, catalog: Catalog) -> list[exp.Table]:
    """What is read and changes with time: no tables, and no queries of a WITH."""
    own = {cte.alias.lower() for cte in tree.find_all(exp.CTE)}
    tables = [node for node in tree.find_all(exp.Table) if node.name.lower() not in own]
    return [node for node in tables if _changes(node, catalog)]


def _changes(node: exp.Table, catalog: Catalog) -> bool:
    entry = catalog.find(node.name)
    return entry is not None and isinstance(entry[1], Relation) and entry[1].kind != "table"


def _check_moving(node: exp.Table, catalog: Catalog, diagnostics: Diagnostics) -> None:
    if not _changes(node, catalog):
        diagnostics.unsupported(
            f"{node.name} is the same at all times, or no relation of its own.",
            "Write AS OF after a source, a stream or a view.",
            node,
        )


class _Times:
    def __init__(self, catalog: Catalog, scalars: Scalars, diagnostics: Diagnostics) -> None:
        self._catalog = catalog
        self._scalars = scalars
        self._diagnostics = diagnostics

    def time(self, version: exp.Version) -> int:
        value = version.args.get("expression")
        if version.name.upper() == "VERSION":
            self._diagnostics.unsupported(
                "VERSION AS OF is not supported: a view has a state at each event time.",
                f"Write AS OF and a time: {self._example}.",
                value or version,
            )
        if version.text("kind").upper() != "AS OF" or value is None:
            self._diagnostics.unsupported(
                f"SYSTEM_TIME {version.text('kind').upper()} is not supported: a query looks at "
                "one time.",
                f"Write {self._example}; SELECT STREAMED tells all changes.",
                value or version,
            )
        if isinstance(value, exp.Var | exp.Column) and value.name.upper() == END:
            return INF
        return self._ticks(value)

    def _ticks(self, tree: exp.Expr) -> int:
        check_read(tree, self._diagnostics)
        found = self._scalars.constant(tree)
        if self._catalog.integer_time:
            if isinstance(found.value, int) and pa.types.is_integer(found.type):
                return found.value
        elif found.value is not None and (types.is_time(found.type) or found.type == pa.string()):
            if found.type != times.TIMESTAMP:
                stamp = exp.DataType.build("timestamp")
                found = self._scalars.constant(exp.Cast(this=tree.copy(), to=stamp))
            ticks = times.micros(found)
            if isinstance(ticks, Literal) and isinstance(ticks.value, int):
                return ticks.value
        self._diagnostics.wrong(
            f"{tree.sql(Penstock)} is not an event time here. Write {self._example}.", tree
        )

    @property
    def _example(self) -> str:
        if self._catalog.integer_time:
            return "AS OF 17"
        return "AS OF TIMESTAMP '2024-01-31 12:00:00'"
