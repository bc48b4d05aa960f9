"""Relations joined: which conditions are equalities, and in which order inner joins are made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from penstock.algebra.expr import Column, Expr, conjunction
from penstock.algebra.plan import Equality, Filter, Join, JoinKind, Map, Node, project
from penstock.sql.binding import timing
from penstock.sql.binding.context import Binding, Frame
from penstock.sql.binding.scalars import names_in, unwrapped
from penstock.sql.binding.scopes import Scope


def conjuncts(tree: exp.Expr | None) -> list[exp.Expr]:
    """The conditions that must all be true."""
    if tree is None:
        return []
    tree = unwrapped(tree)
    if isinstance(tree, exp.And):
        return [*conjuncts(tree.this), *conjuncts(tree.expression)]
    if isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
        low = exp.GTE(this=tree.this.copy(), expression=tree.args["low"].copy())
        high = exp.LTE(this=tree.this.copy(), expression=tree.args["high"].copy())
        return [low, high]
    if isinstance(tree, exp.Or):
        return _factored(tree)
    return [tree]


def _factored(tree: exp.Or) -> list[exp.Expr]:
    """What all branches of an OR have in common, and the rest of it."""
    branches = [conjuncts(branch) for branch in tree.flatten(unnest=False)]
    texts = [{part.sql() for part in branch} for branch in branches]
    common = set.intersection(*texts)
    if not common:
        return [tree]
    shared = [part for part in branches[0] if part.sql() in common]
    rests = [[part for part in branch if part.sql() not in common] for branch in branches]
    if not all(rests):
        return shared
    return [*shared, exp.or_(*(exp.and_(*rest) for rest in rests))]


@dataclass
class Factors:
    """Frames that are joined where their conditions say so, in an order still to be chosen."""

    frames: list[Frame]
    conditions: list[exp.Expr]
    scope: Scope

    def add(self, frame: Frame) -> None:
        self.frames.append(frame)

    def joined(self, b: Binding) -> Frame:
        """One frame: conditions on one factor first, then along equalities, as FROM has them."""
        frames = [f for f in self.frames if f.moment is None] or self.frames[:1]
        waiting = list(self.conditions)
        for i, frame in enumerate(frames):
            mine = [c for c in waiting if names_in(c) and _within(c, [frame])]
            waiting = [c for c in waiting if not any(c is m for m in mine)]
            frames[i] = filtered(b, frame, mine)
        current, rest = frames[0], frames[1:]
        while rest:
            chosen = next((f for f in rest if _linked(waiting, current, f)), rest[0])
            rest = [f for f in rest if f is not chosen]
            ready = [c for c in waiting if _within(c, [current, chosen])]
            waiting = [c for c in waiting if not any(c is r for r in ready)]
            current = Frame(join(b, current, chosen, "inner", ready), self.scope)
        return filtered(b, Frame(current.plan, self.scope), waiting)


def filtered(b: Binding, frame: Frame, conditions: Sequence[exp.Expr]) -> Frame:
    """The frame where all conditions are true; those on NOW() become validity."""
    moving = [tree for tree in conditions if timing.mentions_now(tree)]
    predicates = tuple(b.predicate(c, frame) for c in conditions if c not in moving)
    if predicates:
        frame = frame.over(Filter(frame.plan, conjunction(predicates)))
    return timing.restricted(b, frame, moving)


def join(
    b: Binding, left: Frame, right: Frame, kind: JoinKind, conditions: Sequence[exp.Expr]
) -> Node:
    """The join of two frames, equalities between them as its keys; extra columns are gone again."""
    names = (left.schema.names, right.schema.names)
    on: list[Equality] = []
    rest: list[exp.Expr] = []
    for tree in conditions:
        sides = _sides(tree, left, right)
        if sides is None:
            rest.append(tree)
            continue
        a, c = b.expr(sides[0], left), b.expr(sides[1], right)
        wanted = b.scalars.common_type(a, c, tree)
        b.check_compared(wanted, tree)
        a, c = b.scalars.cast(a, wanted, tree), b.scalars.cast(c, wanted, tree)
        left_key, left = _key(b, a, left)
        right_key, right = _key(b, c, right)
        on.append(Equality(left_key, right_key, isinstance(tree, exp.NullSafeEQ)))
    both = left.over(Join(left.plan, right.plan, "inner", ()))
    where = conjunction(tuple(b.predicate(tree, both) for tree in rest)) if rest else None
    plan: Node = Join(left.plan, right.plan, kind, tuple(dict.fromkeys(on)), where)
    wanted_names = names[0] if kind in ("semi", "anti") else [*names[0], *names[1]]
    return plan if plan.schema.names == wanted_names else project(plan, wanted_names)


def _key(b: Binding, value: Expr, frame: Frame) -> tuple[str, Frame]:
    if isinstance(value, Column):
        return value.name, frame
    for known, expr in frame.plan.outputs if isinstance(frame.plan, Map) else ():
        if expr == value and not isinstance(expr, Column):
            return known, frame
    return b.with_column(value, frame, "key")


def _sides(tree: exp.Expr, left: Frame, right: Frame) -> tuple[exp.Expr, exp.Expr] | None:
    """The two sides of an equality between the frames, the left frame's first."""
    if not isinstance(tree, exp.EQ | exp.NullSafeEQ):
        return None
    a, c = tree.this, tree.expression
    for first, second in ((a, c), (c, a)):
        if names_in(first) and names_in(second) and _in(first, left) and _in(second, right):
            return first, second
    return None


def _in(tree: exp.Expr, frame: Frame) -> bool:
    return set(names_in(tree)) <= set(frame.schema.names)


def _within(tree: exp.Expr, frames: Sequence[Frame]) -> bool:
    known = {name for frame in frames for name in frame.schema.names}
    return set(names_in(tree)) <= known


def _linked(conditions: Sequence[exp.Expr], left: Frame, right: Frame) -> bool:
    return any(_sides(tree, left, right) is not None for tree in conditions)
