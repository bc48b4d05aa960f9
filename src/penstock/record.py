"""Records as Arrow columns: hash, equality, grouping and order, without a loop over rows.

Law: `hash_rows` agrees with `equal_rows` (equal records have equal hashes) and everything that is
found by hash is then verified by `equal_rows`, so a collision costs time and never an answer.

Equality here is that of SQL's grouping and set operations: NULL equals NULL, NaN equals NaN and
0.0 equals -0.0. Joins, where NULL equals nothing, leave NULL keys out before they come here.

Hashes have 32 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from penstock.kinds import kind
from penstock.sorting import Hashes as Hashes
from penstock.sorting import Ints as Ints
from penstock.sorting import Words as Words
from penstock.sorting import sort_by, sort_hashes

Columns: TypeAlias = tuple[pa.Array, ...]
Mask: TypeAlias = npt.NDArray[np.bool_]

_BLOCK = 1 << 15  # rows whose intermediate results stay in the cache
_NULL = np.uint64(0x9E37_79B9_7F4A_7C15)
_MOST = 1 << 62


class Groups(NamedTuple):
    """`code[i]` is the group of row i; `first[g]` is a row of group g."""

    code: Ints
    first: Ints

    def __len__(self) -> int:
        return len(self.first)


def take(columns: Columns, index: npt.NDArray[Any]) -> Columns:
    indices = pa.array(index)
    return tuple(column.take(indices) for column in columns)


def pick(columns: Columns, index: npt.NDArray[Any]) -> Columns:
    """`take` for rows that are taken again and again: a text is copied once, and told by its place.

    Such columns are for those who only pass them on or write them; `plain` is for all others.
    """
    seen = np.zeros(int(index.max(initial=-1)) + 1, dtype=np.bool_)
    seen[index] = True
    different = np.flatnonzero(seen)
    if 2 * len(different) > len(index):
        return take(columns, index)
    places = pa.array((np.cumsum(seen, dtype=np.int32) - 1)[index])
    rows, once = pa.array(index), pa.array(different)
    return tuple(
        pa.DictionaryArray.from_arrays(places, column.take(once), safe=False)
        if _is_bytes(column.type)
        else column.take(rows)
        for column in columns
    )


def plain(columns: Columns) -> Columns:
    return tuple(
        column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
        for column in columns
    )


def concat(parts: Sequence[Columns]) -> Columns:
    if len(parts) == 1:
        return parts[0]
    columns = zip(*map(plain, parts), strict=True)
    return tuple(pa.concat_arrays(list(each)) for each in columns)


def any_null(columns: Columns, length: int) -> Mask:
    """Rows with a NULL in any of the columns."""
    mask = np.zeros(length, dtype=np.bool_)
    for column in columns:
        if column.null_count:
            mask |= ~valid(column)
    return mask


def valid(column: pa.Array) -> Mask:
    if column.null_count == 0:
        return np.ones(len(column), dtype=np.bool_)
    return numpy(column.is_valid()).astype(np.bool_)


def numpy(column: pa.Array) -> npt.NDArray[Any]:
    """The values of a fixed-width column; those of NULL slots are arbitrary."""
    if pa.types.is_boolean(column.type):
        filled = column.fill_null(False) if column.null_count else column
        return filled.to_numpy(zero_copy_only=False)
    width = column.type.bit_width // 8
    kind = "f" if pa.types.is_floating(column.type) else "i"
    shape = (-1, 2) if width == 16 else (-1,)
    dtype = np.dtype(f"{kind}{min(width, 8)}")
    if len(column) == 0:
        return np.empty(0, dtype=dtype).reshape(shape)
    values = np.frombuffer(column.buffers()[1], dtype=dtype).reshape(shape)
    return values[column.offset : column.offset + len(column)]


# --- hashing ------------------------------------------------------------------------------------


def hash_rows(columns: Columns, length: int) -> Hashes:
    """A hash of each row over all its columns."""
    hashes = np.empty(length, dtype=np.uint32)
    whole = [_column_words(c) if _has_parts(c.type) else None for c in columns]
    for start in range(0, length, _BLOCK):
        block = slice(start, min(start + _BLOCK, length))
        state = np.full(block.stop - start, 0x51_7C_C1_B7_27_22_0A_95, dtype=np.uint64)
        for column, known in zip(columns, whole, strict=True):
            state *= np.uint64(0x9FB2_1C65_1E98_DF25)
            state += _column_words(column[block]) if known is None else known[block]
            state = _mix(state)
        hashes[block] = state >> np.uint64(32)
    return hashes


def _mix(x: Words) -> Words:
    x = x ^ (x >> np.uint64(32))
    x *= np.uint64(0xD6E8_FEB8_6659_FD93)
    x ^= x >> np.uint64(32)
    return x


def _column_words(column: pa.Array) -> Words:
    """One well-mixed word per value; equal values have equal words."""
    kind = column.type
    if pa.types.is_null(kind):
        return np.full(len(column), _NULL, dtype=np.uint64)
    if pa.types.is_dictionary(kind):
        if column.null_count:
            return _column_words(column.dictionary_decode())
        return _column_words(column.dictionary)[numpy(column.indices)]
    if pa.types.is_struct(kind):
        words = np.zeros(len(column), dtype=np.uint64)
        for field in column.flatten():
            words = _mix(words * np.uint64(31) + _column_words(field))
    elif _is_list(kind):
        starts, stops = _list_bounds(column)
        words = _sequence_words(_column_words(_list_values(column)), starts, stops)
    elif _is_bytes(kind):
        words = _bytes_words(column)
    else:
        words = _fixed_words(column)
    if column.null_count:
        words = np.where(valid(column), words, _NULL)
    return words


def _fixed_words(column: pa.Array) -> Words:
    values = numpy(column)
    if values.ndim == 2:
        low, high = values[:, 0].view(np.uint64), values[:, 1].view(np.uint64)
        return _mix(_mix(low) * np.uint64(31) + high)
    return _mix(_normalised(values).astype(np.int64, copy=False).view(np.uint64))


def _normalised(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Fixed-width values as integers that are equal where SQL says the values are."""
    if values.dtype.kind != "f":
        return values
    doubles = values.astype(np.float64) + 0.0  # -0.0 becomes 0.0
    doubles[np.isnan(doubles)] = np.nan
    return doubles.view(np.int64)


