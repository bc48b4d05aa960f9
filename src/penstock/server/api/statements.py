"""Ad-hoc SQL: readers may ask, administrators may do."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any

import pyarrow as pa
from fastapi import APIRouter, Request
from pydantic import BaseModel, Field
from starlette.responses import Response, StreamingResponse

from penstock.server.api.asked import (
    AS_ROWS,
    FEW,
    MOST_ROWS,
    TOKEN,
    AskedRole,
    AskedService,
    AskedSession,
    headers_of,
    table_answer,
)
from penstock.server.guard import too_weak
from penstock.server.problems import ProblemError
from penstock.server.tokens import Role
from penstock.session import Session
from penstock.sql import parse
from penstock.sql import statements as s
from penstock.sql.names import functions_called

router = APIRouter(prefix="/v1", tags=["sql"], dependencies=[TOKEN])
READING = (s.Query, s.Explain, s.Show, s.ShowAside, s.Describe)
CALLS_JAVA = frozenset({"reflect", "java_method", "try_reflect"})
"""Functions by which a SELECT does anything that Java can."""


class Statements(BaseModel):
    """Statements, separated by semicolons."""

    sql: str = Field(max_length=1_000_000, examples=["SELECT * FROM hot"])
    limit: int = Field(FEW, ge=0, le=MOST_ROWS, description="At most so many rows are told")


@router.post("/sql", responses=AS_ROWS, response_class=Response)
async def sql(
    asked: Statements,
    request: Request,
    service: AskedService,
    session: AskedSession,
    role: AskedRole,
) -> Response:
    """Carry out statements; the answer is that of the last one, its rows or a sentence.

    The read token may SELECT, EXPLAIN, SHOW and DESCRIBE.
    """
    tag = f"penstock {uuid.uuid4().hex}"

    def answer() -> tuple[dict[str, Any], Any, list[bytes]]:
        if role < Role.ADMIN:
            check_reads(parse(asked.sql))
        with _tagged(session, tag):
            result = session.sql(asked.sql)
            table = result.to_arrow() if result.has_rows else pa.table({})
        about: dict[str, Any] = {"version": session.engine.manifest.version}
        if not result.has_rows:
            about["message"] = str(result)
        return about, *table_answer(request, table, asked.limit, about)

    try:
        about, form, body = await service.queries.run(answer)
    except ProblemError as problem:
        if problem.status == HTTPStatus.GATEWAY_TIMEOUT:
            await service.reads.run(_cancel, session, tag)
        raise
    return StreamingResponse(iter(body), 200, headers_of(about), form.value)


def check_reads(statements: Sequence[s.Statement]) -> None:
    """A problem where a statement does more than to look."""
    for statement in statements:
        if not isinstance(statement, READING):
            kind = type(statement).__name__
            words = "".join(f" {letter}" if letter.isupper() else letter for letter in kind)
            raise too_weak(words.strip().upper())
        query = statement.of if isinstance(statement, s.Explain) else statement
        query = query.query if isinstance(query, s.CreateView) else query
        if isinstance(query, s.Query):
            called = functions_called(query) & CALLS_JAVA
            if called:
                raise too_weak(f"The function {min(called)}")


@contextmanager
def _tagged(session: Session, tag: str) -> Iterator[None]:
    """Spark's jobs of this thread can be cancelled by the tag."""
    context = session.spark.sparkContext
    context.addJobTag(tag)
    try:
        yield
    finally:
        context.removeJobTag(tag)


def _cancel(session: Session, tag: str) -> None:
    session.spark.sparkContext.cancelJobsWithTag(tag)
