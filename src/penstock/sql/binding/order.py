"""The order in which the rows of an answer are shown, which is no part of its plan."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from penstock.algebra.plan import SortKey
from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.query import sort_key
from penstock.sql.dialect import Penstock
from penstock.sql.statements import Query


def order_of(query: Query, names: Sequence[str]) -> list[tuple[str, SortKey]]:
    """What ORDER BY names, as SQL over the columns of the answer, and how each is sorted."""
    clause = query.tree.args.get("order")
    found = []
    for ordered in clause.expressions if clause is not None else ():
        ordered = ordered if isinstance(ordered, exp.Ordered) else exp.Ordered(this=ordered)
        key = _by_name(_by_number(ordered.this, names), query.tree)
        _check(key, names, query)
        text = key.transform(_without_relation).sql(Penstock)
        found.append((text, sort_key(text, ordered)))
    return found


def _by_number(key: exp.Expr, names: Sequence[str]) -> exp.Expr:
    """The column that a number stands for."""
    if isinstance(key, exp.Literal) and key.name.isdigit() and 0 < int(key.name) <= len(names):
        return exp.column(names[int(key.name) - 1], quoted=True)
    return key


def _by_name(key: exp.Expr, tree: exp.Expr) -> exp.Expr:
    """The key with the columns of the answer in the place of what they were computed from."""
    aliases = [item for item in tree.expressions if isinstance(item, exp.Alias)]
    names = {item.this.sql(): item.alias for item in aliases}
    own = {item.alias.lower() for item in aliases}

    def named(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Identifier):
            return node  # a part of a name
        if isinstance(node, exp.Column) and not node.table and node.name.lower() in own:
            return node
        found = names.get(node.sql())
        return exp.column(found, quoted=True) if found else node

    return key.copy().transform(named)


def _check(key: exp.Expr, names: Sequence[str], query: Query) -> None:
    known = [name.lower() for name in names]
    computed = {
        item.alias.lower()
        for item in query.tree.expressions
        if isinstance(item, exp.Alias) and item.this.name.lower() != item.alias.lower()
    }
    for node in key.walk():
        if isinstance(node, exp.Query | exp.AggFunc | exp.Window) or (
            isinstance(node, exp.Column)
            and (node.name.lower() not in known or (node.table and node.name.lower() in computed))
        ):
            Diagnostics(query).unsupported(
                f"ORDER BY {node.sql(Penstock)} is no column of the answer.",
                "Select it too, under a name, and order by that.",
                key,
            )


def _without_relation(node: exp.Expr) -> exp.Expr:
    """`a.k` as the answer calls it: k."""
    return exp.column(node.this.copy()) if isinstance(node, exp.Column) else node
