"""The order of inner joins, by what has been statistics of the streams so far.

A simple model: a relation has as many rows as its source brings in the length of its window;
conditions leave a part of them; an equality of columns leaves one pair of as many as the larger of
the two has different values. The order with the smaller results on the way is the better one. Where
nothing has been statistics, and where the gain would be small, the order is that of the query.
Law: the plan has the same snapshots at all times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from penstock.algebra import plan as p
from penstock.algebra.expr import Call, Column, Expr, Literal, columns
from penstock.reasoning.products import (
    Forms,
    Relation,
    Rows,
    is_temporal,
    relations_of,
    rows_of,
    selected,
)

_WORTH_IT = 0.8
_EQUAL, _OTHER = 0.1, 0.33
_VALUES = 0.1


@dataclass(frozen=True)
class SourceStatistics:
    """What a source has brought: rows, in which span of time, and different values of columns."""

    rows: int
    span: int = 0
    values: Mapping[str, int] = field(default_factory=dict)


def ordered(plan: p.Node, statistics: Mapping[str, SourceStatistics], forms: Forms) -> p.Node:
    """The plan with its joins of three relations and more in the order that costs the least."""
    return _Ordering(statistics, forms).of(plan)


@dataclass
class _Ordering:
    """What many read stays one node."""

    statistics: Mapping[str, SourceStatistics]
    forms: Forms
    done: dict[int, tuple[p.Node, p.Node]] = field(default_factory=dict)

    def of(self, plan: p.Node) -> p.Node:
        if id(plan) not in self.done:
            self.done[id(plan)] = plan, self._of(plan)
        return self.done[id(plan)][1]

    def _of(self, plan: p.Node) -> p.Node:
        rows = self.forms.of(plan)
        if isinstance(rows, Rows) and len(rows.relations) > 2:
            model = _Model(rows, self.statistics)
            given = list(range(len(rows.relations)))
            best = model.greedy()
            if best is not None and model.cost(best) < _WORTH_IT * model.cost(given):
                return _joined(rows, best, self)
        return plan.with_inputs(*map(self.of, plan.inputs))


class _Model:
    def __init__(self, rows: Rows, statistics: Mapping[str, SourceStatistics]) -> None:
        self._statistics = statistics
        self._relations = rows.relations
        self._conditions = [c for c in rows.conditions if not is_temporal(c)]
        self._sizes = [self._size(i, relation) for i, relation in enumerate(rows.relations)]

    def greedy(self) -> list[int] | None:
        """Begin with the least, go on with what gives the least; None where rows are unknown."""
        if not all(self._source(relation) for relation in self._relations):
            return None
        left = set(range(len(self._relations)))
        pairs = [(self._result((i, j)), self._sizes[i], i, j) for i in left for j in left if i != j]
        order = list(min(pairs)[2:])
        while rest := left - set(order):
            order.append(min(rest, key=lambda k: (self._result((*order, k)), k)))
        return order

    def cost(self, order: Sequence[int]) -> float:
        return sum(self._result(order[:n]) for n in range(2, len(order)))

    def _result(self, joined: Iterable[int]) -> float:
        """How many rows the join of some relations has."""
        chosen = set(joined)
        size = 1.0
        for i in chosen:
            size *= self._sizes[i]
        for condition in self._conditions:
            if len(used := relations_of([condition])) > 1 and used <= chosen:
                size *= self._selectivity(condition)
        return size

    def _size(self, number: int, relation: Relation) -> float:
        source = self._source(relation)
        size = float(source.rows) if source is not None else 1.0
        if relation.window is not None and source is not None and source.span > 0:
            size *= min(1.0, relation.window[1] / source.span)
        for condition in self._conditions:
            if relations_of([condition]) == {number}:
                size *= _EQUAL if _is_equality(condition) else _OTHER
        return max(size, 1.0)

    def _selectivity(self, condition: Expr) -> float:
        match condition:
            case Call("=" | "<=>", (Column(a), Column(b))):
                return 1 / max(self._values(a), self._values(b))
        return _EQUAL if _is_equality(condition) else _OTHER

    def _values(self, column: str) -> float:
        """How many different values a column has: all of a key, or as many as were statistics."""
        number, _, name = column.partition(":")
        relation, size = self._relations[int(number)], self._sizes[int(number)]
        source = self._source(relation)
        if relation.plan.unique_key() == (name,):
            return size
        known = source.values.get(name) if source is not None else None
        return max(1.0, min(size, known if known is not None else _VALUES * size))

    def _source(self, relation: Relation) -> SourceStatistics | None:
        """What is known of the one source of a relation."""
        names = {node.name for node in relation.plan.walk() if isinstance(node, p.Scan)}
        return self._statistics.get(next(iter(names))) if len(names) == 1 else None


def _is_equality(condition: Expr) -> bool:
    match condition:
        case Call("=" | "<=>", (left, right)):
            return isinstance(left, Literal) or isinstance(right, Literal) or bool(columns(left))
    return False


def _joined(rows: Rows, order: Sequence[int], ordering: _Ordering) -> p.Node:
    """The rows with their relations joined in this order."""
    node: p.Node | None = None
    for number in order:
        relation = rows.relations[number]
        plan = relation.plan.with_inputs(*map(ordering.of, relation.plan.inputs))
        side = rows_of(number, replace(relation, plan=plan))
        node = side if node is None else p.Join(node, side)
    assert node is not None
    return p.Map(selected(node, rows.conditions, rows.points), tuple(rows.outputs.items()))
