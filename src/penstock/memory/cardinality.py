"""How many records of a plan are there at one time, at most: what operators are told."""

from __future__ import annotations

import pyarrow as pa

from penstock.algebra import sizes
from penstock.algebra.cardinality import ONE, Bound, least, total
from penstock.algebra.plan import Join, Node, Scan, Union
from penstock.memory.values import ColumnAnalysis, Declared
from penstock.reasoning.printing import duration


class PlanCardinalities:
    """For each plan, how many records it has at one time, at most; each is found once."""

    def __init__(self, columns: ColumnAnalysis) -> None:
        self.columns = columns
        self._found: dict[int, tuple[Node, Bound | None]] = {}

    def of(self, plan: Node) -> Bound | None:
        """None where records stay for ever, and more of them come."""
        if id(plan) not in self._found:
            self._found[id(plan)] = plan, plan.cardinality(self)
        return self._found[id(plan)][1]

    # --- what bounds ----------------------------------------------------------------------------

    def values(self, plan: Node, names: tuple[str, ...]) -> Bound | None:
        """How many different values columns have."""
        size = self.columns.of(plan).product(names)
        if size is None:
            return None
        tables = any(f.text.startswith("rows") for p in size.products for f in p)
        return Bound(size, ("table",) if tables else ("domain",))

    def partitions(self, plan: Node, names: tuple[str, ...]) -> Bound | None:
        """How many parts the records of a plan have, by the values of columns."""
        if not names:
            return ONE
        return least([self.values(plan, names), self.of(plan)])

    def keys(self, plan: Node, key: tuple[str, ...]) -> Bound:
        """As many as there are keys, where nothing says how many that is."""
        labels = self.columns.of(plan).labels
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
            most = self.columns.declared.most_rows(plan.name, max(length, 1))
        return Bound(sizes.of(text.replace("within", "in"), most), (by,))


def has_few_values(plan: Node, known: PlanCardinalities) -> bool:
    """Whether the records of a stream differ in finitely many values: a count of each is enough."""
    names = tuple(plan.schema.names)
    return known.of(plan) is None and known.values(plan, names) is not None


def undeclared_cardinalities() -> PlanCardinalities:
    """Of plans, for all that they say themselves."""
    return PlanCardinalities(ColumnAnalysis(Declared()))


def streams(plan: Node) -> tuple[str, ...]:
    """The streams that a plan reads, each once."""
    names = [node.name for node in plan.walk() if isinstance(node, Scan) and node.is_stream]
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
    return "at one time" if length <= 1 else f"within {duration(length, integer_time)}"
