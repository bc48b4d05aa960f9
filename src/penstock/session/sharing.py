"""The views of a session as others may read them, and what EXPLAIN SHARING tells of a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from textwrap import indent

from penstock.algebra.outline import outline
from penstock.algebra.plan import Node
from penstock.output.definitions import ViewDefinition
from penstock.physical.expiry import Strategy
from penstock.reasoning.identity import Identities
from penstock.reasoning.points import Points
from penstock.reasoning.printing import listed
from penstock.reasoning.to_sql import Names, NotSqlError, rendered
from penstock.rewrite import Rewritten, trace
from penstock.runtime.engine import Engine
from penstock.sharing import Running, Shared, Sharing
from penstock.sharing.views import in_common
from penstock.sql.binding import Catalog, Relation, SyncPoints


class SharedViews:
    """Follows the views of an engine as they come and go."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sharing = Sharing()
        self._tables: frozenset[str] = frozenset()
        self._known: dict[str, ViewDefinition] = {}
        self._instead: dict[str, ViewDefinition | None] = {}
        self._latest: tuple[Node, Node] | None = None
        """The query that was shared last, which is about to be a view, and its normal form."""

    def share(self, plan: Node, alone: Rewritten | None = None) -> Shared:
        """What a query is to run; `alone` is the query rewritten by itself, where it is known."""
        options = self._engine.options
        alone = trace(plan, options.rules_off) if alone is None else alone
        if not options.sharing:
            return Shared(alone.plan, alone.plan, ())
        found = self._current().share(plan, alone, options.rules_off)
        self._latest = plan, alone.normal
        return found

    def are_off(self, expiry: Strategy) -> bool:
        """Whether a view is to run apart: all do, or its results come later than others would."""
        return not self._engine.options.sharing or expiry == "input"

    @contextmanager
    def together(self, queries: Mapping[str, Node]) -> Iterator[None]:
        """While queries become views that come together: what they have in common is found."""
        found = in_common(queries) if self._engine.options.sharing else []
        sharing = self._current()
        for running in found:
            sharing.add(running)
        try:
            yield
        finally:
            for running in found:
                sharing.remove(running.name)

    @contextmanager
    def replacing(self, names: Iterable[str]) -> Iterator[Callable[[str, ViewDefinition], None]]:
        """While views are replaced: these are not there, and those that take their places come
        one after the other."""
        self._instead = dict.fromkeys(names)
        try:
            yield self._instead.__setitem__
        finally:
            self._instead = {}

    def _current(self) -> Sharing:
        there: dict[str, ViewDefinition | None] = {**self._engine.running, **self._instead}
        views = {n: view for n, view in there.items() if view is not None and not view.apart}
        tables = frozenset(s.name for s in self._engine.sources.values() if s.is_table)
        if tables != self._tables:
            self._sharing, self._tables, self._known = Sharing(tables), tables, {}
        for name in [name for name, view in self._known.items() if views.get(name) is not view]:
            self._sharing.remove(name)
            del self._known[name]
        for name, view in views.items():
            if name not in self._known:
                latest = self._latest
                normal = latest[1] if latest is not None and latest[0] is view.meaning else None
                self._sharing.add(Running(name, view.meaning, view.plan, normal=normal))
                self._known[name] = view
        return self._sharing


def names_in(catalog: Catalog) -> Names:
    """What the objects of a catalog are called in queries; views are known as such."""
    identities = Identities()
    relations: dict[str, str] = {}
    points: dict[Points, str] = {}
    for name, entry in catalog.entries.items():
        match entry:
            case Relation(kind, plan) if kind != "view":
                relations.setdefault(identities.of(plan), name)
            case SyncPoints(parts):
                points.setdefault(parts, name)
    return Names(relations, points, identities, catalog.integer_time)


def explained_sharing(shared: Shared, names: Names, enabled: bool) -> str:
    """Which views a query is answered from, and the query that is left, or why there is none."""
    others = "\n".join(f"  {view}: {why}" for view, why in shared.reasons.items())
    if not shared.views:
        if not enabled:
            return "Not shared: the session was opened with sharing=False."
        told = "Answered from no view that runs."
        return f"{told}\n{others}" if others else told
    told = f"Answered from {listed(shared.views)}:"
    try:
        text = rendered(shared.over_views, names)
    except NotSqlError:
        text = outline(shared.over_views)
    told = f"{told}\n{indent(text, '  ')}"
    return f"{told}\nNot from these:\n{others}" if others else told
