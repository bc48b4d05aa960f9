"""The application: its paths, what they pass first, and what becomes of errors."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from penstock import __version__
from penstock.errors import PenstockError
from penstock.server.api import sources, statements, status, subscriptions, views
from penstock.server.guard import Guard
from penstock.server.metrics import Metrics, Requests
from penstock.server.problems import ProblemError, answer
from penstock.server.service import Service

ABOUT = """Sources, views and their changes.

Send `Authorization: Bearer TOKEN` where the service has tokens. What goes wrong is told as
`application/problem+json` with a condition, a SQLSTATE and, of SQL, the place."""


ERRORS = (ProblemError, PenstockError, RequestValidationError, HTTPException, Exception)


def create_app(service: Service) -> FastAPI:
    metrics = Metrics(service)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        service.loop = asyncio.get_running_loop()
        metrics.start()
        yield
        await metrics.stop()

    app = FastAPI(
        title="Penstock",
        version=__version__,
        description=ABOUT,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
        exception_handlers=dict.fromkeys(ERRORS, answer),
    )
    app.state.service, app.state.metrics = service, metrics
    for part in (status, sources, views, subscriptions, statements):
        app.include_router(part.router)
    app.add_middleware(Requests, metrics=metrics)
    app.add_middleware(Guard, settings=service.settings, tokens=service.tokens)
    return app
