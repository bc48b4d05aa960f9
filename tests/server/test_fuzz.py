"""Requests that are made up from the OpenAPI never meet a mistake of Penstock itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error

from tests.server.served import quick, served

EXAMPLES = 15
_LESS = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_no_request_meets_a_mistake(tmp_path: Path) -> None:
    with served(tmp_path / "state", quick(query_seconds=20)) as api:
        api.append(("a", 60, 1), ("b", 70, 2))
        schema = schemathesis.openapi.from_url(f"{api.url}/openapi.json")
        tried = 0
        for found in schema.get_all_operations():
            operation: Any = found.ok()  # type: ignore[union-attr]
            if operation.path.endswith("/subscribe"):  # an answer without an end
                continue
            phases = (Phase.explicit, Phase.generate)

            @given(operation.as_strategy(), st.sampled_from([None, "hot", "readings"]))
            @settings(max_examples=EXAMPLES, suppress_health_check=_LESS, phases=phases)
            def ask(case: Any, name: str | None) -> None:
                if name is not None and case.path_parameters:
                    case.path_parameters["name"] = name
                case.call_and_validate(base_url=api.url, checks=[not_a_server_error], timeout=60)

            ask()
            tried += 1
        assert tried > 18
        with api.http() as http:
            assert http.get("/healthz").status_code == 200


@pytest.mark.long
@given(st.text(max_size=60), st.sampled_from(["after", "start", "start=now&after"]))
@settings(max_examples=40, suppress_health_check=_LESS)
def test_no_position_meets_a_mistake(shared: Any, text: str, name: str) -> None:
    answer = shared.get(f"/v1/views/hot/changes?{name}", params={"since": text})
    assert answer.status_code < 500


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with served(tmp_path_factory.mktemp("fuzz") / "state", quick()) as api, api.http() as http:
        yield http
