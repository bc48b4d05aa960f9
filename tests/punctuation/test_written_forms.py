"""Text, JSON and XML: whatever is written is read back, and what cannot be read is pointed at."""

import json
from contextlib import suppress

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import PlanError, SqlContext
from penstock.punctuation import (
    ANY,
    NONE,
    Constant,
    Punctuation,
    Range,
    ValueList,
    text,
)
from penstock.testing import punctuation_json as json_form
from penstock.testing import punctuation_xml as xml_form
from tests import types
from tests.punctuation import small_domains

TEMPDATA = pa.schema(
    [("sid", pa.string()), ("hour", pa.int32()), ("min", pa.int32()), ("currtmp", pa.int32())]
)
EVENING = Punctuation.of(TEMPDATA, hour=Range(17, 20, True, False))


def assert_round_trips(p: Punctuation) -> None:
    written = text.write(p), json_form.write(p), xml_form.write(p, "tempdata")
    for form, one in zip((text, json_form, xml_form), written, strict=True):
        assert repr(form.parse(one, p.schema).patterns) == repr(p.patterns), one
        assert form.parse(f"  {one}\n", p.schema).schema == p.schema


def test_the_form_of_the_language() -> None:
    schema = pa.schema(
        [("a", pa.string()), ("b", pa.int32()), ("c", pa.date32()), ("d", pa.int8())]
    )
    p = text.parse("<*, [17,20), *, {1,2}>", schema)
    assert p.patterns == (ANY, Range(17, 20, True, False), ANY, ValueList((1, 2)))
    assert text.write(p) == "<*, [17,20), *, {1,2}>"


def test_the_xml_of_the_paper() -> None:
    written = """<punct:tempdata>
        <sid>*</sid>
        <hour>[17,20)</hour>
        <min>*</min>
        <currtmp>*</currtmp>
        </punct:tempdata>"""
    assert xml_form.parse(written, TEMPDATA, "tempdata") == EVENING
    assert xml_form.write(EVENING, "tempdata") == (
        '<punct:tempdata xmlns:punct="urn:penstock:punct"><sid>*</sid><hour>[17,20)</hour>'
        "<min>*</min><currtmp>*</currtmp></punct:tempdata>"
    )


def test_json() -> None:
    p = Punctuation.of(TEMPDATA, hour=Range(17, 20, True, False), sid=ValueList(("S01", None)))
    assert json.loads(json_form.write(p)) == {
        "sid": {"in": ["S01", None]},
        "hour": {"range": {"ge": 17, "lt": 20}},
    }


@pytest.mark.parametrize(
    ("written", "pattern"),
    [
        ("()", NONE),
        ("\N{EMPTY SET}", NONE),
        ("(,)", Range()),
        ("( , 5 ]", Range(None, 5)),
        ("[5,]", Range(5, None)),
        ("null", Constant(None)),
        ("{ 1 , null }", ValueList((1, None))),
        ("-17", Constant(-17)),
    ],
)
def test_spellings(written: str, pattern: object) -> None:
    assert text.parse_pattern(written, pa.int32()) == pattern


@pytest.mark.parametrize(
    "value", ["null", "*", "it's", 'a"b', "<>", ",]})", " x ", "\\", "\\n", "a\nb\0", "", "\ufffe"]
)
def test_any_string_is_unambiguous(value: str) -> None:
    schema = pa.schema([("a", pa.string()), ("odd name's", pa.string())])
    assert_round_trips(Punctuation(schema, (Constant(value), Range(value, value))))
    assert_round_trips(Punctuation(schema, (ValueList((value, None)), Constant(None))))


@pytest.mark.parametrize("name", [name for name in types.VALUES if name != "null"])
def test_values_of_every_type_round_trip(name: str) -> None:
    kind, values = types.VALUES[name]
    schema = pa.schema([("v", kind), ("w", kind)])
    for value in values:
        assert_round_trips(Punctuation(schema, (Constant(value), Constant(None))))
    assert_round_trips(Punctuation(schema, (ValueList((*values, None)), ANY)))


@given(st.data())
@settings(max_examples=60)
def test_every_pattern_round_trips(data: st.DataObject) -> None:
    names = data.draw(st.lists(small_domains.NAMES, min_size=1, max_size=3))
    schema = pa.schema([(f"c{i}", small_domains.VALUES[name][0]) for i, name in enumerate(names)])
    drawn = tuple(data.draw(small_domains.patterns(name)) for name in names)
    p = Punctuation(schema, drawn)
    assert_round_trips(p)
    assert_round_trips(p.canonical())


