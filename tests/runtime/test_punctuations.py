"""Punctuations on the engine: where they come from, what they let go, and who breaks them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import penstock
from penstock.algebra.expr import Call, Column, columns
from penstock.algebra.monotone import monotone, values
from penstock.execution.expressions import to_sql
from penstock.session import Session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

AUCTION = """
CREATE SOURCE items (item INT, name STRING, t INT, p STRING) EVENT TIME t;
CREATE SOURCE bids (item INT, increase INT, t INT, p STRING) EVENT TIME t;
CREATE STREAM item_stream OVER items KEY NULL PUNCTUATED BY COLUMN p;
CREATE STREAM bid_stream OVER bids KEY NULL PUNCTUATED BY COLUMN p;
CREATE VIEW totals AS
  SELECT i.item, i.name, sum(b.increase) AS total
  FROM item_stream i JOIN bid_stream b ON i.item = b.item
  GROUP BY i.item, i.name EMIT FINAL;
"""


@pytest.fixture
def db(spark: SparkSession, tmp_path: Path) -> Iterator[Session]:
    with penstock.connect(tmp_path / "state", spark, unbounded="allow") as session:
        yield session


def changes(db: Session, view: str) -> list[tuple[Any, ...]]:
    return sorted(tuple(row) for row in db.view(view).changes().collect())


def state(db: Session) -> int:
    """The rows that operators keep; what views hold is theirs."""
    progress = db.last_progress
    assert progress is not None
    kept = {k: v for k, v in progress["state"].items() if not k.startswith(("view ", "base "))}
    return sum(state_table["rows"] for state_table in kept.values())


def advance(db: Session, to: int) -> None:
    for source in db.engine.sources.values():
        if not source.is_table:
            db.source(source.name).advance(to)
    db.step()


def test_a_result_comes_when_all_its_streams_have_closed_it(db: Session) -> None:
    db.sql(AUCTION)
    items, bids = db.source("items"), db.source("bids")
    items.append([(1, "a", 0, None), (2, "b", 1, None), (None, None, 1, "<1,*,*>")])
    bids.append([(1, 10, 1, None), (2, 5, 2, None), (1, 7, 3, None), (None, None, 4, "<1,*,*>")])
    advance(db, 6)
    assert changes(db, "totals") == [("+", 1, "a", 17, 5)]
    db.sql("PUNCTUATE item_stream WHERE item = 2")
    advance(db, 8)
    assert changes(db, "totals") == [("+", 1, "a", 17, 5)]
    db.punctuate("bids", item=[2, 3])
    advance(db, 12)
    assert changes(db, "totals")[1:] == [("+", 2, "b", 5, 8)]
    advance(db, 13)
    assert state(db) == 0, "what is closed is gone after the next compaction"


def test_batches_do_not_show(spark: SparkSession, tmp_path: Path) -> None:
    rng = Random(1)
    items: list[tuple[Any, ...]] = [(i, f"name {i}", i, None) for i in range(30)]
    items = [row for i, row in enumerate(items) for row in (row, (None, None, i, f"<{i},*,*>"))]
    bids: list[tuple[Any, ...]] = []
    for t in range(60):
        live = range(max(0, t - 20), min(30, t + 1))
        bids += [(rng.choice(live), rng.randint(1, 9), t, None)] if live else []
        if t >= 20 and t - 20 < 30:
            bids.append((None, None, t, f"<{t - 20},*,*>"))
    found: list[list[tuple[Any, ...]]] = []
    for cuts in ([60], [7, 30, 31, 60], [*sorted(rng.sample(range(1, 60), 9)), 60]):
        path = tmp_path / str(len(found))
        with penstock.connect(path, spark, unbounded="allow") as db:
            db.sql(AUCTION)
        before = -1
        for cut in cuts:
            with penstock.connect(path, spark, unbounded="allow") as db:  # each time anew
                for name, rows in (("items", items), ("bids", bids)):
                    db.source(name).append([row for row in rows if before < row[2] <= cut])
                advance(db, cut)
                before = cut
        with penstock.connect(path, spark, unbounded="allow") as db:
            for name in ("items", "bids"):
                db.source(name).end()
            db.step()
            found.append(changes(db, "totals"))
    assert len(found[0]) > 20
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("policy", ["KEEP", "DROP", "FAIL"])
def test_a_row_that_was_ruled_out(db: Session, policy: str) -> None:
    db.sql(f"CREATE SOURCE s (k STRING, v INT, t INT) EVENT TIME t LATE {policy}")
    db.sql("CREATE VIEW counts AS SELECT k, count(*) AS n FROM s GROUP BY k")
    source = db.source("s")
    source.append([("a", 1, 1), ("b", 1, 2)])
    db.punctuate("s", k="a")
    rows = [("a", 2, 2), ("a", 2, 5), ("c", 1, 6)]
    if policy == "FAIL":
        with pytest.raises(penstock.UngrammaticalRowError, match="1 rows were ruled out"):
            source.append(rows)
        source.append([rows[0], rows[2]])
    else:
        assert source.append(rows) == {"accepted": 2, "late": 0, "ungrammatical": 1}
    source.end()
    db.step()
    late = [tuple(row) for row in source.late().collect()]
    assert late == ([("a", 2, 5)] if policy == "KEEP" else [])
    answer = sorted(tuple(row) for row in db.view("counts").snapshot().collect())
    assert answer == [("a", 2), ("b", 1), ("c", 1)]


def test_a_text_that_is_no_punctuation_is_set_aside(db: Session) -> None:
    db.sql(AUCTION)
    counts = db.source("bids").append([(1, 5, 1, None), (None, None, 2, "<1,*")])
    assert counts == {"accepted": 1, "late": 0, "ungrammatical": 1}


def test_access_order(db: Session) -> None:
    """A larger hour ends the smaller ones."""
    db.sql("""
        CREATE SOURCE reports (sid INT, hour INT, temp INT, t INT) EVENT TIME t;
        CREATE STREAM readings OVER reports KEY NULL PUNCTUATED BY ORDER (hour);
        CREATE VIEW hottest AS SELECT hour, max(temp) AS temp FROM readings GROUP BY hour EMIT FINAL
    """)
    db.source("reports").append([(1, 0, 70, 1), (2, 0, 75, 2), (1, 1, 60, 3), (2, 3, 61, 9)])
    advance(db, 8)
    assert changes(db, "hottest") == [("+", 0, 75, 4)]
    advance(db, 20)
    assert changes(db, "hottest") == [("+", 0, 75, 4), ("+", 1, 60, 10)]
    assert db.source("reports").append([(1, 2, 99, 21)])["ungrammatical"] == 1


@pytest.mark.parametrize(("every", "count"), [("", 20), ("EVERY 10", 4), ("EVERY 8 ROWS", 2)])
def test_punctuations_at_most_every_so_often(db: Session, every: str, count: int) -> None:
    db.sql(f"""
        CREATE SOURCE reports (n INT, t INT) EVENT TIME t;
        CREATE STREAM readings OVER reports KEY NULL PUNCTUATED BY ORDER (n) {every}
    """)
    for part in range(4):
        db.source("reports").append([(i, 2 * i) for i in range(part * 5, part * 5 + 5)])
    assert len(db.engine.manifest.punctuations.get("reports", ())) == count


def test_domain_knowledge(db: Session) -> None:
    db.sql("""
        CREATE SOURCE reports (sid INT, temp INT, t INT) EVENT TIME t;
        CREATE STREAM readings OVER reports KEY NULL PUNCTUATED BY DOMAIN (temp BETWEEN 20 AND 95)
    """)
    counts = db.source("reports").append([(1, 20, 1), (1, 95, 2), (1, 96, 3), (1, None, 4)])
    assert counts == {"accepted": 2, "late": 0, "ungrammatical": 2}


def test_an_auxiliary_table(db: Session) -> None:
    """An hour ends when every sensor has reported it as done."""
    db.create_table("sensors", [{"sid": 1}, {"sid": 2}, {"sid": 3}], "sid INT")
    db.sql("""
        CREATE SOURCE reports (sid INT, hour INT, temp INT, t INT, p STRING) EVENT TIME t;
        CREATE STREAM readings OVER reports KEY NULL
          PUNCTUATED BY COLUMN p, BY ALL sid IN sensors PER (hour);
        CREATE VIEW hottest AS SELECT hour, max(temp) AS temp FROM readings GROUP BY hour EMIT FINAL
    """)
    reports = db.source("reports")
    reports.append([(1, 8, 70, 1, None), (2, 8, 80, 2, None), (3, 8, 60, 3, None)])
    reports.append([(None, None, None, 4, "<1,8,*,*>"), (None, None, None, 5, "<{2,3},8,*,*>")])
    advance(db, 20)
    assert changes(db, "hottest") == [("+", 8, 80, 6)]
    assert reports.append([(4, 9, 50, 21, None)])["ungrammatical"] == 1


def test_rows_and_punctuations_of_a_dataframe(db: Session) -> None:
    """Tasks see parts of a batch: what a punctuation in one rules out goes from all of them."""
    db.sql(AUCTION)
    schema = "item INT, increase INT, t INT, p STRING"
    rows: list[tuple[Any, ...]] = [(i % 5, 1, i, None) for i in range(40)]
    rows += [(None, None, 19, "<{0,1},*,*>"), (None, None, 50, "<[2,3],*,*>"), (4, 1, 60, None)]
    frame = db.spark.createDataFrame(rows, schema).repartition(4)
    offers = [(i, f"item {i}", 0, None) for i in range(5)]
    db.source("items").append([*offers, (None, None, 1, "<*,*,*>")])
    counts = db.source("bids").append(frame)
    assert counts == {"accepted": 33, "late": 0, "ungrammatical": 8}
    advance(db, 55)
    found = [(item, total, ts) for _, item, _, total, ts in changes(db, "totals")]
    assert found == [(0, 4, 20), (1, 4, 20), (2, 8, 51), (3, 8, 51)]


def test_time_is_a_punctuation_too(db: Session) -> None:
    db.sql("""
        CREATE SOURCE s (k STRING, t INT) EVENT TIME t;
        CREATE VIEW counts AS SELECT k, count(*) AS n FROM s GROUP BY k
    """)
    db.source("s").append([("a", 1)])
    db.sql("PUNCTUATE s WHERE t < 5")
    assert db.step()["frontier"] == 5  # type: ignore[index]


def test_what_nobody_closed_is_final_in_the_end(db: Session) -> None:
    db.sql("""
        CREATE SOURCE s (k STRING, t INT) EVENT TIME t;
        CREATE VIEW counts AS SELECT k, count(*) AS n FROM s GROUP BY k EMIT FINAL
    """)
    db.source("s").append([("a", 1), ("b", 2), ("a", 3)])
    advance(db, 10)
    assert changes(db, "counts") == []
    db.source("s").end()
    db.step()
    assert changes(db, "counts") == [("+", "a", 2, 10), ("+", "b", 1, 10)]


def test_unmatched_rows_of_an_outer_join_come_at_the_right_moment(db: Session) -> None:
    db.sql("""
        CREATE SOURCE orders (id INT, t INT) EVENT TIME t;
        CREATE SOURCE shipments (id INT, t INT) EVENT TIME t;
        CREATE VIEW unshipped AS
          SELECT o.id, s.id AS shipped FROM orders o LEFT JOIN shipments s ON o.id = s.id EMIT FINAL
    """)
    db.source("orders").append([(1, 1), (2, 2), (3, 3)])
    db.source("shipments").append([(1, 4)])
    advance(db, 6)
    assert changes(db, "unshipped") == [("+", 1, 1, 4)]
    db.punctuate("shipments", id=penstock.between(2, 2))
    advance(db, 9)
    assert changes(db, "unshipped") == [("+", 1, 1, 4), ("+", 2, None, 6)]


def test_a_view_that_comes_later_knows_what_was_said(db: Session) -> None:
    db.sql("CREATE SOURCE s (k STRING, t INT) EVENT TIME t")
    db.sql("CREATE VIEW first AS SELECT k, count(*) AS n FROM s GROUP BY k EMIT FINAL")
    db.source("s").append([("a", 1), ("b", 2), ("a", 3)])
    db.punctuate("s", k="a")
    advance(db, 10)
    db.sql("CREATE VIEW second AS SELECT k, count(*) AS n FROM s GROUP BY k EMIT FINAL")
    assert changes(db, "second") == changes(db, "first") == [("+", "a", 2, 4)]
    db.punctuate("s", k="b")
    advance(db, 20)
    assert changes(db, "second") == changes(db, "first")
    assert len(changes(db, "second")) == 2


def test_groups_by_functions_of_columns_close_too(db: Session) -> None:
    db.sql("""
        CREATE SOURCE reports (sid INT, hour INT, at TIMESTAMP, t INT) EVENT TIME t;
        CREATE STREAM readings OVER reports KEY NULL PUNCTUATED BY ORDER (hour), BY ORDER (at);
        CREATE VIEW by_half AS SELECT hour DIV 12 AS half, count(*) AS n FROM readings
          GROUP BY hour DIV 12 EMIT FINAL;
        CREATE VIEW by_day AS SELECT date_trunc('DAY', at) AS day, count(*) AS n FROM readings
          GROUP BY date_trunc('DAY', at) EMIT FINAL
    """)
    noon = datetime(2024, 2, 29, 12, tzinfo=UTC)
    rows = [(1, hour, noon + timedelta(hours=hour), hour) for hour in (3, 9, 11, 12, 13, 25)]
    db.source("reports").append(rows)
    advance(db, 30)
    assert changes(db, "by_half") == [("+", 0, 3, 13), ("+", 1, 2, 26)]
    days = [(day.day, n) for _, day, n, _ in changes(db, "by_day")]
    assert days == [(29, 3)]


@pytest.mark.parametrize("name", ["DAY", "WEEK", "MONTH", "QUARTER", "YEAR", "HOUR", "SECOND"])
def test_truncated_times_are_those_of_spark(spark: SparkSession, name: str) -> None:
    found = Column("at", pa.timestamp("us", "UTC"))
    _same_as_spark(spark, Call(f"DATE_TRUNC('{name}', {{0}})", (found,), found.type), MOMENTS)


@pytest.mark.parametrize("text", ["CAST({0} AS DATE)", "TO_DATE({0})", "YEAR({0})"])
def test_days_and_years_are_those_of_spark(spark: SparkSession, text: str) -> None:
    kind = pa.int32() if "YEAR" in text else pa.date32()
    found = Column("at", pa.timestamp("us", "UTC"))
    _same_as_spark(spark, Call(text, (found,), kind), MOMENTS)


@pytest.mark.parametrize("text", ["{0} DIV 7", "FLOOR({0} / 7)", "CEIL({0} / 7)"])
def test_quotients_are_those_of_spark(spark: SparkSession, text: str) -> None:
    numbers = pa.array([None, 0, 6, 7, -1, -7, -8, 2**53 + 1, 2**62, -(2**63)], pa.int64())
    _same_as_spark(spark, Call(text, (Column("n", pa.int64()),), pa.int64()), numbers)


MOMENTS = pa.array(
    [
        None,
        datetime(1969, 12, 31, 23, 59, 59, 999_999, UTC),
        datetime(1900, 3, 4, 5, 6, 7, 8, UTC),
        datetime(2024, 2, 29, 12, 0, 0, 1, UTC),
        datetime(2024, 12, 30, tzinfo=UTC),
        datetime(2025, 1, 1, tzinfo=UTC),
    ],
    pa.timestamp("us", "UTC"),
)


def _same_as_spark(spark: SparkSession, function: Call, given: pa.Array) -> None:
    name = next(iter(columns(function)))
    frame = spark.createDataFrame(pa.table({name: given, "place": range(len(given))}))
    asked = frame.orderBy("place").selectExpr(f"{to_sql(function)} AS made").toArrow()
    expected = asked.column("made").combine_chunks().cast(function.type)
    assert monotone(function) is not None
    assert values(function, given).to_pylist() == expected.to_pylist()
