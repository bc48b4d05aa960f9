"""The order of inner joins, by what has been seen of the streams so far.

A simple model: a relation has as many rows as its source brings in the length of its window;
conditions leave a part of them; an equality of columns leaves one pair of as many as the larger of
the two has different values. The order with the smaller results on the way is the better one. Where
nothing has been seen, and where the gain would be small, the order is that of the query.
Law: the plan has the same snapshots at all times.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from penstock.algebra import plan as p
from penstock.algebra.expr import Call, Column, Expr, Literal, columns, conjunction
from penstock.reasoning.implication import FROM
from penstock.reasoning.products import Atom, Forms, Rows, atoms_of, is_temporal

_WORTH_IT = 0.8
_EQUAL, _OTHER = 0.1, 0.33
_VALUES = 0.1


@dataclass(frozen=True)
class Seen:
    """What a source has brought: rows, in which span of time, and different values of columns."""

    rows: int
    span: int = 0
    values: Mapping[str, int] = field(default_factory=dict)


def ordered(plan: p.Node, seen: Mapping[str, Seen], forms: Forms) -> p.Node:
    """The plan with its joins of three relations and more in the order that costs the least."""
    return _Ordering(seen, forms).of(plan)


@dataclass
class _Ordering:
    """What many read stays one node."""

    seen: Mapping[str, Seen]
    forms: Forms
    done: dict[int, tuple[p.Node, p.Node]] = field(default_factory=dict)

    def of(self, plan: p.Node) -> p.Node:
        if id(plan) not in self.done:
            self.done[id(plan)] = plan, self._of(plan)
        return self.done[id(plan)][1]

    def _of(self, plan: p.Node) -> p.Node:
        rows = self.forms.of(plan)
        if isinstance(rows, Rows) and len(rows.atoms) > 2:
            model = _Model(rows, self.seen)
            given = list(range(len(rows.atoms)))
            best = model.greedy()
            if best is not None and model.cost(best) < _WORTH_IT * model.cost(given):
                return _joined(rows, best, self)
        return plan.with_inputs(*map(self.of, plan.inputs))


class _Model:
    def __init__(self, rows: Rows, seen: Mapping[str, Seen]) -> None:
        self._seen = seen
        self._atoms = rows.atoms
        self._conditions = [c for c in rows.conditions if not is_temporal(c)]
        self._sizes = [self._size(i, atom) for i, atom in enumerate(rows.atoms)]

    def greedy(self) -> list[int] | None:
        """Begin with the least, go on with what gives the least; None where rows are unknown."""
        if not all(self._source(atom) for atom in self._atoms):
            return None
        left = set(range(len(self._atoms)))
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
            if len(used := atoms_of([condition])) > 1 and used <= chosen:
                size *= self._selectivity(condition)
        return size

    def _size(self, number: int, atom: Atom) -> float:
        source = self._source(atom)
        size = float(source.rows) if source is not None else 1.0
        if atom.window is not None and source is not None and source.span > 0:
            size *= min(1.0, atom.window[1] / source.span)
        for condition in self._conditions:
            if atoms_of([condition]) == {number}:
                size *= _EQUAL if _is_equality(condition) else _OTHER
        return max(size, 1.0)

    def _selectivity(self, condition: Expr) -> float:
        match condition:
            case Call("=" | "<=>", (Column(a), Column(b))):
                return 1 / max(self._values(a), self._values(b))
        return _EQUAL if _is_equality(condition) else _OTHER

    def _values(self, column: str) -> float:
        """How many different values a column has: all of a key, or as many as were seen."""
        number, _, name = column.partition(":")
        atom, size = self._atoms[int(number)], self._sizes[int(number)]
        source = self._source(atom)
        if atom.plan.unique_key() == (name,):
            return size
        known = source.values.get(name) if source is not None else None
        return max(1.0, min(size, known if known is not None else _VALUES * size))

    def _source(self, atom: Atom) -> Seen | None:
        """What is known of the one source of a relation."""
        names = {node.name for node in atom.plan.walk() if isinstance(node, p.Scan)}
        return self._seen.get(next(iter(names))) if len(names) == 1 else None


def _is_equality(condition: Expr) -> bool:
    match condition:
        case Call("=" | "<=>", (left, right)):
            return isinstance(left, Literal) or isinstance(right, Literal) or bool(columns(left))
    return False


def _joined(rows: Rows, order: Sequence[int], ordering: _Ordering) -> p.Node:
    """The rows with their relations joined in this order."""
    node: p.Node | None = None
    for number in order:
        atom = rows.atoms[number]
        schema = atom.plan.schema
        inner = atom.plan.with_inputs(*map(ordering.of, atom.plan.inputs))
        below = inner if atom.window is None else p.Window(inner, *atom.window)
        outputs = tuple(
            (f"{number}:{name}", Column(own, schema.field(own).type))
            for name, own in atom.names.items()
        )
        side = p.Map(below, outputs)
        node = side if node is None else p.Join(node, side)
    assert node is not None
    conditions = tuple(c for c in rows.conditions if not is_temporal(c))
    if conditions:
        node = p.Filter(node, conjunction(conditions))
    for moment in rows.conditions:
        match moment:
            case Call("from now" | "until now" as word, (time,)):
                bounds = (time, None) if word == FROM else (None, time)
                node = p.Restrict(node, *bounds)
    if rows.points is not None:
        node = p.Sync(node, rows.points)
    return p.Map(node, tuple(rows.outputs.items()))
