"""Texts and what becomes of them, as `statements/*.sql` says; see `fixtures` for adding one."""

import pytest

from penstock.errors import ParseError
from penstock.sql import parse, to_sql
from penstock.sql.statements import CreateStream, CreateView, Query
from penstock.sql.text import Span, span_of
from tests.sql.fixtures import Case, cases, outcome

CASES = list(cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.file}: {case.title}")
def test_outcome(case: Case) -> None:
    assert outcome(case.sql) == case.expected


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if not case.file.startswith("errors")],
    ids=lambda case: f"{case.file}: {case.title}",
)
def test_canonical_text_says_the_same(case: Case) -> None:
    for statement in parse(case.sql):
        assert parse(to_sql(statement)) == [statement]


def test_every_error_file_holds_only_errors_and_no_other_does() -> None:
    for case in CASES:
        assert case.expected.startswith("[") == case.file.startswith("errors"), case.title


def test_titles_are_unique() -> None:
    names = [(case.file, case.title) for case in CASES]
    assert len(names) == len(set(names))


def test_a_statement_knows_its_place() -> None:
    text = "SHOW VIEWS; -- a view\nCREATE VIEW v AS\nSELECT a FROM s ;"
    view = parse(text)[1]
    assert isinstance(view, CreateView)
    assert view.text == "CREATE VIEW v AS\nSELECT a FROM s"
    assert view.query.text == "SELECT a FROM s"
    assert view.context(view.name.span).fragment() == "v"
    assert view.context().summary().startswith("== SQL (line 2, position 1) ==")


def test_a_tree_knows_its_place() -> None:
    text = "SELECT a, b + f(c) FROM s [RANGE 5 MINUTES] SYNC BY x"
    (query,) = parse(text)
    assert isinstance(query, Query)
    span = span_of(query.tree.expressions[1])
    assert span is not None
    assert text[span.start : span.end] == "b + f(c"
    table = query.tree.args["from_"].this
    window = table.args["window"].span
    assert text[window.start : window.end] == "[RANGE 5 MINUTES]"
    assert span_of(table.args["sync"]) == Span(len(text) - 1, len(text))


def test_places_do_not_matter_to_equality() -> None:
    one, other = parse("CREATE STREAM t OVER s KEY a; create  stream t over s key (a) -- !")
    assert isinstance(one, CreateStream)
    assert isinstance(other, CreateStream)
    assert one == other
    assert hash(one) == hash(other)
    assert one.span != other.span


def test_an_error_is_one_of_ours_with_a_condition_and_a_state() -> None:
    with pytest.raises(ParseError) as raised:
        parse("SELECT a FORM s")
    assert raised.value.getCondition() == "PARSE_SYNTAX_ERROR"
    assert raised.value.getSqlState() == "42601"
    (context,) = raised.value.getQueryContext()
    assert context.fragment() == "FORM"
    assert (context.startIndex(), context.stopIndex()) == (9, 12)


def test_a_statement_that_is_nested_too_deeply() -> None:
    with pytest.raises(ParseError, match="nested too deeply"):
        parse("SELECT " + "(" * 5000 + "1" + ")" * 5000)
