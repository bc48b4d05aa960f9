"""What can be seen from outside: metrics, logs, spans."""

from __future__ import annotations

import json
import logging
import re
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from penstock.server.logs import JsonLines
from penstock.server.metrics import Metrics
from tests.server.served import Served, eventually, quick, served

ROOT = Path(__file__).parents[2]
NAME = re.compile(r"penstock_[a-z_]+")
SUFFIXES = ("_total", "_bucket", "_count", "_sum", "_created")


def families(api: Served) -> dict[str, Any]:
    with api.http() as http:
        text = http.get("/metrics").text
    return {found.name: found for found in text_string_to_metric_families(text)}


def test_what_happens_is_counted(tmp_path: Path) -> None:
    with served(tmp_path / "state", quick()) as api:
        api.db.view("hot").sink(lambda rows, version: None, name="nowhere")
        api.client().view("hot").changes()
        eventually(lambda: families(api)["penstock_http_requests"].samples != [])
        api.append(("a", 60, 1), ("b", 70, 2))
        api.until(2)
        api.client().source("readings").append([{"room": "c", "temp": "x", "t": 9}])
        eventually(lambda: families(api)["penstock_step_seconds"].samples[-2].value > 0)
        found = families(api)

    def value(name: str, **labels: str) -> float:
        (one,) = [
            s.value
            for s in found[name].samples
            if s.labels == labels and not s.name.endswith("_created")
        ]
        return float(one)

    assert value("penstock_ready") == 1
    assert value("penstock_failed") == 0
    assert value("penstock_source_rows_in", source="readings") == 2
    assert value("penstock_source_rejected_rows", source="readings") == 1
    assert value("penstock_sink_delay_seconds", sink="nowhere") >= 0
    assert value("penstock_frontier") == 2
    assert value("penstock_state_bytes", operator="view hot") > 0
    assert any(s.value > 0 for s in found["penstock_operator_rows_in"].samples)
    requests = {s.labels["path"] for s in found["penstock_http_requests"].samples}
    assert "/v1/views/{name}/changes" in requests


def test_the_page_tells_all_metrics_and_no_others(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "service.md").read_text("utf-8")
    told = set(re.findall(r"^\| `(penstock_[a-z_]+)", page, re.MULTILINE))
    with served(tmp_path / "state", quick()) as api:
        there = set(families(api)) | {"penstock_frontier", "penstock_frontier_lag_seconds"}
        there |= {"penstock_source_frontier_lag_seconds"}
    there = {name for name in there if not name.endswith("_created")}
    assert {name.removesuffix("_total") for name in told} == there


@pytest.mark.parametrize("file", ["grafana.json", "alerts.yaml"])
def test_dashboards_and_alerts_speak_of_metrics_that_there_are(file: str) -> None:
    text = (ROOT / "deploy" / file).read_text("utf-8")
    page = (ROOT / "docs" / "service.md").read_text("utf-8")
    if file.endswith(".json"):
        assert json.loads(text)["panels"]
    names = set(NAME.findall(text))
    assert len(names) > 4
    for name in names:
        base = next((name.removesuffix(s) for s in SUFFIXES[1:] if name.endswith(s)), name)
        assert f"| `{name}" in page or f"| `{base}" in page, name


def test_steps_are_counted_once(tmp_path: Path) -> None:
    with served(tmp_path / "state", quick()) as api:
        metrics = Metrics(api.service)
        for t in range(1, 4):
            api.append(("a", 60, t))
            api.until(t)
            metrics.observe(api.db)
            metrics.observe(api.db)
        text = metrics.text().decode()
    (count,) = re.findall(r"^penstock_step_seconds_count (\S+)", text, re.MULTILINE)
    assert float(count) == len(api.db.recent_progress)


def test_a_line_of_the_log_is_an_object() -> None:
    record = logging.makeLogRecord(
        {"name": "penstock", "levelname": "INFO", "msg": "step to %s", "args": (7,), "view": "hot"}
    )
    found = json.loads(JsonLines().format(record))
    assert (found["message"], found["level"], found["view"]) == ("step to 7", "info", "hot")
