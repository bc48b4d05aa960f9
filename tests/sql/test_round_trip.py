"""Law: parse(to_sql(s)) == [s], for every statement s. And no text makes the parser stumble."""

from contextlib import suppress

from hypothesis import given, settings
from hypothesis import strategies as st
from sqlglot import exp

from penstock.errors import PenstockError
from penstock.sql import parse, to_sql
from penstock.sql.dialect import Penstock, window_sql
from penstock.sql.statements import (
    Aspect,
    Between,
    ByAll,
    ByColumn,
    ByDomain,
    ByOrder,
    ColumnDefinition,
    CreateSource,
    CreateStream,
    CreateTable,
    CreateView,
    Describe,
    Drop,
    Emit,
    EventTime,
    Explain,
    Format,
    Kind,
    Late,
    OneOf,
    Output,
    Pattern,
    Punctuate,
    Query,
    RegisterSource,
    Show,
    Statement,
)
from penstock.sql.text import Name
from penstock.sql.windows import (
    NO_TIME,
    Duration,
    FixedWindow,
    NowWindow,
    RangeWindow,
    RowsWindow,
    UnboundedWindow,
    Window,
)
from tests.sql.fixtures import cases

WORDS = ("a", "R", "now", "mod", "emit", "SYNC", "key", "OP", "streamed", "if", "time", "delay")
KEYWORDS = sorted(word for word in Penstock.Tokenizer.KEYWORDS if word.isidentifier())

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)


@st.composite
def names_of_all_kinds(draw: st.DrawFn) -> Name:
    kinds = (st.sampled_from(WORDS), st.sampled_from(KEYWORDS), texts.filter(bool))
    return Name(draw(draw(st.sampled_from(kinds))))


names = names_of_all_kinds()
name_lists = st.lists(names, min_size=1, max_size=3).map(tuple)
microseconds = st.integers(1, 10**15) | st.sampled_from([1, 60]).map(lambda n: n * 10**6)
durations = st.builds(Duration, microseconds, st.booleans())
columns = st.builds(
    ColumnDefinition,
    names,
    st.sampled_from(["INT", "STRING", "DECIMAL(10, 2)", "ARRAY<INT>", "STRUCT<a: INT>", "CHAR(3)"]),
    st.booleans(),
)
schemas = st.lists(columns, min_size=1, max_size=3, unique_by=lambda c: c.name.text.upper()).map(
    tuple
)
formats = st.builds(
    Format,
    st.lists(st.sampled_from(["json", "a", "table"]), min_size=1, max_size=2).map(".".join),
    st.lists(st.tuples(texts, texts), max_size=2, unique_by=lambda o: o[0].lower()).map(tuple),
)
constants = (
    st.integers(0, 99).map(exp.Literal.number)
    | texts.map(exp.Literal.string)
    | st.sampled_from([exp.true(), exp.null(), exp.Neg(this=exp.Literal.number(1))])
)
low_or_high = st.tuples(st.none() | constants, st.none() | constants).filter(any)


@st.composite
def pattern_lists(draw: st.DrawFn) -> tuple[Pattern, ...]:
    found: list[Pattern] = []
    for column in draw(
        st.lists(names, min_size=1, max_size=3, unique_by=lambda name: name.text.upper())
    ):
        if draw(st.booleans()):
            values = draw(st.lists(constants, min_size=1, max_size=3))
            found.append(OneOf(column, tuple(values)))
        else:
            low, high = draw(low_or_high)
            opens = (
                low is not None and draw(st.booleans()),
                high is not None and draw(st.booleans()),
            )
            found.append(Between(column, low, high, *opens))
    return tuple(found)


@st.composite
def sources(draw: st.DrawFn) -> CreateSource:
    schema = draw(schemas)
    event_time = EventTime(draw(st.sampled_from(schema)).name, draw(durations | st.just(NO_TIME)))
    return CreateSource(
        draw(names),
        schema,
        draw(st.none() | formats),
        draw(st.sampled_from([None, event_time])),
        draw(st.sampled_from(Late)),
        draw(st.booleans()),
    )


@st.composite
def windows(draw: st.DrawFn) -> str:
    size, slide = draw(st.tuples(durations, durations))
    some: list[Window] = [
        RangeWindow(size),
        RangeWindow(size, Duration(slide.length, size.ticks)),
        FixedWindow(size),
        RowsWindow(size.length),
        RowsWindow(slide.length, draw(name_lists)),
        NowWindow(),
        UnboundedWindow(),
    ]
    return window_sql(draw(st.sampled_from(some)))


@st.composite
def relations(draw: st.DrawFn, depth: int) -> str:
    relation = draw(
        st.sampled_from(["s", "`select`", "R(s)", "R[x](t)", "RANGE(10)"])
        | (selects(depth - 1).map(lambda query: f"({query})") if depth else st.nothing())
    )
    if not relation.startswith("R"):
        relation += draw(st.just("") | windows().map(lambda window: f" [{window}]"))
        relation += draw(st.sampled_from(["", " SYNC BY x", " SYNC BY `y z`"]))
    return relation + draw(st.sampled_from(["", " q", " AS p"]))


