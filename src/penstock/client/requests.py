"""Requests to a service, and its problems as errors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx


class ServiceError(Exception):
    """What a service refuses: a `condition` to test for, a SQLSTATE, and the SQL underlined."""

    def __init__(self, problem: Mapping[str, Any]) -> None:
        self.status: int = problem.get("status", 0)
        self.condition: str = problem.get("condition", "UNKNOWN")
        self.sqlstate: str | None = problem.get("sqlstate")
        self.detail: str = problem.get("detail", "")
        self.is_resumable: bool = problem.get("resumable", self.status in (502, 503, 504))
        place = f"\n{problem['sql']}" if "sql" in problem else ""
        super().__init__(f"[{self.condition}] {self.detail}{place}")


def http_client(url: str, token: str | None, timeout: float, verify: Any) -> httpx.Client:
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    return httpx.Client(base_url=url, headers=headers, timeout=timeout, verify=verify)


def checked(response: httpx.Response) -> httpx.Response:
    """The response, or its problem as an error."""
    if response.is_success:
        return response
    response.read()
    try:
        problem = response.json()
    except json.JSONDecodeError:
        problem = {"detail": response.text[:400]}
    raise ServiceError({"status": response.status_code, **problem})
