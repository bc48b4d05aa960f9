"""Values are taken as they are or not at all; a record that cannot be taken costs only itself."""

from collections.abc import Iterator
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from penstock.errors import PlanError, RejectedRowError
from penstock.ingest.fitting import convertible, fit, fit_values
from penstock.session import Session
from penstock.testing.local_session import local_session

DAY, NOON = datetime(2026, 1, 1), datetime(2026, 1, 1, 12, tzinfo=UTC)
INSTANT = pa.timestamp("us", tz="UTC")
TWO = Decimal("2.00")

# a type, values that fit it with what they become, and values that do not
VALUES: list[tuple[pa.DataType, list[tuple[Any, Any]], list[Any]]] = [
    (
        pa.int32(),
        [(1, 1), (2.0, 2), (TWO, 2), (np.int64(3), 3), (-(2**31), -(2**31))],
        [1.5, Decimal("1.5"), True, "1", 2**31, 10**5000, float("nan"), float("inf"), [1], DAY],
    ),
    (pa.int64(), [(2**63 - 1, 2**63 - 1)], [2**63, 2.0**63, 1e300]),
    (pa.bool_(), [(True, True), (np.bool_(False), False)], [0.5, 1, 0, "true"]),
    (pa.string(), [("a", "a")], [1, 1.5, True, b"a", DAY, ["a"], "\ud800"]),
    (pa.float64(), [(1, 1.0), (0.1, 0.1), (10**17, 1e17), (Decimal("0.1"), 0.1)], [2**53 + 1, "1"]),
    (pa.float32(), [(0.5, 0.5), (float("inf"), float("inf"))], [1e300, True]),
    (pa.decimal128(5, 2), [(1, 1), (0.1, Decimal("0.10"))], [1.005, Decimal("0.001"), 10**5]),
    (
        pa.date32(),
        [(DAY, DAY.date()), (DAY.date(), DAY.date()), (np.datetime64("2026-01-01"), DAY.date())],
        [NOON, "2026-01-01", 5, np.datetime64("2026-01-01T01")],
    ),
    (
        INSTANT,
        [
            (NOON, NOON),
            (DAY, DAY.replace(tzinfo=UTC)),
            (np.datetime64("2026-01-01T00:00:00"), DAY.replace(tzinfo=UTC)),
            (np.datetime64("2026-01-01T00:00:00.000000000"), DAY.replace(tzinfo=UTC)),
            (np.datetime64("NaT"), None),
        ],
        [
            *("2026-01-01", 5, 1.5, np.timedelta64(1, "s"), np.datetime64("20000-01-01")),
            np.datetime64("2026-01-01T00:00:00.000000001"),
        ],
    ),
    (pa.list_(pa.int32()), [([1, 2.0], [1, 2]), ((), [])], [[1.5], [True], 1, "ab"]),
    (
        pa.struct([("a", pa.int32())]),
        [({"a": 1}, {"a": 1}), ({}, {"a": None})],
        [{"a": 1.5}, {"b": 1}, 5],
    ),
    (pa.map_(pa.string(), pa.int32()), [({"a": 1}, [("a", 1)])], [{"a": 0.5}, {1: 1}]),
]


def kind_of(case: Any) -> str:
    return str(case)[:20] if isinstance(case, pa.DataType) else ""


@pytest.mark.parametrize(("kind", "good", "bad"), VALUES, ids=kind_of)
def test_values_fit_or_do_not(kind: pa.DataType, good: list[Any], bad: list[Any]) -> None:
    given = [None, *(value for value, _ in good), *bad]
    column, misfits = fit_values(given, kind)
    assert misfits.tolist() == [False] * (1 + len(good)) + [True] * len(bad)
    assert column.to_pylist() == [None, *(held for _, held in good), *[None] * len(bad)]
    for value in bad:
        assert fit_values([value], kind)[1].all(), value


