"""The order of rows by integers: hashes, times, numbers of groups.

Law: orders are stable: rows with equal keys keep their order.
Cost: rows are sorted by words that end in the place of the row, or by digits of 16 bits. Either is
several times faster than to ask NumPy for the order of words, and which is the faster one depends
on the processor. Keys that are in order already cost a look.
"""

from __future__ import annotations

import timeit
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Ints: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]
Hashes: TypeAlias = npt.NDArray[np.uint32]

_DIGIT = 16  # bits that are sorted by at a time, where digits are counted
_WORD = 64  # and where words are sorted, less those for the place of a row
_SAMPLE = 1 << 15


def sort_hashes(hashes: Hashes) -> Ints:
    """The order that sorts rows by hash; rows of one hash keep their order."""
    return _sort_words(hashes, 32)


def sort_by(*keys: Ints | Hashes) -> Ints:
    """The stable order by several integer keys, the first the most significant."""
    while len(keys) > 1 and _in_order(keys[-1]):
        keys = keys[:-1]
    if len(keys) > 1 and (begin := _turned(keys[-1])):  # what was before may come last
        turned = np.roll(np.arange(len(keys[0])), -begin)
        return turned[sort_by(*(key[turned] for key in keys[:-1]))]
    if len(keys[0]) < 2:
        return np.arange(len(keys[0]))
    (word, width), *more = _packed(keys)
    order = _sort_words(word, width)
    for word, width in more:
        order = order[_sort_words(word[order], width)]
    return order


def _packed(keys: Sequence[Ints | Hashes]) -> list[tuple[Words, int]]:
    """The keys in as few words as have room for them, the least significant first."""
    words: list[tuple[Words, int]] = []
    for key in reversed(keys):
        low, high = int(key.min()), int(key.max())
        value, width = (key - np.int64(low)).view(np.uint64), (high - low).bit_length()
        if words and words[-1][1] + width <= _WORD:
            word, used = words.pop()
            words.append((word | (value << np.uint64(used)), used + width))
        else:
            words.append((value, width))
    return words


def _sort_words(word: Words | Hashes, width: int) -> Ints:
    """The stable order by words of so many bits."""
    if _in_order(word):
        return np.arange(len(word))
    return by_words(word, width) if _sorts_words_well() else by_digits(word, width)


def by_words(word: Words | Hashes, width: int) -> Ints:
    """By as many bits at a time, the least significant first, as leave room for the place of the
    row behind them: what is sorted then says where it came from."""
    bits = (len(word) - 1).bit_length()
    order = place = np.arange(len(word))
    for low in range(0, width, _WORD - bits):
        part = word.astype(np.uint64) if low == 0 else (word >> np.uint64(low))[order]
        part <<= np.uint64(bits)
        part |= place.view(np.uint64)
        part.sort()
        part &= np.uint64((1 << bits) - 1)
        order = part.view(np.int64) if low == 0 else order[part.view(np.int64)]
    return order


def by_digits(word: Words | Hashes, width: int) -> Ints:
    """By digits, the least significant first, which NumPy counts instead of comparing."""
    order = np.argsort(word.astype(np.uint16), kind="stable")
    for low in range(_DIGIT, width, _DIGIT):
        digit = (word >> word.dtype.type(low)).astype(np.uint16)
        order = order[np.argsort(digit[order], kind="stable")]
    return order


@cache
def _sorts_words_well() -> bool:
    """Whether NumPy sorts words faster than it counts digits: that depends on the processor."""
    sample = np.random.default_rng(0).integers(0, 1 << 32, _SAMPLE, dtype=np.uint32)

    def seconds(sort: Callable[[Hashes, int], Ints]) -> float:
        return min(timeit.repeat(lambda: sort(sample, 32), number=1, repeat=5))

    return seconds(by_words) < seconds(by_digits)


def _turned(values: npt.NDArray[Any]) -> int:
    """From where on the values, followed by those before, are in order; zero if from nowhere."""
    falls = np.flatnonzero(values[1:] < values[:-1])
    return int(falls[0]) + 1 if len(falls) == 1 and values[-1] < values[0] else 0


def _in_order(values: npt.NDArray[Any]) -> bool:
    return bool(np.all(values[1:] >= values[:-1]))
