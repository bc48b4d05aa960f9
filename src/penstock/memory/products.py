"""Plans as products: streams without windows, a condition on their combinations, columns of them.

Every column is an expression over the columns of the streams, which are named after the place of
their stream: `0.a` is column a of the first.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.algebra import plan as p
from penstock.algebra.expr import Call, Column, Expr, columns, compare, conjuncts, substitute
from penstock.memory.values import is_stream


class NoProductError(Exception):
    """The plan is more than a selection and projection of a product of streams."""


@dataclass
class Product:
    """The scans of a plan, the conditions on their combinations, and the columns made of them."""

    scans: list[p.Scan] = field(default_factory=list)
    conditions: list[Expr] = field(default_factory=list)
    columns: dict[str, Expr] = field(default_factory=dict)


def product_of(plan: p.Node, *, as_set: bool = False) -> Product:
    """The product that a plan is; where only the set of its rows matters, DISTINCT adds nothing."""
    product = Product()
    product.columns = _read(plan, product, as_set)
    return product


def _read(plan: p.Node, product: Product, as_set: bool) -> dict[str, Expr]:
    match plan:
        case p.Scan() if is_stream(plan):
            place = len(product.scans)
            product.scans.append(plan)
            return {f.name: Column(placed(place, f.name), f.type) for f in plan.schema}
        case p.Filter(source, predicate):
            found = _read(source, product, as_set)
            product.conditions += conjuncts(substitute(predicate, found))
            return found
        case p.Map(source, outputs):
            found = _read(source, product, as_set)
            return {name: substitute(value, found) for name, value in outputs}
        case p.Join(left, right, "inner", on, where, None, None):
            found = {**_read(left, product, as_set), **_read(right, product, as_set)}
            for each in on:
                equals = "<=>" if each.null_safe else "="
                product.conditions.append(compare(equals, found[each.left], found[each.right]))
            if where is not None:
                product.conditions += conjuncts(substitute(where, found))
            return found
        case p.Distinct(source) if as_set:
            return _read(source, product, as_set)
    raise NoProductError


def placed(place: int, column: str) -> str:
    return f"{place}.{column}"


def places(value: Expr) -> frozenset[int]:
    """The streams that an expression reads."""
    return frozenset(int(name.partition(".")[0]) for name in columns(value))


def unplaced(value: Expr) -> Expr:
    """An expression over one stream, in the stream's own columns."""
    match value:
        case Column(name, kind):
            return Column(name.partition(".")[2], kind)
        case Call(function, args, kind):
            return Call(function, tuple(map(unplaced, args)), kind)
    return value
