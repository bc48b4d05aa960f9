"""From what a query says to a plan that reads the views that run already.

A query is matched as a whole, and where that fails each part of it by itself: as it was written,
and then as it was rewritten, with conditions where they go. Views are found by the relations that
they read. What is left to do is rewritten by the rules, in which a view is a
stream like any other; then its plan is put in its place, so that what it runs, runs once.

Of queries that come together and say the same at different periods, none contains the others. What
they say at the points of all of them does: at the greatest common divisor of their periods. It runs
once, and each looks at it at its own points.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from penstock.algebra import plan as p
from penstock.algebra.closing import with_closing
from penstock.algebra.expr import columns
from penstock.algebra.plan import Node, Periodic, Sync
from penstock.algebra.streams import time_column
from penstock.reasoning.identity import Identities
from penstock.reasoning.points import common_period
from penstock.reasoning.products import Form, Forms, Rows
from penstock.rewrite import Rewritten, normalized, rewrite, trace
from penstock.sharing.matching import NoMatchError, answered, answered_union


@dataclass(frozen=True)
class Running:
    """A view that runs, or a part of one: what it says, and the plan that runs for it.

    `normal` is what it says in its normal form, where that is known.
    """

    name: str
    meaning: p.Node
    plan: p.Node
    identity: str = ""
    normal: p.Node | None = None

    @property
    def key(self) -> str:
        return self.identity or self.name

    @property
    def leaf(self) -> p.Scan:
        """The view as a stream that a query reads."""
        schema = self.meaning.schema
        grows = p.append_only(self.meaning)
        time = time_column(self.meaning) if grows else None
        return p.Scan(leaf_name(self.name), schema, grows, time)


def leaf_name(view: str) -> str:
    return f"view {view}"


@dataclass(frozen=True)
class Shared:
    """A query over views: the plan to run, the same with views as streams, and the views.

    `reasons`: why others do not answer it, by their names.
    """

    plan: p.Node
    over_views: p.Node
    views: tuple[str, ...]
    reasons: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class _Candidate:
    """A view, and the form in which queries are compared with it."""

    view: Running
    meaning: p.Node
    form: Form
    is_part: bool = False

    @cached_property
    def identities(self) -> tuple[str, ...]:
        rows = self.form if isinstance(self.form, Rows) else self.form.rows
        return tuple(sorted(relation.identity for relation in rows.relations))


@dataclass
class _Search:
    """For a query: the views that it reads, why not others, and what became of its nodes."""

    used: dict[str, Running] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    done: dict[int, tuple[p.Node, p.Node]] = field(default_factory=dict)


class Sharing:
    """The views that run, ready to be compared with. `tables` never change.

    Who is thrifty does not read a view where that takes more than to do without.
    """

    def __init__(self, tables: Collection[str] = (), thrifty: bool = True) -> None:
        self._thrifty = thrifty
        self._forms = Forms(frozenset(tables))
        self._views: dict[str, _Candidate] = {}
        self._reading: dict[str, dict[str, None]] = {}
        self._owners: dict[str, dict[str, None]] = {}

    def add(self, view: Running) -> None:
        """A view, and its parts: what it joins and groups on the way."""
        meaning = normalized(view.meaning) if view.normal is None else view.normal
        self._add(_Candidate(view, meaning, self._forms.of(meaning)))
        parts = [n for n in view.plan.walk() if _is_block(n) and n is not view.plan]
        for number, node in enumerate(parts, start=1):
            identity = self._forms.identities.of(node)
            if identity not in self._owners:
                part = Running(f"part {number} of {view.name}", node, node, identity)
                self._add(_Candidate(part, node, self._forms.of(node), is_part=True))
            self._owners.setdefault(identity, {})[view.name] = None

    def _add(self, known: _Candidate) -> None:
        self._views[known.view.key] = known
        for identity in known.identities:
            self._reading.setdefault(identity, {})[known.view.key] = None

    def remove(self, name: str) -> None:
        self._remove(name)
        for identity, owners in list(self._owners.items()):
            owners.pop(name, None)
            if not owners:
                self._remove(identity)
                del self._owners[identity]

    def _remove(self, key: str) -> None:
        self._views.pop(key, None)
        for keys in self._reading.values():
            keys.pop(key, None)

    def __contains__(self, name: object) -> bool:
        return name in self._views

    def share(
        self, query: p.Node, alone: Rewritten | None = None, off: Collection[str] = ()
    ) -> Shared:
        """The query with as much of it as possible read from views; `alone` is it rewritten."""
        alone = trace(query, off) if alone is None else alone
        search = _Search()
        reasons = search.reasons
        found = self._shared(alone.normal, search, whole=True)
        if not search.used:
            plan = alone.plan
            search = _Search()
            found = self._shared(plan, search, whole=True)
            if not search.used:
                return Shared(plan, plan, (), reasons)
        used = search.used
        plans: dict[p.Node, p.Node] = {view.leaf: view.plan for view in used.values()}
        marked = _synchronized(found, plans)
        over_views = rewrite(_put(found, {sync: leaf for leaf, sync in marked.items()}), off)
        over_views = _put(over_views, marked)
        plan = with_closing(_put(over_views, plans), {id(v): v for v in plans.values()})
        rest = {name: why for name, why in reasons.items() if name not in used}
        return Shared(plan, over_views, tuple(used), rest)

    def _shared(self, node: p.Node, search: _Search, whole: bool = False) -> p.Node:
        """A node, which many may read, over views; the answer is found once."""
        if id(node) not in search.done:
            search.done[id(node)] = node, self._found(node, search, whole)
        return search.done[id(node)][1]

    def _found(self, node: p.Node, search: _Search, whole: bool) -> p.Node:
        """A part of a query that keeps nothing is not worth reading from a view."""
        if isinstance(node, p.Scan) or (self._thrifty and not whole and not _keeping(node)):
            return node
        best = self._best(node, search.reasons)
        if best is not None:
            view, plan = best
            search.used[view.name] = view
            return self._with_rest(plan, search)
        return node.with_inputs(*(self._shared(child, search) for child in node.inputs))

    def _with_rest(self, plan: p.Node, search: _Search) -> p.Node:
        """What is joined with a view may be in others."""
        match plan:
            case p.Join(left, right):
                rest = self._shared(right, search)
                return plan.with_inputs(self._with_rest(left, search), rest)
            case p.Map() | p.Filter() | p.Restrict() | p.Sync() | p.Aggregate():
                first, *others = plan.inputs
                return plan.with_inputs(self._with_rest(first, search), *others)
        return plan

    def _best(self, node: p.Node, reasons: dict[str, str]) -> tuple[Running, p.Node] | None:
        """The answer that leaves the least to do."""
        form = self._forms.of(node)
        found: list[tuple[tuple[int, ...], Running, p.Node]] = []
        for known in self._candidates(form):
            try:
                plan = answered(form, known.form, known.view.leaf, self._forms.identities)
            except NoMatchError as reason:
                if not known.is_part:
                    reasons.setdefault(known.view.name, str(reason))
                continue
            if self._thrifty and _keeping(plan) > _keeping(node):
                reasons.setdefault(known.view.name, "to read it takes more than to do without")
                continue
            found.append(((*_effort(plan), int(known.is_part)), known.view, plan))
        if isinstance(node, p.Union):
            for known in self._views.values():
                plan_of_union = answered_union(node, known.meaning, known.view.leaf, self._forms)
                if plan_of_union is not None:
                    found.append((_effort(plan_of_union), known.view, plan_of_union))
        if not found:
            return None
        _, view, plan = min(found, key=lambda each: each[0])
        return view, plan

    def _candidates(self, form: Form) -> Iterable[_Candidate]:
        rows = form if isinstance(form, Rows) else form.rows
        names: dict[str, None] = {}
        for relation in rows.relations:
            names |= self._reading.get(relation.identity, {})
        return [self._views[name] for name in names]


def _is_block(node: p.Node) -> bool:
    """Whether a node is what others may need as well: rows joined, rows grouped."""
    match node:
        case p.Join(kind="inner") | p.Aggregate() | p.Distinct():
            return True
    return False


def _keeping(plan: p.Node) -> int:
    """How much the operations of a plan keep: nothing, rows, or for a join those of both sides."""
    free = (p.Scan, p.Filter, p.Map, p.Union, p.Window, p.Group)
    kept = [node for node in plan.walk() if not isinstance(node, free)]
    return sum(2 if isinstance(node, p.Join) else 1 for node in kept)


def _effort(plan: p.Node) -> tuple[int, ...]:
    """How much there is to do: joins, groups, points, conditions, and columns to read."""
    nodes = plan.walk()

    def count(*kinds: type[p.Node]) -> int:
        return sum(isinstance(node, kinds) for node in nodes)

    conditions = [node for node in nodes if isinstance(node, p.Filter)]
    read = sum(len(columns(node.predicate)) for node in conditions)
    width = sum(len(node.schema) for node in nodes if isinstance(node, p.Scan))
    return (
        count(p.Join),
        count(p.Aggregate),
        count(p.Restrict),
        count(p.Sync),
        read,
        width,
    )


def _synchronized(plan: p.Node, leaves: Collection[p.Node]) -> dict[p.Node, p.Node]:
    """Views at points of synchronization, as streams: what is done to them is done after that."""
    found: dict[p.Node, p.Node] = {}
    for node in plan.walk():
        if isinstance(node, p.Sync) and node.input in leaves and node not in found.values():
            found[p.Scan(f"points {len(found)}", node.schema)] = node
    return found


def _put(plan: p.Node, others: Mapping[p.Node, p.Node]) -> p.Node:
    """The plan with other nodes in the places of some."""
    made: dict[int, p.Node] = {}
    for node in plan.walk():
        if node in others:
            made[id(node)] = others[node]
        else:
            made[id(node)] = node.with_inputs(*(made[id(child)] for child in node.inputs))
    return made[id(plan)]


_EVERY = Periodic(1)


def in_common(queries: Mapping[str, Node]) -> list[Running]:
    """What some of these queries say at the points of all of them, to be read by each."""
    identities = Identities()
    found: dict[str, dict[str, Node]] = {}
    for name, plan in queries.items():
        meaning = normalized(plan)
        if _period(meaning) is not None:
            found.setdefault(identities.of(_at(meaning, _EVERY)), {})[name] = meaning
    running = []
    for same in found.values():
        periods = [period for period in map(_period, same.values()) if period is not None]
        if len(set(periods)) > 1:
            meaning = _at(next(iter(same.values())), common_period(periods))
            running.append(Running(f"what {' and '.join(same)} share", meaning, rewrite(meaning)))
    return running


def _period(plan: Node) -> Periodic | None:
    """The one period by which all of a plan is synchronized that is."""
    points = {node.points for node in plan.walk() if isinstance(node, Sync)}
    match list(points):
        case [(Periodic() as period,)]:
            return period
    return None


def _at(plan: Node, period: Periodic) -> Node:
    """The plan with another period for all that is synchronized in it."""
    new: dict[int, Node] = {}
    for node in plan.walk():
        same = node.with_inputs(*(new[id(child)] for child in node.inputs))
        new[id(node)] = replace(same, points=(period,)) if isinstance(same, Sync) else same
    return new[id(plan)]
