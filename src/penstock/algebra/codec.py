"""Plans, operators and their parts as JSON, to be kept in a log and to be told apart.

A dataclass or named tuple becomes an object with its class and fields; Arrow types and values are
kept in Arrow's own format. Only classes of this package are ever made from JSON.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
from dataclasses import fields, is_dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa

from penstock.algebra.expr import Literal
from penstock.algebra.plan import Node
from penstock.errors import StateError

_PACKAGE = "penstock."
_PLAIN = (type(None), bool, int, str, float)


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
            return {"literal": _scalar_text(constant, kind)}
        case pa.Schema():
            return {"schema": _schema_text(value)}
        case pa.DataType():
            return {"type": _type_text(value)}
    path, names = _form(value.__class__)
    if path:
        parts = {name: _encode(getattr(value, name), known, nodes) for name in names}
        return {"class": path, **parts}
    return [_encode(item, known, nodes) for item in value]


@lru_cache
def _form(kind: type) -> tuple[str, tuple[str, ...]]:
    """How objects of a class are named, and what they are made of; lists have no name."""
    if is_dataclass(kind):
        names = tuple(field.name for field in fields(kind))
    elif issubclass(kind, tuple) and hasattr(kind, "_fields"):
        names = tuple(kind._fields)
    elif issubclass(kind, tuple | list):
        return "", ()
    else:
        raise TypeError(f"{kind.__name__} has no JSON form")
    return f"{kind.__module__.removeprefix(_PACKAGE)}.{kind.__qualname__}", names


def decode(data: Any) -> Any:
    match data:
        case {"nodes": list() as written, "value": whole}:
            nodes: list[Any] = []
            for node in written:
                nodes.append(_decode(node, nodes))
            return _decode(whole, nodes)
    return _decode(data, [])


def _decode(data: Any, nodes: list[Any]) -> Any:
    match data:
        case {"node": int() as place}:
            return nodes[place]
        case {"class": name, **values}:
            parts = {str(key): _decode(item, nodes) for key, item in values.items()}
            return _class(name)(**parts)
        case {"literal": text}:
            column = pa.ipc.open_stream(base64.b64decode(text)).read_all().column(0)
            return Literal(column[0].as_py(), column.type)
        case {"schema": text}:
            return _schema(text)
        case {"type": text}:
            return _schema(text).field(0).type
        case list():
            return tuple(_decode(item, nodes) for item in data)
    return data


def fingerprint(value: Any) -> str:
    """A short name for a value: equal for equal values, in this process and any other."""
    text = json.dumps(_encode(value, {}), sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


def _class(path: str) -> Any:
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(_PACKAGE + module), name)
    except (ImportError, AttributeError) as error:
        raise StateError(path, "this version of Penstock has no such operator") from error


@lru_cache
def _schema_text(schema: pa.Schema) -> str:
    return _text(schema.serialize())


@lru_cache
def _type_text(kind: pa.DataType) -> str:
    return _text(pa.schema([("", kind)]).serialize())


def _scalar_text(value: Any, kind: pa.DataType) -> str:
    batch = pa.RecordBatch.from_arrays([pa.array([value], type=kind)], names=["value"])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return _text(sink.getvalue())


def _text(buffer: pa.Buffer) -> str:
    return base64.b64encode(buffer).decode()


def _schema(text: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))
