"""Which ORDER BY says what rows a LIMIT keeps: its own, or that of a query in FROM.

Law: a LIMIT over rows that were put in order keeps the first of them, as Spark does. Where only
select lists lie between the two, the LIMIT is moved to the ORDER BY; otherwise it is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NoReturn, TypeAlias

from sqlglot import exp

Complain: TypeAlias = Callable[[str, exp.Expr], NoReturn]

OTHER_ROWS = ("group", "having", "distinct", "joins", "laterals", "qualify")
ADVICE = "Write ORDER BY and LIMIT next to each other."


@dataclass(frozen=True)
class Ordered:
    """The query with the ORDER BY that the rows of another come in."""

    query: exp.Query
    only_projects: bool
    """Whether only select lists lie between."""
    shared: bool
    """Whether it is read somewhere else, too."""


def put_limit(
    query: exp.Query, limit: exp.Expr | None, offset: exp.Expr | None, complain: Complain
) -> None:
    """Give a query a LIMIT, or the one in its FROM whose order it has; the trees change."""
    found, at = ordered_in(query), limit or offset or query
    if found is None:
        target = query
    else:
        target = found.query
        if not found.only_projects:
            complain(f"Between ORDER BY and this LIMIT rows are left out or numbered. {ADVICE}", at)
        if found.shared:
            complain(f"The query that has the order of this LIMIT is read twice. {ADVICE}", at)
    if limited(target):
        limit, offset = _both(target, limit, offset, complain)
    target.set("limit", limit)
    target.set("offset", offset)


def limited(query: exp.Expr) -> bool:
    return bool(query.args.get("limit") or query.args.get("offset"))


def ordered_in(query: exp.Query) -> Ordered | None:
    """The query whose ORDER BY a LIMIT of this one goes by, where it has none of its own."""
    clause = query.args.get("with_")
    steps = {cte.alias.lower(): cte.this for cte in clause.expressions} if clause else {}
    inner: exp.Expr = query
    only_projects, shared = True, False
    while True:
        if isinstance(inner, exp.Query) and inner.args.get("order"):
            return Ordered(inner, only_projects, shared)
        if inner is not query and limited(inner):
            return None
        if isinstance(inner, exp.Subquery):
            inner = inner.this
            continue
        if not isinstance(inner, exp.Select) or _has_other_rows(inner):
            return None
        only_projects &= not inner.args.get("where") and not inner.find(exp.Window)
        source = inner.args["from_"].this if inner.args.get("from_") else None
        name = source.name.lower() if isinstance(source, exp.Table) else ""
        shared |= sum(table.name.lower() == name for table in query.find_all(exp.Table)) > 1
        following = _read(source, steps)
        if following is None:
            return None
        inner = following


def _has_other_rows(query: exp.Select) -> bool:
    return any(query.args.get(key) for key in OTHER_ROWS) or _groups(query)


def _groups(query: exp.Select) -> bool:
    items = query.expressions
    return any(node for item in items for node in item.find_all(exp.AggFunc) if not _over(node))


def _over(node: exp.Expr) -> bool:
    return isinstance(node.parent, exp.Window)


def _read(source: exp.Expr | None, steps: Mapping[str, exp.Expr]) -> exp.Expr | None:
    """The query that is read in FROM, alone and as it is."""
    changed = ("joins", "window", "sync", "sample", "pivots", "db")
    if source is None or any(source.args.get(key) for key in changed):
        return None
    return source.this if isinstance(source, exp.Subquery) else steps.get(source.name.lower())


def _both(
    query: exp.Query, limit: exp.Expr | None, offset: exp.Expr | None, complain: Complain
) -> tuple[exp.Expr | None, exp.Expr | None]:
    """The limit and the offset that are one after the other."""
    numbers = [_number(query.args.get(key)) for key in ("limit", "offset")]
    numbers += [_number(clause) for clause in (limit, offset)]
    if any(number == UNKNOWN for number in numbers):
        complain("One of two limits is no number. Write one LIMIT.", limit or offset or query)
    before, skipped, after, skip = numbers
    skip = skip or 0
    left = None if before is None else max(before - skip, 0)
    counts = [count for count in (left, after) if count is not None]
    start = (skipped or 0) + skip
    return (
        exp.Limit(expression=exp.Literal.number(min(counts))) if counts else None,
        exp.Offset(expression=exp.Literal.number(start)) if start else None,
    )


UNKNOWN = -1


def _number(clause: exp.Expr | None) -> int | None:
    if clause is None:
        return None
    count = clause.args.get("count") if isinstance(clause, exp.Fetch) else clause.expression
    if isinstance(count, exp.Literal) and not count.is_string and count.name.isdigit():
        return int(count.name)
    return UNKNOWN
