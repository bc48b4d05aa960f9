"""Whether the service is there, how far it has come, and its metrics."""

from __future__ import annotations

import time
from typing import Any, Literal

from fastapi import APIRouter, Request
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel
from starlette.responses import JSONResponse, Response

from penstock import __version__
from penstock.server.api.asked import PROBLEMS, TOKEN, AskedRole, AskedService
from penstock.server.encoding import dumped, plain
from penstock.server.tokens import Role
from penstock.session.published import event_time, time_text

router = APIRouter(tags=["status"])


class Alive(BaseModel):
    """The process is up."""

    status: Literal["up"] = "up"


class Ready(BaseModel):
    """Whether the service takes rows and makes steps, and why not."""

    ready: bool
    reasons: list[str] = []


class Status(BaseModel):
    """Times are integers or ISO 8601, as the event time of the sources is."""

    version: int
    frontier: str | int | None
    running: bool
    failures: dict[str, str]
    sources: int
    views: int
    subscribers: int
    uptime_seconds: float
    penstock: str


@router.get("/healthz", response_model=Alive)
async def healthz() -> Alive:
    """The process is up."""
    return Alive()


@router.get("/readyz", responses={503: {"model": Ready, "description": "Not ready"}})
async def readyz(service: AskedService, role: AskedRole) -> Response:
    """The pipeline is applied, steps are made, and nothing has failed.

    Why not, only those are told who may read.
    """
    reasons = await service.reads.run(service.not_ready)
    told = Ready(ready=not reasons, reasons=reasons if role >= Role.READ else [])
    return JSONResponse(told.model_dump(), 503 if reasons else 200)


@router.get("/metrics", dependencies=[TOKEN], responses=PROBLEMS)
async def metrics(request: Request, service: AskedService) -> Response:
    """For Prometheus."""
    text = await service.reads.run(request.app.state.metrics.text)
    return Response(text, media_type=CONTENT_TYPE_LATEST)


@router.get("/v1/status", dependencies=[TOKEN], responses=PROBLEMS)
async def status(service: AskedService) -> Status:
    """How far the service has come."""

    def told() -> Status:
        session = service.session
        engine, feeds = session.engine, service.followed
        return Status(
            version=engine.manifest.version,
            frontier=time_text(event_time(engine), session.frontier),
            running=session.is_running,
            failures=session.failures(),
            sources=sum(not source.is_table for source in engine.sources.values()),
            views=len(engine.views),
            subscribers=0 if feeds is None else sum(feeds.subscribers.values()),
            uptime_seconds=time.time() - service.started,
            penstock=__version__,
        )

    return await service.reads.run(told)


@router.get("/v1/metrics", dependencies=[TOKEN], responses=PROBLEMS, response_model=dict[str, Any])
async def measured(service: AskedService) -> Response:
    """What `db.metrics()` tells: rows, operators, delays of views, the latest step."""
    text = await service.reads.run(lambda: dumped(plain(service.session.metrics())))
    return Response(text, media_type="application/json")


@router.get(
    "/v1/steps", dependencies=[TOKEN], responses=PROBLEMS, response_model=list[dict[str, Any]]
)
async def steps(service: AskedService) -> Response:
    """The latest steps, oldest first."""
    text = await service.reads.run(lambda: dumped(plain(service.session.recent_progress)))
    return Response(text, media_type="application/json")
