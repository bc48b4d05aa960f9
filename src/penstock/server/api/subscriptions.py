"""Following a view: its changes as they happen, as server-sent events or over a WebSocket."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, WebSocket
from sse_starlette import EventSourceResponse
from starlette.websockets import WebSocketDisconnect

from penstock.server.api.asked import (
    PROBLEMS,
    TOKEN,
    AskedService,
    AskedSession,
    named,
    service_of,
)
from penstock.server.changefeed import Message, Start
from penstock.server.problems import problem_of
from penstock.server.service import Service
from penstock.session import Session

router = APIRouter(prefix="/v1/views", tags=["subscriptions"])
_EVENTS: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    200: {
        "description": "`snapshot`, `changes`, `progress`, `problem`; the id is a position",
        "content": {"text/event-stream": {}},
    },
}
Begin = Annotated[
    Start, Query(description="Where to begin without a position; `snapshot` sends all rows first")
]
After = Annotated[str | None, Query(description="A position, or a version, to go on from")]


@router.get(
    "/{name}/subscribe",
    dependencies=[TOKEN],
    responses=_EVENTS,
    response_class=EventSourceResponse,
)
async def subscribe(
    name: str,
    service: AskedService,
    session: AskedSession,
    start: Begin = "snapshot",
    after: After = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> EventSourceResponse:
    """Server-sent events. Whoever comes again with Last-Event-ID misses nothing.

    After a `problem` the stream ends; its `resumable` says whether to go on from the last position.
    """
    messages = await _messages(service, session, name, start, last_event_id or after)

    async def events() -> AsyncIterator[bytes]:
        async with aclosing(messages):  # type: ignore[type-var]
            async for message in messages:
                yield message.sse

    return EventSourceResponse(
        events(), ping=0, sep="\n", send_timeout=service.settings.send_seconds
    )


@router.websocket("/{name}/subscribe/ws")
async def subscribe_by_websocket(
    socket: WebSocket, name: str, start: Start = "snapshot", after: str | None = None
) -> None:
    """The same messages as texts: `{"event": ..., "position": ..., "data": ...}`."""
    service = service_of(socket)
    try:
        messages = await _messages(service, service.session, name, start, after)
    except Exception as error:
        await socket.send_denial_response(problem_of(error).response())
        return
    await socket.accept()
    sending = asyncio.create_task(_send(socket, messages, service.settings.send_seconds))
    leaving = asyncio.create_task(_left(socket))
    done, others = await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
    for task in others:
        task.cancel()
    with suppress(WebSocketDisconnect, asyncio.CancelledError):
        await asyncio.gather(*others)
    if sending in done:
        with suppress(WebSocketDisconnect, RuntimeError):  # it has gone meanwhile
            await socket.close(1000 if sending.exception() is None else 1013)


async def _send(socket: WebSocket, messages: AsyncIterator[Message], seconds: float) -> None:
    async with aclosing(messages):  # type: ignore[type-var]
        async for message in messages:
            async with asyncio.timeout(seconds):
                await socket.send_text(message.text)


async def _left(socket: WebSocket) -> None:
    """Until the other side goes; what it says is not listened to."""
    with suppress(WebSocketDisconnect):
        while True:
            await socket.receive_text()


async def _messages(
    service: Service, session: Session, name: str, start: Start, after: str | None
) -> AsyncIterator[Message]:
    known = named("view", name, session.engine.views)
    return await service.feeds.subscribe(known, start, after)
