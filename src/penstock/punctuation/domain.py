"""The values of one attribute as ordered keys, so that every set of values is a list of cuts.

Law: `a < b` in SQL's order exactly where `key(a) < key(b)`, and no value lies between `key(a)` and
`after(key(a))`. So each type has a *next* value: integers, dates, times and decimals add one unit;
floats go to the next float, with NaN above infinity and -0.0 the same as 0.0; the next string is
the string with a zero byte added. Open and closed ends are then the same thing, one step apart.

Keys are int64 where they fit, else Python integers (wide decimals) or bytes. Arrays, structs, maps
and calendar intervals have keys that are equal where the values are, but their order means nothing.
"""

from __future__ import annotations

import datetime as dt
import struct
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import cached_property, lru_cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock import record
from penstock.errors import PlanError
from penstock.punctuation import literals
from penstock.record import Ints

Keys: TypeAlias = npt.NDArray[Any]
"""Sorted or not: int64, or Python objects."""

_INT64 = (-(2**63), 2**63 - 1)
_EXACT = Context(prec=80)
_NARROW_DIGITS = 18
_FEW = 16
_EPOCH = dt.datetime(1970, 1, 1)
_MICROS = {"s": 1_000_000, "ms": 1_000, "us": 1}


@dataclass(frozen=True)
class Domain:
    """The values of a type; without `nullable`, NULL is not one of them."""

    type: pa.DataType
    nullable: bool = True

    ordered = True
    terse = False
    """Whether the end of a range is written open or closed by what is shorter."""

    @property
    def first(self) -> Any:
        """The smallest key."""
        raise NotImplementedError

    @property
    def last(self) -> Any:
        """The largest key, None where there is none."""
        return None

    def key(self, value: Any) -> Any:
        raise NotImplementedError

    def value(self, key: Any) -> Any:
        """The inverse of `key`; ValueError or OverflowError where Python has no such value."""
        raise NotImplementedError

    def after(self, key: Any) -> Any:
        """The next key, None after the last."""
        raise NotImplementedError

    def before(self, key: Any) -> Any:
        """The key that `key` is next to, None where there is none."""
        raise NotImplementedError

    def next_of(self, keys: Keys) -> Keys:
        """The key after each; none of them may be the last."""
        return objects([self.after(key) for key in keys.tolist()])

    def column_keys(self, column: pa.Array) -> Any:
        """The keys of a column's values, to search with; those of NULLs are arbitrary."""
        raise NotImplementedError

    def searchable(self, keys: Keys) -> Any:
        """Keys in the form of `column_keys`."""
        raise NotImplementedError

    def rank(self, cuts: Keys, column: pa.Array) -> Ints:
        """For each row, how many of the ascending cuts are at most its value."""
        coded = self.column_keys(column).dictionary_encode()
        found = pc.search_sorted(self.searchable(cuts), coded.dictionary, side="right")
        rank = np.append(found.to_numpy().astype(np.int64), 0)
        return rank[coded.indices.fill_null(-1).to_numpy()]

    def index(self, points: Keys, column: pa.Array) -> Ints:
        """For each row, which of the keys is that of its value; -1 for none and for NULL."""
        found = pc.index_in(pa.array(self.column_keys(column)), pa.array(self.searchable(points)))
        place: Ints = found.fill_null(-1).to_numpy().astype(np.int64)
        return np.where(record.valid(column), place, -1) if column.null_count else place

    def keys(self, values: list[Any]) -> Keys:
        return objects([self.key(value) for value in values])

    def key_array(self, keys: list[Any]) -> Keys:
        return objects(keys)

    def keys_of(self, column: pa.Array) -> Keys:
        """The keys of a column without NULLs, to build sets from."""
        coded = self.column_keys(column).dictionary_encode()
        return objects(coded.dictionary.to_pylist())[coded.indices.to_numpy()]

    def checked(self, value: Any) -> Any:
        """The value as one of the type, exactly; PlanError where it is none."""
        if value is None:
            return None
        try:
            made = pa.scalar(value, type=self.type).as_py()
            if not isinstance(made, float) and not literals.is_nested(self.type) and made != value:
                raise ValueError
            if isinstance(made, dt.datetime) and made.tzinfo:
                return made.astimezone(dt.UTC)
        except literals.READ_ERRORS:
            wanted = literals.expected(self.type)
            raise PlanError(f"found {value!r}, expected {wanted}") from None
        return made


def objects(values: list[Any]) -> Keys:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


