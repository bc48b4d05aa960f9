"""Actions and states as JSON: their fields by their written names, as the types of these say.

A state within another needs no name for its kind: it follows from the field, and a version is
written where it is not the first. Numbers and texts are checked, so that what comes from a file is
of the type that it claims to be.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from penstock.errors import StateError
from penstock.kinds import Kind, kind_of

JSON: TypeAlias = Any
"""Also the type of a field that is JSON already."""
_Reader: TypeAlias = Callable[[JSON], Any]


def to_json(value: Any) -> JSON:
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, Mapping):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, tuple | list):  # named ones, too
        return [to_json(item) for item in value]
    return object_to_json(value)


def object_to_json(value: Any) -> dict[str, JSON]:
    """The fields of a state or action that have not their defaults."""
    own = kind_of(type(value))
    asis = _asis(own)
    found = {name: part if name in asis else to_json(part) for name, part in own.parts(value)}
    return found if own.version == 1 else {"is": own.written, **found}


def object_from_json(made: type[Any], data: JSON) -> Any:
    if not isinstance(data, dict):
        raise ValueError(f"{data!r} is not an object")
    own = kind_of(made)
    readers, written = _readers(own), data.get("is", own.name)
    if written != own.written:
        raise StateError(str(written), f"this version of Penstock expects {own.written!r} there")
    parts = {name: item for name, item in data.items() if name != "is"}
    return own.build({name: readers.get(name, _same)(item) for name, item in parts.items()})


@cache
def _readers(own: Kind) -> Mapping[str, _Reader]:
    hints = get_type_hints(own.made)
    return {written: _reader(hints[name]) for written, name in own.fields.items()}


@cache
def _asis(own: Kind) -> frozenset[str]:
    hints = get_type_hints(own.made)
    asis = (JSON, Mapping[str, JSON])
    return frozenset(written for written, name in own.fields.items() if hints[name] in asis)


def _reader(hint: Any) -> _Reader:
    args = get_args(hint)
    origin = get_origin(hint)
    if hint is JSON:
        return _same
    if origin is tuple and len(args) == 2 and args[1] is Ellipsis:
        each = _reader(args[0])
        return lambda data: tuple(map(each, _checked(data, list)))
    if origin is tuple:
        readers = tuple(map(_reader, args))
        return lambda data: tuple(
            read(item) for read, item in zip(readers, _checked(data, list), strict=True)
        )
    if isinstance(origin, type) and issubclass(origin, Mapping):
        value = _reader(args[1])
        return lambda data: {key: value(item) for key, item in _checked(data, dict).items()}
    if origin in (types.UnionType, Union):
        plain = tuple(args)
        return lambda data: _checked(data, *plain)
    if hint in (int, str, bool, float):
        return lambda data: _checked(data, hint)
    if issubclass(hint, tuple):
        if kind_of(hint).version != 1:
            raise TypeError(f"a list has no place for the version of {kind_of(hint).written!r}")
        return lambda data: hint(*(_checked(item, int) for item in _checked(data, list)))
    return lambda data: object_from_json(hint, data)


def _checked(data: JSON, *kinds: type[Any]) -> JSON:
    if type(data) not in kinds:
        raise ValueError(f"{data!r} is not what it should be")
    return data


def _same(data: JSON) -> JSON:
    return data
