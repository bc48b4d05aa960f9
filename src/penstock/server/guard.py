"""What every request passes before anything of it is read: host, origin, token, size.

Law: a request that may not do what it asks has no effect and learns nothing. Where a path is new,
it is closed: reading needs the role of readers, all else that of administrators.

A page of another site cannot use a browser of this machine against the service: not by a name that
resolves to loopback (Host), nor by sending from afar (Origin), with or without a token.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.server.problems import ProblemError
from penstock.server.settings import Settings
from penstock.server.tokens import Role, Tokens

OPEN = ("/healthz", "/readyz")
"""Whether the service is there is no secret."""
FOR_READERS = ("/v1/sql",)
"""What is sent there is looked at before it is done."""
_READING = ("GET", "HEAD", "OPTIONS")
_PORT = re.compile(r":\d*$")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """What stands before the application: it answers what may not pass."""

    def __init__(self, app: ASGIApp, settings: Settings, tokens: Tokens) -> None:
        self._app, self._settings, self._tokens = app, settings, tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        role = self._tokens.role(headers.get("authorization"))
        scope.setdefault("state", {})["role"] = role
        problem = self._problem(scope, headers, role)
        if problem is not None:
            await problem.response()(scope, receive, _with_headers(send))
            return
        limited = _limited(receive, self._settings.max_body_bytes, self._settings.body_seconds)
        await self._app(scope, limited, _with_headers(send))

    def _problem(self, scope: Scope, headers: Headers, role: Role) -> ProblemError | None:
        return (
            _host_problem(headers, self._settings.hosts)
            or _origin_problem(scope, headers)
            or _role_problem(scope, role)
            or _size_problem(headers, self._settings.max_body_bytes)
        )


def _host_problem(headers: Headers, hosts: Iterable[str]) -> ProblemError | None:
    host = _PORT.sub("", headers.get("host", "").lower())
    if not hosts or host in hosts:
        return None
    return ProblemError(
        HTTPStatus.MISDIRECTED_REQUEST,
        "UNKNOWN_HOST",
        f"{host[:80]!r} is not a name of this service. allowed_hosts may have it.",
    )


def _origin_problem(scope: Scope, headers: Headers) -> ProblemError | None:
    origin = headers.get("origin")
    if origin is None:
        foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    else:
        foreign = urlsplit(origin).netloc.lower() != headers.get("host", "").lower()
    if not foreign:
        return None
    return ProblemError(
        HTTPStatus.FORBIDDEN, "FOREIGN_ORIGIN", "Pages of other sites may not ask this service."
    )


def _role_problem(scope: Scope, role: Role) -> ProblemError | None:
    path, method = scope["path"], scope.get("method", "GET")
    if path in OPEN:
        return None
    if role is Role.NONE:
        return ProblemError(
            HTTPStatus.UNAUTHORIZED, "NO_TOKEN", "Send a token: Authorization: Bearer TOKEN."
        )
    if method in _READING or path in FOR_READERS or role is Role.ADMIN:
        return None
    return too_weak("This")


def too_weak(what: str) -> ProblemError:
    return ProblemError(
        HTTPStatus.FORBIDDEN, "READ_ONLY", f"{what} needs the admin token; this one may only read."
    )


def _size_problem(headers: Headers, most: int) -> ProblemError | None:
    if headers.get("content-encoding", "identity").lower() != "identity":
        return ProblemError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "COMPRESSED", "Send the body as it is, uncompressed."
        )
    length = headers.get("content-length", "0")
    return too_large(most) if length.isdigit() and int(length) > most else None


def too_large(most: int) -> ProblemError:
    return ProblemError(
        HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
        "BODY_TOO_LARGE",
        f"A body may have {most} bytes, as max_body_bytes says. Send several batches.",
    )


def _limited(receive: Receive, most: int, seconds: float) -> Receive:
    """What is received, while it is not too much and does not take too long."""
    total, more = 0, True

    async def limited() -> Message:
        nonlocal total, more
        if not more:
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), seconds)
        except TimeoutError:
            raise ProblemError(
                HTTPStatus.REQUEST_TIMEOUT,
                "BODY_TOO_SLOW",
                f"Nothing of the body came for {seconds:g} seconds.",
            ) from None
        if message["type"] == "http.request":
            total, more = total + len(message.get("body", b"")), message.get("more_body", False)
            if total > most:
                raise too_large(most)
        else:
            more = False
        return message

    return limited


def _with_headers(send: Send) -> Send:
    async def wrapped(message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers.setdefault(name, value)
            headers.setdefault("Cache-Control", "no-store")
        await send(message)

    return wrapped
