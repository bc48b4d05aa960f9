"""100,000 punctuations cost about as much as one list."""

import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from penstock.punctuation import ANY, Constant, Punctuation, Range
from penstock.testing.punctuation_sets import PunctuationSet

pytestmark = pytest.mark.long

COUNT, ROWS = 100_000, 1_000_000
BIDS = pa.schema([("auction", pa.int64()), ("bidder", pa.string()), ("price", pa.int32())])


def seconds(work: Callable[[], object]) -> float:
    """The least CPU time of three runs, which a busy machine disturbs least."""
    best = float("inf")
    for _ in range(3):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def test_single_keys() -> None:
    random = np.random.default_rng(1)
    keys = random.choice(10**9, COUNT, replace=False)
    auction = random.choice(10**9, ROWS)
    auction[::2] = random.choice(keys, ROWS // 2)
    column, listed = pa.array(auction), pa.array(keys)
    rows = (column, pa.nulls(ROWS, pa.string()), pa.nulls(ROWS, pa.int32()))

    begin = time.process_time()
    many = [Punctuation(BIDS, (Constant(key), ANY, ANY)) for key in keys.tolist()]
    made = time.process_time()
    ps = PunctuationSet.of(BIDS, many)
    built = time.process_time()
    assert len(ps) == 1

    expected = pc.is_in(column, listed)
    assert np.array_equal(ps.matches(rows), expected.to_numpy(zero_copy_only=False))
    bulk = seconds(lambda: PunctuationSet.of_values(BIDS, {"auction": listed}))
    one_list, ours = seconds(lambda: pc.is_in(column, listed)), seconds(lambda: ps.matches(rows))
    print(
        f"\n{COUNT:,} punctuations: made {made - begin:.2f} s, merged {built - made:.2f} s,"
        f" in bulk {bulk:.3f} s; {ROWS:,} rows: IN list {one_list:.3f} s, set {ours:.3f} s"
    )
    assert ours < 10 * one_list


def test_pairs_and_ranges_per_key() -> None:
    """No pass over the rows per punctuation: 50,000 pairs, and 1,000 keys with a range each."""
    random = np.random.default_rng(2)
    pairs = {"auction": pa.array(random.integers(0, 1000, 50_000)),
             "price": pa.array(random.integers(0, 10**6, 50_000), pa.int32())}  # fmt: skip
    ps = PunctuationSet.of_values(BIDS, pairs)
    ranges = [
        Punctuation(BIDS, (Constant(key), ANY, Range(None, key))) for key in range(1000, 2000)
    ]
    ps |= PunctuationSet.of(BIDS, ranges)
    auction, price = random.integers(0, 2000, ROWS), random.integers(0, 10**6, ROWS)
    auction[:50_000] = pairs["auction"]
    price[:50_000] = pairs["price"]
    price[-1000:] = auction[-1000:]
    rows = (pa.array(auction), pa.nulls(ROWS, pa.string()), pa.array(price, pa.int32()))
    listed = set(zip(*(pairs[name].to_pylist() for name in ("auction", "price")), strict=True))
    some = np.concatenate([np.arange(0, ROWS, 50), np.arange(1000), np.arange(ROWS - 1000, ROWS)])
    expected = [
        (a, p) in listed or (a >= 1000 and p <= a)
        for a, p in zip(auction[some].tolist(), price[some].tolist(), strict=True)
    ]
    assert ps.matches(rows)[some].tolist() == expected
    assert (ps.which(rows) >= 0)[some].tolist() == expected
    print(f"\npairs and ranges: {ROWS:,} rows in {seconds(lambda: ps.matches(rows)):.3f} s")
