"""What handlers share: whom they ask, what is there by a name, and rows as an answer."""

from __future__ import annotations

import difflib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from http import HTTPStatus
from itertools import chain
from typing import Annotated, Any, TypeAlias

import pyarrow as pa
from fastapi import Depends, Header, Query, Request, Security
from fastapi.security import HTTPBearer
from pydantic import BaseModel
from starlette.requests import HTTPConnection
from starlette.responses import Response, StreamingResponse

from penstock.server.encoding import Form, accepted, encoded
from penstock.server.problems import MEDIA_TYPE, ProblemError
from penstock.server.service import Service
from penstock.server.tokens import Role
from penstock.session import Session
from penstock.session.published import Reading, opened

MOST_ROWS = 1_000_000
_FEW_ROWS = 10_000
_HEADERS = ("version", "frontier", "position", "complete", "total", "truncated")


class ProblemModel(BaseModel):
    """RFC 9457, with what SQL says of errors."""

    type: str
    title: str
    status: int
    condition: str
    detail: str
    sqlstate: str | None = None
    line: int | None = None
    column: int | None = None
    fragment: str | None = None
    sql: str | None = None


def _problem(description: str) -> dict[str, Any]:
    return {"model": ProblemModel, "description": description, "content": {MEDIA_TYPE: {}}}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: _problem("What is wrong with what was asked"),
    401: _problem("No token that is known"),
    403: _problem("The token may only read"),
    404: _problem("Nothing has this name"),
    406: _problem("No such media type"),
    408: _problem("The body came too slowly"),
    410: _problem("These changes are not there any more"),
    413: _problem("The body is too large"),
    415: _problem("Rows in a form that is not read"),
    422: _problem("A parameter or a row that is none"),
    503: _problem("Not ready, stopping or too busy"),
    504: _problem("It took too long"),
}
AS_ROWS: dict[int | str, dict[str, Any]] = {
    **PROBLEMS,
    200: {"description": "The rows", "content": {form.value: {} for form in Form}},
}
TOKEN = Security(HTTPBearer(auto_error=False, description="The read token or the admin token"))


def service_of(connection: HTTPConnection) -> Service:
    service: Service = connection.app.state.service
    return service


def session_of(connection: HTTPConnection) -> Session:
    return service_of(connection).session


def role_of(connection: HTTPConnection) -> Role:
    role: Role = connection.state.role
    return role


AskedService: TypeAlias = Annotated[Service, Depends(service_of)]
AskedSession: TypeAlias = Annotated[Session, Depends(session_of)]
AskedRole: TypeAlias = Annotated[Role, Depends(role_of)]
AskedForm: TypeAlias = Annotated[str | None, Header(alias="Accept")]
Limit: TypeAlias = Annotated[int, Query(ge=0, le=MOST_ROWS, description="At most so many rows")]
FEW: int = _FEW_ROWS


class Column(BaseModel):
    """A column of a source or view, with its type as SQL names it."""

    name: str
    type: str


def named(what: str, name: str, known: Iterable[str]) -> str:
    """The name as it was defined; case does not matter."""
    names = {one.lower(): one for one in known}
    if name.lower() in names:
        return names[name.lower()]
    close = difflib.get_close_matches(name.lower(), names, n=1)
    hint = f" Did you mean {names[close[0]]}?" if close else ""
    raise ProblemError(
        HTTPStatus.NOT_FOUND,
        "UNRESOLVED_NAME",
        f"There is no {what} {name[:80]!r}.{hint}",
        "42703",
    )


About: TypeAlias = Callable[[Reading], Mapping[str, Any]]


async def rows_read(
    request: Request,
    choose: Callable[[], Reading],
    limit: int,
    about: About,
    in_pieces: bool = True,
) -> Response:
    """The rows of a reading, which are sent as they are read."""
    service = service_of(request)
    form = accepted(request.headers.get("accept"))
    end = time.monotonic() + service.settings.query_seconds

    def answer() -> Iterator[Any]:
        with opened(service.session.engine, choose, in_pieces) as (reading, batches):
            told = dict(about(reading))
            yield told
            few = first_rows(_in_time(batches, end), limit)
            yield from encoded(form, reading.schema, few, told)

    rows = answer()
    told = await service.reads.run(next, rows)
    first = await service.reads.run(next, rows, b"")
    return StreamingResponse(chain([first], rows), 200, headers_of(told), form.value)


def table_answer(
    request: Request, table: pa.Table, limit: int, about: Mapping[str, Any]
) -> tuple[Form, list[bytes]]:
    """A table that is there, in the form that is asked for."""
    form = accepted(request.headers.get("accept"))
    few = first_rows(table.to_batches(), limit)
    more = {"total": table.num_rows, "truncated": table.num_rows > limit}
    return form, list(encoded(form, table.schema, few, {**about, **more}))


def headers_of(about: Mapping[str, Any]) -> dict[str, str]:
    """What there is to say about rows, for forms that have no place for it."""
    return {
        f"Penstock-{name.title()}": str(value) for name, value in about.items() if name in _HEADERS
    }


def first_rows(batches: Iterable[pa.RecordBatch], limit: int) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if limit <= 0:
            return
        yield batch.slice(0, limit)
        limit -= batch.num_rows


def _in_time(batches: Iterable[pa.RecordBatch], end: float) -> Iterator[pa.RecordBatch]:
    """Batches until a time: who has begun to send cannot say any more that it takes too long."""
    for batch in batches:
        if time.monotonic() > end:
            raise TimeoutError("reading took longer than query_seconds")
        yield batch
