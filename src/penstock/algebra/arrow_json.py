"""Arrow's types and values as JSON: the same text for the same type or value, and made to be read.

    int64                 "int64"
    timestamp with zone   ["timestamp", "us", "UTC"]
    list<item: int64>     ["list", ["int64"]]

A field is its name and type, and `false` where it is never NULL; items of lists and maps have no
name, for two such types are equal whatever it is. Times are the numbers that Arrow
has for them, decimals and NaN are texts, bytes are base64.
"""

from __future__ import annotations

import base64
import math
from functools import lru_cache
from typing import Any

import pyarrow as pa

_PLAIN = {
    str(kind): kind
    for kind in (
        pa.null(),
        pa.bool_(),
        *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
        *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
        *(pa.float16(), pa.float32(), pa.float64()),
        *(pa.string(), pa.large_string(), pa.binary(), pa.large_binary()),
        *(pa.date32(), pa.date64(), pa.time32("s"), pa.time32("ms"), pa.time64("us")),
        *(pa.time64("ns"), *map(pa.duration, ("s", "ms", "us", "ns"))),
        pa.month_day_nano_interval(),
    )
}


@lru_cache
def type_to_json(kind: pa.DataType) -> Any:
    if str(kind) in _PLAIN:
        return str(kind)
    if pa.types.is_timestamp(kind):
        return ["timestamp", kind.unit, *([kind.tz] if kind.tz else [])]
    if pa.types.is_decimal(kind):
        return ["decimal", kind.bit_width, kind.precision, kind.scale]
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        name = "list" if pa.types.is_list(kind) else "large list"
        return [name, _item_to_json(kind.value_field)]
    if pa.types.is_struct(kind):
        return ["struct", *map(_field_to_json, kind)]
    if pa.types.is_map(kind):
        return ["map", type_to_json(kind.key_type), _item_to_json(kind.item_field)]
    if pa.types.is_dictionary(kind):
        return ["dictionary", type_to_json(kind.index_type), type_to_json(kind.value_type)]
    if pa.types.is_fixed_size_binary(kind):
        return ["bytes", kind.byte_width]
    raise TypeError(f"{kind} is not a type that can be kept")


def type_from_json(data: Any) -> pa.DataType:
    match data:
        case str():
            return _PLAIN[data]
        case ["timestamp", unit, *zone]:
            return pa.timestamp(unit, *zone)
        case ["decimal", int() as bits, precision, scale]:
            make = pa.decimal256 if bits == 256 else pa.decimal128
            return make(precision, scale)
        case ["list", value]:
            return pa.list_(_field_from_json(["item", *value]))
        case ["large list", value]:
            return pa.large_list(_field_from_json(["item", *value]))
        case ["struct", *parts]:
            return pa.struct(list(map(_field_from_json, parts)))
        case ["map", key, value]:
            return pa.map_(type_from_json(key), _field_from_json(["value", *value]))
        case ["dictionary", index, value]:
            return pa.dictionary(type_from_json(index), type_from_json(value))
        case ["bytes", int() as width]:
            return pa.binary(width)
    raise ValueError(f"{data!r} is not a type")


def schema_to_json(schema: pa.Schema) -> list[Any]:
    return [_field_to_json(field) for field in schema]


def schema_from_json(data: list[Any]) -> pa.Schema:
    return pa.schema([_field_from_json(field) for field in data])


def _field_to_json(field: pa.Field) -> list[Any]:
    return [field.name, type_to_json(field.type), *([] if field.nullable else [False])]


def _item_to_json(field: pa.Field) -> list[Any]:
    return _field_to_json(field)[1:]


def _field_from_json(data: Any) -> pa.Field:
    name, kind, *nullable = data
    return pa.field(name, type_from_json(kind), nullable=not nullable)


def value_to_json(value: Any, kind: pa.DataType) -> Any:
    return _plain(pa.scalar(value, kind).as_py(), kind)


def _plain(value: Any, kind: pa.DataType) -> Any:
    """Of a value as Arrow gives it."""
    if value is None:
        return None
    if pa.types.is_dictionary(kind):
        return _plain(value, kind.value_type)
    if pa.types.is_floating(kind):
        return float(value) if math.isfinite(value) else str(float(value))
    if pa.types.is_decimal(kind):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return pa.array([value], kind).view(f"int{kind.bit_width}")[0].as_py()
    if pa.types.is_struct(kind):
        return [_plain(value[field.name], field.type) for field in kind]
    if pa.types.is_map(kind):
        return [[_plain(k, kind.key_type), _plain(v, kind.item_type)] for k, v in value]
    if isinstance(value, list):
        return [_plain(item, kind.value_type) for item in value]
    return list(value) if pa.types.is_interval(kind) else value


def value_from_json(data: Any, kind: pa.DataType) -> Any:
    return pa.scalar(_value(data, kind), kind).as_py()


def _value(data: Any, kind: pa.DataType) -> Any:
    """What Arrow makes the value of."""
    if data is None:
        return None
    if pa.types.is_dictionary(kind):
        return _value(data, kind.value_type)
    if pa.types.is_floating(kind):
        return float(data)
    if pa.types.is_decimal(kind):
        return pa.scalar(data).cast(kind).as_py()
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return base64.b64decode(data)
    if pa.types.is_fixed_size_binary(kind):
        return base64.b64decode(data)
    if pa.types.is_interval(kind):
        return pa.MonthDayNano(data)
    if pa.types.is_temporal(kind):
        return pa.array([data], f"int{kind.bit_width}").view(kind)[0].as_py()
    if pa.types.is_struct(kind):
        return {f.name: _value(item, f.type) for f, item in zip(kind, data, strict=True)}
    if pa.types.is_map(kind):
        return [(_value(k, kind.key_type), _value(v, kind.item_type)) for k, v in data]
    if isinstance(data, list):
        return [_value(item, kind.value_type) for item in data]
    return data