def _bytes_words(column: pa.Array) -> Words:
    """Bytes in words of eight, each mixed with its place, added up, together with the length."""
    starts, stops = _list_bounds(column)
    length = stops - starts
    begin, end = (int(starts[0]), int(stops[-1])) if len(column) else (0, 0)
    if end > begin and np.all(length == length[0]):
        texts = np.frombuffer(column.buffers()[2], dtype=np.uint8)[begin:end]
        return _words_of_one_length(texts.reshape(len(column), -1))
    raw = np.zeros(end - begin + 8, dtype=np.uint8)
    if end > begin:
        raw[: end - begin] = np.frombuffer(column.buffers()[2], dtype=np.uint8)[begin:end]
    windows = np.lib.stride_tricks.as_strided(
        raw[:8].view(np.uint64), shape=(len(raw) - 7,), strides=(1,), writeable=False
    )
    count = (length + 7) >> 3
    owner, place = _expand(count)
    words = windows[starts[owner] - begin + 8 * place]
    rest = np.minimum(length[owner] - 8 * place, 8).astype(np.uint64)
    words = words & (np.uint64(0xFFFF_FFFF_FFFF_FFFF) >> ((np.uint64(8) - rest) << np.uint64(3)))
    return _add_up(words, place, count, length)


def _words_of_one_length(texts: npt.NDArray[np.uint8]) -> Words:
    """The same for texts of one length, a row each: dates, codes, keys; often the same again."""
    if len(texts) > 1 and np.all(texts == texts[0]):
        return np.repeat(_words_of_one_length(texts[:1]), len(texts))
    count, length = texts.shape
    padded = np.zeros((count, -(-length // 8) * 8), dtype=np.uint8)
    padded[:, :length] = texts
    total = np.zeros(count, dtype=np.uint64)
    for place, words in enumerate(padded.view(np.uint64).T):
        total += _mixed_with_place(words, np.array([place], dtype=np.uint64))
    return _mix(total + np.uint64(length))


def _sequence_words(items: Words, starts: Ints, stops: Ints) -> Words:
    count = stops - starts
    owner, place = _expand(count)
    return _add_up(items[starts[owner] + place], place, count, count)


def _add_up(words: Words, place: Ints, count: Ints, length: Ints) -> Words:
    mixed = _mixed_with_place(words, place.view(np.uint64))
    total = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed, dtype=np.uint64)])
    ends = np.cumsum(count)
    return _mix(total[ends] - total[ends - count] + length.astype(np.uint64))


def _mixed_with_place(words: Words, place: Words) -> Words:
    return _mix(words + (place + np.uint64(1)) * _NULL)


