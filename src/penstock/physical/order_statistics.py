"""Order statistics of multisets that change over time, for many time points at once.

The changes of all groups lie in one array, in order of group and time, so that what a group holds
at some time is a range of that array. A wavelet matrix over the value codes answers, for any number
of ranges together, which value stands at place k: one pass per bit of the codes. For the first and
the last value it is enough to know during which stretches of time each value is there.
Cost: O((changes + queries) * log(different values of a group)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.record import Ints, Mask, best_covering


class Found(NamedTuple):
    """The value at a place, and where within the copies of that value the place is (from one)."""

    code: Ints
    copy: Ints


def kth(codes: Ints, weights: Ints, low: Ints, high: Ints, k: Ints) -> Found:
    """For each query, the least code with a weight of at least k up to it in `[low, high)`.

    The weights within each range add up to a multiset (no negative multiplicity), which holds at
    least k values; k counts from one.
    """
    code = np.zeros(len(k), dtype=np.int64)
    for bit in range(int(codes.max(initial=0)).bit_length() - 1, -1, -1):
        zero = (codes >> bit) & 1 == 0
        zeros_before = _sums_before(zero)
        codes = np.concatenate([codes[zero], codes[~zero]])
        weights = np.concatenate([weights[zero], weights[~zero]])
        total = _sums_before(weights)
        zero_low, zero_high = zeros_before[low], zeros_before[high]
        in_zeros = total[zero_high] - total[zero_low]
        right = k > in_zeros
        k = np.where(right, k - in_zeros, k)
        low = np.where(right, zeros_before[-1] + low - zero_low, zero_low)
        high = np.where(right, zeros_before[-1] + high - zero_high, zero_high)
        code |= right.astype(np.int64) << bit
    return Found(code, k)


def _sums_before(values: Ints | Mask) -> Ints:
    total = np.zeros(len(values) + 1, dtype=np.int64)
    np.cumsum(values, out=total[1:])
    return total


def extremes(begin: Ints, end: Ints, value: Ints, places: int, greatest: bool) -> Ints:
    """For each place, the least or greatest value of the stretches over it; -1 where none is."""
    if greatest:
        return best_covering(begin, end, value, places, np.maximum, -1)
    nothing = np.iinfo(np.int64).max
    found = best_covering(begin, end, value, places, np.minimum, nothing)
    return np.where(found == nothing, -1, found)
