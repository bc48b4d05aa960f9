"""The JSON form of a punctuation: an object with the constrained columns.

    {"hour": {"range": {"ge": 17, "lt": 20}}, "sid": {"in": ["S01", null]}, "min": {"eq": 30}}

A column that is left out, or is `"*"`, is the wildcard; `{"in": []}` is the empty pattern; a range
has at most one of `ge`, `gt` and one of `le`, `lt`. Values are written as in `literals.to_json`.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

import pyarrow as pa

from penstock.errors import PlanError, SqlContext
from penstock.punctuation import literals
from penstock.punctuation.domain import Domain, domains_of
from penstock.punctuation.pattern import (
    ANY,
    NONE,
    Constant,
    Empty,
    Pattern,
    Range,
    ValueList,
    Wildcard,
    checked,
)
from penstock.punctuation.punctuation import Punctuation

_LOW, _HIGH = {"ge": True, "gt": False}, {"le": True, "lt": False}
_FORMS = (
    '"*", {"eq": value}, {"in": [values]} or {"range": {"ge" | "gt": value, "le" | "lt": value}}'
)


def write(punctuation: Punctuation) -> str:
    return json.dumps(to_json(punctuation), ensure_ascii=False)


def parse(text: str, schema: pa.Schema) -> Punctuation:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        place = SqlContext(text, error.pos, error.pos + 1)
        raise PlanError(
            f"not JSON: {error.msg} at position {error.pos + 1}", context=place
        ) from None
    return from_json(data, schema)


def to_json(punctuation: Punctuation) -> dict[str, Any]:
    fields = zip(punctuation.schema, punctuation.patterns, strict=True)
    return {f.name: _pattern_json(p, f.type) for f, p in fields if p != ANY}


def from_json(data: Any, schema: pa.Schema) -> Punctuation:
    if not isinstance(data, dict):
        _fail("$", data, f"an object with columns of {schema.names}")
    for name in data:
        if name not in schema.names:
            _fail("$", name, f"a column of {schema.names}")
    domains = zip(schema.names, domains_of(schema), strict=True)
    patterns = (_pattern(data.get(name, "*"), domain, f"$.{name}") for name, domain in domains)
    return Punctuation(schema, tuple(patterns))


def _pattern_json(pattern: Pattern, kind: pa.DataType) -> Any:
    match pattern:
        case Wildcard():
            return "*"
        case Empty():
            return {"in": []}
        case Constant(value):
            return {"eq": literals.to_json(value, kind)}
        case ValueList(values):
            return {"in": [literals.to_json(value, kind) for value in values]}
        case Range(low, high, low_closed, high_closed):
            ends = {}
            if low is not None:
                ends["ge" if low_closed else "gt"] = literals.to_json(low, kind)
            if high is not None:
                ends["le" if high_closed else "lt"] = literals.to_json(high, kind)
            return {"range": ends}


def _pattern(data: Any, domain: Domain, path: str) -> Pattern:
    match data:
        case "*":
            return ANY
        case {"eq": value, **rest} if not rest:
            return Constant(_value(value, domain, f"{path}.eq"))
        case {"in": list(values), **rest} if not rest:
            found = [_value(v, domain, f"{path}.in[{i}]") for i, v in enumerate(values)]
            return ValueList(tuple(found)) if found else NONE
        case {"range": dict(ends), **rest} if not rest:
            return _range(ends, domain, f"{path}.range")
    _fail(path, data, _FORMS)


def _range(ends: dict[str, Any], domain: Domain, path: str) -> Pattern:
    lows, highs = ([name for name in ends if name in side] for side in (_LOW, _HIGH))
    if len(lows) > 1 or len(highs) > 1 or len(lows) + len(highs) < len(ends):
        _fail(path, ends, 'at most one of "ge", "gt" and one of "le", "lt"')
    values = {}
    for name, value in ends.items():
        values[name] = _value(value, domain, f"{path}.{name}")
        if values[name] is None:
            _fail(f"{path}.{name}", None, f"{literals.expected(domain.type)}: a range has no null")
    low, high = (names[0] if names else "" for names in (lows, highs))
    closed = _LOW.get(low, False), _HIGH.get(high, False)
    found = Range(values.get(low), values.get(high), *closed)
    try:
        return checked(found, domain)
    except PlanError as error:
        raise PlanError(f"not a punctuation: at {path}: {error.args[0]}") from None


def _value(data: Any, domain: Domain, path: str) -> Any:
    try:
        return domain.checked(literals.from_json(data, domain.type))
    except (*literals.READ_ERRORS, PlanError):
        _fail(path, data, literals.expected(domain.type))


def _fail(path: str, found: Any, wanted: str) -> NoReturn:
    text = json.dumps(found, default=str)
    raise PlanError(f"not a punctuation: found {text} at {path}, expected {wanted}")
