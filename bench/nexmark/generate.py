"""The auction as a stream of events: one person, three auctions and 46 bids in every fifty.

Deterministic in the number of the event, so any part can be made by itself. Sellers, bidders and
auctions are mostly hot ones, as in the published generator: recent persons and auctions, with the
first of each hundred drawing most of the activity.

`python -m bench.nexmark.generate EVENTS DIRECTORY [--files N] [--disorder SECONDS]`
"""

from __future__ import annotations

import argparse
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

Ints = npt.NDArray[np.int64]

PROPORTION = (1, 3, 46)  # persons, auctions, bids
PERIOD = sum(PROPORTION)
FIRST_PERSON, FIRST_AUCTION, FIRST_CATEGORY = 1000, 1000, 10
HOT_SELLER, HOT_BIDDER, HOT_AUCTION = 100, 100, 100
HOT_RATIO = 2
ACTIVE_PEOPLE, IN_FLIGHT = 1000, 100
START = 1_436_918_400_000_000  # 2015-07-15, in microseconds
TIMESTAMP = pa.timestamp("us", tz="UTC")

STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
CITIES = (
    *("Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland"),
    *("Bend", "Redmond", "Seattle", "Kent", "Cheyenne"),
)
FIRST_NAMES = (
    *("Peter", "Paul", "Luke", "John", "Saul"),
    *("Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"),
)
LAST_NAMES = (
    "Shultz",
    "Abrams",
    "Spencer",
    "White",
    "Bartels",
    "Walton",
    "Smith",
    "Jones",
    "Noris",
)
CHANNELS = ("Google", "Facebook", "Baidu", "Apple")
OTHER_CHANNELS = 10_000

PERSON = pa.schema(
    [
        ("id", pa.int64()),
        ("name", pa.string()),
        ("emailAddress", pa.string()),
        ("creditCard", pa.string()),
        ("city", pa.string()),
        ("state", pa.string()),
        ("dateTime", TIMESTAMP),
        ("extra", pa.string()),
    ]
)
AUCTION = pa.schema(
    [
        ("id", pa.int64()),
        ("itemName", pa.string()),
        ("description", pa.string()),
        ("initialBid", pa.int64()),
        ("reserve", pa.int64()),
        ("dateTime", TIMESTAMP),
        ("expires", TIMESTAMP),
        ("seller", pa.int64()),
        ("category", pa.int64()),
        ("extra", pa.string()),
    ]
)
BID = pa.schema(
    [
        ("auction", pa.int64()),
        ("bidder", pa.int64()),
        ("price", pa.int64()),
        ("channel", pa.string()),
        ("url", pa.string()),
        ("dateTime", TIMESTAMP),
        ("extra", pa.string()),
    ]
)
SCHEMAS = {"person": PERSON, "auction": AUCTION, "bid": BID}


@dataclass(frozen=True)
class Settings:
    """`rate`: events in a second of event time. `disorder`: how many seconds events may be late."""

    rate: int = 10_000
    disorder: float = 0.0
    seed: int = 1


def events(
    start: int, stop: int, settings: Settings, kinds: Collection[str] = tuple(SCHEMAS)
) -> dict[str, pa.Table]:
    """The events numbered `start <= n < stop` of these kinds, by kind."""
    n = np.arange(start, stop, dtype=np.int64)
    kind_of = np.searchsorted(np.cumsum(PROPORTION), n % PERIOD, side="right")
    makers = enumerate({"person": _persons, "auction": _auctions, "bid": _bids}.items())
    return {kind: make(n[kind_of == i], settings) for i, (kind, make) in makers if kind in kinds}


def _draw(n: Ints, stream: int, below: Ints | int, settings: Settings) -> Ints:
    """For each event a number in [0, below), whenever and with whatever else it is made."""
    x = n.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    x += np.uint64((stream * 0xD1B54A32D192ED03 + settings.seed * 0x8CB92BA72F3D8DD7) % 2**64)
    x ^= x >> np.uint64(30)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(27)
    x *= np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return ((x >> np.uint64(11)).astype(np.float64) / 2**53 * below).astype(np.int64)


def _times(n: Ints, settings: Settings) -> Ints:
    time = START + n * 1_000_000 // settings.rate
    late = int(settings.disorder * 1_000_000)
    return time - _draw(n, 1, late, settings) if late else time


def _last_person(n: Ints) -> Ints:
    """How many persons there are, counting the one of this period."""
    return n // PERIOD * PROPORTION[0] + np.minimum(n % PERIOD + 1, PROPORTION[0])


