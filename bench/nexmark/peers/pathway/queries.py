"""The queries as functions of tables. Times are integers, in microseconds, and
identities of persons and auctions are called numbers: Pathway has an `id` of its own.

A fixed window is a group by the number of the window: Pathway's own windows do the same with more
work.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import pathway as pw

Table: TypeAlias = Any
SECOND = 1_000_000
CHANNELS = {"apple": "0", "google": "1", "facebook": "2", "baidu": "3"}


PERSON = {
    **{"number": int, "name": str, "emailAddress": str, "creditCard": str, "city": str},
    **{"state": str, "dateTime": int, "extra": str},
}
AUCTION = {
    **{"number": int, "itemName": str, "description": str, "initialBid": int, "reserve": int},
    **{"dateTime": int, "expires": int, "seller": int, "category": int, "extra": str},
}
BID = {
    **{"auction": int, "bidder": int, "price": int, "channel": str, "url": str},
    **{"dateTime": int, "extra": str},
}
COLUMNS = {
    "person": PERSON,
    "auction": AUCTION,
    "bid": BID,
    "side_input": {"key": int, "value": str},
}


def q0(bid: Table) -> Table:
    return bid.select(bid.auction, bid.bidder, bid.price, bid.dateTime, bid.extra)


def q1(bid: Table) -> Table:
    return bid.select(
        bid.auction, bid.bidder, bid.dateTime, bid.extra, price=0.908 * bid.price
    ).select(pw.this.auction, pw.this.bidder, pw.this.price, pw.this.dateTime, pw.this.extra)


def q2(bid: Table) -> Table:
    return bid.filter(bid.auction % 123 == 0).select(pw.this.auction, pw.this.price)


def q3(auction: Table, person: Table) -> Table:
    a = auction.filter(auction.category == 10)
    p = person.filter((person.state == "OR") | (person.state == "ID") | (person.state == "CA"))
    return a.join(p, a.seller == p.number).select(p.name, p.city, p.state, a.number)


def _valid_bids(auction: Table, bid: Table, *columns: str) -> Table:
    joined = auction.join(bid, auction.number == bid.auction)
    chosen = {name: auction[name] for name in columns}
    rows = joined.select(
        **chosen,
        number=auction.number,
        opened=auction.dateTime,
        expires=auction.expires,
        price=bid.price,
        bidder=bid.bidder,
        bid_time=bid.dateTime,
        bid_extra=bid.extra,
    )
    return rows.filter((rows.bid_time >= rows.opened) & (rows.bid_time <= rows.expires))


def q4(auction: Table, bid: Table) -> Table:
    rows = _valid_bids(auction, bid, "category")
    best = rows.groupby(rows.number, rows.category).reduce(
        rows.category, final=pw.reducers.max(rows.price)
    )
    return best.groupby(best.category).reduce(best.category, price=pw.reducers.avg(best.final))


def q5(bid: Table) -> Table:
    first = bid.select(bid.auction, last=bid.dateTime // (2 * SECOND))
    counted = first.groupby(first.auction, first.last).reduce(
        first.auction, first.last, num=pw.reducers.count()
    )
    spread = [
        counted.select(counted.auction, counted.num, starts=counted.last - i) for i in range(5)
    ]
    parts = pw.Table.concat_reindex(*spread)
    windows = parts.groupby(parts.auction, parts.starts).reduce(
        parts.auction, parts.starts, num=pw.reducers.sum(parts.num)
    )
    most = windows.groupby(windows.starts).reduce(windows.starts, most=pw.reducers.max(windows.num))
    joined = windows.join(most, windows.starts == most.starts, windows.num == most.most)
    return joined.select(windows.auction, windows.num)


def _mean_of_last_ten(finals: tuple[tuple[int, int, int], ...]) -> float:
    last = finals[-10:]
    return sum(final for _, _, final in last) / len(last)


def q6(auction: Table, bid: Table) -> Table:
    rows = _valid_bids(auction, bid, "seller")
    best = rows.groupby(rows.number, rows.seller, rows.expires).reduce(
        rows.seller, rows.expires, rows.number, final=pw.reducers.max(rows.price)
    )
    listed = best.select(best.seller, one=pw.make_tuple(best.expires, best.number, best.final))
    lists = listed.groupby(listed.seller).reduce(
        listed.seller, finals=pw.reducers.sorted_tuple(listed.one)
    )
    return lists.select(lists.seller, price=pw.apply(_mean_of_last_ten, lists.finals))


def q7(bid: Table) -> Table:
    rows = bid.select(
        bid.auction,
        bid.price,
        bid.bidder,
        bid.dateTime,
        bid.extra,
        starts=bid.dateTime // (10 * SECOND),
    )
    most = rows.groupby(rows.starts).reduce(rows.starts, most=pw.reducers.max(rows.price))
    joined = rows.join(most, rows.starts == most.starts, rows.price == most.most)
    return joined.select(rows.auction, rows.price, rows.bidder, rows.dateTime, rows.extra)


def q8(person: Table, auction: Table) -> Table:
    people = person.select(person.number, person.name, starts=person.dateTime // (10 * SECOND))
    p = people.groupby(people.number, people.name, people.starts).reduce(
        people.number, people.name, people.starts
    )
    sales = auction.select(auction.seller, starts=auction.dateTime // (10 * SECOND))
    a = sales.groupby(sales.seller, sales.starts).reduce(sales.seller, sales.starts)
    joined = p.join(a, p.number == a.seller, p.starts == a.starts)
    return joined.select(p.number, p.name, starts=p.starts * 10 * SECOND)


def q9(auction: Table, bid: Table) -> Table:
    columns = ("itemName", "description", "initialBid", "reserve", "seller", "category")
    rows = _valid_bids(auction, bid, *columns)
    rows = rows.with_columns(order=pw.make_tuple(rows.price, -rows.bid_time))
    best = rows.groupby(rows.number).reduce(row=pw.reducers.argmax(rows.order))
    row = rows.ix(best.row)
    return row.select(
        row.number,
        row.itemName,
        row.description,
        row.initialBid,
        row.reserve,
        row.opened,
        row.expires,
        row.seller,
        row.category,
        auction=row.number,
        bidder=row.bidder,
        price=row.price,
        bid_time=row.bid_time,
        bid_extra=row.bid_extra,
    )


def _texts(bid: Table) -> dict[str, Any]:
    time = bid.dateTime.dt.from_timestamp(unit="us")
    return {"day": time.dt.strftime("%Y-%m-%d"), "minute": time.dt.strftime("%H:%M")}


def q10(bid: Table) -> Table:
    return bid.select(bid.auction, bid.bidder, bid.price, bid.dateTime, bid.extra, **_texts(bid))


def q11(bid: Table) -> Table:
    session = pw.temporal.session(max_gap=10 * SECOND)
    windows = pw.temporal.windowby(bid, bid.dateTime, window=session, instance=bid.bidder)
    return windows.reduce(
        bidder=pw.this._pw_instance,
        bids=pw.reducers.count(),
        starts=pw.this._pw_window_start,
        ends=pw.this._pw_window_end + 10 * SECOND,
    )


def q12(bid: Table) -> Table:
    rows = bid.select(bid.bidder, window=bid.dateTime // (10 * SECOND))
    found = rows.groupby(rows.bidder, rows.window).reduce(
        rows.bidder, rows.window, bids=pw.reducers.count()
    )
    return found.select(
        found.bidder,
        found.bids,
        starts=found.window * 10 * SECOND,
        ends=(found.window + 1) * 10 * SECOND,
    )


def q13(bid: Table, side_input: Table) -> Table:
    rows = bid.select(bid.auction, bid.bidder, bid.price, bid.dateTime, key=bid.auction % 10_000)
    joined = rows.join(side_input, rows.key == side_input.key)
    return joined.select(rows.auction, rows.bidder, rows.price, rows.dateTime, side_input.value)


def q14(bid: Table) -> Table:
    rows = bid.select(
        bid.auction,
        bid.bidder,
        bid.dateTime,
        bid.extra,
        price=0.908 * bid.price,
        hour=bid.dateTime // (3600 * SECOND) % 24,
    )
    rows = rows.filter((rows.price > 1_000_000) & (rows.price < 50_000_000))
    night = pw.if_else((rows.hour <= 6) | (rows.hour >= 20), "nightTime", "otherTime")
    kind = pw.if_else((rows.hour >= 8) & (rows.hour <= 18), "dayTime", night)
    return rows.select(
        rows.auction,
        rows.bidder,
        rows.price,
        kind=kind,
        dateTime=rows.dateTime,
        extra=rows.extra,
        counts=rows.extra.str.count("c"),
    )


def _with_ranks(bid: Table) -> Table:
    low, high = bid.price < 10_000, bid.price >= 1_000_000
    return bid.select(
        bid.auction,
        bid.bidder,
        bid.price,
        bid.channel,
        **_texts(bid),
        rank0=True,
        rank1=low,
        rank2=~low & ~high,
        rank3=high,
    )


def _bids(rows: Table) -> dict[str, Any]:
    """How many bids there are of each rank; all have rank 0."""
    return {f"bids{i}": pw.reducers.sum(pw.cast(int, rows[f"rank{i}"])) for i in range(4)}


def _distinct(rows: Table, *keys: str) -> Table:
    """How many bidders and auctions the groups have, of each rank.

    What has another rank counts as number -1, of which there is none.
    """
    counts = {
        f"{who}{i}": pw.reducers.count_distinct(pw.if_else(rows[f"rank{i}"], rows[who], -1))
        for who in ("bidder", "auction")
        for i in range(4)
    }
    groups = [rows[key] for key in keys]
    found = rows.groupby(*groups).reduce(
        *groups, minute=pw.reducers.max(rows.minute), **_bids(rows), **counts
    )
    others = [pw.cast(int, found[f"bids{i}"] < found.bids0) for i in range(4)]
    return found.select(
        *(found[key] for key in keys),
        **({"minute": found.minute} if "channel" in keys else {}),
        **{f"bids{i}": found[f"bids{i}"] for i in range(4)},
        **{
            f"{who}{i}": found[f"{who}{i}"] - others[i]
            for who in ("bidder", "auction")
            for i in range(4)
        },
    )


def q15(bid: Table) -> Table:
    return _distinct(_with_ranks(bid), "day")


def q16(bid: Table) -> Table:
    return _distinct(_with_ranks(bid), "channel", "day")


def q17(bid: Table) -> Table:
    rows = _with_ranks(bid)
    return rows.groupby(rows.auction, rows.day).reduce(
        rows.auction,
        rows.day,
        **_bids(rows),
        least=pw.reducers.min(rows.price),
        most=pw.reducers.max(rows.price),
        average=pw.reducers.avg(rows.price),
        total=pw.reducers.sum(rows.price),
    )


def q18(bid: Table) -> Table:
    rows = bid.select(
        bid.auction,
        bid.bidder,
        row=pw.make_tuple(bid.dateTime, bid.price, bid.channel, bid.url, bid.extra),
    )
    last = rows.groupby(rows.bidder, rows.auction).reduce(
        rows.auction, rows.bidder, row=pw.reducers.max(rows.row)
    )
    return last.select(
        last.auction,
        last.bidder,
        price=last.row[1],
        channel=last.row[2],
        url=last.row[3],
        dateTime=last.row[0],
        extra=last.row[4],
    )


Ranked: TypeAlias = tuple[int, int, int, str, str, str]


def _first_ten(rows: tuple[Ranked, ...]) -> tuple[tuple[int, Ranked], ...]:
    return tuple(enumerate(rows[:10], 1))


def q19(bid: Table) -> Table:
    rows = bid.select(
        bid.auction,
        row=pw.make_tuple(-bid.price, bid.dateTime, bid.bidder, bid.channel, bid.url, bid.extra),
    )
    lists = rows.groupby(rows.auction).reduce(rows.auction, rows=pw.reducers.sorted_tuple(rows.row))
    first = lists.select(lists.auction, one=pw.apply(_first_ten, lists.rows))
    ten = first.flatten(first.one)
    row = ten.one[1]
    return ten.select(
        ten.auction,
        bidder=row[2],
        price=-row[0],
        channel=row[3],
        url=row[4],
        dateTime=row[1],
        extra=row[5],
        place=ten.one[0],
    )


def q20(bid: Table, auction: Table) -> Table:
    a = auction.filter(auction.category == 10)
    return bid.join(a, bid.auction == a.number).select(
        bid.auction,
        bid.bidder,
        bid.price,
        bid.channel,
        bid.url,
        bid_time=bid.dateTime,
        bid_extra=bid.extra,
        itemName=a.itemName,
        description=a.description,
        initialBid=a.initialBid,
        reserve=a.reserve,
        opened=a.dateTime,
        expires=a.expires,
        seller=a.seller,
        category=a.category,
        auction_extra=a.extra,
    )


def q21(bid: Table) -> Table:
    rows = bid.select(
        bid.auction,
        bid.bidder,
        bid.price,
        bid.channel,
        lower=bid.channel.str.lower(),
        url=bid.url,
        at=bid.url.str.find("&channel_id="),
    )
    known = rows.lower == "apple"
    for name in list(CHANNELS)[1:]:
        known = known | (rows.lower == name)
    rows = rows.filter((rows.at >= 0) | known)
    number = rows.url.str.slice(rows.at + len("&channel_id="), rows.url.str.len())
    for name, value in CHANNELS.items():
        number = pw.if_else(rows.lower == name, value, number)
    return rows.select(rows.auction, rows.bidder, rows.price, rows.channel, number=number)


def q22(bid: Table) -> Table:
    """Texts cannot be split: the slashes are looked for one after the other."""
    rows = bid.select(
        bid.auction, bid.bidder, bid.price, bid.channel, bid.url, at2=bid.url.str.find("/", 8)
    )
    rows = rows.with_columns(at3=rows.url.str.find("/", rows.at2 + 1))
    rows = rows.with_columns(at4=rows.url.str.find("/", rows.at3 + 1))
    return rows.select(
        rows.auction,
        rows.bidder,
        rows.price,
        rows.channel,
        dir1=rows.url.str.slice(rows.at2 + 1, rows.at3),
        dir2=rows.url.str.slice(rows.at3 + 1, rows.at4),
        dir3=rows.url.str.slice(rows.at4 + 1, rows.url.str.len()),
    )


QUERIES: dict[str, Callable[..., Table]] = {
    **{"q0": q0, "q1": q1, "q2": q2, "q3": q3, "q4": q4, "q5": q5, "q6": q6, "q7": q7, "q8": q8},
    **{"q9": q9, "q10": q10, "q11": q11, "q12": q12, "q13": q13, "q14": q14, "q15": q15},
    **{"q16": q16, "q17": q17, "q18": q18, "q19": q19, "q20": q20, "q21": q21, "q22": q22},
}
