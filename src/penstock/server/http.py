"""The HTTP server of a service, in a thread of its own."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import threading
import time
from pathlib import Path

import uvicorn
from fastapi import FastAPI

from penstock.errors import ArgumentError
from penstock.server.app import create_app
from penstock.server.service import Service
from penstock.server.settings import Settings

_LONGEST_START = 30.0


class Server:
    """The HTTP server, in a thread of its own."""

    def __init__(self, service: Service) -> None:
        self._service, self._settings = service, service.settings
        self._socket = _bound(service.settings)
        self.port: int = self._socket.getsockname()[1]
        self._server = uvicorn.Server(_config(create_app(service), service.settings))
        self._thread = threading.Thread(target=self._run, name="penstock http", daemon=True)

    def __enter__(self) -> Server:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        self._server.run([self._socket])

    def start(self) -> None:
        self._thread.start()
        end = time.monotonic() + _LONGEST_START
        while not self._server.started and self._thread.is_alive() and time.monotonic() < end:
            time.sleep(0.01)
        if not self._server.started:
            raise ArgumentError("The HTTP server does not start; the log says why.")

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def stop(self) -> None:
        """Those who follow views are told; other requests have some seconds to come to an end."""
        if self._service.loop is not None and self.is_alive:
            asyncio.run_coroutine_threadsafe(self._service.stop(), self._service.loop).result(5.0)
        self._server.should_exit = True
        self._thread.join(self._settings.stop_seconds + 5.0)
        self._service.close()


def _bound(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        hint = ""
        if error.errno == errno.EADDRINUSE:
            hint = " Another program uses the port: choose another by --port."
        raise ArgumentError(
            f"Cannot listen on {settings.host}:{settings.port}: {error.strerror or error}.{hint}"
        ) from None


def _config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http="h11",
        ws="websockets-sansio",
        ws_max_size=1 << 16,
        loop="asyncio",
        lifespan="on",
        log_config=None,
        access_log=settings.log_format == "json",
        proxy_headers=False,
        server_header=False,
        limit_concurrency=settings.max_connections,
        timeout_graceful_shutdown=int(settings.stop_seconds) + 1,
        ssl_certfile=_text(settings.tls_certificate),
        ssl_keyfile=_text(settings.tls_key),
        ssl_ca_certs=_text(settings.tls_client_ca),
        ssl_cert_reqs=ssl.CERT_NONE if settings.tls_client_ca is None else ssl.CERT_REQUIRED,
    )


def _text(path: Path | None) -> str | None:
    return None if path is None else str(path)