def _expand(count: Ints) -> tuple[Ints, Ints]:
    """For counts (2, 0, 1): owners (0, 0, 2) and places (0, 1, 0)."""
    owner = np.repeat(np.arange(len(count)), count)
    begin = np.cumsum(count) - count
    return owner, np.arange(len(owner)) - begin[owner]


def _is_fixed(kind: pa.DataType) -> bool:
    return not (
        pa.types.is_nested(kind)
        or pa.types.is_null(kind)
        or pa.types.is_dictionary(kind)
        or _is_bytes(kind)
    )


def _has_parts(kind: pa.DataType) -> bool:
    """Whether there are values behind those of the rows."""
    return bool(pa.types.is_nested(kind) or pa.types.is_dictionary(kind))


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_binary(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_map(kind))


def _list_bounds(column: pa.Array) -> tuple[Ints, Ints]:
    kind = column.type
    large = (
        pa.types.is_large_list(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_large_binary(kind)
    )
    if len(column) == 0:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    raw = np.frombuffer(column.buffers()[1], dtype="i8" if large else "i4")
    offsets: Ints = raw[column.offset : column.offset + len(column) + 1].astype(np.int64)
    starts, stops = offsets[:-1], offsets[1:]
    if column.null_count:
        stops = np.where(valid(column), stops, starts)
    return starts, stops


def _list_values(column: pa.Array) -> pa.Array:
    """All the values a list column's offsets point into."""
    if not pa.types.is_map(column.type):
        return column.values
    return pa.StructArray.from_arrays([column.keys, column.items], names=["key", "value"])


def first_of_each(columns: Columns, length: int) -> Ints:
    """Rows among which is the first of each different one: few where many are equal.

    No sort is needed for it, which makes it several times faster than `arrange`. Rows that are
    equal may be found more than once.
    """
    code, count = np.zeros(length, dtype=np.int64), 1
    for column in columns:
        if pa.types.is_nested(column.type):
            return np.arange(length)
        encoded = column.dictionary_encode(null_encoding="encode")
        code *= len(encoded.dictionary)
        code += numpy(encoded.indices)
        count *= len(encoded.dictionary)
        if count > 2 * length:
            dense = pa.array(code).dictionary_encode()
            code, count = numpy(dense.indices).astype(np.int64), len(dense.dictionary)
    first = np.full(count, -1)
    first[code[::-1]] = np.arange(length - 1, -1, -1)
    return np.sort(first[first >= 0])


# --- equality -----------------------------------------------------------------------------------


def equal_rows(a: Columns, i: Ints, b: Columns, j: Ints) -> Mask:
    """Whether row `i[k]` of `a` equals row `j[k]` of `b`, for each k."""
    same = np.ones(len(i), dtype=np.bool_)
    for left, right in zip(a, b, strict=True):
        same &= _equal_values(left, i, right, j)
    return same


def _equal_values(a: pa.Array, i: Ints, b: pa.Array, j: Ints) -> Mask:
    kind = a.type
    if pa.types.is_null(kind):
        return np.ones(len(i), dtype=np.bool_)
    if pa.types.is_dictionary(kind):
        return _equal_values(a.dictionary_decode(), i, b.dictionary_decode(), j)
    if pa.types.is_struct(kind):
        same = equal_rows(tuple(a.flatten()), i, tuple(b.flatten()), j)
    elif _is_list(kind):
        same = _equal_lists(a, i, b, j)
    elif _is_bytes(kind):
        equal = pc.equal(a.take(pa.array(i)), b.take(pa.array(j)))
        same = numpy(equal)
    else:
        left, right = _normalised(numpy(a))[i], _normalised(numpy(b))[j]
        same = left == right if left.ndim == 1 else (left == right).all(axis=1)
    if a.null_count or b.null_count:
        known_a, known_b = valid(a)[i], valid(b)[j]
        same = (same & known_a & known_b) | (~known_a & ~known_b)
    return same


def equal_neighbours(columns: Columns, length: int) -> Mask:
    """Whether each row but the first equals the row before it."""
    same = np.ones(max(length - 1, 0), dtype=np.bool_)
    for column in columns:
        if _is_fixed(column.type) and column.null_count == 0:
            values = _normalised(numpy(column))
            equal = values[1:] == values[:-1]
            same &= equal if values.ndim == 1 else equal.all(axis=1)
        else:
            rows = np.arange(1, length)
            same &= _equal_values(column, rows, column, rows - 1)
    return same


def _is_constant(column: pa.Array) -> bool:
    """Whether all values are known to be equal; of most columns, the first and last tell."""
    plain = _is_fixed(column.type) or _is_bytes(column.type)
    if len(column) == 0 or column.null_count or not plain:
        return False
    return column[0] == column[-1] and bool(pc.all(pc.equal(column, column[0])).as_py())


def _equal_lists(a: pa.Array, i: Ints, b: pa.Array, j: Ints) -> Mask:
    (starts_a, stops_a), (starts_b, stops_b) = _list_bounds(a), _list_bounds(b)
    length = (stops_a - starts_a)[i]
    same: Mask = length == (stops_b - starts_b)[j]
    owner, place = _expand(np.where(same, length, 0))
    items = _equal_values(
        _list_values(a), starts_a[i][owner] + place, _list_values(b), starts_b[j][owner] + place
    )
    same[owner[~items]] = False
    return same


# --- grouping and order -------------------------------------------------------------------------


def group_rows(columns: Columns, hashes: Hashes) -> Groups:
    """Equal rows get equal codes, dense from zero, in the order of their hashes."""
    order, fresh = arrange(columns, hashes)
    code = np.empty(len(order), dtype=np.int64)
    code[order] = np.cumsum(fresh) - 1
    return Groups(code, order[fresh])


def arrange(columns: Columns, hashes: Hashes, *then: Ints) -> tuple[Ints, Mask]:
    """An order in which equal rows lie together, and where in it a group begins.

    Groups come in the order of their hashes, the rows of one in that of the further keys.
    """
    order = sort_by(hashes, *then) if then else sort_hashes(hashes)
    fresh = starts_of(hashes[order])
    differs = ~fresh
    varying = tuple(column for column in columns if not _is_constant(column))
    differs[1:] &= ~equal_neighbours(take(varying, order), len(order))
    if differs.any():
        bucket = np.cumsum(fresh) - 1
        collides = np.zeros(len(fresh), dtype=np.bool_)
        collides[bucket[differs]] = True
        _separate(columns, order, fresh, bucket, np.flatnonzero(collides[bucket]))
    return order, fresh


def _separate(columns: Columns, order: Ints, fresh: Mask, bucket: Ints, place: Ints) -> None:
    """Put equal rows side by side where different ones share a hash.

    One round for each different row of a bucket: its first row left finds those equal to it.
    """
    turn = np.zeros(len(place), dtype=np.int64)
    rest = np.arange(len(place))
    while len(rest):
        leads = starts_of(bucket[place[rest]])
        leader = order[place[rest[leads]]][np.cumsum(leads) - 1]
        same = equal_rows(columns, order[place[rest]], columns, leader)
        rest = rest[~same]
        turn[rest] += 1
    by_turn = sort_by(bucket[place], turn)
    order[place] = order[place[by_turn]]
    fresh[place] = starts_of(bucket[place], turn[by_turn])


def starts_of(*sorted_keys: npt.NDArray[Any]) -> Mask:
    """Where a run of equal keys begins, in rows sorted by those keys."""
    begin = np.zeros(len(sorted_keys[0]), dtype=np.bool_)
    begin[:1] = True
    for key in sorted_keys:
        begin[1:] |= key[1:] != key[:-1]
    return begin


@kind("direction")
class Direction(NamedTuple):
    """The direction of an order, and whether NULLs come first; as in Spark, where none is given."""

    descending: bool = False
    nulls_first: bool = True


def order_codes(
    columns: Columns, directions: Sequence[Direction], length: int, code: Ints | None = None
) -> Ints:
    """Ranks: `code[i] < code[j]` where row i sorts before row j, equal where they tie.

    They are not negative, and about as large as there are rows at most; `code` are such that come
    first.
    """
    code = np.zeros(length, dtype=np.int64) if code is None else code
    for column, direction in zip(columns, directions, strict=True):
        tied = np.flatnonzero((np.bincount(code) > 1)[code])
        if len(tied) == 0:
            break
        if 2 * len(tied) < length:  # mostly the first columns tell rows apart
            ranks = _directed_ranks(column.take(pa.array(tied)), direction)
            code = _told_apart(code, tied, ranks)
            continue
        ranks = _directed_ranks(column, direction)
        if (int(code.max()) + 1) * (int(ranks.max(initial=0)) + 1) > _MOST:
            ranks = _dense(ranks)
        code = _dense(code * (int(ranks.max(initial=0)) + 1) + ranks)
    return code


def _told_apart(code: Ints, tied: Ints, ranks: Ints) -> Ints:
    """Codes in which rows that are tied have the order of their ranks; others merely move on."""
    order = sort_by(code[tied], ranks)
    mine, ranks = code[tied[order]], ranks[order]
    more = starts_of(mine, ranks) & ~starts_of(mine)
    added = np.bincount(mine[more], minlength=int(code.max()) + 1)
    result: Ints = code + (np.cumsum(added) - added)[code]
    result[tied[order]] = mine + np.cumsum(more)
    return result


def _directed_ranks(column: pa.Array, direction: Direction) -> Ints:
    """Numbers from zero on, those of NULLs included, in the order that is asked for."""
    ranks = _ranks(column)
    if len(ranks) and int(ranks.max()) - int(ranks.min()) >= _MOST:
        ranks = _dense(ranks)
    if len(ranks):
        ranks = ranks.max() - ranks if direction.descending else ranks - ranks.min()
    if column.null_count:
        last = int(ranks.max()) + 2
        ranks = np.where(valid(column), ranks + 1, 0 if direction.nulls_first else last)
    return ranks


def canonical_order(columns: Columns, length: int) -> Ints:
    """Ranks by some fixed total order of the records, to break ties the same way every time."""
    return order_codes(columns, [Direction()] * len(columns), length)


def _dense(values: npt.NDArray[Any]) -> Ints:
    if len(values) == 0:
        return np.empty(0, dtype=np.int64)
    low, high = int(values.min()), int(values.max())
    if high - low < 4 * len(values):  # a table is cheaper than a sort
        seen = np.zeros(high - low + 1, dtype=np.int64)
        seen[values - low] = 1
        rank: Ints = (np.cumsum(seen) - 1)[values - low]
        return rank
    order = sort_by(values)
    code = np.empty(len(values), dtype=np.int64)
    code[order] = np.cumsum(starts_of(values[order])) - 1
    return code


def _ranks(column: pa.Array) -> Ints:
    """Numbers in SQL's order of a column's values; those of NULLs are arbitrary."""
    kind = column.type
    if pa.types.is_null(kind):
        return np.zeros(len(column), dtype=np.int64)
    if pa.types.is_struct(kind):
        return order_codes(
            tuple(column.flatten()), [Direction()] * column.type.num_fields, len(column)
        )
    if _is_list(kind):
        return _list_ranks(column)
    if _is_bytes(kind) or pa.types.is_decimal(kind):
        ranks = pc.rank(column, sort_keys="ascending", tiebreaker="dense")
        return ranks.to_numpy().astype(np.int64) - 1
    values = numpy(column)
    if values.ndim == 2:  # month-day-nano intervals: their fields, in order
        return _dense(_dense(values[:, 0]) * len(values) + _dense(values[:, 1]))
    if values.dtype.kind == "f":
        bits = _normalised(values)
        values = np.where(bits < 0, bits ^ np.iinfo(np.int64).max, bits)
        values[np.isnan(numpy(column))] = np.iinfo(np.int64).max
    return values.astype(np.int64, copy=False)


def _list_ranks(column: pa.Array) -> Ints:
    """Lists compare item by item; a list comes before those it is a beginning of."""
    starts, stops = _list_bounds(column)
    length = stops - starts
    items = _list_values(column)
    item_rank = order_codes((items,), [Direction()], len(items)) + 1
    rank = np.zeros(len(column), dtype=np.int64)
    for place in range(int(length.max(initial=0))):
        here = np.zeros(len(column), dtype=np.int64)
        longer = length > place
        here[longer] = item_rank[starts[longer] + place]
        rank = _dense(rank * (here.max(initial=0) + 1) + here)
    return rank


def best_covering(
    begin: Ints, end: Ints, value: Ints, places: int, best: np.ufunc, nothing: int
) -> Ints:
    """For each place, the best value of the stretches `[begin, end)` that cover it.

    A stretch is covered by two that may overlap, each as long as a power of two; from the longest
    down, what holds for one holds for its halves.
    """
    level = np.frexp((end - begin).astype(np.float64))[1] - 1
    found = np.full(places, nothing, dtype=np.int64)
    for power in range(int(level.max(initial=0)), -1, -1):
        size, mine = 1 << power, level == power
        halves = found.copy()
        best(halves[size:], found[:-size], out=halves[size:])
        best.at(halves, begin[mine], value[mine])
        best.at(halves, end[mine] - size, value[mine])
        found = halves
    return found
