"""Asking whether a query needs bounded memory, without running it and without Spark."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from types import MappingProxyType

import pyarrow as pa

from penstock.algebra.times import TIMESTAMP
from penstock.boundary import public
from penstock.errors import PlanError, UnsupportedError
from penstock.memory.check_context import CheckContext
from penstock.memory.plans import operators_of
from penstock.memory.repairs import MOST_REPAIRS, Script, repairs
from penstock.memory.report import MemoryVerdict, OperatorVerdict
from penstock.memory.values import Declared
from penstock.sql import parse, to_sql
from penstock.sql import statements as s
from penstock.sql.binding import AnalysisError, Catalog, Entry
from penstock.sql.binding.local_analyser import LocalAnalyser
from penstock.sql.binding.sources import described


@public
def check(
    sql: str,
    sources: Mapping[str, str] | None = None,
    *,
    integer_time: bool = False,
    domains: Mapping[str, object] | None = None,
) -> MemoryVerdict:
    """Whether a query can be answered in bounded memory over any streams of these sources.

    `sources` has the columns of each, as in CREATE SOURCE: `{"s": "a INT, b INT"}`. A column may
    say which values it has: `a INT CHECK (a BETWEEN 0 AND 9)`, or `domains={"s.a": (0, 9)}`. Every
    source has its event time in `ts`, an integer where `integer_time` says so. The text may define
    streams and views first; the verdict is on its last statement.
    """
    context = context_of(sources or {}, integer_time, domains or {})
    script = tuple(parse(sql))
    if not script:
        raise PlanError("There is no query to check: the text is empty.")
    try:
        return verdict(script, context)
    except AnalysisError as error:
        raise PlanError(str(error), context=script[-1].context()) from None


def verdict(
    script: Script, context: CheckContext, given: Script = (), most_repairs: int = MOST_REPAIRS
) -> MemoryVerdict:
    """The verdict on the last statement of a script.

    `given` are definitions that the context has already: a repair may change them, and shows those
    that it does.
    """

    def judged(statements: Script) -> tuple[OperatorVerdict, ...]:
        last = _asked(statements[-1])
        around = context.after(statements[:-1])
        plan = around.plan(last)
        return () if plan is None else operators_of(plan, around.declared)

    own = (*script[:-1], _asked(script[-1]))
    operators = judged(own)
    found: list[str] = []
    if not all(operator.bounded for operator in operators):
        for repaired in islice(repairs((*given, *own), context, operators, judged), most_repairs):
            shown = [x for x in repaired[:-1] if x not in given]
            found.append(";\n".join(map(to_sql, (*shown, repaired[-1]))))
    return MemoryVerdict(to_sql(own[-1]), operators, tuple(found))


def _asked(statement: s.Statement) -> s.Query | s.CreateView:
    match statement:
        case s.Explain(of=of):
            return of
        case s.Query() | s.CreateView():
            return statement
    raise UnsupportedError(
        "Only a query or a view has a verdict. Write a SELECT or CREATE VIEW last.",
        context=statement.context(),
    )


def context_of(
    sources: Mapping[str, str],
    integer_time: bool = False,
    domains: Mapping[str, object] = MappingProxyType({}),
) -> CheckContext:
    """What there is to read where there are only these sources."""
    analyser = LocalAnalyser()
    entries: dict[str, Entry] = {}
    time: pa.DataType = pa.int64() if integer_time else TIMESTAMP
    for column in domains:
        if column.partition(".")[0] not in sources:
            raise PlanError(f"domains: {column!r} names no source; write it as 'source.column'")
    for name, text in sources.items():
        allowed = {
            column.partition(".")[2]: values
            for column, values in domains.items()
            if column.partition(".")[0] == name
        }
        found = described(name, text, analyser, integer_time, allowed)
        entries[name] = found
        assert found.time is not None
        time = found.plan.schema.field(found.time).type
    return CheckContext(Catalog(entries, time), analyser, Declared())
