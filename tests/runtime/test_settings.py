"""Expressions mean what Spark says under the session's settings, and keep that meaning for ever."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock.algebra.settings import ANSI, CASE, ZONE
from penstock.errors import PenstockError
from penstock.execution.task import Report, StepSpec
from penstock.runtime.engine import Engine
from penstock.runtime.jobs import Jobs, SparkJobs
from penstock.runtime.options import Options
from penstock.session.session import Session
from penstock.testing.driver_jobs import DriverJobs
from penstock.testing.engine_runs import LocalJobs
from penstock.testing.local_session import local_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

COLUMNS = (
    "id INT, d TIMESTAMP, n TIMESTAMP_NTZ, day DATE, i INT, b BIGINT, x DOUBLE, q DECIMAL(10, 2), "
    "t STRING, tick BIGINT"
)
SCHEMA = pa.schema(
    [
        ("id", pa.int32()),
        ("d", pa.timestamp("us", "UTC")),
        ("n", pa.timestamp("us")),
        ("day", pa.date32()),
        ("i", pa.int32()),
        ("b", pa.int64()),
        ("x", pa.float64()),
        ("q", pa.decimal128(10, 2)),
        ("t", pa.string()),
        ("tick", pa.int64()),
    ]
)
CHANGES_OF_CLOCKS = [
    "2024-03-10T06:59:59",  # New York
    "2024-03-10T07:30:00",
    "2024-11-03T05:30:00",
    "2024-11-03T06:30:00",
    "2024-04-06T14:45:00",  # Lord Howe, by half an hour
    "2024-04-06T15:15:00",
    "2024-10-05T15:45:00",
    "1970-01-01T00:00:00",
    "2024-07-01T18:29:59",  # Kolkata, the last second of a day
    None,
]
WHOLE = [0, 1, -7, 2147483647, None]
LONG = [0, 5, 2**63 - 1, None, -3]
DOUBLE = [0.0, 1.5, -2.25, None, 1e300]
DECIMAL = [Decimal("1.50"), Decimal("99999999.99"), None, Decimal("0.00"), Decimal("-3.25")]
TEXT = ["12", "x", "2024-03-10 02:30:00", "2024-11-03", None]

COMBINATIONS = [
    {ZONE: "UTC", ANSI: "false", CASE: "true"},
    {ZONE: "America/New_York", ANSI: "true", CASE: "false"},
    {ZONE: "Asia/Kolkata", ANSI: "false", CASE: "false"},
    {ZONE: "Australia/Lord_Howe", ANSI: "true", CASE: "true"},
]
SOUND = """
hour(d) | minute(d) | CAST(d AS DATE) | CAST(d AS STRING) | CAST(day AS TIMESTAMP) | to_date(d)
CAST(n AS TIMESTAMP) | CAST(d AS TIMESTAMP_NTZ) | d + INTERVAL 1 DAY | d - INTERVAL 24 HOURS
d + INTERVAL 90 MINUTES | d + INTERVAL 1 MONTH | n + INTERVAL 1 DAY | d = n | d >= day | n > day
d < TIMESTAMP'2024-03-10 03:00:00Z' | CAST(d AS TIMESTAMP) | n < TIMESTAMP'2024-03-10 03:00:00Z'
d < TIMESTAMP'2024-03-10 03:00:00' | d < '2024-03-10 03:00:00' | day = CAST(d AS DATE)
date_format(d, 'yyyy-MM-dd HH:mm') | date_format(n, 'HH:mm') | date_trunc('DAY', d)
unix_micros(d) | unix_date(day) | coalesce(d, TIMESTAMP'2024-01-01 00:00:00')
day < '2024-05-01' | concat(d, '') | d IN ('2024-03-10')
datediff(d, TIMESTAMP'2024-01-01 00:00:00') | extract(DAY FROM d)
from_utc_timestamp(d, 'Asia/Tokyo') | make_timestamp(2024, 3, 10, 2, 30, 0)
timestampadd(DAY, 1, d) | last_day(d) | current_timezone()
d BETWEEN TIMESTAMP'2024-03-10 00:00:00' AND TIMESTAMP'2024-11-03 01:00:00'
TIMESTAMP_NTZ'2024-03-10 02:30:00' < d | to_json(named_struct('d', d))
if(hour(d) > 3, i, NULL) | -i | b - 1 | b % 3 | x + x | q + q | q * q | q - 1 | q * 100000
i + b | i + q | abs(i) | coalesce(i, b) | nullif(i, 0) | i < '5'
CASE WHEN i = 0 THEN NULL ELSE 10 / i END | '1' + 1 | named_struct('a', hour(d), 'B', i).B
1 / 3 | q = i
"""
ERRORS_IN_ANSI = """
to_timestamp(t) | CAST(t AS TIMESTAMP) | CAST(t AS DATE) | i + i | i + 1 | i * 2 | i / i | i % i
b + b | b * 2 | x / x | x % x | q / q | CAST(b AS INT) | CAST(x AS INT) | CAST(t AS INT)
CAST(q AS DECIMAL(4, 2)) | i = t | element_at(array(1, 2), length(t)) | array(1, 2)[i] | i div i
CAST(x AS DECIMAL(5, 2)) | hour(d) + i
"""


def listed(text: str) -> list[str]:
    return [each.strip() for each in text.strip().replace("\n", "|").split("|")]


def rows() -> pa.Table:
    found: list[tuple[Any, ...]] = []
    for k, text in enumerate(CHANGES_OF_CLOCKS):
        time = None if text is None else datetime.fromisoformat(text)
        instant, day = time and time.replace(tzinfo=UTC), time and time.date()
        numbers = (each[k % 5] for each in (WHOLE, LONG, DOUBLE, DECIMAL, TEXT))
        found.append((k, instant, time, day, *numbers, k))
    return pa.Table.from_pylist([dict(zip(SCHEMA.names, r, strict=True)) for r in found], SCHEMA)


def composites(schema: pa.Schema, count: int = 24) -> list[str]:
    """Random expressions made of those that are sound, each pair of one type."""
    rng = Random(1)
    by_type: dict[pa.DataType, list[str]] = {}
    for text, kind in zip(listed(SOUND), schema.types, strict=False):
        by_type.setdefault(kind, []).append(f"({text})")
    found = []
    for _ in range(count):
        group = by_type[rng.choice(list(by_type))]
        a, b, test = rng.choice(group), rng.choice(group), rng.choice(by_type[pa.bool_()])
        ways = (
            f"CASE WHEN {test} THEN {a} ELSE {b} END",
            f"coalesce({a}, {b})",
            f"({a} = {b})",
            f"({a} <=> {b} AND NOT {test})",
            f"nullif({a}, {b})",
            f"greatest({a}, {b})",
        )
        found.append(rng.choice(ways))
    return found


@contextmanager
def session(spark: SparkSession, jobs: Jobs, directory: str | None = None) -> Iterator[Session]:
    with TemporaryDirectory(prefix="settings-") as fresh:
        engine = Engine(Path(directory or fresh), jobs, Options(tasks=1, unbounded="allow"))
        with Session(engine, spark) as db:
            yield db


def with_settings(spark: SparkSession, settings: Mapping[str, str]) -> SparkSession:
    found = spark.newSession()
    for name, value in settings.items():
        found.conf.set(name, value)
    return found


def values(db: Session, view: str, width: int) -> list[pa.ChunkedArray]:
    found = db.view(view).snapshot().toArrow().sort_by("id")
    return [found.column(f"c{k}") for k in range(width)]


def arrived(db: Session) -> None:
    db.source("s").append(rows())
    db.source("s").advance(100)
    db.step()


@pytest.mark.spark
@pytest.mark.parametrize("settings", COMBINATIONS, ids=lambda s: "-".join(s.values()))
def test_differential_expressions(settings: Mapping[str, str], spark: SparkSession) -> None:
    mine = with_settings(spark, settings)
    expressions = listed(SOUND) + (listed(ERRORS_IN_ANSI) if settings[ANSI] == "false" else [])
    outputs = ", ".join(f"{each} AS c{k}" for k, each in enumerate(expressions))
    mine.createDataFrame(rows(), COLUMNS).createOrReplaceTempView("s")
    expected = mine.sql(f"SELECT {outputs} FROM s").toArrow()
    with session(mine, DriverJobs(spark)) as db:
        db.sql(f"CREATE SOURCE s ({COLUMNS}) EVENT TIME tick")
        db.sql(f"CREATE VIEW v AS SELECT id, {outputs} FROM s")
        arrived(db)
        found = values(db, "v", len(expressions))
    for text, wanted, value in zip(expressions, expected.columns, found, strict=True):
        assert (value.type, str(value.to_pylist())) == (wanted.type, str(wanted.to_pylist())), text
    composed = ["if(hour(d) < 9, current_timezone(), '')", *composites(expected.schema)]
    outputs = ", ".join(f"{each} AS c{k}" for k, each in enumerate(composed))
    expected = mine.sql(f"SELECT {outputs} FROM s").toArrow()
    with session(mine, DriverJobs(spark)) as db:
        db.sql(f"CREATE SOURCE s ({COLUMNS}) EVENT TIME tick")
        db.sql(f"CREATE VIEW v AS SELECT id, {outputs} FROM s")
        arrived(db)
        found = values(db, "v", len(composed))
    for text, wanted, value in zip(composed, expected.columns, found, strict=True):
        assert (value.type, str(value.to_pylist())) == (wanted.type, str(wanted.to_pylist())), text
    assert {name: mine.conf.get(name) for name in settings} == settings


def test_a_cluster_grows_and_shrinks_while_a_session_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    step = LocalJobs.step

    def watched(jobs: LocalJobs, spec: StepSpec) -> list[Report]:
        seen.append(spec.tasks)
        return step(jobs, spec)

    monkeypatch.setattr(LocalJobs, "step", watched)
    with local_session(tmp_path) as db:
        db.sql("CREATE SOURCE s (k INT, t INT) EVENT TIME t")
        db.sql("CREATE VIEW v AS SELECT k, count(*) AS n FROM s GROUP BY k")
        for time, tasks in enumerate((3, 1, 5)):
            monkeypatch.setattr(LocalJobs, "parallelism", tasks)
            db.source("s").append([(k, time) for k in range(20)])
            db.source("s").advance(time + 1)
            db.step()
        found = db.view("v").snapshot().toArrow().to_pylist()
    assert seen == [3, 1, 5]
    assert sorted((row["k"], row["n"]) for row in found) == [(k, 3) for k in range(20)]


MIXED = {
    "a": ({ZONE: "America/New_York"}, "SELECT id, d, i, hour(d) AS h FROM s"),
    "b": ({ZONE: "Asia/Kolkata", ANSI: "false"}, "SELECT *, hour(d) AS k, i + i AS w FROM a"),
    "c": ({}, "SELECT id, h, k, w, hour(d) AS u, h * 100 + k AS hk FROM b WHERE minute(d) >= 0"),
    "e": ({ANSI: "false"}, "SELECT h / k AS quotient, max(w) AS c0, 1 AS id FROM c GROUP BY h / k"),
}


@pytest.mark.spark
@pytest.mark.parametrize("on_spark", [True, False])
def test_views_keep_the_settings_they_were_written_under(
    on_spark: bool, spark: SparkSession, tmp_path: Path
) -> None:
    """Views over each other, each under its own settings, in a session that has others again."""

    def jobs(of: SparkSession) -> Jobs:
        return SparkJobs(of) if on_spark else DriverJobs(spark)

    plain, before = rows(), "s"
    for name, (settings, text) in MIXED.items():
        mine = with_settings(spark, settings)
        source = mine.createDataFrame(plain, COLUMNS if name == "a" else None)
        source.createOrReplaceTempView(before)
        with session(mine, jobs(mine), str(tmp_path)) as db:
            if name == "a":
                db.sql(f"CREATE SOURCE s ({COLUMNS}) EVENT TIME tick")
            db.sql(f"CREATE VIEW {name} AS {text}")
        plain, before = mine.sql(text).toArrow(), name
    last = with_settings(spark, {ZONE: "Australia/Lord_Howe", ANSI: "false"})
    with session(last, jobs(last), str(tmp_path)) as db:
        arrived(db)
        found = db.view("e").snapshot().toArrow()
    assert sorted(map(str, found.to_pylist())) == sorted(map(str, plain.to_pylist()))


@pytest.mark.spark
def test_settings_that_are_refused(spark: SparkSession) -> None:
    mine = with_settings(spark, {})
    with session(mine, SparkJobs(mine)) as db:
        db.sql(f"CREATE SOURCE s ({COLUMNS}) EVENT TIME tick")
        db.spark.conf.set("spark.sql.groupByOrdinal", "false")
        with pytest.raises(PenstockError, match=r"groupByOrdinal is false.*only follow true"):
            db.sql("CREATE VIEW v AS SELECT i, count(*) FROM s GROUP BY 1")
        db.spark.conf.unset("spark.sql.groupByOrdinal")
        policy = "spark.sql.mapKeyDedupPolicy"
        db.spark.conf.set(policy, "LAST_WIN")
        db.sql("CREATE VIEW m AS SELECT id, map_concat(map(i, 1), map(i, 2))[i] AS c0 FROM s")
        db.spark.conf.unset(policy)
        with pytest.raises(PenstockError, match=r"mapKeyDedupPolicy=LAST_WIN"):
            db.sql("CREATE VIEW e AS SELECT id, map(i, 1)[i] AS c0 FROM s")
        db.sql("CREATE VIEW w AS SELECT id, i AS c0 FROM s WHERE i >= 0")
        db.source("s").append(rows().filter(pc.is_valid(rows()["i"])))
        db.source("s").advance(100)
        db.step()
        assert set(values(db, "m", 1)[0].to_pylist()) == {2}


@pytest.mark.spark
def test_files_are_read_in_the_zone_of_their_source(spark: SparkSession, tmp_path: Path) -> None:
    files, state = tmp_path / "files", str(tmp_path / "state")
    files.mkdir()
    (files / "a.csv").write_text("1,2024-03-10 03:30:00\n2,2024-03-10 01:30:00\n")
    mine = with_settings(spark, {ZONE: "America/New_York"})
    with session(mine, SparkJobs(mine), state) as db:
        db.sql(
            "CREATE SOURCE s (id INT, t TIMESTAMP) USING csv "
            f"OPTIONS (path '{files}') EVENT TIME t DELAY INTERVAL 1 DAY"
        )
        db.sql("CREATE VIEW v AS SELECT id, hour(t) AS c0, t AS c1 FROM s")
    other = with_settings(spark, {ZONE: "Asia/Kolkata", ANSI: "false"})
    with session(other, SparkJobs(other), state) as db:
        db.step()
        db.source("s").advance(datetime(2024, 3, 12, tzinfo=UTC))
        db.step()
        hours, times = values(db, "v", 2)
    assert hours.to_pylist() == [3, 1]
    expected = [datetime(2024, 3, 10, hour, 30, tzinfo=UTC) for hour in (7, 6)]
    assert [time.astimezone(UTC) for time in times.to_pylist()] == expected
