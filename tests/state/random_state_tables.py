"""Random elements and the state tables that hold them."""

from __future__ import annotations

from random import Random

import pyarrow as pa

from penstock.element import INF, Elements
from penstock.state.run import Order, StateTableSpec

SCHEMA = pa.schema([("k", pa.int64()), ("s", pa.string())])


def spec(order: Order = "hash", key: tuple[str, ...] = ("k",)) -> StateTableSpec:
    return StateTableSpec("area", SCHEMA, key, order)


def random_elements(rng: Random, count: int, begin: int = 0, horizon: int = 20) -> Elements:
    rows = []
    for _ in range(count):
        e = (rng.choice((None, 0, 1, 2, 3)), rng.choice((None, "", "x")))
        ts = rng.randint(begin, horizon)
        te = rng.choice((INF, ts + rng.randint(1, 8)))
        rows.append((e, ts, te, rng.choice((-1, 1, 1, 2))))
    return Elements.of(SCHEMA, rows)
