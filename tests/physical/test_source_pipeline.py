"""What Spark computes of rows that come in, it computes of those alone that conditions leave."""

from __future__ import annotations

import pyarrow as pa

from penstock.algebra.expr import CLOSED, Call, Column, Literal, compare
from penstock.algebra.plan import Filter, Map, Scan
from penstock.physical.lower import Graph
from penstock.physical.source_pipeline import STAMP, source_pipelines

SOURCE = Scan("s", pa.schema([("k", pa.int64()), ("text", pa.string())]))
K, TEXT = Column("k", pa.int64()), Column("text", pa.string())
MATCHES = Call("rlike", (TEXT, Literal("[0-9]", pa.string())), pa.bool_())
NUMBER = Call("cast", (TEXT,), pa.int64())
POSITIVE = compare(">", K, Literal(0, pa.int64()))
NOTHING = Literal(None, pa.int64())


def computed(*conditions: Call, of: Call = NUMBER) -> list[object]:
    plan: Scan | Filter = SOURCE
    for condition in conditions:
        plan = Filter(plan, condition)
    (pipeline,) = source_pipelines(Graph().lower(Map(plan, (("n", of), ("k", K)))))
    return list(pipeline.computed.values())


def test_a_result_is_computed_where_the_conditions_are_true() -> None:
    both = Call("and", (POSITIVE, MATCHES), pa.bool_())
    guarded = Call("if", (both, NUMBER, NOTHING), pa.int64())
    matches = Call("if", (POSITIVE, MATCHES, Literal(None, pa.bool_())), pa.bool_())
    assert computed(POSITIVE, MATCHES) == [matches, guarded]
    assert computed() == [NUMBER]
    assert computed(POSITIVE, of=compare("=", K, K)) == []


def test_what_spark_cannot_tell_guards_nothing() -> None:
    stamped = compare(">", Column(STAMP, pa.int64()), Literal(0, pa.int64()))
    closed = compare(">", Call(CLOSED, (K,), pa.int64()), Literal(0, pa.int64()))
    source = Scan("s", pa.schema([*SOURCE.schema, (STAMP, pa.int64())]))
    plan = Map(Filter(Filter(source, stamped), closed), (("n", NUMBER),))
    (pipeline,) = source_pipelines(Graph().lower(plan))
    assert list(pipeline.computed.values()) == [NUMBER]
