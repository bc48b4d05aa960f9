"""The objects that a query reads and the functions that it calls, by name."""

from __future__ import annotations

from sqlglot import exp

from penstock.sql.statements import Query


def names_read(query: Query) -> list[str]:
    """Every source, stream, table and view in a query, and what it synchronizes by, in order."""
    own = {cte.alias.lower() for cte in query.tree.find_all(exp.CTE)}
    found: dict[str, None] = {}
    for node in query.tree.walk():
        if isinstance(node, exp.Table) and node.name.lower() not in own:
            found[node.name] = None
        sync = node.args.get("sync") if isinstance(node, exp.Table | exp.Subquery) else None
        if isinstance(sync, exp.Expr):
            found[sync.name] = None
    return list(found)


def functions_called(query: Query) -> frozenset[str]:
    """Every function in a query, in small letters."""
    return frozenset(
        (node.name if isinstance(node, exp.Anonymous) else node.sql_name()).lower()
        for node in query.tree.walk()
        if isinstance(node, exp.Func)
    )
