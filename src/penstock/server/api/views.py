"""Views: what they are, their rows now and then, their history and their changes."""

from __future__ import annotations

from itertools import chain
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response, StreamingResponse

from penstock.server.api.asked import (
    AS_ROWS,
    FEW,
    PROBLEMS,
    TOKEN,
    AskedService,
    AskedSession,
    Column,
    Limit,
    headers_of,
    named,
    rows_read,
)
from penstock.server.changefeed import position_in
from penstock.server.encoding import accepted, encoded
from penstock.server.positions import Position
from penstock.session import Session
from penstock.session.descriptions import explained
from penstock.session.published import (
    Reading,
    changes_from,
    identity,
    parsed,
    time_text,
)
from penstock.sql.binding.types import shown as sql_type

router = APIRouter(prefix="/v1/views", tags=["views"], dependencies=[TOKEN], responses=PROBLEMS)


class ViewModel(BaseModel):
    """What a view is, and how far it has come."""

    name: str
    columns: list[Column]
    key: list[str] | None = Field(description="No two rows of one time share these; None: no key")
    sql: str
    version: int
    frontier: str | int | None = Field(description="Everything before this time is final")
    oldest: str | int | None = Field(description="Changes are kept from this time on; None: all")
    position: str = Field(description="Where to follow the changes from that come now")
    failed: str | None
    subscribers: int


class Text(BaseModel):
    """A text of several lines."""

    text: str


class Memory(BaseModel):
    """Whether a view fits in bounded memory, as EXPLAIN MEMORY tells."""

    bounded: bool
    text: str


@router.get("")
async def list_views(service: AskedService, session: AskedSession) -> list[ViewModel]:
    """All views."""
    names = list(session.engine.views)
    return await service.reads.run(lambda: [_model(service, session, name) for name in names])


@router.get("/{name}")
async def show_view(name: str, service: AskedService, session: AskedSession) -> ViewModel:
    return await service.reads.run(lambda: _model(service, session, _known(session, name)))


@router.get("/{name}/plan")
async def plan(name: str, service: AskedService, session: AskedSession) -> Text:
    """What the view says and how it runs, a tree each."""

    def told() -> Text:
        engine = session.engine
        view = engine.views[_known(session, name)]
        return Text(text=explained(view.plan, view.expiry, engine.expiry))

    return await service.queries.run(told)


@router.get("/{name}/memory")
async def memory(name: str, service: AskedService, session: AskedSession) -> Memory:
    """Whether the view fits in bounded memory, why not, and what would bound it."""

    def told() -> Memory:
        view = session.engine.views[_known(session, name)]
        text = str(session.sql(f"EXPLAIN MEMORY {view.text}"))
        return Memory(bounded=text.startswith("BOUNDED"), text=text)

    return await service.queries.run(told)


@router.get("/{name}/snapshot", responses=AS_ROWS, response_class=Response)
async def snapshot(
    name: str,
    request: Request,
    session: AskedSession,
    at: Annotated[str | None, Query(description="An event time; the latest without")] = None,
    limit: Limit = FEW,
) -> Response:
    """The rows of the view, as of the frontier or of an earlier event time."""
    known, engine = _known(session, name), session.engine
    view = engine.committed(known)

    def choose() -> Reading:
        nonlocal view
        view = engine.committed(known)
        return view.snapshot(None if at is None else parsed(at, view.time))

    def about(reading: Reading) -> dict[str, Any]:
        position = Position(view.manifest.version, reading.until, identity(engine, view))
        return _about(position, time_text(view.time, reading.until))

    return await rows_read(request, choose, limit, about)


@router.get("/{name}/history", responses=AS_ROWS, response_class=Response)
async def history(
    name: str, request: Request, session: AskedSession, limit: Limit = FEW
) -> Response:
    """Every row with the times from and to which it was there."""
    known, engine = _known(session, name), session.engine
    return await rows_read(request, lambda: engine.committed(known).history(), limit, lambda _: {})


@router.get("/{name}/changes", responses=AS_ROWS, response_class=Response)
async def changes(
    name: str,
    request: Request,
    service: AskedService,
    session: AskedSession,
    since: Annotated[
        str | None, Query(description="A position or a version; all that are kept without")
    ] = None,
    limit: Limit = FEW,
) -> Response:
    """Changes in the order of their times, and the position to ask for the next ones from.

    Changes of one time stay together, so there may be more than the limit.
    """
    known, engine = _known(session, name), session.engine
    form = accepted(request.headers.get("accept"))

    def told() -> tuple[dict[str, Any], list[bytes]]:
        view = engine.committed(known)
        one = identity(engine, view)
        start = None if since is None else position_in(view, since, one).frontier
        found = changes_from(engine, known, start, max(limit, 1))
        found = next(found.parts(max(limit, 1)))
        view, rows = found.view, found.rows
        about = _about(Position(found.version, found.until, one), time_text(view.time, found.until))
        about["complete"] = found.until >= view.frontier
        return about, list(encoded(form, rows.schema, rows.to_batches(), about))

    about, body = await service.reads.run(told)
    return StreamingResponse(chain(body), 200, headers_of(about), form.value)


def _about(position: Position, frontier: str | int | None) -> dict[str, Any]:
    return {"version": position.version, "frontier": frontier, "position": str(position)}


def _known(session: Session, name: str) -> str:
    return named("view", name, session.engine.views)


def _model(service: AskedService, session: Session, name: str) -> ViewModel:
    engine, feeds = session.engine, service.followed
    view, definition = engine.committed(name), engine.views[name]
    failure = view.manifest.failures.get(name)
    position = Position(view.manifest.version, view.frontier, identity(engine, view))
    return ViewModel(
        name=name,
        columns=[Column(name=f.name, type=sql_type(f.type)) for f in view.state_table.schema],
        key=None if definition.key is None else list(definition.key),
        sql=definition.text,
        version=view.manifest.version,
        frontier=time_text(view.time, view.frontier),
        oldest=time_text(view.time, view.oldest),
        position=str(position),
        failed=None if failure is None else failure.reason,
        subscribers=0 if feeds is None else feeds.subscribers.get(name, 0),
    )