@st.composite
def expressions(draw: st.DrawFn, depth: int = 2) -> str:
    if not depth:
        return draw(st.sampled_from(["a", "t.b", "1", "'x'", "NULL", "NOW()", "now", "`c d`"]))
    one, two, three = (draw(expressions(depth=depth - 1)) for _ in range(3))
    forms = [
        f"({one} + {two}) * {three}",
        f"{one} mod 2",
        f"f({one}, {two})",
        f"CASE WHEN {one} THEN {two} ELSE {three} END",
        f"{one} BETWEEN {two} AND {three}",
        f"{one} IN ({two}, {three})",
        f"NOT {one} IS NULL",
        f"CAST({one} AS INT)",
        f"{one} - INTERVAL 5 MINUTES",
        f"1 < {one}",
        f"window({one}, '5 seconds')",
        f"sum({one}) OVER (PARTITION BY {two} ORDER BY {three} DESC)",
    ]
    return f"({draw(st.sampled_from(forms))})"


@st.composite
def selects(draw: st.DrawFn, depth: int = 1) -> str:
    parts = [
        "SELECT",
        draw(st.sampled_from(["", "DISTINCT"])),
        draw(st.sampled_from(["*", "t.*", "a AS b, "])),
    ]
    if parts[-1].endswith(", "):
        parts.append(draw(expressions()))
    parts.append(f"FROM {draw(relations(depth))}")
    joins = ["", ",", "JOIN", "LEFT JOIN", "FULL JOIN", "LEFT ANTI JOIN", "CROSS JOIN"]
    if join := draw(st.sampled_from(joins)):
        parts.append(f"{join} {draw(relations(depth))}")
        parts.append(f"ON {draw(expressions())}" if join not in (",", "CROSS JOIN") else "")
    for clause in ("WHERE", "GROUP BY", "HAVING", "ORDER BY"):
        if draw(st.integers(0, 3)) == 0:
            parts.append(f"{clause} {draw(expressions())}")
    if depth and draw(st.integers(0, 3)) == 0:
        kind = draw(st.sampled_from(["UNION", "UNION ALL", "EXCEPT", "INTERSECT"]))
        parts = [f"({' '.join(parts)}) {kind} ({draw(selects(depth - 1))})"]
    return " ".join(filter(None, parts))


@st.composite
def queries(draw: st.DrawFn) -> Query:
    (query,) = parse(draw(selects()))
    assert isinstance(query, Query)
    output = (
        draw(st.none() | st.sampled_from(Output)) if isinstance(query.tree, exp.Select) else None
    )
    return Query(query.tree, output, draw(st.sampled_from(Emit)))


flags = st.booleans()
views = st.builds(CreateView, names, queries(), st.just(()) | name_lists, flags, from_now=flags)
schemes = (
    st.builds(ByOrder, name_lists)
    | st.builds(ByColumn, names)
    | st.builds(ByDomain, pattern_lists())
    | st.builds(ByAll, names, names, name_lists)
)
statements: st.SearchStrategy[Statement] = (
    sources()
    | st.builds(RegisterSource, names, schemas, st.integers(1, 65535))
    | st.builds(CreateTable, names, schemas, st.none() | formats, flags)
    | st.builds(
        CreateStream,
        names,
        names,
        st.just(()) | name_lists,
        st.none() | names,
        st.lists(schemes, max_size=2).map(tuple),
        flags,
    )
    | views
    | queries()
    | st.builds(Punctuate, names, pattern_lists())
    | st.builds(Explain, st.sampled_from(Aspect), queries() | views)
    | st.builds(Drop, st.sampled_from(Kind), names, flags)
    | st.builds(Show, st.sampled_from(Kind))
    | st.builds(Describe, names)
)


@settings(max_examples=30)
@given(st.lists(statements, min_size=1, max_size=2))
def test_what_is_written_is_read(script: list[Statement]) -> None:
    assert parse(";\n".join(map(to_sql, script))) == script


WORDS_OF_ALL_CASES = sorted({word for case in cases() for word in case.sql.split()})


@st.composite
def damaged_texts(draw: st.DrawFn) -> str:
    words = draw(st.sampled_from([case.sql for case in cases()])).split()
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(words)))
        new = draw(st.lists(st.sampled_from(WORDS_OF_ALL_CASES), max_size=1))
        words[place : place + draw(st.integers(0, 2))] = new
    return " ".join(words)


@settings(max_examples=80)
@given(damaged_texts())
def test_a_damaged_text_is_read_or_refused(text: str) -> None:
    with suppress(PenstockError):
        for statement in parse(text):
            to_sql(statement)
