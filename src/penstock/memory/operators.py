"""What each operator of a plan must remember, and whether that is bounded.

A record is kept while it can still matter. It is bounded how many are, if
- they end: a window, a row window, the key of a stream, a time that passes, a table;
- they are few: values of a finite domain need a count each, however many rows have them.
What the engine keeps beyond that is said in `engine_keeps`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from penstock.algebra import plan as p
from penstock.algebra import sizes
from penstock.algebra.aggregates import CHOICES, LISTS, PERCENTILES, TIMED, AggregateCall
from penstock.algebra.calendar import Midnights
from penstock.algebra.cardinality import NONE, ONE, Bound, least, total
from penstock.algebra.closing import span
from penstock.algebra.expr import Expr, columns
from penstock.memory import cardinality
from penstock.memory.cardinality import PlanCardinalities, streams, streams_text
from penstock.memory.report import OperatorVerdict
from penstock.memory.values import ColumnValues
from penstock.reasoning.printing import aggregate, duration, expression, listed
from penstock.reasoning.products import named


class Operators:
    """Judges one operator at a time, by what its inputs can hold."""

    def __init__(self, bounds: PlanCardinalities) -> None:
        self.bounds = bounds
        self.columns = bounds.columns

    def verdict(self, node: p.Node) -> OperatorVerdict | None:
        """None for operators that keep nothing."""
        return _CASES[type(node)](self, node)

    def _nothing(self, node: p.Node) -> None:
        """Records are passed on one by one."""

    # --- joins ----------------------------------------------------------------------------------

    def _join(self, node: p.Join) -> OperatorVerdict:
        sides = [(node.left, node.right, node.keep_left), (node.right, node.left, node.keep_right)]
        found = [self._side(*side) for side in sides]
        label = self._join_label(node)
        keeps = [text for _, _, text in found if text]
        open_sides = [
            own for (own, _, _), (bound, _, _) in zip(sides, found, strict=True) if bound is None
        ]
        if open_sides:
            return self._open_join(node, label, open_sides)
        bounds = [bound for bound, _, _ in found if bound is not None]
        reasons = list(dict.fromkeys(reason for _, reason, _ in found if reason))
        return OperatorVerdict(label, total(bounds), " ".join(reasons), _one(keeps))

    def _side(self, own: p.Node, other: p.Node, keep: Expr | None) -> tuple[Bound | None, str, str]:
        """How much of one side waits for the other, why that is all, and what is kept instead."""
        live = self.bounds.of(own)
        name = streams_text(own)
        if live is not None:
            return live, _ends(live, name), ""
        length = None if keep is None else span(own, keep)
        if length is not None:
            within = cardinality.within(length, cardinality.integer_time(own))
            reason = f"A row of {name} meets only rows that come {within}, then it is let go."
            if length <= 1:
                reason = f"A row of {name} meets none that comes after it, and need not wait."
            return self.bounds.arriving(own, length, "time"), reason, ""
        if not streams(other):
            reason = f"{_tables(other)} never changes, so a row of {name} meets its rows at once."
            return NONE, reason, ""
        values = self.bounds.values(own, tuple(own.schema.names))
        if values is not None:
            reason = f"Rows of {name} differ in finitely many values; a count of each is enough."
            if cardinality.has_few_values(own, cardinality.undeclared_cardinalities()):
                return values, reason, ""
            return values, reason, f"Every row of {name} that passes the conditions."
        return None, "", ""

    def _open_join(self, node: p.Join, label: str, open_sides: list[p.Node]) -> OperatorVerdict:
        parts, targets = [], []
        for own in open_sides:
            other = node.right if own is node.left else node.left
            keep = node.keep_left if own is node.left else node.keep_right
            known = self.columns.of(own)
            if keep is not None:
                targets += [known.labels[column] for column in sorted(columns(keep))]
                parts.append(
                    f"A row of {streams_text(own)} must wait for others until "
                    f"{expression(keep)}, and nothing says how far ahead that is."
                )
                continue
            unbounded = known.open(tuple(own.schema.names))
            targets += unbounded
            parts.append(
                f"Every row of {streams_text(own)} must be kept: one of {streams_text(other)} that "
                f"meets it can come at any time later, and nothing bounds "
                f"{_some(unbounded) or 'their number'}."
            )
        proven = node.where is None  # what else a condition says might bound it
        return OperatorVerdict(label, None, " ".join(parts), None, _each(targets), proven)

    def _join_label(self, node: p.Join) -> str:
        left, right = _sources(node.left), _sources(node.right)
        word = {"inner": "join", "semi": "semi join", "anti": "anti join"}.get(
            node.kind, f"{node.kind} outer join"
        )
        on = [_equality(each) for each in node.on]
        on += [expression(node.where)] if node.where is not None else []
        return f"{word} of {left} and {right}" + (f" on {' and '.join(on)}" if on else "")

    # --- groups ---------------------------------------------------------------------------------

    def _aggregate(self, node: p.Aggregate) -> OperatorVerdict:
        known = self.columns.of(node.input)
        calls = ", ".join(_called(call, known.labels) for call in node.calls) or "groups"
        label = calls + _per(node.keys, known.labels)
        live = self.bounds.of(node.input)
        if live is not None:
            answer = self.bounds.of(node) or live
            reason = _ends(live, streams_text(node.input))
            return OperatorVerdict(label, live.plus(answer), reason)
        length = None if node.until is None else span(node.input, node.until)
        if length is not None:
            within = cardinality.within(length, cardinality.integer_time(node))
            bound = self.bounds.arriving(node.input, length, "time")
            reason = f"The rows of a group come {within}, then it is closed and let go."
            return OperatorVerdict(label, bound, reason)
        session = _session_below(node)
        groups = self._groups(node, session)
        holistic = [call for call in node.calls if needs_all_values(call, live=False)]
        if not p.append_only(node.input):
            holistic = [call for call in node.calls if needs_all_values(call, live=True)]
        growing = [call for call in holistic if not self._few_values(call, node.input, known)]
        if groups is None:
            unbounded = known.open(node.keys)
            reason = f"Each value of {listed(unbounded)} is a group of its own, and nothing bounds "
            reason += "it." if len(unbounded) == 1 else "them."
            return OperatorVerdict(label, None, reason, targets=tuple(unbounded))
        if growing:
            call = growing[0]
            of = tuple(known.labels[arg] for arg in call.args[:1])
            reason = f"{_called(call, known.labels)} needs all values of {listed(of)}, "
            reason += "and a session can go on for ever." if session else "and nothing bounds them."
            return OperatorVerdict(label, None, reason, targets=of)
        chosen = (c for c in node.calls if c.function in (*CHOICES, *TIMED) and c not in holistic)
        best = {(call.columns, call.function in ("max", "last")) for call in chosen}
        per_group = [ONE] * (1 + len(best))
        per_group += [self._values(call, node.input) for call in holistic]
        keeps = "Every session that ever was: they are not let go yet." if session else None
        why = self._why_few(groups, node, session)
        return OperatorVerdict(label, groups.times(total(per_group)), why, keeps)

    def _groups(self, node: p.Aggregate, session: p.Session | None) -> Bound | None:
        if not node.keys:
            return ONE
        found = self.bounds.values(node.input, node.keys)
        if found is None and session is not None:
            return self.bounds.arriving(session.input, session.gap + 1, "time")
        return found

    def _why_few(self, groups: Bound, node: p.Aggregate, session: p.Session | None) -> str:
        if not node.keys:
            return "There is one group, and what is kept of it does not grow."
        if session is not None and "time" in groups.by:
            return "Only the sessions that are still open can change."
        return "There are finitely many groups, and what is kept of each does not grow."

    def _few_values(self, call: AggregateCall, node: p.Node, known: ColumnValues) -> bool:
        return call.function != "collect_list" and self.bounds.values(node, call.args) is not None

    def _values(self, call: AggregateCall, node: p.Node) -> Bound:
        found = self.bounds.values(node, call.args)
        assert found is not None
        return found

    def _distinct(self, node: p.Distinct) -> OperatorVerdict:
        names = tuple(node.schema.names)
        known = self.columns.of(node.input)
        label = f"distinct {', '.join(known.labels[name] for name in names)}"
        bound, reason = self._remembered(node.input, names, node.until)
        return OperatorVerdict(label, bound, reason, targets=_open(bound, known.open(names)))

    def _remembered(
        self, node: p.Node, names: tuple[str, ...], until: Expr | None
    ) -> tuple[Bound | None, str]:
        """How many different records must be known at a time."""
        known = self.columns.of(node)
        length = None if until is None else span(node, until)
        by_time = None if length is None else self.bounds.arriving(node, length, "time")
        bound = least([self.bounds.of(node), self.bounds.values(node, names), by_time])
        if bound is None:
            unbounded = known.open(names)
            it = "it" if len(unbounded) == 1 else "them"
            return None, (
                f"Each different value of {listed(unbounded)} must be remembered, and nothing "
                f"bounds {it}."
            )
        if bound is by_time and length is not None:
            again = cardinality.within(length, cardinality.integer_time(node))
            return bound, f"The same row can come again {again} only, and is forgotten then."
        if "domain" in bound.by:
            return bound, "There are finitely many different rows."
        return bound, _ends(bound, streams_text(node))

    def _set_operation(self, node: p.SetOperation) -> OperatorVerdict:
        words = {"difference": "except all", "intersection": "intersect all"}
        label = f"{words.get(node.kind, node.kind)} of {_sources(node.left)} and " + _sources(
            node.right
        )
        closing = set(node.progress) & set(node.ahead)
        bounds: list[Bound] = []
        reasons: list[str] = []
        targets: list[str] = []
        for side in node.inputs:
            names = tuple(side.schema.names)
            bound, reason = self._remembered(side, names, None)
            if bound is None and closing:
                bound = self._closed(node, side, min(closing))
            if bound is None:
                targets += self.columns.of(side).open(names)
                reasons.append(reason)
            else:
                bounds.append(bound)
        if reasons:
            return OperatorVerdict(label, None, " ".join(reasons), targets=_each(targets))
        keeps = None
        if any("time" in bound.by for bound in bounds):
            keeps = "Every different row: those whose time is over are not let go yet."
        reason = "Both sides hold finitely many different rows at a time."
        return OperatorVerdict(label, total(bounds), reason, keeps)

    def _closed(self, node: p.SetOperation, side: p.Node, column: str) -> Bound:
        place = node.schema.names.index(column)
        own = side.schema.names[place]
        length = side.ahead[own] - node.progress[column] + 1
        return self.bounds.arriving(side, max(length, 1), "time")

    # --- the first and the latest ---------------------------------------------------------------

    def _rank(self, node: p.Rank) -> OperatorVerdict:
        known = self.columns.of(node.input)
        order = ", ".join(known.labels[key.column] for key in node.order)
        count = "all rows" if node.limit is None else f"the first {node.limit:,}"
        label = f"{count}{f' by {order}' if order else ''}" + _per(node.partition, known.labels)
        first = node.kind == "row_number" and node.limit is not None
        live = self.bounds.of(node.input)
        length = None if node.until is None else span(node.input, node.until)
        by_time = None if length is None else self.bounds.arriving(node.input, length, "time")
        if first and p.append_only(node.input):
            bound = least([self.bounds.of(node), by_time])
            if bound is not None:
                reason = (
                    "Rows beyond the first are not needed again, as none of these is taken back."
                )
                return OperatorVerdict(label, bound, reason)
            unbounded = known.open(node.partition)
            reason = f"Each value of {listed(unbounded)} has first rows, and nothing bounds it."
            return OperatorVerdict(label, None, reason, targets=tuple(unbounded))
        bound = least([live, by_time])
        if bound is not None:
            return OperatorVerdict(label, bound, _ends(bound, streams_text(node.input)))
        if first:
            reason = "All rows must be kept, as any of them can come to be among the first."
        elif node.limit is None:
            reason = "Every row has a number that later rows can change, so all must be kept."
        else:
            reason = f"{node.kind.upper()} lets through all rows that tie, and nothing bounds them."
        targets = tuple(known.open(tuple(node.input.schema.names)))
        return OperatorVerdict(label, None, reason, targets=targets)

    def _upsert(self, node: p.Upsert) -> OperatorVerdict:
        labels = self.columns.of(node.input).labels
        label = f"latest row per {', '.join(labels[k] for k in node.key)}"
        bound = self.bounds.of(node)
        return OperatorVerdict(label, bound, "A row replaces the one before it of its key.")

    def _row_window(self, node: p.RowWindow) -> OperatorVerdict:
        known = self.columns.of(node.input)
        label = f"window of {node.rows:,} rows of {streams_text(node)}"
        label += _per(node.partition, known.labels)
        bound = self.bounds.of(node)
        if bound is not None:
            return OperatorVerdict(label, bound, "Only the latest rows are there.")
        unbounded = known.open(node.partition)
        reason = f"Each value of {listed(unbounded)} has a window, and nothing bounds it."
        return OperatorVerdict(label, None, reason, targets=tuple(unbounded))

    # --- time -----------------------------------------------------------------------------------

    def _window(self, node: p.Window) -> OperatorVerdict:
        size = duration(node.size, cardinality.integer_time(node))
        kind = "" if node.kind == "sliding" else "fixed "
        label = f"{kind}window of {size} on {streams_text(node)}"
        bound = Bound(sizes.NOTHING, ("window",))
        return OperatorVerdict(label, bound, f"Rows end by themselves, {size} after they came.")

    def _session(self, node: p.Session) -> OperatorVerdict:
        labels = self.columns.of(node.input).labels
        gap = duration(node.gap + 1, cardinality.integer_time(node))
        label = f"sessions of {streams_text(node)}{_per(node.partition, labels)}"
        open_ones = self.bounds.arriving(node.input, node.gap + 1, "time")
        bound = least([self.bounds.values(node.input, node.partition), open_ones])
        return OperatorVerdict(label, bound, f"A session is over {gap} after its last row.")

    def _sync(self, node: p.Sync) -> OperatorVerdict:
        label = f"synchronization of {streams_text(node.input)}"
        live = self.bounds.of(node.input)
        known = (p.Periodic, Midnights)
        periods = [points.longest for points in node.points if isinstance(points, known)]
        if live is not None:
            reason = "What changes between two points is at most what is there at both."
            return OperatorVerdict(label, live.plus(live), reason)
        if periods:
            period = duration(min(periods), cardinality.integer_time(node))
            bound = self.bounds.arriving(node.input, min(periods), "time")
            return OperatorVerdict(label, bound, f"Changes wait for {period} at most.")
        reason = "Changes wait for the next point, and nothing says when it comes."
        return OperatorVerdict(label, None, reason)

    def _restrict(self, node: p.Restrict) -> OperatorVerdict | None:
        label = f"rows of {streams_text(node)} at their own times"
        bounds: list[Bound] = []
        live = self.bounds.of(node.input)
        for end in (node.start, node.end):
            length = None if end is None else span(node.input, end)
            if end is None:
                continue
            by_time = None if length is None else self.bounds.arriving(node.input, length, "time")
            bound = least([by_time, live])
            if bound is None:
                reason = f"Rows wait for {expression(end)}, and nothing says how far ahead that is."
                labels = self.columns.of(node.input).labels
                targets = tuple(labels[column] for column in sorted(columns(end)))
                return OperatorVerdict(label, None, reason, targets=targets)
            bounds.append(bound)
        return OperatorVerdict(label, total(bounds), "Rows begin and end at times they carry.")

    def _changes(self, node: p.Changes) -> OperatorVerdict | None:
        if p.append_only(node.input):
            return None
        label = f"changes of {streams_text(node)}"
        live = self.bounds.of(node.input)
        if live is not None:
            return OperatorVerdict(label, live, "Only ends that are still to come are kept.")
        return OperatorVerdict(label, NONE, "Changes are passed on as they happen.")

    def _split(self, node: p.Split) -> OperatorVerdict:
        bound = self.bounds.of(node.input) or NONE
        return OperatorVerdict("split", bound, "The pieces that are still to begin.")


_CASES: Mapping[type[p.Node], Callable[[Operators, Any], OperatorVerdict | None]]
_CASES = p.for_each_operator(
    (Operators._nothing, (p.Scan, p.Filter, p.Map, p.Union, p.Group, p.Coalesce)),
    (Operators._join, (p.Join,)),
    (Operators._aggregate, (p.Aggregate,)),
    (Operators._distinct, (p.Distinct,)),
    (Operators._set_operation, (p.SetOperation,)),
    (Operators._rank, (p.Rank,)),
    (Operators._upsert, (p.Upsert,)),
    (Operators._row_window, (p.RowWindow,)),
    (Operators._window, (p.Window,)),
    (Operators._session, (p.Session,)),
    (Operators._sync, (p.Sync,)),
    (Operators._restrict, (p.Restrict,)),
    (Operators._changes, (p.Changes,)),
    (Operators._split, (p.Split,)),
)


def needs_all_values(call: AggregateCall, live: bool) -> bool:
    """Whether a function needs the values themselves; `live` if some of them can go again."""
    if call.distinct or call.function in (*PERCENTILES, *LISTS):
        return bool(call.args) and not (call.function in CHOICES and not live)
    return live and call.function in (*CHOICES, *TIMED)


def _session_below(node: p.Aggregate) -> p.Session | None:
    """The sessions that a plan groups by."""
    below: p.Node = node.input
    while isinstance(below, p.Map | p.Filter):
        below = below.input
    return below if isinstance(below, p.Session) else None


def _ends(bound: Bound, name: str) -> str:
    words = {
        "window": f"Rows of {name} end with their window.",
        "row window": f"Only the latest rows of {name} are there.",
        "key": f"There is one row of {name} for each key.",
        "table": "The rows of a table are there for all time, and no more come.",
        "time": f"Rows of {name} end when their time is over.",
        "limit": f"Only the first rows of {name} are there.",
        "domain": f"There are finitely many different rows of {name}.",
    }
    return " ".join(words[by] for by in bound.by) or "There is one row at a time."


def _tables(node: p.Node) -> str:
    names = [scan.name for scan in node.walk() if isinstance(scan, p.Scan)]
    return " and ".join(dict.fromkeys(names)) or "a constant"


def _sources(node: p.Node) -> str:
    return streams_text(node) if streams(node) else _tables(node)


def _open(bound: Bound | None, unbounded: list[str]) -> tuple[str, ...]:
    return tuple(unbounded) if bound is None else ()


def _each(names: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def _one(texts: list[str]) -> str | None:
    return " ".join(dict.fromkeys(texts)) or None


def _some(names: list[str]) -> str:
    """`a, b, c and 5 other columns`."""
    if len(names) <= 4:
        return listed(names)
    return f"{', '.join(names[:3])} and {len(names) - 3} other columns"


def _per(names: tuple[str, ...], labels: Mapping[str, str]) -> str:
    """The columns that something is there for each value of; of a window, its start will do."""
    shown = [labels[name] for name in names if labels[name] != "window.end"]
    return f" per {', '.join(shown)}" if shown else ""


def _called(call: AggregateCall, labels: Mapping[str, str]) -> str:
    return aggregate(call.function, [labels[arg] for arg in call.args], call.distinct)


def _equality(on: p.Equality) -> str:
    return f"{named(on.left)} {'<=>' if on.null_safe else '='} {named(on.right)}"
