"""Queries changed in small ways: a condition more, a window, a column less.

An edit is a new query; the old one stays as it is. An edit that does not apply is None.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import sqlglot
from sqlglot import exp

from penstock.sql.dialect import Penstock, quote
from penstock.sql.statements import Query
from penstock.sql.windows import Window


def with_condition(query: Query, relation: str, condition: str) -> Query | None:
    """The query in which the SELECT that reads a relation meets one more condition."""

    def edit(tree: exp.Expr) -> bool:
        for table in _tables(tree, relation):
            select = table.find_ancestor(exp.Select)
            if select is not None:
                before = _conjuncts(select.args.get("where"))
                every = exp.and_(*before, exp.condition(condition, dialect=Penstock), wrap=False)
                select.set("where", exp.Where(this=every))
                return True
        return False

    return _edited(query, edit)


def with_join_condition(query: Query, relation: str, condition: str) -> Query | None:
    """The query in which a relation is joined on one more condition."""

    def edit(tree: exp.Expr) -> bool:
        for table in _tables(tree, relation):
            join = table.parent
            if isinstance(join, exp.Join) and join.args.get("on") is not None:
                before = _conjuncts(exp.Where(this=join.args["on"]))
                every = exp.and_(*before, exp.condition(condition, dialect=Penstock), wrap=False)
                join.set("on", every)
                return True
        return False

    return _edited(query, edit) or with_condition(query, relation, condition)


def with_window(query: Query, names: list[str], window: Window) -> Query | None:
    """The query with a window on all of these objects that have none."""
    wanted = {name.lower() for name in names}

    def edit(tree: exp.Expr) -> bool:
        found = [
            table
            for table in tree.find_all(exp.Table)
            if table.name.lower() in wanted and table.args.get("window") is None
        ]
        for table in found:
            table.set("window", window)
        return bool(found)

    return _edited(query, edit)


def reading(query: Query, name: str, instead: str) -> Query | None:
    """The query that reads another object in the place of one, under the old name."""

    def edit(tree: exp.Expr) -> bool:
        found = [table for table in tree.find_all(exp.Table) if table.name.lower() == name.lower()]
        for table in found:
            if not table.alias:
                table.set("alias", exp.TableAlias(this=exp.to_identifier(table.name)))
            table.set("this", exp.to_identifier(instead))
        return bool(found)

    return _edited(query, edit)


def with_distinct(query: Query) -> Query | None:
    def edit(tree: exp.Expr) -> bool:
        if not isinstance(tree, exp.Select) or tree.args.get("distinct") or _aggregates(tree):
            return False
        tree.set("distinct", exp.Distinct())
        return True

    return _edited(query, edit)


def without_columns(query: Query, columns: list[str]) -> Query | None:
    """The query whose select list leaves out these columns, if any are left."""
    wanted = {column.lower() for column in columns}

    def edit(tree: exp.Expr) -> bool:
        if not isinstance(tree, exp.Select):
            return False
        kept = [item for item in tree.expressions if not _named(item) & wanted]
        if not kept or len(kept) == len(tree.expressions):
            return False
        group = tree.args.get("group")
        if group is not None:
            keys = [key for key in group.expressions if not _named(key) & wanted]
            tree.set("group", exp.Group(expressions=keys) if keys else None)
        tree.set("expressions", kept)
        return True

    return _edited(query, edit)


def grouped_by_window(query: Query, length: str) -> Query | None:
    """The query whose groups are also by windows in time, the start of which it selects."""

    def edit(tree: exp.Expr) -> bool:
        if not isinstance(tree, exp.Select) or not _aggregates(tree):
            return False
        group = tree.args.get("group")
        if tree.find(exp.Subquery) or (group is not None and "window(" in group.sql().lower()):
            return False
        first = tree.args["from_"].this.alias_or_name
        several = bool(tree.args.get("joins"))
        time = f"{quote(first)}.ts" if several else "ts"
        tree.group_by(_parsed(f"window({time}, {length})"), copy=False)
        tree.set("expressions", [_parsed("window.start"), *tree.expressions])
        return True

    return _edited(query, edit)


def relations(query: Query) -> list[tuple[str, str]]:
    """What the query reads, each as (alias, name)."""
    return [(table.alias_or_name, table.name) for table in query.tree.find_all(exp.Table)]


def _edited(query: Query, edit: Callable[[exp.Expr], bool]) -> Query | None:
    tree = query.tree.copy()
    return replace(query, tree=tree) if edit(tree) else None


def _tables(tree: exp.Expr, relation: str) -> Iterator[exp.Table]:
    for table in tree.find_all(exp.Table):
        if table.alias_or_name.lower() == relation.lower():
            yield table


def _conjuncts(where: exp.Where | None) -> list[exp.Expr]:
    if where is None:
        return []
    return list(where.this.flatten()) if isinstance(where.this, exp.And) else [where.this]


def _aggregates(tree: exp.Select) -> bool:
    return tree.args.get("group") is not None or any(
        item.find(exp.AggFunc) for item in tree.expressions
    )


def _named(item: exp.Expr) -> set[str]:
    """A column under its short and its long name; nothing for other expressions."""
    item = item.unalias()
    if not isinstance(item, exp.Column):
        return set()
    long = f"{item.table}.{item.name}" if item.table else item.name
    return {long.lower(), item.name.lower()}


def _parsed(text: str) -> exp.Expr:
    (select,) = sqlglot.parse(f"SELECT {text}", dialect=Penstock) or [None]
    assert isinstance(select, exp.Select)
    return select.expressions[0].copy()