@given(st.text())
@settings(max_examples=60)
def test_strings_round_trip(value: str) -> None:
    assert_round_trips(Punctuation(pa.schema([("v", pa.string())]), (Constant(value),)))


@given(st.text("<>*[](){},'\"0123456789null \\x", max_size=20))
@settings(max_examples=60)
def test_text_is_read_or_refused(written: str) -> None:
    schema = pa.schema([("a", pa.int32()), ("b", pa.string())])
    with suppress(PlanError):
        p = text.parse(written, schema)
        assert text.parse(text.write(p), schema) == p


@pytest.mark.parametrize(
    ("written", "position", "message"),
    [
        ("*, *, *, *", 0, "found '*' at position 1, expected a punctuation, like <*, [17,20)"),
        ("<*, *, *>", 8, "expected a comma and the pattern of column 'currtmp'"),
        ("<*, *, *, *, *>", 11, "found ',' at position 12, expected the end, > after 4 patterns"),
        ("<*, *, *, *> x", 13, "expected nothing more"),
        ("<S01, *, *, *>", 1, "expected a pattern for column 'sid': *, a value (a text in quotes"),
        ("<*, 1.5, *, *>", 4, "expected a pattern for column 'hour'"),
        ("<*, [1 2], *, *>", 5, "found '1 2' at position 6, expected a number like 17"),
        ("<*, [1,2, *, *>", 8, "expected the end of a range, ] or )"),
        ("<*, [null,2], *, *>", 5, "a range has no null"),
        ("<*, {1,}, *, *>", 7, "expected a number like 17"),
        ("<*, {1;2}, *, *>", 5, "found '1;2'"),
        ("<*, 99999999999, *, *>", 4, "expected a pattern for column 'hour'"),
        ("<'a, *, *, *>", 1, "expected a pattern for column 'sid'"),
        ("<*, *, *, *", 11, "found the end of the text at position 12, expected the end, >"),
    ],
)
def test_errors_in_text(written: str, position: int, message: str) -> None:
    with pytest.raises(PlanError) as caught:
        text.parse(written, TEMPDATA)
    assert message in str(caught.value)
    (context,) = caught.value.getQueryContext()
    assert isinstance(context, SqlContext)
    assert context.start == position


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{", "not JSON: Expecting property name enclosed in double quotes at position 2"),
        ("[]", "found [] at $, expected an object with columns of ['sid'"),
        ('{"room": "*"}', """found "room" at $, expected a column of ['sid'"""),
        ('{"hour": 17}', 'found 17 at $.hour, expected "*", {"eq": value}'),
        ('{"hour": {"in": [1, "x"]}}', 'found "x" at $.hour.in[1], expected a number like 17'),
        (
            '{"hour": {"range": {"ge": 1, "gt": 2}}}',
            'at $.hour.range, expected at most one of "ge"',
        ),
        ('{"hour": {"range": {"ge": null}}}', "found null at $.hour.range.ge, expected a number"),
        ('{"sid": {"eq": 1}}', "found 1 at $.sid.eq, expected a text in quotes"),
    ],
)
def test_errors_in_json(written: str, message: str) -> None:
    with pytest.raises(PlanError) as caught:
        json_form.parse(written, TEMPDATA)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("written", "fragment", "message"),
    [
        ("<punct:t><sid>*</hour></punct:t>", None, "mismatched tag"),
        ("<t><sid>*</sid></t>", "<", "expected an element in the namespace punct:"),
        ("<punct:t><room>*</room></punct:t>", "<", "found column 'room', expected each of ['sid'"),
        ("<punct:t><hour>x</hour></punct:t>", "x", "column 'hour': not a punctuation: found 'x'"),
        ("<punct:t><hour>*</hour><hour>*</hour></punct:t>", "<", "'hour' a second time"),
        ("<!DOCTYPE x><punct:t/>", "<", "found a document type"),
    ],
)
def test_errors_in_xml(written: str, fragment: str | None, message: str) -> None:
    with pytest.raises(PlanError) as caught:
        xml_form.parse(written, TEMPDATA)
    assert message in str(caught.value)
    (context,) = caught.value.getQueryContext()
    assert fragment is None or context.fragment() == fragment


def test_xml_of_another_stream_is_refused() -> None:
    with pytest.raises(PlanError, match="expected punct:bids"):
        xml_form.parse(xml_form.write(EVENING, "tempdata"), TEMPDATA, "bids")