@pytest.mark.parametrize(
    ("given", "kind", "held"),
    [
        (
            pa.array([1.5, 2.0, None, float("nan"), 2.0**31]),
            pa.int32(),
            [None, 2, None, None, None],
        ),
        (pa.array([2.0**63, -(2.0**63)]), pa.int64(), [None, -(2**63)]),
        (pa.array([300, -1, 127]), pa.int8(), [None, -1, 127]),
        (pa.array([2**53 + 1, 10**17]), pa.float64(), [None, 1e17]),
        (pa.array([2**63 - 1]), pa.float64(), [None]),
        (pa.array([1e300, 0.1, float("nan")]), pa.float32(), [None, np.float32(0.1), "nan"]),
        (pa.array([1.5, 0.005]), pa.decimal128(4, 2), [Decimal("1.50"), None]),
        (pa.array([Decimal("1.50"), TWO]), pa.int32(), [None, 2]),
        (pa.array([NOON, DAY.replace(tzinfo=UTC)], INSTANT), pa.date32(), [None, DAY.date()]),
        (pa.array([DAY.date()]), INSTANT, [DAY.replace(tzinfo=UTC)]),
        (pa.array([1001, 2000], pa.timestamp("ns")), pa.timestamp("us"), "second"),
        (pa.array(["a", None]).dictionary_encode(), pa.string(), ["a", None]),
        (pa.array([[1.5], [2.0]]), pa.list_(pa.int32()), [None, [2]]),
        (pa.nulls(2), pa.int32(), [None, None]),
    ],
    ids=kind_of,
)
def test_columns_fit_or_do_not(given: pa.Array, kind: pa.DataType, held: Any) -> None:
    assert convertible(given.type, kind)
    column, misfits = fit(given, kind)
    if held == "second":
        assert misfits.tolist() == [True, False]
        return
    shown = ["nan" if value != value else value for value in column.to_pylist()]
    assert shown == held
    assert column.type == kind
    lost = [v is None and g.is_valid for v, g in zip(held, given, strict=True)]
    assert misfits.tolist() == lost


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        *((pa.bool_(), kind) for kind in (pa.int32(), pa.string())),
        *((pa.int32(), kind) for kind in (pa.bool_(), pa.string(), INSTANT, pa.date32())),
        *((pa.string(), kind) for kind in (pa.int32(), pa.binary(), INSTANT)),
        (pa.list_(pa.bool_()), pa.list_(pa.int32())),
        (pa.struct([("a", pa.int32())]), pa.struct([("b", pa.int32())])),
    ],
)
def test_types_that_are_not_alike(given: pa.DataType, kind: pa.DataType) -> None:
    assert not convertible(given, kind)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Session]:
    with local_session(tmp_path / "state") as session:
        session.sql("CREATE SOURCE s (k STRING, v INT, t INT) EVENT TIME t")
        yield session


BAD = {"k": ["a", "b", "c"], "v": [1.0, 1.5, 2.0**40], "t": [1, 2, 3]}


@pytest.mark.parametrize("form", ["tuples", "dicts", "Arrow", "pandas", "objects", "file"])
def test_all_ways_in_reject_alike(form: str, db: Session, tmp_path: Path) -> None:
    tuples = list(zip(*BAD.values(), strict=True))
    pq.write_table(pa.table(BAD), tmp_path / "rows.parquet")
    rows = {
        "tuples": tuples,
        "dicts": [dict(zip(BAD, row, strict=True)) for row in tuples],
        "Arrow": pa.table(BAD),
        "pandas": pd.DataFrame(BAD),
        "objects": pd.DataFrame(BAD, dtype=object),
        "file": tmp_path / "rows.parquet",
    }
    db.sql("CREATE VIEW v AS SELECT * FROM s")
    reasons = ["v is 1.5, which is no INT", "v is 1099511627776.0, which is no INT"]
    counts = {"accepted": 1, "late": 0, "rejected": 2, "reasons": reasons}
    assert db.source("s").append(rows[form]) == counts
    kept = db.sql("SHOW REJECTED FOR s").to_arrow().to_pylist()
    assert sorted(row["record"] for row in kept) == [
        '{"k": "b", "v": 1.5, "t": 2}',
        '{"k": "c", "v": 1099511627776.0, "t": 3}',
    ]
    assert sorted(row["position"] for row in kept) == ["row 2", "row 3"]
    assert {row["file"] for row in kept} == {str(rows["file"]) if form == "file" else None}
    assert db.metrics()["sources"]["s"]["rejected"] == 2
    db.source("s").end()
    db.step()
    assert db.view("v").snapshot().toArrow().to_pylist() == [{"k": "a", "v": 1, "t": 1}]


