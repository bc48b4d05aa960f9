"""Plans as short indented text."""

from __future__ import annotations

from collections.abc import Callable

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.calendar import UTC, Midnights


def outline(node: p.Node, note: Callable[[p.Node], str | None] | None = None) -> str:
    """One line per node, inputs indented below it. What has a note is one thing with all below."""
    said = None if note is None else note(node)
    inner = note if said is None else None
    below = [line for source in node.inputs for line in outline(source, inner).split("\n")]
    own = _line(node) if said is None else f"{_line(node)}  ({said})"
    return "\n".join([own, *(f"  {line}" for line in below)])


def _line(node: p.Node) -> str:
    words: list[object] = [_words(type(node).__name__)]
    match node:
        case p.Scan(name):
            words = [name]
        case p.Filter(_, predicate):
            words += [predicate]
        case p.Map(_, outputs):
            words += [", ".join(n if str(e) == n else f"{n}={e}" for n, e in outputs)]
        case p.Join(kind=kind, on=on, where=where):
            words = [kind, "join"]
            words += [f"on {_equality(equality)}" for equality in on]
            words += [f"where {where}"] if where is not None else []
            words += [f"keep left until {node.keep_left}"] if node.keep_left is not None else []
            words += [f"keep right until {node.keep_right}"] if node.keep_right is not None else []
        case p.Distinct(until=until):
            words += [f"until {until}"] if until is not None else []
        case p.SetOperation(kind):
            words = [kind]
        case p.Group(_, function, index):
            words += [f"{function} = {index}"]
        case p.Aggregate(_, keys, calls, until):
            words += [", ".join([*keys, *(f"{c.name}={c.function}({_call(c)})" for c in calls)])]
            words += [f"until {until}"] if until is not None else []
        case p.Window(_, kind, size, zone):
            words += [kind, size, *([zone] if zone != UTC else [])]
        case p.RowWindow(_, rows, partition, order, arrival):
            words += [rows, *_listed("per", partition), *_listed("by", order)]
            words += ["by arrival"] if arrival else []
        case p.Upsert(_, key, order, deleted, arrival):
            words += [*_listed("per", key), *_listed("by", order)]
            words += ["by arrival"] if arrival else []
            words += [f"deleted {deleted}"] if deleted is not None else []
        case p.Session(_, partition, gap, start):
            words += [gap, *_listed("per", partition), f"as {start}"]
        case p.Rank(_, partition, order, limit, kind, number, until):
            words = [kind, "all" if limit is None else limit, *_listed("per", partition)]
            words += _listed("by", tuple(map(_sort_key, order)))
            words += [f"as {number}"] if number is not None else []
            words += [f"until {until}"] if until is not None else []
        case p.Coalesce(_, size) | p.Split(_, size):
            words += [size]
        case p.Sync(_, points):
            words += ["to", " or ".join(map(_points, points))]
        case p.Changes(_, kind, time):
            words += [kind, *_listed("at", (time,) if time is not None else ())]
        case p.Restrict(_, start, end):
            words += [f"from {start}"] if start is not None else []
            words += [f"until {end}"] if end is not None else []
    return " ".join(str(word) for word in words)


def _words(name: str) -> str:
    return "".join(f" {c.lower()}" if c.isupper() else c for c in name).strip()


def _points(points: p.Periodic | p.TimePoints | Midnights | p.Node) -> str:
    match points:
        case p.Periodic(period, offset):
            return f"every {period} from {offset}"
        case Midnights(days, zone):
            return f"every {days} days of {zone}"
        case p.TimePoints(listed):
            return f"points {', '.join(map(str, listed))}"
    return "stream"


def _equality(equality: p.Equality) -> str:
    return f"{equality.left} {'<=>' if equality.null_safe else '='} {equality.right}"


def _call(call: AggregateCall) -> str:
    words = ["distinct"] if call.distinct else []
    words += [", ".join(call.args)] if call.args else []
    words += [f"where {call.where}"] if call.where is not None else []
    words += [f"at {call.parameter}"] if call.parameter is not None else []
    return " ".join(words)


def _listed(word: str, names: tuple[str, ...]) -> list[object]:
    return [f"{word} {', '.join(names)}"] if names else []


def _sort_key(key: p.SortKey) -> str:
    nulls = "" if key.nulls_first else " nulls last"
    return f"{key.column}{' desc' if key.descending else ''}{nulls}"
