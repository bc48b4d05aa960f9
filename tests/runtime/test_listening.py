"""A source on a port: a line is a record or is rejected, and costs only itself."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from penstock.ingest import socket_source
from penstock.ingest.fitting import Rejected
from penstock.ingest.socket_source import Listener
from penstock.ingest.text_values import record_of
from penstock.testing.local_session import local_session

SCHEMA = pa.schema([("k", pa.string()), ("v", pa.int32())])


class Received:
    """What a listener delivered; it may be told to fail, or to wait."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.rejected: list[Rejected] = []
        self.failures = 0
        self.gate = threading.Event()
        self.gate.set()

    def __call__(self, rows: pa.Table, rejected: list[Rejected]) -> None:
        self.gate.wait(20)
        if self.failures:
            self.failures -= 1
            raise RuntimeError("no space left")
        self.rows += [tuple(row.values()) for row in rows.to_pylist()]
        self.rejected += rejected


@contextmanager
def listening_to(received: Received) -> Iterator[Listener]:
    listener = Listener("s", 0, SCHEMA, received)
    try:
        yield listener
    finally:
        received.gate.set()
        listener.close()


def send(listener: Listener, *parts: bytes) -> None:
    with socket.create_connection(("127.0.0.1", listener.port), timeout=20) as sender:
        for part in parts:
            sender.sendall(part)


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


BAD = {
    "a huge integer": b'{"k": "a", "v": ' + b"9" * 5000 + b"}",
    "one that is too large": b"a,99999999999",
    "deep": b"[" * 200_000,
    "a long field": b"a," + b"x" * 200_000,
    "a bare CR": b"a\rb,1",
    "no JSON": b'{"k": "a"',
    "an unknown column": b'{"k": "a", "w": 1}',
    "too few values": b"a",
    "too many values": b'["a", 1, 2]',
    "a fraction": b"a,1.5",
    "a fraction in JSON": b'["a", 1.5]',
    "a truth": b'["a", true]',
    "a number that is no text": b"[1, 1]",
    "underscores": b"a,1_000",
    "no UTF-8": b"\xff\xfe,1",
    "a quote without end": b'"a,1',
    "longer than a line may be": b"a," + b"7" * (socket_source._LONGEST_LINE + 100),
}


@pytest.mark.parametrize("line", BAD.values(), ids=BAD)
def test_a_bad_line_costs_only_itself(line: bytes) -> None:
    received = Received()
    with listening_to(received) as listener:
        send(listener, b"a,1\n", line + b"\n", b'{"v": 2, "k": "b"}\r\n\n["c", 3]\n')
        until(lambda: len(received.rows) == 3)
        until(lambda: len(received.rejected) == 1)
    assert received.rows == [("a", 1), ("b", 2), ("c", 3)]
    (one,) = received.rejected
    assert one.text is not None
    assert one.text[:2] == line.decode("utf-8", "replace")[:2]
    assert one.file == f"port {listener.port}"
    assert (one.position or "").startswith("line 2 from 127.0.0.1:")
    assert 0 < len(one.reason) < 300


def test_a_line_without_its_end_is_no_record() -> None:
    received = Received()
    with listening_to(received) as listener:
        send(listener, b"a,1\nb,12")
        until(lambda: len(received.rejected) == 1)
    assert received.rows == [("a", 1)]
    assert (received.rejected[0].text, received.rejected[0].reason) == ("b,12", "it has no end")


def test_lines_come_in_parts() -> None:
    received = Received()
    text = b"".join(b'{"k": "\xc3\xa4%d", "v": %d}\r\n' % (i, i) for i in range(200))
    with listening_to(received) as listener:
        send(listener, *(text[i : i + 7] for i in range(0, len(text), 7)))
        until(lambda: len(received.rows) == 200)
    assert received.rows == [(f"ä{i}", i) for i in range(200)]


def test_what_could_not_be_received_is_received_later(caplog: pytest.LogCaptureFixture) -> None:
    received = Received()
    received.failures = 2
    with listening_to(received) as listener:
        send(listener, b"a,1\nb,x\n")
        until(lambda: listener.problem is not None)
        send(listener, b"c,3\n")
        until(lambda: len(received.rows) == 2)
        assert listener.problem is None
    assert received.rows == [("a", 1), ("c", 3)]
    assert len(received.rejected) == 1
    assert "a batch is not received yet: no space left" in caplog.text


def test_the_sender_waits_where_rows_are_not_received(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket_source, "_MOST_WAITING", 1 << 16)
    received, sent = Received(), [0]
    received.gate.clear()
    line = json.dumps(["x" * 1000, 1]).encode() + b"\n"
    count = 20_000

    def sending() -> None:
        with socket.create_connection(("127.0.0.1", listener.port)) as sender:
            for _ in range(count):
                sender.sendall(line)
                sent[0] += 1

    with listening_to(received) as listener:
        thread = threading.Thread(target=sending)
        thread.start()
        before = -1
        while sent[0] > before or before < 0:
            before = sent[0]
            time.sleep(0.5)
        assert sent[0] < count
        assert listener._waiting < (1 << 16) + len(line)
        received.gate.set()
        thread.join(20)
        until(lambda: len(received.rows) == count)
    assert not received.rejected


def test_what_has_come_is_received_when_it_closes() -> None:
    received = Received()
    listener = Listener("s", 0, SCHEMA, received)
    with socket.create_connection(("127.0.0.1", listener.port)) as sender:
        sender.sendall(b"a,1\nb,2\nc")
        until(lambda: len(listener._rows) == 2 or len(received.rows) == 2)
        listener.close()
    assert received.rows == [("a", 1), ("b", 2)]
    assert [one.text for one in received.rejected] == ["c"]


@pytest.mark.parametrize(
    ("line", "kind", "value"),
    [
        ("1.5", pa.float64(), 1.5),
        ('["0.10"]', pa.decimal128(5, 2), Decimal("0.10")),
        ("TRUE", pa.bool_(), True),
        ("2026-01-02", pa.date32(), date(2026, 1, 2)),
        (
            '{"c": "2026-01-02T03:00:00Z"}',
            pa.timestamp("us", tz="UTC"),
            datetime(2026, 1, 2, 3, tzinfo=UTC),
        ),
        ('"[1, 2]"', pa.list_(pa.int32()), [1, 2]),
        ('[""]', pa.string(), ""),
        ('["5"]', pa.int32(), "5"),
        ("no", pa.bool_(), "no"),
    ],
)
def test_texts_say_what_their_columns_hold(line: str, kind: pa.DataType, value: Any) -> None:
    assert record_of(line, pa.schema([("c", kind)])) == [value]


def test_a_session_keeps_what_its_port_rejects(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with local_session(tmp_path) as db:
        db.sql(f"REGISTER SOURCE s (k STRING, v INT) FROM port{port}")
        with socket.create_connection(("127.0.0.1", port)) as sender:
            sender.sendall(b"a,1\nb,x\nc,3\n")
        until(lambda: db.metrics()["sources"]["s"].get("rejected") == 1)
        until(lambda: db.metrics()["sources"]["s"]["accepted"] == 2)
        (kept,) = db.sql("SHOW REJECTED FOR s").to_arrow().to_pylist()
        assert (kept["record"], kept["file"]) == ("b,x", f"port {port}")
        assert kept["reason"] == "v is 'x', which is no INT"
