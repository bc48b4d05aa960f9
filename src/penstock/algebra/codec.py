"""Plans, operators and their parts as JSON, to be kept in a log and to be told apart.

An object is its kind and its parts by name (`penstock.kinds`); a part that has its default is left
out. Arrow's types and values are written as in `arrow_json`. Only registered kinds are ever built
from JSON, and nothing else is called.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from typing import Any

import pyarrow as pa

from penstock.algebra.arrow_json import (
    schema_from_json,
    schema_to_json,
    type_from_json,
    type_to_json,
    value_from_json,
    value_to_json,
)
from penstock.algebra.expr import Literal
from penstock.algebra.plan import Node
from penstock.errors import PenstockError, StateError
from penstock.kinds import build, kind_of

_PLAIN = (type(None), bool, int, str, float)
_WRONG = (PenstockError, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What comes of parts that are not of the types that they should be."""


def encode(value: Any) -> Any:
    """A plan is a list of its nodes, which refer to each other: several may read one."""
    nodes: list[Any] = []
    whole = _encode(value, {}, nodes)
    return {"nodes": nodes, "value": whole} if nodes else whole


def _encode(value: Any, known: dict[int, Any], nodes: list[Any] | None = None) -> Any:
    """What several others have as a part is encoded once, and `known` from then on."""
    if isinstance(value, _PLAIN):
        return value
    if id(value) not in known:
        found = _encode_parts(value, known, nodes)
        if nodes is not None and isinstance(value, Node):
            nodes.append(found)
            found = {"node": len(nodes) - 1}
        known[id(value)] = found
    return known[id(value)]


def _encode_parts(value: Any, known: dict[int, Any], nodes: list[Any] | None) -> Any:
    match value:
        case Literal(constant, kind):
            return {"literal": value_to_json(constant, kind), "type": type_to_json(kind)}
        case pa.Schema():
            return {"schema": _schema(value)}
        case pa.DataType():
            return {"type": type_to_json(value)}
    if type(value) in (tuple, list):
        return [_encode(item, known, nodes) for item in value]
    own = kind_of(type(value))
    parts = {name: _encode(part, known, nodes) for name, part in own.parts(value)}
    return {"is": own.written, **parts}


def decode(data: Any) -> Any:
    """The value; an error where it names anything that is not registered."""
    try:
        match data:
            case {"nodes": list() as written, "value": whole}:
                nodes: list[Any] = []
                for node in written:
                    nodes.append(_decode(node, nodes))
                return _decode(whole, nodes)
        return _decode(data, [])
    except StateError:
        raise
    except _WRONG as error:
        problem = f"it is not what this version of Penstock writes ({error!r})"
        raise StateError("definition", problem) from error


def _decode(data: Any, nodes: list[Any]) -> Any:
    match data:
        case {"node": int() as place}:
            return nodes[place]
        case {"is": name, **values}:
            return build(name, {str(key): _decode(item, nodes) for key, item in values.items()})
        case {"literal": value, "type": kind}:
            return Literal(value_from_json(value, type_from_json(kind)), type_from_json(kind))
        case {"schema": list() as columns}:
            return schema_from_json(columns)
        case {"type": kind}:
            return type_from_json(kind)
        case list():
            return tuple(_decode(item, nodes) for item in data)
        case dict():
            raise StateError("definition", f"an object of no kind, with {', '.join(data)}")
    return data


def fingerprint(value: Any) -> str:
    """A short name for a value: equal for equal values, in this process and any other.

    Kinds go into it by their names, with a version that is not the first, and fields without those
    that have their defaults: it stays the same when classes move, or have one more field. State
    that was written by an operator of another meaning has another name, and is missed.
    """
    return digest(_encode(value, {}))


def digest(data: Any) -> str:
    """A short name for a value of JSON."""
    text = json.dumps(data, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


@lru_cache
def _schema(schema: pa.Schema) -> list[Any]:
    return schema_to_json(schema)