def test_policies(db: Session) -> None:
    rows: list[tuple[Any, ...]] = [("a", 1, 1), ("b", 1.5, 1)]
    for policy in ("DROP", "FAIL"):
        db.sql(f"CREATE SOURCE {policy}1 (k STRING, v INT, t INT) EVENT TIME t ON ERROR {policy}")
    assert db.source("DROP1").append(rows)["rejected"] == 1
    with pytest.raises(RejectedRowError, match=r"v is 1.5, which is no INT.* ON ERROR KEEP"):
        db.source("FAIL1").append(rows)
    for name, accepted in (("DROP1", 1), ("FAIL1", 0)):
        assert db.source(name).rejected().toArrow().num_rows == 0
        assert db.metrics()["sources"][name]["accepted"] == accepted


def test_what_is_no_operation_is_rejected(db: Session) -> None:
    db.sql("""
        CREATE SOURCE c (op STRING, k STRING, v INT, t INT) EVENT TIME t;
        CREATE STREAM s2 OVER c KEY (k) OP op; CREATE VIEW v AS SELECT k, v FROM s2
    """)
    strange = [None, "?", "DELETED", "iNSERT", ""]
    rows = [("+", "x", 1, 1), *((op, "x", 9, 2) for op in strange), ("-U", "x", 8, 3)]
    found = db.source("c").append(rows)
    assert (found["accepted"], found["rejected"]) == (2, len(strange))
    assert "op is None, which is no operation; expected + u -" in found["reasons"][0]
    for name in ("c", "s"):
        db.source(name).end()
    db.step()
    assert db.view("v").snapshot().toArrow().to_pylist() == [{"k": "x", "v": 1}]


def test_what_cannot_be_written_is_shown_in_short(db: Session) -> None:
    class Strange:
        def __repr__(self) -> str:
            raise RuntimeError

    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    rows = [
        (Strange(), 1, 1),
        (deep, 1, 1),
        ("x" * 10_000_000, "x" * 10_000_000, 1),
        ("\ud800", 1, 1),
    ]
    assert db.source("s").append(rows)["rejected"] == 4
    kept = db.source("s").rejected().toArrow().to_pylist()
    assert max(len(row["record"]) + len(row["reason"]) for row in kept) < 11_000


def test_rows_that_are_not_of_a_table_are_an_error(db: Session) -> None:
    with pytest.raises(PlanError, match=r"a is 1.5, which is no INT"):
        db.create_table("t", [(1,), (1.5,)], pa.schema([("a", pa.int32())]))


def test_other_forms_of_rows(db: Session) -> None:
    """What pandas has and Arrow does not is looked at value by value."""
    source = db.source("s")
    assert source.append(pa.record_batch({"k": ["a"], "v": [1], "t": [1]}))["accepted"] == 1
    values: list[tuple[Any, int]] = [
        (pd.array([1], dtype="Int64"), 0),
        ([1 + 2j], 1),
        ([pd.NA], 0),
        (pd.Series([pd.NaT], dtype=object), 0),
        (pd.Categorical([2]), 0),
        (pd.Series([Decimal("sNaN")], dtype=object), 1),
    ]
    for value, rejected in values:
        found = source.append(pd.DataFrame({"k": ["a"], "v": value, "t": [1]}))
        assert (found["accepted"], found.get("rejected", 0)) == (1 - rejected, rejected), value
    twice = pa.Table.from_arrays([pa.nulls(1)] * 4, names=["k", "v", "v", "t"])
    for rows, why in {
        "series": (pd.Series([1]), "rows are Series; expected a list of dicts"),
        "twice": (twice, "2 columns 'v' in"),
        "none": (pd.DataFrame({"k": ["a"]}), r"no column 'v' in \['k'\]"),
        "period": (
            pd.DataFrame({"k": ["a"], "v": pd.period_range("2020", periods=1), "t": [1]}),
            "which is no INT",
        ),
    }.values():
        with pytest.raises(PlanError, match=why):
            source.append(rows)


def test_rejected_records_survive_and_go_with_their_source(db: Session) -> None:
    db.source("s").append([("a", 1.5, 1)])
    db.step()
    db.engine.collect_garbage()
    assert db.source("s").rejected().toArrow().num_rows == 1
    assert isinstance(db.source("s").rejected().toArrow().to_pylist()[0]["at"], date)
    db.drop("s")
    assert not [
        state_table for state_table in db.engine.manifest.state_tables if "rejected" in state_table
    ]
