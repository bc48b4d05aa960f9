"""Following a view, whatever happens to the connection or to the service.

Law: what is yielded, in order, is the changes of the view from where it began, each once. After a
break the next connection goes on from the last position that was yielded. A snapshot is yielded
whole, or not at all.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import httpx
from httpx_sse import ServerSentEvent, SSEError, connect_sse

from penstock.client.answers import Changes, Progress, Row, Snapshot, Update
from penstock.client.requests import ServiceError, checked

_SILENT_SECONDS = 60.0
"""Longer than any heartbeat: after so long a connection is dead."""
_PAUSES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def updates(
    http: httpx.Client, path: str, start: str, after: str | None, patience: float
) -> Iterator[Update]:
    """Updates without an end; an error where the service has not been there for so many seconds."""
    failed, since = 0, time.monotonic()
    while True:
        try:
            for update in _connection(http, path, start, after):
                after = update.position
                failed, since = 0, time.monotonic()
                yield update
        except ServiceError as error:
            if not error.is_resumable or time.monotonic() - since > patience:
                raise
        except (httpx.TransportError, SSEError):
            if time.monotonic() - since > patience:
                raise
        time.sleep(_PAUSES[min(failed, len(_PAUSES) - 1)])
        failed += 1


def _connection(http: httpx.Client, path: str, start: str, after: str | None) -> Iterator[Update]:
    parameters = {"start": start} | ({} if after is None else {"after": after})
    timeout = httpx.Timeout(_SILENT_SECONDS)
    with connect_sse(http, "GET", path, params=parameters, timeout=timeout) as events:
        checked(events.response)
        standing: list[Row] = []
        for event in events.iter_sse():
            update = _update(event, standing)
            if update is not None:
                yield update


def _update(event: ServerSentEvent, standing: list[Row]) -> Update | None:
    """What an event says; a part of a snapshot only adds to the rows that are standing."""
    told: dict[str, Any] = json.loads(event.data)
    if event.event == "problem":
        raise ServiceError(told)
    if event.event == "snapshot":
        standing += told["rows"]
        if not told["last"]:
            return None
        return Snapshot(standing, event.id, told["version"], told["frontier"])
    version, frontier = told["version"], told["frontier"]
    if event.event == "changes":
        return Changes(told["changes"], event.id, version, frontier)
    return Progress(event.id, version, frontier)
