"""What is left of a query, as SQL over the views that it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.calendar import UTC
from penstock.algebra.expr import (
    Call,
    Column,
    Expr,
    compare,
    conjunction,
    conjuncts,
    substitute,
    with_columns,
)
from penstock.reasoning.identity import Identities
from penstock.reasoning.points import Points
from penstock.reasoning.printing import aggregate, sql_expression
from penstock.sql.windows import Duration


class NotSqlError(Exception):
    """An operation that has no SQL of its own."""


@dataclass
class Names:
    """The names of what queries read: relations by their plans, points in time."""

    relations: Mapping[str, str]
    points: Mapping[Points, str]
    identities: Identities
    ticks: bool


@dataclass(frozen=True)
class _Select:
    source: str
    items: Mapping[str, Expr]
    where: tuple[Expr, ...] = ()
    keys: tuple[str, ...] | None = None
    having: tuple[Expr, ...] = ()
    distinct: bool = False
    qualify: str = ""
    output: str = ""

    @property
    def is_grouped(self) -> bool:
        return self.keys is not None or self.distinct or bool(self.qualify or self.output)

    @property
    def is_joined(self) -> bool:
        return " JOIN " in self.source and not self.is_grouped

    def text(self) -> str:
        items = [_item(name, expr) for name, expr in self.items.items()]
        words = ["SELECT", self.output, "DISTINCT" if self.distinct else "", ", ".join(items)]
        words += ["FROM", self.source]
        words += ["WHERE", sql_expression(conjunction(self.where))] if self.where else []
        words += ["GROUP BY", ", ".join(self.keys)] if self.keys else []
        words += ["HAVING", sql_expression(conjunction(self.having))] if self.having else []
        words += ["QUALIFY", self.qualify] if self.qualify else []
        return " ".join(filter(None, words))


@dataclass
class _Renderer:
    names: Names
    _aliases: int = 0

    def select(self, node: p.Node) -> _Select:
        known = self.names.relations.get(self.names.identities.of(node))
        if known is not None:
            return _Select(known, _own(node))
        return _CASES[type(node)](self, node)

    def _scan(self, node: p.Scan) -> _Select:
        return _Select(_quoted(node.name.removeprefix("view ")), _own(node))

    def _filter(self, node: p.Filter) -> _Select:
        return self._filtered(self.select(node.input), node.predicate)

    def _map(self, node: p.Map) -> _Select:
        below = self.select(node.input)
        below = self._nested(below) if below.distinct or below.output else below
        return replace(below, items={n: substitute(e, below.items) for n, e in node.outputs})

    def _join(self, node: p.Join) -> _Select:
        return self._joined(node) if node.kind == "inner" else self._unsaid(node)

    def _distinct(self, node: p.Distinct) -> _Select:
        below = self.select(node.input)
        return replace(self._nested(below) if below.is_grouped else below, distinct=True)

    def _window(self, node: p.Window) -> _Select:
        if node.zone != UTC:
            return self._unsaid(node)
        word = "RANGE" if node.kind == "sliding" else "FIXED"
        length = Duration(node.size, self.names.ticks)
        return self._marked(self.select(node.input), f"[{word} {length}]")

    def _sync(self, node: p.Sync) -> _Select:
        return self._marked(self.select(node.input), f"SYNC BY {self._points(node.points)}")

    def _restrict(self, node: p.Restrict) -> _Select:
        below = self.select(node.input)
        below = self._nested(below) if below.is_grouped else below
        bounds = [(node.start, "{0} <= NOW()"), (node.end, "NOW() < {0}")]
        new = [
            Call(template, (substitute(e, below.items),), pa.bool_())
            for e, template in bounds
            if e is not None
        ]
        return replace(below, where=(*below.where, *new))

    def _changes(self, node: p.Changes) -> _Select:
        if node.kind == "changed" or node.time is not None:
            return self._unsaid(node)
        below = self.select(node.input)
        below = self._nested(below) if below.output else below
        return replace(below, output="ISTREAM" if node.kind == "inserted" else "DSTREAM")

    def _rank(self, node: p.Rank) -> _Select:
        if node.limit is None or node.number is not None:
            return self._unsaid(node)
        below = self.select(node.input)
        rank = f"{node.kind}() OVER"
        return self._ranked(below, node.partition, node.order, rank, node.limit)

    def _union(self, node: p.Union) -> _Select:
        text = " UNION ALL ".join(self.select(part).text() for part in node.parts)
        return _Select(f"({text})", _own(node))

    def _unsaid(self, node: p.Node) -> _Select:
        raise NotSqlError

    def _filtered(self, below: _Select, predicate: Expr) -> _Select:
        nested = below.distinct or below.qualify or below.output
        below = self._nested(below) if nested else below
        new = conjuncts(substitute(predicate, below.items))
        if below.keys is None:
            return replace(below, where=(*below.where, *new))
        return replace(below, having=(*below.having, *new))

    def _joined(self, node: p.Join) -> _Select:
        texts: list[str] = []
        items: dict[str, Expr] = {}
        where: list[Expr] = []
        for side in (node.left, node.right):
            select = self.select(side)
            if select.is_joined:
                texts.append(select.source)
                items |= select.items
                where += select.where
                continue
            alias = self._alias()
            own = _columns(select)
            if own is None:
                texts.append(f"({select.text()}) AS {alias}")
                own = {name: Column(_quoted(name), e.type) for name, e in select.items.items()}
            else:
                texts.append(f"{select.source} AS {alias}")
                where += [_of(alias, condition) for condition in select.where]
            items |= {name: _of(alias, column) for name, column in own.items()}
        on: list[Expr] = [
            compare("<=>" if e.null_safe else "=", items[e.left], items[e.right]) for e in node.on
        ]
        on += [] if node.where is None else conjuncts(substitute(node.where, items))
        source = f"{texts[0]} JOIN {texts[1]}"
        source = f"{source} ON {sql_expression(conjunction(tuple(on)))}" if on else source
        return _Select(source, items, tuple(where))

    def _grouped(self, node: p.Aggregate) -> _Select:
        below = self.select(node.input)
        below = self._nested(below) if below.is_grouped else below
        items: dict[str, Expr] = {key: below.items[key] for key in node.keys}
        for call in node.calls:
            args = (sql_expression(below.items[arg]) for arg in call.args)
            where = None if call.where is None else sql_expression(below.items[call.where])
            text = aggregate(call.function, args, call.distinct, where, call.parameter)
            items[call.name] = Column(text, node.schema.field(call.name).type)
        keys = tuple(sql_expression(below.items[key]) for key in node.keys)
        return replace(below, items=items, keys=keys)

    def _ranked(
        self,
        below: _Select,
        partition: tuple[str, ...],
        order: tuple[p.SortKey, ...],
        rank: str,
        limit: int,
    ) -> _Select:
        below = self._nested(below)
        keys = [f"{_quoted(k.column)}{' DESC' if k.descending else ''}" for k in order]
        words = [f"PARTITION BY {', '.join(map(_quoted, partition))}"] if partition else []
        words += [f"ORDER BY {', '.join(keys)}"] if keys else []
        return replace(below, qualify=f"{rank} ({' '.join(words)}) <= {limit}")

    def _marked(self, below: _Select, mark: str) -> _Select:
        """With a window, or points; they are of what is read, before any condition on it."""
        simple = not below.is_grouped and " JOIN " not in below.source
        below = below if simple else self._nested(below)
        return replace(below, source=f"{below.source} {mark}")

    def _nested(self, select: _Select) -> _Select:
        items = {n: Column(_quoted(n), e.type) for n, e in select.items.items()}
        return _Select(f"({select.text()})", items)

    def _points(self, points: Points) -> str:
        known = self.names.points.get(points)
        if known is not None:
            return known
        parts = []
        for point in points:
            if not isinstance(point, p.Periodic):
                raise NotSqlError
            parts.append(f"timepoint % {self._length(point.period)} = {self._length(point.offset)}")
        return f"(SELECT timepoint FROM clock WHERE {' OR '.join(parts)})"

    def _length(self, length: int) -> str:
        interval = "" if self.names.ticks or length == 0 else "INTERVAL "
        return f"{interval}{Duration(length, self.names.ticks or length == 0)}"

    def _alias(self) -> str:
        self._aliases += 1
        return f"t{self._aliases}"


_CASES: Mapping[type[p.Node], Callable[[_Renderer, Any], _Select]] = p.for_each_operator(
    (_Renderer._scan, (p.Scan,)),
    (_Renderer._filter, (p.Filter,)),
    (_Renderer._map, (p.Map,)),
    (_Renderer._join, (p.Join,)),
    (_Renderer._grouped, (p.Aggregate,)),
    (_Renderer._distinct, (p.Distinct,)),
    (_Renderer._window, (p.Window,)),
    (_Renderer._sync, (p.Sync,)),
    (_Renderer._restrict, (p.Restrict,)),
    (_Renderer._changes, (p.Changes,)),
    (_Renderer._rank, (p.Rank,)),
    (_Renderer._union, (p.Union,)),
    (
        _Renderer._unsaid,
        (p.Coalesce, p.Group, p.RowWindow, p.Session, p.SetOperation, p.Split, p.Upsert),
    ),
)


def rendered(plan: p.Node, names: Names) -> str:
    """A plan as SQL; raises NotSqlError where it has an operation that only plans have."""
    return _Renderer(names).select(plan).text()


def _own(node: p.Node) -> dict[str, Expr]:
    return {f.name: Column(_quoted(f.name), f.type) for f in node.schema}


def _columns(select: _Select) -> dict[str, Column] | None:
    """The columns of the source that its items are; None where they are more than that."""
    found = {n: e for n, e in select.items.items() if isinstance(e, Column)}
    return found if len(found) == len(select.items) and not select.is_grouped else None


def _of(alias: str, expr: Expr) -> Expr:
    """The expression over the columns of a relation of that name."""
    return with_columns(expr, lambda column: Column(f"{alias}.{column.name}", column.type))


def _item(name: str, expr: Expr) -> str:
    text = sql_expression(expr)
    return text if text in (name, _quoted(name)) else f"{text} AS {_quoted(name)}"


def _quoted(name: str) -> str:
    return name if name.isidentifier() else f"`{name}`"
