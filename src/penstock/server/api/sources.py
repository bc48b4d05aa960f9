"""Sources: what they are, rows in, promises about them, and what was not accepted."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, Literal

import pyarrow as pa
from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field
from starlette.responses import Response

from penstock.errors import PlanError
from penstock.server.api.asked import (
    AS_ROWS,
    FEW,
    PROBLEMS,
    TOKEN,
    AskedService,
    AskedSession,
    Column,
    Limit,
    named,
    rows_read,
    service_of,
)
from penstock.server.encoding import Form
from penstock.server.problems import ProblemError
from penstock.session import Session, Source
from penstock.session.published import event_time, parsed, time_text
from penstock.session.text_rows import TextForm
from penstock.sql import parse
from penstock.sql import statements as s
from penstock.sql.binding.catalog import is_constant
from penstock.sql.binding.types import shown as sql_type
from penstock.sql.dialect import quote

router = APIRouter(prefix="/v1/sources", tags=["sources"], dependencies=[TOKEN], responses=PROBLEMS)
_TEXTS: dict[str, TextForm] = {
    Form.LINES: "json lines",
    "application/jsonl": "json lines",
    Form.JSON: "json",
    Form.CSV: "csv",
}
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            Form.LINES.value: {"schema": {"type": "string"}},
            Form.JSON.value: {"schema": {"type": "array", "items": {"type": "object"}}},
            Form.CSV.value: {"schema": {"type": "string"}},
            Form.ARROW.value: {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


class SourceModel(BaseModel):
    """A source or table, and what has come of it."""

    name: str
    kind: Literal["source", "table"]
    columns: list[Column]
    event_time: str | None
    fed_by: str | None = Field(description="The format or port that brings rows by itself")
    frontier: str | int | None
    accepted: int
    late: int
    rejected: int
    ruled_out: int
    idle: bool
    ended: bool


class Appended(BaseModel):
    """What became of a batch."""

    accepted: int
    late: int
    rejected: int = 0
    ungrammatical: int = 0
    duplicate: bool = False
    reasons: list[str] = []
    version: int


class Where(BaseModel):
    """Conditions on columns, joined by AND."""

    where: str = Field(examples=["auction IN (1001, 2004)"], max_length=100_000)


class To(BaseModel):
    """An event time: an integer, or as in 2026-01-31 12:00:00."""

    to: int | str = Field(examples=["2026-01-31 12:00:00"])


class Done(BaseModel):
    """What was done, as a sentence, and the version after it."""

    message: str
    version: int


@router.get("")
async def list_sources(service: AskedService, session: AskedSession) -> list[SourceModel]:
    """All sources and tables."""
    names = [name for name in session.engine.sources if not is_constant(name)]
    return await service.reads.run(lambda: [_model(session, name) for name in names])


@router.get("/{name}")
async def show_source(name: str, service: AskedService, session: AskedSession) -> SourceModel:
    return await service.reads.run(lambda: _model(session, _known(session, name)))


@router.post("/{name}/rows", openapi_extra=_BODY)
async def append(
    name: str,
    request: Request,
    session: AskedSession,
    batch: Annotated[
        str | None,
        Query(description="producer/number: received once, however often it is sent"),
    ] = None,
) -> Appended:
    """Append rows: lines of JSON, an array of JSON, CSV with a header, or a stream of Arrow.

    A record that cannot be read is rejected by itself, or is an error where the source says so.
    """
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if kind != Form.ARROW and kind not in _TEXTS:
        raise ProblemError(
            HTTPStatus.UNSUPPORTED_MEDIA_TYPE,
            "UNSUPPORTED_MEDIA_TYPE",
            f"Found rows of {kind[:80]!r}, expected one of {', '.join([*_TEXTS, Form.ARROW])}.",
        )
    data = await request.body()

    def appended() -> Appended:
        source = session.source(_known(session, name))
        if kind == Form.ARROW:
            found = source.append(_of_arrow(data), batch)
        else:
            found = source.append_text(data, _TEXTS[kind], batch)
        return Appended(**found, version=session.engine.manifest.version)

    return await service_of(request).writes.run(appended)


@router.post("/{name}/punctuations")
async def punctuate(name: str, where: Where, service: AskedService, session: AskedSession) -> Done:
    """No more rows come that match, as `PUNCTUATE name WHERE ...` says."""

    def said() -> Done:
        known = _known(session, name)
        text = f"PUNCTUATE {quote(known)} WHERE {where.where}"
        statements = parse(text)
        if len(statements) != 1 or not isinstance(statements[0], s.Punctuate):
            raise PlanError("where is to be conditions joined by AND, and nothing else")
        return _done(session, str(session.sql(text)))

    return await service.writes.run(said)


@router.post("/{name}/advance")
async def advance(name: str, to: To, service: AskedService, session: AskedSession) -> Done:
    """A heartbeat: no more rows before a time."""

    def advanced(source: Source) -> str:
        source.advance(parsed(str(to.to), event_time(session.engine)))
        return f"No more rows of {source.name} before {to.to}."

    return await _with(service, session, name, advanced)


@router.post("/{name}/end")
async def end(name: str, service: AskedService, session: AskedSession) -> Done:
    """The stream is over."""

    def ended(source: Source) -> str:
        source.end()
        return f"{source.name} is over."

    return await _with(service, session, name, ended)


@router.post("/{name}/idle")
async def idle(name: str, service: AskedService, session: AskedSession) -> Done:
    """The source holds nobody back until its next batch."""

    def is_idle(source: Source) -> str:
        source.idle()
        return f"{source.name} holds nobody back until its next batch."

    return await _with(service, session, name, is_idle)


@router.get("/{name}/late", responses=AS_ROWS, response_class=Response)
async def late(name: str, request: Request, session: AskedSession, limit: Limit = FEW) -> Response:
    """Rows that came too late or without a time, where the source keeps them."""
    source = session.source(_known(session, name))
    return await rows_read(request, lambda: source.aside("late"), limit, lambda _: {})


@router.get("/{name}/rejected", responses=AS_ROWS, response_class=Response)
async def rejected(
    name: str, request: Request, session: AskedSession, limit: Limit = FEW
) -> Response:
    """Records that could not be taken: text, origin, position, reason, and when that was."""
    source = session.source(_known(session, name))
    return await rows_read(request, lambda: source.aside("rejected"), limit, lambda _: {})


async def _with(
    service: AskedService, session: Session, name: str, work: Callable[[Source], str]
) -> Done:
    def done() -> Done:
        return _done(session, work(session.source(_known(session, name))))

    return await service.writes.run(done)


def _done(session: Session, message: str) -> Done:
    return Done(message=message, version=session.engine.manifest.version)


def _known(session: Session, name: str) -> str:
    sources = session.engine.sources
    return named("source", name, (one for one in sources if not is_constant(one)))


def _model(session: Session, name: str) -> SourceModel:
    engine = session.engine
    source, state = engine.source(name), engine.source_state(name)
    feed = source.feed
    return SourceModel(
        name=name,
        kind="table" if source.is_table else "source",
        columns=[Column(name=f.name, type=sql_type(f.type)) for f in source.given],
        event_time=source.time,
        fed_by=None if feed is None else str(getattr(feed, "format", getattr(feed, "port", None))),
        frontier=time_text(event_time(engine), state.frontier),
        accepted=state.accepted,
        late=state.late,
        rejected=state.rejected,
        ruled_out=state.broken,
        idle=state.idle,
        ended=state.ended is not None or source.is_table,
    )


def _of_arrow(data: bytes) -> pa.Table:
    try:
        with pa.ipc.open_stream(data) as reader:
            return reader.read_all()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise PlanError(f"These rows cannot be read as a stream of Arrow: {error}") from None
