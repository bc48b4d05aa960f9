"""How many records of a plan are there at one time, at most."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa

from penstock.algebra.keys import key_of
from penstock.algebra.plan import (
    Aggregate,
    Changes,
    Distinct,
    Join,
    Node,
    Rank,
    Restrict,
    RowWindow,
    Scan,
    SetOperation,
    Union,
    Upsert,
    Window,
)
from penstock.memory import sizes, spans
from penstock.memory.sizes import Size
from penstock.memory.values import Declared, Knowledge, is_stream


@dataclass(frozen=True)
class Bound:
    """So much, and what bounds it: `window`, `row window`, `time`, `key`, `domain`, ..."""

    size: Size
    by: tuple[str, ...]

    def times(self, other: Bound) -> Bound:
        return Bound(self.size.times(other.size), _each(self.by, other.by))

    def plus(self, other: Bound) -> Bound:
        return Bound(self.size.plus(other.size), _each(self.by, other.by))


NONE = Bound(sizes.NOTHING, ())
ONE = Bound(sizes.ONE, ())


def total(bounds: Iterable[Bound]) -> Bound:
    found = NONE
    for bound in bounds:
        found = found.plus(bound)
    return found


def least(bounds: Iterable[Bound | None]) -> Bound | None:
    """The best of those that there are."""
    known = [bound for bound in bounds if bound is not None]
    if not known:
        return None
    chosen = sizes.least([bound.size for bound in known])
    return next(bound for bound in known if bound.size is chosen)


class Extents:
    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        self._found: dict[int, tuple[Node, Bound | None]] = {}

    def of(self, plan: Node) -> Bound | None:
        """None where records stay for ever, and more of them come."""
        if id(plan) not in self._found:
            self._found[id(plan)] = plan, self._of(plan)
        return self._found[id(plan)][1]

    def _of(self, plan: Node) -> Bound | None:
        match plan:
            case Scan(name):
                if is_stream(plan):
                    return None
                return Bound(sizes.of(f"rows of {name}"), ("table",))
            case Window(source):
                return self.arriving(source, plan.longest, "window")
            case RowWindow(_, rows, partition):
                return _times(self.partitions(plan, partition), rows, "row window")
            case Upsert(source, key):
                return least([self.values(source, key), self.keys(source, key)])
            case Restrict(source, _, end):
                ending = None if end is None else spans.span(source, end)
                by_time = None if ending is None else self.arriving(source, ending, "time")
                return least([self.of(source), by_time])
            case Distinct(source):
                names = tuple(source.schema.names)
                return least([self.of(source), self.values(source, names)])
            case Aggregate(source, keys):
                if not keys:
                    return ONE
                return least([self.of(source), self.values(source, keys)])
            case Rank(source, partition, limit=limit, kind="row_number") if limit is not None:
                first = _times(self.partitions(plan, partition), limit, "limit")
                return least([first, self.of(source)])
            case Changes():
                return None
            case Join():
                return self._joined(plan)
            case Union():
                parts = [self.of(part) for part in plan.parts]
                known = [part for part in parts if part is not None]
                return total(known) if len(known) == len(parts) else None
            case SetOperation("max union"):
                left, right = self.of(plan.left), self.of(plan.right)
                return left.plus(right) if left is not None and right is not None else None
            case SetOperation("intersection" | "intersect"):
                return least([self.of(plan.left), self.of(plan.right)])
            case SetOperation():
                return self.of(plan.left)
        return self.of(plan.inputs[0])

    def _joined(self, plan: Join) -> Bound | None:
        left, right = self.of(plan.left), self.of(plan.right)
        if plan.kind in ("semi", "anti"):
            return left
        if plan.kind in ("inner", "left"):
            key = key_of(plan.right)
            if key is not None and set(key) <= {e.right for e in plan.on}:
                return left
        if left is None or right is None:
            return None
        pairs = left.times(right)
        if plan.kind == "inner":
            return pairs
        return total([pairs, *([left] if plan.kind != "right" else [])]).plus(
            right if plan.kind in ("right", "full") else NONE
        )

    # --- what bounds ----------------------------------------------------------------------------

    def values(self, plan: Node, names: tuple[str, ...]) -> Bound | None:
        """How many different values columns have."""
        size = self.knowledge.of(plan).product(names)
        if size is None:
            return None
        tables = any(f.text.startswith("rows") for p in size.products for f in p)
        return Bound(size, ("table",) if tables else ("domain",))

    def partitions(self, plan: Node, names: tuple[str, ...]) -> Bound | None:
        if not names:
            return ONE
        return least([self.values(plan.inputs[0], names), self.of(plan.inputs[0])])

    def keys(self, plan: Node, key: tuple[str, ...]) -> Bound:
        labels = self.knowledge.of(plan).labels
        return Bound(sizes.of(f"keys of {', '.join(labels[k] for k in key)}"), ("key",))

    def arriving(self, plan: Node, length: int, by: str) -> Bound:
        """The records that come within a length of time."""
        match plan:
            case Union(parts):
                return total(self.arriving(part, length, by) for part in parts)
            case Node(inputs=(only,)):
                return self.arriving(only, length, by)
        rows = "pairs" if any(isinstance(node, Join) for node in plan.walk()) else "rows"
        text = f"{rows} of {streams_text(plan)} {within(length, integer_time(plan))}"
        most = None
        if isinstance(plan, Scan):
            most = self.knowledge.declared.most_rows(plan.name, max(length, 1))
        return Bound(sizes.of(text.replace("within", "in"), most), (by,))


def has_few_values(plan: Node, known: Extents) -> bool:
    """Whether the records of a stream differ in finitely many values: a count of each is enough."""
    names = tuple(plan.schema.names)
    return known.of(plan) is None and known.values(plan, names) is not None


def extents() -> Extents:
    """Of plans, for all that they say themselves."""
    return Extents(Knowledge(Declared()))


def streams(plan: Node) -> tuple[str, ...]:
    """The streams that a plan reads, each once."""
    names = [node.name for node in plan.walk() if isinstance(node, Scan) and is_stream(node)]
    return tuple(dict.fromkeys(names))


def streams_text(plan: Node) -> str:
    return " and ".join(streams(plan)) or "tables"


def integer_time(plan: Node) -> bool:
    return any(
        pa.types.is_integer(node.schema.field(node.time).type)
        for node in plan.walk()
        if isinstance(node, Scan) and node.time is not None
    )


def within(length: int, integer_time: bool) -> str:
    """`within 5 MINUTES`, or `at one time`."""
    return "at one time" if length <= 1 else f"within {spans.shown(length, integer_time)}"


def _times(bound: Bound | None, rows: int, by: str) -> Bound | None:
    return None if bound is None else Bound(sizes.of("rows", rows), (by,)).times(bound)


def _each(a: tuple[str, ...], b: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*a, *b)))
