"""A whole query as a view: its plan, its key, and how it is passed on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from penstock.algebra.closing import with_closing
from penstock.algebra.expr import Column
from penstock.algebra.plan import Map, Node, SortKey
from penstock.sql.binding.analyser import Analyser
from penstock.sql.binding.catalog import Catalog
from penstock.sql.binding.clauses import check_read
from penstock.sql.binding.closing import final
from penstock.sql.binding.context import Binding, CorrelatedError, Surroundings
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.query import QueryBinder, as_stream, sort_key
from penstock.sql.binding.scalars import Scalars
from penstock.sql.binding.scopes import Names
from penstock.sql.row_order import limited
from penstock.sql.statements import Emit, Query
from penstock.sql.text import Name

LARGEST = 150_000
"""How many operators a query may have."""


@dataclass(frozen=True)
class BoundView:
    """`constants` are the rows of tables that the plan reads and that no statement has made."""

    plan: Node
    key: tuple[str, ...] | None
    constants: Mapping[str, pa.Table]


def bind_query(
    query: Query,
    catalog: Catalog,
    analyser: Analyser,
    columns: Sequence[Name] = (),
    unique: bool = True,
) -> BoundView:
    """What a query means. A view needs unique names of columns; an answer gets them."""
    diagnostics = Diagnostics(query)
    check_read(query.tree, diagnostics)
    binding = _binding(query, catalog, analyser, diagnostics)
    try:
        answer = QueryBinder(binding).bind(query.tree, Surroundings())
        if query.tree.args.get("order") and not limited(query.tree):
            first = query.tree.copy()
            first.set("limit", exp.Limit(expression=exp.Literal.number(1)))
            again = _binding(query, catalog, analyser, diagnostics)
            # an order that no LIMIT could use is refused, though no LIMIT uses it
            QueryBinder(again).bind(first, Surroundings())
    except CorrelatedError as error:
        diagnostics.unsupported(
            f"A query inside this one reads {error} of a query further out, where it cannot.",
            "Join with what it reads in FROM, or select the column on the way.",
        )
    if _size(answer.plan) > LARGEST:
        diagnostics.unsupported(
            "This query is too large once each query in WITH stands wherever it is read.",
            "Make those that are read often views.",
        )
    names = [name for name, _ in answer.columns]
    if columns:
        if len(columns) != len(names):
            diagnostics.wrong(
                f"The query has {len(names)} columns, and there are names for {len(columns)}.",
                Name(columns[0].text, columns[0].span.to(columns[-1].span)),
            )
        names = [name.text for name in columns]
    names = _unique(names, None if not unique else diagnostics)
    fields = zip(names, answer.columns, strict=True)
    outputs = tuple((n, Column(c, answer.plan.schema.field(c).type)) for n, (_, c) in fields)
    plan: Node = with_closing(Map(answer.plan, outputs))
    if query.output is not None:
        plan = as_stream(plan, query.output.value)
    if query.emit is Emit.FINAL:
        plan = final(plan, diagnostics, _order(query, names, diagnostics))
    return BoundView(plan, plan.unique_key(), binding.constants)


def _size(plan: Node) -> int:
    """How many operators there are if one that several read is counted for each of them."""
    sizes: dict[int, int] = {}
    for node in plan.walk():
        sizes[id(node)] = 1 + sum(sizes[id(source)] for source in node.inputs)
    return sizes[id(plan)]


def _binding(
    query: Query, catalog: Catalog, analyser: Analyser, diagnostics: Diagnostics
) -> Binding:
    scalars = Scalars(analyser, diagnostics)
    selects = sum(1 for _ in query.tree.find_all(exp.Select))
    names = Names(diagnostics, scalars.exact)
    return Binding(catalog, scalars, diagnostics, names, effort=1_000 + 20 * selects)


def _order(query: Query, names: Sequence[str], diagnostics: Diagnostics) -> SortKey | None:
    """The column by which rows are to come in order, where no LIMIT has used the clause up."""
    clause = query.tree.args.get("order")
    if clause is None or query.tree.args.get("limit") or query.tree.args.get("offset"):
        return None
    key = clause.expressions[0]
    key = key if isinstance(key, exp.Ordered) else exp.Ordered(this=key)
    match key.this:
        case exp.Literal(is_string=False, this=place) if 1 <= int(place) <= len(names):
            return sort_key(names[int(place) - 1], key)
        case exp.Column(name=wanted):
            for name in names:
                if name.lower() == wanted.lower():
                    return sort_key(name, key)
    diagnostics.unsupported(
        "Under EMIT FINAL, rows come in the order of a column that they have.",
        "Select what ORDER BY names first, or leave ORDER BY out.",
        key,
    )


def _unique(names: Sequence[str], diagnostics: Diagnostics | None) -> list[str]:
    found: dict[str, str] = {}
    for name in names:
        if name.lower() in found and diagnostics is not None:
            diagnostics.wrong(
                f"Two columns are called {name}. Give one another name with AS, or name all of "
                "them: CREATE VIEW v (a, b) AS SELECT ..."
            )
        chosen, count = name, 1
        while chosen.lower() in found:
            count += 1
            chosen = f"{name}_{count}"
        found[chosen.lower()] = chosen
    return list(found.values())