def _last_auction(n: Ints) -> Ints:
    made = np.clip(n % PERIOD - PROPORTION[0] + 1, 0, PROPORTION[1])
    count: Ints = np.maximum(n // PERIOD * PROPORTION[1] + made, 1)
    return count


def _some_person(n: Ints, stream: int, hot: int, settings: Settings) -> Ints:
    known = _last_person(n)
    recent = known - 1 - _draw(n, stream, np.minimum(known, ACTIVE_PEOPLE), settings)
    hottest = (known - 1) // hot * hot
    is_hot = _draw(n, stream + 1, HOT_RATIO * 2, settings) > 0
    chosen: Ints = FIRST_PERSON + np.where(is_hot, hottest, recent)
    return chosen


def _persons(n: Ints, settings: Settings) -> pa.Table:
    first, last = _draw(n, 2, len(FIRST_NAMES), settings), _draw(n, 3, len(LAST_NAMES), settings)
    names = _joined(_pick(FIRST_NAMES, first), _pick(LAST_NAMES, last), separator=" ")
    cards = [pa.array(_draw(n, 4 + i, 9000, settings) + 1000).cast(pa.string()) for i in range(4)]
    columns = [
        pa.array(FIRST_PERSON + _last_person(n) - 1),
        names,
        _joined(_letters(n, 8, 7, settings), _letters(n, 9, 5, settings), separator="@"),
        _joined(*cards, separator=" "),
        _pick(CITIES, _draw(n, 10, len(CITIES), settings)),
        _pick(STATES, _draw(n, 11, len(STATES), settings)),
        pa.array(_times(n, settings)).cast(TIMESTAMP),
        _letters(n, 12, 40, settings),
    ]
    return pa.Table.from_arrays(columns, schema=PERSON)


def _auctions(n: Ints, settings: Settings) -> pa.Table:
    time = _times(n, settings)
    # open for as long as it takes to make as many auctions as are in flight
    length = IN_FLIGHT * PERIOD // PROPORTION[1] * 1_000_000 // settings.rate
    initial = _price(n, 13, settings)
    columns = [
        pa.array(FIRST_AUCTION + _last_auction(n) - 1),
        _letters(n, 14, 20, settings),
        _letters(n, 15, 100, settings),
        pa.array(initial),
        pa.array(initial + _price(n, 16, settings)),
        pa.array(time).cast(TIMESTAMP),
        pa.array(time + 1 + _draw(n, 17, max(2 * length, 1), settings)).cast(TIMESTAMP),
        pa.array(_some_person(n, 18, HOT_SELLER, settings)),
        pa.array(FIRST_CATEGORY + _draw(n, 20, 5, settings)),
        _letters(n, 21, 60, settings),
    ]
    return pa.Table.from_arrays(columns, schema=AUCTION)


def _bids(n: Ints, settings: Settings) -> pa.Table:
    known = _last_auction(n)
    recent = known - 1 - _draw(n, 22, np.minimum(known, IN_FLIGHT), settings)
    hottest = (known - 1) // HOT_AUCTION * HOT_AUCTION
    is_hot = _draw(n, 23, HOT_RATIO, settings) > 0
    channel = _draw(n, 24, 2 * len(CHANNELS), settings)
    number = _draw(n, 25, OTHER_CHANNELS, settings)
    known_channel = channel < len(CHANNELS)
    other = _joined(_same("channel-", len(n)), pa.array(number).cast(pa.string()))
    named = _pick(CHANNELS, np.where(known_channel, channel, 0))
    url = _joined(
        _same("https://www.nexmark.com/", len(n)),
        _letters(n, 26, 5, settings),
        _same("/", len(n)),
        _letters(n, 27, 5, settings),
        _same("/item.htm?query=1", len(n)),
    )
    with_id = _joined(url, _same("&channel_id=", len(n)), pa.array(number).cast(pa.string()))
    has_id = pa.array(~known_channel & (_draw(n, 28, 10, settings) > 0))
    columns = [
        pa.array(FIRST_AUCTION + np.where(is_hot, hottest, recent)),
        pa.array(_some_person(n, 29, HOT_BIDDER, settings)),
        pa.array(_price(n, 31, settings)),
        pa.compute.if_else(pa.array(known_channel), named, other),
        pa.compute.if_else(has_id, with_id, url),
        pa.array(_times(n, settings)).cast(TIMESTAMP),
        _letters(n, 32, 30, settings),
    ]
    return pa.Table.from_arrays(columns, schema=BID)


def _price(n: Ints, stream: int, settings: Settings) -> Ints:
    """From a hundredth to a hundred million, evenly in its logarithm."""
    drawn = _draw(n, stream, 1 << 40, settings) / (1 << 40)
    return np.round(np.power(10.0, drawn * 6) * 100).astype(np.int64)


def _pick(words: tuple[str, ...], place: Ints) -> pa.Array:
    return pa.DictionaryArray.from_arrays(pa.array(place.astype(np.int32)), list(words)).cast(
        pa.string()
    )


def _same(text: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(text), count)


def _joined(*parts: pa.Array, separator: str = "") -> pa.Array:
    return pa.compute.binary_join_element_wise(*parts, separator)


def _letters(n: Ints, stream: int, length: int, settings: Settings) -> pa.Array:
    """Texts of so many letters; long ones repeat what their first eight letters are."""
    drawn = np.stack([_draw(n, 1000 * stream + i, 26, settings) for i in range(min(length, 8))])
    letters = (drawn.T + ord("a")).astype(np.uint8)
    whole = np.tile(letters, (1, -(-length // letters.shape[1])))[:, :length]
    data = pa.py_buffer(np.ascontiguousarray(whole).tobytes())
    offsets = pa.py_buffer(np.arange(0, (len(n) + 1) * length, length, dtype=np.int32).tobytes())
    return pa.StringArray.from_buffers(len(n), offsets, data)


def write(count: int, directory: Path, settings: Settings, files: int = 10) -> None:
    """The first `count` events as parquet files, a folder for each kind."""
    for kind in SCHEMAS:
        (directory / kind).mkdir(parents=True, exist_ok=True)
    for i in range(files):
        made = events(i * count // files, (i + 1) * count // files, settings)
        for kind, table in made.items():
            pq.write_table(table, directory / kind / f"{i:05}.parquet")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("events", type=int)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--files", type=int, default=10)
    parser.add_argument("--rate", type=int, default=Settings.rate)
    parser.add_argument("--disorder", type=float, default=0.0)
    given = parser.parse_args()
    settings = Settings(given.rate, given.disorder)
    write(given.events, given.directory, settings, given.files)


if __name__ == "__main__":
    main()
