"""The worked examples of the punctuation paper: what comes out of each slice, and what is kept."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from penstock.algebra import plan as p
from penstock.algebra.aggregates import AggregateCall
from penstock.algebra.closing import final_from
from penstock.element import BEGIN, INF, Elements
from penstock.punctuation import Constant, Punctuation, Range, between
from penstock.punctuation.closings import Closings
from penstock.testing.local_pipeline import LocalPipeline

INT = pa.int64()


class Stream:
    """A plan over one stream, fed slice by slice; slice i comes at time i."""

    def __init__(self, plan: p.Node, scan: p.Scan, known: list[Punctuation]) -> None:
        self.scan = scan
        self.pipeline = LocalPipeline(plan)
        self.time = 0
        self.closings = Closings(scan.schema).also((one, BEGIN) for one in known)

    def slice(self, *rows: tuple[Any, ...], marks: tuple[Punctuation, ...] = ()) -> list[Any]:
        """What comes out of a slice of rows and punctuations."""
        self.closings = self.closings.also((one, self.time) for one in marks)
        x = Elements.of(self.scan.schema, [(row, self.time, INF, 1) for row in rows])
        self.time += 1
        said = {self.scan.name: self.closings}
        return sorted(
            e for e, *_ in self.pipeline.step({self.scan.name: x}, self.time, said).rows()
        )

    def state(self, state_table: str) -> list[Any]:
        """What an operator keeps, once what it need not is gone."""
        self.slice()
        (found,) = [a for (_, name), a in self.pipeline.state_tables.items() if name == state_table]
        return sorted(e for e, *_ in found.open(self.pipeline.store).needed().rows())


def test_sdupelim() -> None:
    """The trace of section 4.2: P(0, 4) lets go of 1 and 3."""
    numbers = p.Scan("s", pa.schema([("v", INT)]), append_only=True)
    stream = Stream(p.Distinct(numbers), numbers, [])
    assert stream.slice((1,), (5,)) == [(1,), (5,)]
    assert stream.state("current") == [(1,), (5,)]
    assert stream.slice((3,)) == [(3,)]
    assert stream.state("current") == [(1,), (3,), (5,)]
    mark = Punctuation.of(numbers.schema, v=Range(0, 4, low_closed=False, high_closed=False))
    assert stream.slice(marks=(mark,)) == []
    assert stream.state("current") == [(5,)]
    assert stream.slice((5,), (6,), (7,)) == [(6,), (7,)]
    assert stream.state("current") == [(5,), (6,), (7,)]


def test_sort() -> None:
    """Section 5.2: `[2,4]` lets nothing out until `[0,3]` comes, and then all up to 4."""
    names = ("sid", "hour", "minute", "currtmp")
    schema = pa.schema([pa.field(name, INT, nullable=False) for name in names])
    reports = p.Scan("r", schema, append_only=True)
    plan = p.Restrict(reports, final_from(reports, p.SortKey("hour")))
    stream = Stream(plan, reports, [Punctuation.of(schema, hour=Range(None, -1))])
    rows = [(1, hour, 0, 70 + hour) for hour in (5, 3, 0, 4, 2, 1)]
    assert stream.slice(*rows) == []
    assert stream.slice(marks=(Punctuation.of(schema, hour=between(2, 4)),)) == []
    assert stream.state("schedule") == sorted(rows)
    passed = stream.slice(marks=(Punctuation.of(schema, hour=between(0, 3)),))
    assert passed == sorted(row for row in rows if row[1] <= 4)
    assert stream.state("schedule") == [(1, 5, 0, 75)]


def test_the_group_by_of_the_auction() -> None:
    """Section 5.2: items 1001 and 1004 are complete; seller 9932 says nothing of items."""
    schema = pa.schema([("item", INT), ("seller", INT)])
    bids = p.Scan("b", schema, append_only=True)
    grouped = p.Aggregate(bids, ("item",), (AggregateCall("count", (), "n"),))
    stream = Stream(p.Restrict(grouped, final_from(grouped)), bids, [])
    assert stream.slice((1001, 1), (1002, 9932), (1004, 1), (1001, 2)) == []
    assert stream.slice(marks=(Punctuation.of(schema, seller=Constant(9932)),)) == []
    marks = tuple(Punctuation.of(schema, item=Constant(item)) for item in (1001, 1004))
    assert stream.slice(marks=marks) == [(1001, 2), (1004, 1)]
    assert stream.state("current") == [(1002,)]
