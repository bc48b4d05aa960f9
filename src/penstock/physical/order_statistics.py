"""Order statistics of multisets that change over time, for many time points at once.

The changes of all groups lie in one array, in order of group and time, so that what a group holds
at some time is a range of that array. A wavelet matrix over the value codes answers, for any number
of ranges together, which value stands at place k: one pass per bit of the codes.
Cost: O((changes + queries) * log(different values of a group)).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from penstock.record import Ints


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
        ones = (codes >> bit) & 1
        zeros_before = np.concatenate([[0], np.cumsum(1 - ones)])
        order = np.argsort(ones.astype(np.uint8), kind="stable")
        codes, weights = codes[order], weights[order]
        total = np.concatenate([[0], np.cumsum(weights)])
        zero_low, zero_high = zeros_before[low], zeros_before[high]
        in_zeros = total[zero_high] - total[zero_low]
        right = k > in_zeros
        k = np.where(right, k - in_zeros, k)
        low = np.where(right, zeros_before[-1] + low - zero_low, zero_low)
        high = np.where(right, zeros_before[-1] + high - zero_high, zero_high)
        code |= right.astype(np.int64) << bit
    return Found(code, k)