class Whole(Domain):
    """Types whose keys are all the integers from `first` to `last`, within int64."""

    @cached_property
    def bounds(self) -> tuple[int, int]:
        kind = self.type
        if pa.types.is_boolean(kind):
            return 0, 1
        if pa.types.is_decimal(kind):
            return 1 - 10**kind.precision, 10**kind.precision - 1
        if pa.types.is_time(kind):
            return 0, 86_400 * 10 ** {"s": 0, "ms": 3, "us": 6, "ns": 9}[kind.unit] - 1
        if pa.types.is_integer(kind) or pa.types.is_date(kind):
            return -(2 ** (kind.bit_width - 1)), 2 ** (kind.bit_width - 1) - 1
        return _INT64

    @property
    def first(self) -> int:
        return self.bounds[0]

    @property
    def last(self) -> int:
        return self.bounds[1]

    @property
    def terse(self) -> bool:  # type: ignore[override]
        kind = self.type
        return bool(
            pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_time(kind)
        )

    def checked(self, value: Any) -> Any:
        if type(value) is int and pa.types.is_integer(self.type):
            low, high = self.bounds
            if low <= value <= high:
                return value
        return super().checked(value)

    def key(self, value: Any) -> int:
        if isinstance(value, int):
            return int(value)
        if isinstance(value, Decimal):
            return int(_EXACT.scaleb(value, self.type.scale))
        return int(pa.scalar(value, type=self.type).value)

    def value(self, key: int) -> Any:
        kind = self.type
        if pa.types.is_integer(kind):
            return key
        if pa.types.is_boolean(kind):
            return bool(key)
        if pa.types.is_decimal(kind):
            return _EXACT.scaleb(Decimal(key), -kind.scale)
        if pa.types.is_timestamp(kind):
            moment = _EPOCH + dt.timedelta(microseconds=key * _MICROS[kind.unit])
            return moment.replace(tzinfo=dt.UTC) if kind.tz else moment
        made = pa.scalar(key, type=kind).as_py()
        if self.key(made) != key:
            raise ValueError(f"{key} of {kind} has no Python value")
        return made

    def after(self, key: int) -> int | None:
        return key + 1 if key < self.bounds[1] else None

    def before(self, key: int) -> int | None:
        return key - 1 if key > self.bounds[0] else None

    def next_of(self, keys: Keys) -> Keys:
        return keys + 1

    def keys(self, values: list[Any]) -> Keys:
        return self.column_keys(pa.array(values, type=self.type))

    def keys_of(self, column: pa.Array) -> Keys:
        return self.column_keys(column)

    def key_array(self, keys: list[Any]) -> Keys:
        return np.array(keys, dtype=np.int64)

    def column_of(self, keys: Keys) -> pa.Array:
        """The inverse of `column_keys`."""
        kind = self.type
        if pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_integer(kind):
            width = pa.int32() if kind.bit_width == 32 else pa.int64()
            return pa.array(keys.astype(np.int64)).cast(width).cast(kind)
        return pa.array([self.value(key) for key in keys.tolist()], kind)

    def column_keys(self, column: pa.Array) -> Any:
        values = record.numpy(column)
        return (values if values.ndim == 1 else values[:, 0]).astype(np.int64)

    def searchable(self, keys: Keys) -> Any:
        return keys.astype(np.int64)

    def rank(self, cuts: Keys, column: pa.Array) -> Ints:
        return _ranks(self.searchable(cuts), self.column_keys(column), self.first)


def _ranks(cuts: Ints, keys: Ints, first: int) -> Ints:
    """How many cuts are at most each key: by a table where they lie close together."""
    if len(cuts) and cuts[0] == first:
        return _ranks(cuts[1:], keys, first) + 1
    span = int(cuts[-1]) - int(cuts[0]) if len(cuts) else 0
    if len(cuts) < _FEW or span > 2 * len(keys):
        return np.searchsorted(cuts, keys, side="right")
    begun = np.zeros(span + 2, dtype=np.int64)
    begun[cuts - cuts[0] + 1] = 1
    found: Ints = np.cumsum(begun)[np.clip(keys, cuts[0] - 1, cuts[-1]) - (cuts[0] - 1)]
    return found


class Float(Whole):
    """Floats by the integers that order their bits; one NaN, one zero."""

    terse = True

    def checked(self, value: Any) -> Any:
        made = super().checked(value)
        return made if made is None else made + 0.0

    @property
    def _formats(self) -> tuple[str, str, int]:
        return ("<f", "<i", 2**31 - 1) if self.type.bit_width == 32 else ("<d", "<q", 2**63 - 1)

    @cached_property
    def bounds(self) -> tuple[int, int]:
        top = self.key(float("inf"))
        return self.key(float("-inf")), top + 1

    def key(self, value: Any) -> int:
        as_float, as_int, ones = self._formats
        if value != value:
            return self.bounds[1]
        (bits,) = struct.unpack(as_int, struct.pack(as_float, value + 0.0))
        return int(bits if bits >= 0 else (bits ^ ones) + 1)

    def value(self, key: int) -> float:
        as_float, as_int, ones = self._formats
        if key == self.bounds[1]:
            return float("nan")
        number: float = struct.unpack(
            as_float, struct.pack(as_int, key if key >= 0 else (key - 1) ^ ones)
        )[0]
        return number + 0.0

    def column_keys(self, column: pa.Array) -> Any:
        values = record.numpy(column)
        bits = (values + values.dtype.type(0)).view(f"i{values.dtype.itemsize}").astype(np.int64)
        keys = np.where(bits >= 0, bits, (bits ^ self._formats[2]) + 1)
        return np.where(np.isnan(values), self.bounds[1], keys)


