"""The API: sources, views, rows in every form, SQL, and problems."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pc
import pytest

from penstock.client import ServiceError
from tests.server.served import VIEWS, Served, served

ARROW = "application/vnd.apache.arrow.stream"
LINES = "application/x-ndjson"


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "state") as found:
        yield found


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (LINES, b'{"room": "a", "temp": 60, "t": 1}\n{"room": "b", "temp": 70, "t": 2}\n'),
        ("application/json", b'[{"room":"a","temp":60,"t":1},{"room":"b","temp":70,"t":2}]'),
        ("text/csv; charset=utf-8", b"room,temp,t\na,60,1\nb,70,2\n"),
    ],
)
def test_rows_come_in_every_form(api: Served, kind: str, data: bytes) -> None:
    with api.http() as http:
        answer = http.post(
            "/v1/sources/readings/rows", content=data, headers={"Content-Type": kind}
        ).json()
    assert (answer["accepted"], answer["rejected"], answer["late"]) == (2, 0, 0)
    api.db.source("readings").end()
    api.until(3)
    assert sorted(row["room"] for row in api.client().view("hot").snapshot().rows) == ["a", "b"]


def test_rows_come_as_arrow_and_only_once(api: Served) -> None:
    rows = pa.table({"room": ["a", "b"], "temp": [60, 70], "t": [1, 2]})
    source = api.client().source("readings")
    assert source.append(rows, batch="loader/1").accepted == 2
    again = source.append(rows, batch="loader/1")
    assert again.duplicate
    assert again.accepted == 0
    assert source.info().accepted == 2


def test_what_is_no_row_is_rejected_by_itself(api: Served) -> None:
    data = b'{"room": "a", "temp": "x", "t": 1}\nnothing\n{"room": "b", "temp": 70, "t": 2}\n'
    with api.http() as http:
        headers = {"Content-Type": LINES}
        answer = http.post(
            "/v1/sources/readings/rows?batch=p/7", content=data, headers=headers
        ).json()
        assert (answer["accepted"], answer["rejected"]) == (1, 2)
        assert len(answer["reasons"]) == 2
        kept = http.get("/v1/sources/readings/rejected").json()["rows"]
    assert [(row["file"], row["position"]) for row in kept] == [
        ("p/7", "line 1"),
        ("p/7", "line 2"),
    ]
    assert kept[1]["record"] == "nothing"


def test_late_rows_are_told(api: Served) -> None:
    api.append(("a", 60, 10))
    api.until(10)
    source = api.client().source("readings")
    assert source.append([{"room": "b", "temp": 1, "t": 3}]).late == 1
    assert [row["room"] for row in source.late()] == ["b"]


def test_snapshots_of_every_time_and_in_every_form(api: Served) -> None:
    api.append(("a", 60, 1), ("b", 70, 2), ("a", 10, 3), ("c", 5, 9))
    api.until(9)
    view = api.client().view("hot")
    assert [row["room"] for row in view.snapshot().rows] == ["b"]
    assert sorted(row["room"] for row in view.snapshot(at=2).rows) == ["a", "b"]
    assert view.snapshot().frontier == 9
    expected = api.db.view("hot").snapshot().toArrow()
    assert view.snapshot_arrow().equals(expected)
    with api.http() as http:
        path = "/v1/views/hot/snapshot"
        csv = http.get(path, headers={"Accept": "text/csv"})
        assert pc.read_csv(io.BytesIO(csv.content)).to_pylist() == expected.to_pylist()
        assert csv.headers["penstock-frontier"] == "9"
        lines = http.get(path, headers={"Accept": LINES}).text.splitlines()
        assert list(map(json.loads, lines)) == expected.to_pylist()
        assert http.get(path, headers={"Accept": "image/png"}).status_code == 406


def test_history_and_changes_page_by_page(api: Served) -> None:
    api.append(*((f"room {i % 3}", 40 + 5 * i, i) for i in range(12)))
    api.until(11)
    for name in VIEWS:
        view = api.client().view(name)
        expected = api.db.view(name).changes().toArrow().to_pylist()
        expected.sort(key=lambda row: row["ts"])
        found: list[Any] = []
        since, complete = None, False
        while not complete:
            page = view.changes(since, limit=2)
            found += page.rows
            since, complete = page.position, page.complete
        key = lambda row: (row["ts"], repr(row))  # noqa: E731
        assert sorted(found, key=key) == sorted(expected, key=key)
        assert [row["ts"] for row in found] == sorted(row["ts"] for row in found)
        history = api.db.view(name).history().toArrow().num_rows
        assert len(view.history()) == history


def test_views_and_sources_are_told(api: Served) -> None:
    client = api.client()
    assert [view.name for view in client.views()] == list(VIEWS)
    assert client.view("HOT").info().key == ["room"]
    (source,) = client.sources()
    assert (source.name, source.kind, source.event_time) == ("readings", "source", "t")
    status = client.status()
    assert status.running
    assert status.failures == {}


def test_plans_and_verdicts(api: Served) -> None:
    with api.http() as http:
        assert "logical plan" in http.get("/v1/views/hot/plan").json()["text"]
        verdict = http.get("/v1/views/lately/memory").json()
        assert verdict["bounded"] is verdict["text"].startswith("BOUNDED")


def test_time_is_moved_and_streams_end(api: Served) -> None:
    source = api.client().source("readings")
    source.append([{"room": "a", "temp": 60, "t": 1}])
    source.advance(20)
    api.until(20)
    assert api.client().status().frontier == 20
    source.punctuate("room = 'b'")
    source.idle()
    source.end()
    assert source.info().ended


def test_punctuations_are_no_way_to_carry_out_statements(api: Served) -> None:
    source = api.client().source("readings")
    with pytest.raises(ServiceError) as caught:
        source.punctuate("room = 'b'; DROP VIEW hot")
    assert caught.value.status == 400
    assert "hot" in [view.name for view in api.client().views()]


def test_sql_answers_with_rows_or_a_sentence(api: Served) -> None:
    api.append(("a", 60, 1), ("b", 70, 2))
    api.until(2)
    client = api.client()
    assert client.sql("SELECT room FROM hot").rows == [{"room": "a"}]
    assert "hot" in str(client.sql("SHOW VIEWS").rows)
    assert client.sql("CREATE VIEW more AS SELECT room FROM hot").message == "View more is created."
    assert "logical plan" in client.sql("EXPLAIN SELECT room FROM hot").message


def test_an_error_is_a_problem_that_underlines_the_sql(api: Served) -> None:
    with api.http() as http:
        answer = http.post("/v1/sql", json={"sql": "SELECT room,\n  tmp FROM hot"})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["sqlstate"], problem["line"], problem["column"]) == ("42703", 2, 3)
    assert problem["fragment"] == "tmp"
    assert problem["sql"] == "  tmp FROM hot\n  ^^^"


@pytest.mark.parametrize(
    ("path", "status", "condition"),
    [
        ("/v1/views/hott", 404, "UNRESOLVED_NAME"),
        ("/v1/sources/nowhere/late", 404, "UNRESOLVED_NAME"),
        ("/v1/views/hot/snapshot?at=soon", 400, "INVALID_PLAN"),
        ("/v1/views/hot/snapshot?at=99", 400, "INVALID_PLAN"),
        ("/v1/views/hot/snapshot?limit=-1", 422, "INVALID_REQUEST"),
        ("/v1/views/hot/changes?since=x", 400, "INVALID_PLAN"),
        ("/v1/views/hot/changes?since=1:5:abc", 410, "VIEW_REPLACED"),
        ("/v1/views/hot/subscribe?after=nothing", 400, "INVALID_PLAN"),
        ("/nowhere", 404, "NOT_FOUND"),
    ],
)
def test_what_is_wrong_is_told(api: Served, path: str, status: int, condition: str) -> None:
    with api.http() as http:
        answer = http.get(path)
    assert (answer.status_code, answer.json()["condition"]) == (status, condition)


def test_a_service_whose_pipeline_is_not_applied_yet_is_up_and_not_ready(tmp_path: Path) -> None:
    with served(tmp_path / "state") as found, found.http() as http:
        assert http.get("/readyz").status_code == 200
        found.service._session = None
        assert http.get("/healthz").json() == {"status": "up"}
        assert http.get("/readyz").status_code == 503
        assert http.get("/v1/views").json()["condition"] == "NOT_READY"
        assert http.get("/metrics").status_code == 200
