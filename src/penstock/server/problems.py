"""What went wrong, as RFC 9457 has it: problem+json with a condition, a SQLSTATE and the SQL.

Law: what a client got wrong is an answer below 500 that says what to do. Above are our own
mistakes, what is not there yet or any more, and what took too long.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import Request

from penstock.errors import (
    BackgroundError,
    JavaNotFoundError,
    LateRowError,
    PenstockError,
    RejectedRowError,
    SparkError,
    SparkLostError,
    SqlContext,
    StateError,
    UngrammaticalRowError,
    WriterConflictError,
    shortened,
)

MEDIA_TYPE = "application/problem+json"
_UNAVAILABLE = (BackgroundError, SparkLostError, JavaNotFoundError, WriterConflictError)
_ROWS = (LateRowError, RejectedRowError, UngrammaticalRowError)
_OF_QUERIES = ("0A", "21", "22", "42", "54")
"""Classes of SQLSTATE that speak of what was asked."""

logger = logging.getLogger("penstock.server")


@dataclass
class ProblemError(Exception):
    """An answer that is not what was asked for."""

    status: int
    condition: str
    detail: str
    sqlstate: str | None = None
    more: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        found = {
            "type": f"urn:penstock:{self.condition.lower().replace('_', '-')}",
            "title": HTTPStatus(self.status).phrase,
            "status": self.status,
            "condition": self.condition,
            "detail": self.detail,
        }
        state = {} if self.sqlstate is None else {"sqlstate": self.sqlstate}
        return {**found, **state, **self.more}

    def response(self) -> JSONResponse:
        headers = {}
        if self.status == HTTPStatus.UNAUTHORIZED:
            headers["WWW-Authenticate"] = 'Bearer realm="penstock"'
        if self.status == HTTPStatus.SERVICE_UNAVAILABLE:
            headers["Retry-After"] = "1"
        return JSONResponse(self.body(), self.status, headers, MEDIA_TYPE)


def problem_of(error: Exception) -> ProblemError:
    """Any error as a problem; what is our own mistake is logged, and not told."""
    match error:
        case ProblemError():
            return error
        case PenstockError():
            return ProblemError(
                _status(error),
                str(error.getCondition()),
                error.sentence,
                error.getSqlState(),
                _place(error),
            )
        case RequestValidationError():
            first = error.errors()[0]
            where = ".".join(str(part) for part in first["loc"])
            told = shortened(f"{where}: {first['msg']}", 400, 3)
            return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, "INVALID_REQUEST", told)
        case HTTPException():
            condition = HTTPStatus(error.status_code).name
            return ProblemError(error.status_code, condition, str(error.detail))
    logger.error("a mistake of Penstock itself", exc_info=error)
    return ProblemError(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "INTERNAL_ERROR",
        "This is a mistake of Penstock itself. The log of the service says more.",
        "XX000",
    )


def _status(error: PenstockError) -> HTTPStatus:
    if isinstance(error, _UNAVAILABLE):
        return HTTPStatus.SERVICE_UNAVAILABLE
    if isinstance(error, _ROWS):
        return HTTPStatus.UNPROCESSABLE_ENTITY
    if isinstance(error, StateError):
        return HTTPStatus.INTERNAL_SERVER_ERROR
    if isinstance(error, SparkError) and not error.sqlstate.startswith(_OF_QUERIES):
        return HTTPStatus.INTERNAL_SERVER_ERROR
    return HTTPStatus.BAD_REQUEST


def _place(error: PenstockError) -> dict[str, Any]:
    """Where in the SQL, with the line underlined as terminals show it."""
    found = [one for one in error.getQueryContext() if isinstance(one, SqlContext)]
    if not found:
        return {}
    where = found[0]
    line = where.sql.count("\n", 0, where.start)
    column = where.start - where.sql.rfind("\n", 0, where.start)
    text = where.summary().split("\n", 1)[1]
    return {"line": line + 1, "column": column, "fragment": where.fragment()[:400], "sql": text}


async def answer(request: Request, error: Exception) -> JSONResponse:
    """The handler of all errors."""
    return problem_of(error).response()