class Wide(Whole):
    """Decimals of more digits than int64 holds; columns are searched as big-endian bytes."""

    def keys(self, values: list[Any]) -> Keys:
        return objects([self.key(value) for value in values])

    def key_array(self, keys: list[Any]) -> Keys:
        return objects(keys)

    def keys_of(self, column: pa.Array) -> Keys:
        coded = column.dictionary_encode()
        return self.keys(coded.dictionary.to_pylist())[coded.indices.to_numpy()]

    def column_keys(self, column: pa.Array) -> Any:
        words = record.numpy(column)
        swapped = np.empty((len(words), 2), dtype=">u8")
        swapped[:, 0] = words[:, 1].view(np.uint64) ^ np.uint64(2**63)
        swapped[:, 1] = words[:, 0].view(np.uint64)
        buffers = [None, pa.py_buffer(swapped.tobytes())]
        return pa.Array.from_buffers(pa.binary(16), len(words), buffers).cast(pa.binary())

    def searchable(self, keys: Keys) -> Any:
        return pa.array([(key + 2**127).to_bytes(16, "big") for key in keys.tolist()], pa.binary())

    rank = Domain.rank


class Bytes(Domain):
    """Strings, in the order of their UTF-8 bytes as in Spark, and binaries."""

    terse = True

    @property
    def first(self) -> bytes:
        return b""

    def key(self, value: Any) -> bytes:
        return value.encode() if isinstance(value, str) else bytes(value)

    def value(self, key: bytes) -> Any:
        return (
            key
            if pa.types.is_binary(self.type) or pa.types.is_large_binary(self.type)
            else key.decode()
        )

    def after(self, key: bytes) -> bytes:
        return key + b"\0"

    def before(self, key: bytes) -> bytes | None:
        return key[:-1] if key.endswith(b"\0") else None

    def column_keys(self, column: pa.Array) -> Any:
        large = pa.types.is_large_string(self.type) or pa.types.is_large_binary(self.type)
        return column.cast(pa.large_binary() if large else pa.binary())

    def searchable(self, keys: Keys) -> Any:
        large = pa.types.is_large_string(self.type) or pa.types.is_large_binary(self.type)
        return pa.array(keys.tolist(), pa.large_binary() if large else pa.binary())


class Opaque(Bytes):
    """Types without an order: a key is the value's JSON, made once for each different value."""

    ordered = False

    def checked(self, value: Any) -> Any:
        made = super().checked(value)
        return literals.from_json(literals.to_json(made, self.type), self.type)

    def key(self, value: Any) -> bytes:
        return literals.write(value, self.type).encode()

    def value(self, key: bytes) -> Any:
        return literals.read(key.decode(), self.type)

    def column_keys(self, column: pa.Array) -> Any:
        groups = record.group_rows((column,), record.hash_rows((column,), len(column)))
        different = column.take(pa.array(groups.first)).to_pylist()
        return pa.array([self.key(v) for v in different], pa.binary()).take(pa.array(groups.code))

    def searchable(self, keys: Keys) -> Any:
        return pa.array(keys.tolist(), pa.binary())


def domain_of(kind: pa.DataType, nullable: bool = True) -> Domain:
    types = pa.types
    if types.is_decimal128(kind):
        return (Whole if kind.precision <= _NARROW_DIGITS else Wide)(kind, nullable)
    if types.is_float32(kind) or types.is_float64(kind):
        return Float(kind, nullable)
    if types.is_string(kind) or types.is_large_string(kind):
        return Bytes(kind, nullable)
    if types.is_binary(kind) or types.is_large_binary(kind):
        return Bytes(kind, nullable)
    if (
        types.is_signed_integer(kind)
        or types.is_boolean(kind)
        or types.is_date32(kind)
        or (types.is_timestamp(kind) and kind.unit in _MICROS)
        or (types.is_duration(kind) and kind.unit in _MICROS)
        or types.is_time(kind)
    ):
        return Whole(kind, nullable)
    return Opaque(kind, nullable)


@lru_cache(maxsize=256)
def domains_of(schema: pa.Schema) -> tuple[Domain, ...]:
    return tuple(domain_of(field.type, field.nullable) for field in schema)
