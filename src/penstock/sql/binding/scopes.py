"""Names in a query: what each stands for, here or in the query around it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NoReturn

from sqlglot import exp

from penstock.sql.binding.diagnostics import Diagnostics
from penstock.sql.binding.scalars import bound_column, placed
from penstock.sql.statements import Output
from penstock.sql.text import closest, one_of

TIME = "ts"


@dataclass(frozen=True)
class Item:
    """A column as a query names it, and the plan's column that it is, or what it stands for."""

    name: str
    column: str
    relation: str | None = None
    only_qualified: bool = False
    hidden: bool = False
    domain: bool = False
    tree: exp.Expr | None = None

    def called(self, name: str, relation: str | None) -> bool:
        if relation is None:
            return not self.only_qualified and self.name.lower() == name.lower()
        own = self.relation is not None and self.relation.lower() == relation.lower()
        return own and self.name.lower() == name.lower()


@dataclass(frozen=True)
class Scope:
    """What can be named: the columns of the relations in FROM, and those of the query around.

    A name that only the query around knows correlates the two. Its column is marked `outer`, unless
    the query has been given the values that it can take, as a relation of its own: the domain.
    `later` are the names of the select list where it cannot be read yet.
    """

    items: tuple[Item, ...] = ()
    outer: Scope | None = None
    aliases: dict[str, exp.Expr] = field(default_factory=dict)
    later: frozenset[str] = frozenset()

    def visible(self, relation: str | None = None) -> list[Item]:
        """What `*` stands for, or `relation.*`."""
        if relation is None:
            return [item for item in self.items if not item.hidden and not item.only_qualified]
        return [
            item
            for item in self.items
            if not item.hidden and (item.relation or "").lower() == relation.lower()
        ]

    def relations(self) -> list[str]:
        return list(dict.fromkeys(item.relation for item in self.items if item.relation))

    def find(self, name: str, relation: str | None) -> list[Item]:
        found = [item for item in self.items if item.called(name, relation)]
        shown = [item for item in found if not item.hidden]
        return shown or found

    def owner(self, name: str, tree: exp.Expr) -> str | None:
        """The relation of a column that is selected as it is, under its name."""
        if not isinstance(tree, exp.Column):
            return None
        for item in self.items:
            if item.column == tree.name and item.name.lower() == name.lower():
                return item.relation
        return None

    def plus(self, items: Iterable[Item]) -> Scope:
        return replace(self, items=(*self.items, *items))


@dataclass
class Names:
    """Resolves names, and remembers which columns of a domain were named."""

    diagnostics: Diagnostics
    exact: bool = False
    """Whether a name has to be written as it is, upper and lower case."""
    domain_columns: dict[str, None] = field(default_factory=dict)

    def resolve(self, tree: exp.Expr, scope: Scope) -> exp.Expr:
        """A copy of the tree whose names are columns of plans; queries in it stay as they are."""
        if isinstance(tree, exp.PositionalColumn):
            return self.of_star(self.numbered(tree, scope), tree)
        root = exp.Paren(this=tree.copy())
        for column in list(columns_of(root.this)):
            column.replace(self._resolved(column, scope))
        return root.this

    def numbered(self, number: exp.PositionalColumn, scope: Scope) -> Item:
        """The column of FROM that a pipe groups by the number of."""
        items = scope.visible()
        place = int(number.this.to_py())
        if not 1 <= place <= len(items):
            self.diagnostics.wrong(
                f"There is no column {place} in what is grouped, which has {len(items)}.",
                number.this,
            )
        return items[place - 1]

    def of_star(self, item: Item, at: exp.Expr) -> exp.Expr:
        """One of the columns that a star stands for."""
        if item.tree is not None:
            return placed(item.tree.copy(), at)
        column = bound_column(item.column, at)
        column.meta["name"] = item.name
        return column

    def _resolved(self, column: exp.Column, scope: Scope) -> exp.Expr:
        parts = column.parts
        around: Scope | None = scope
        depth = 0
        while around is not None:
            if len(parts) > 1 and (found := around.find(parts[1].name, parts[0].name)):
                return self._field(self._one(found, column, depth), parts[2:])
            if found := around.find(parts[0].name, None):
                return self._field(self._one(found, column, depth), parts[1:])
            if len(parts) == 1 and column.name.lower() in around.aliases:
                return exp.Paren(this=around.aliases[column.name.lower()].copy())
            around = around.outer
            depth += 1
        self._unknown(column, scope)

    def _one(self, found: list[Item], at: exp.Column, depth: int) -> exp.Expr:
        if len(found) > 1:
            owners = dict.fromkeys(f"{i.relation}.{i.name}" for i in found if i.relation)
            advice = (
                f"Write {one_of(owners)}." if len(owners) > 1 else "Rename one where it is made."
            )
            self.diagnostics.wrong(f"Column {at.name} is ambiguous. {advice}", at)
        if self.exact and found[0].name not in [part.name for part in at.parts]:
            self.diagnostics.wrong(
                f"There is {found[0].name}, and not {at.name}: with spark.sql.caseSensitive, upper "
                f"and lower case matter. Write {found[0].name}.",
                at,
            )
        if found[0].tree is not None:
            return placed(found[0].tree.copy(), at)
        bound = bound_column(found[0].column, at)
        bound.meta["name"] = at.name
        if found[0].domain:
            self.domain_columns[found[0].column] = None
        if depth > int(found[0].domain):
            bound.meta["outer"] = True
        return bound

    def _field(self, struct: exp.Expr, fields: Sequence[exp.Expr]) -> exp.Expr:
        for part in fields:
            struct = exp.Dot(this=struct, expression=exp.to_identifier(part.name, quoted=True))
        return struct

    def _unknown(self, column: exp.Column, scope: Scope) -> NoReturn:
        relation = column.table or None
        known = scope.relations()
        if relation is not None and relation.lower() not in [name.lower() for name in known]:
            self.diagnostics.unknown("relation", relation, known, column.args["table"])
        if relation is None:
            self._explain(column, scope)
        names = [i.name for i in scope.items if relation is None or i in scope.visible(relation)]
        self.diagnostics.unknown("column", column.name, names, column)

    def _explain(self, column: exp.Column, scope: Scope) -> None:
        """Complain about a name that is wrong in a way of its own."""
        name = column.name
        output = closest(name, Output, cutoff=0.75)
        if output and isinstance(column.parent, exp.Alias | exp.Paren) and not column.table:
            self.diagnostics.no_such(
                f"There is no column {name}. Did you mean SELECT {output} ...?", column
            )
        if name.lower() == TIME:
            self.diagnostics.no_such(
                "There is no column ts here: it is the event time of the rows of a source or "
                "stream. A view has it where its query selects it, SELECT ts AS at.",
                column,
            )
        if name.lower() in scope.later:
            self.diagnostics.wrong(
                f"{name} is computed in the select list, after WHERE. Write the expression itself, "
                "or filter in a query around this one.",
                column,
            )


def columns_of(tree: exp.Expr) -> Iterator[exp.Column]:
    """The names in a tree that are columns of this query: not of queries in it, nor of lambdas."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, exp.Lambda):
            parameters = {parameter.name.lower() for parameter in node.expressions}
            inside = columns_of(node.this)
            yield from (c for c in inside if c.parts[0].name.lower() not in parameters)
        elif isinstance(node, exp.Column) and not isinstance(node.this, exp.Star):
            if "bound" not in node.meta:
                yield node
        elif not isinstance(node, exp.Query):
            waiting += node.iter_expressions(reverse=True)
