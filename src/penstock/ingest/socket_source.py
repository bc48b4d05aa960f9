"""A source that listens on a port of this machine: one record a line, as JSON or CSV.

Lines are gathered for a moment and received as one batch, in the order they came on each
connection. Law: a line is a record or is rejected, and costs only itself. A line is complete when
its end has come, so what a connection leaves without one is rejected, and so is one that is too
long. What waits is bounded: where it is not received as fast as it comes, the socket is not read,
and the sender waits. A batch that could not be received is received later.
"""

from __future__ import annotations

import logging
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import pyarrow as pa

from penstock.errors import PlanError
from penstock.ingest.fitting import Rejected, fitted_values, shortened
from penstock.ingest.text_values import record_of

logger = logging.getLogger("penstock")
_GATHER_SECONDS = 0.1
_LONGEST_PAUSE = 10.0
_LONGEST_LINE = 1 << 20
_MOST_WAITING = 1 << 24  # bytes
_READ = 1 << 16
_SHOWN = 1000

Receive = Callable[[pa.Table, list[Rejected]], Any]


class Listener:
    """Listens until it is closed; `receive` gets each batch, and what of it was rejected."""

    def __init__(self, name: str, port: int, schema: pa.Schema, receive: Receive) -> None:
        self.name = name
        self.rejected = 0
        self.problem: Exception | None = None
        """Why the last batch could not be received, until it was."""
        self._schema = schema
        self._receive = receive
        self._rows: list[tuple[str, str, list[Any]]] = []
        self._bad: list[Rejected] = []
        self._waiting = 0
        self._room = threading.Condition()
        self._closed = threading.Event()
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._server = self._bound(port)
        self.port: int = self._server.server_address[1]
        self._threads = [
            threading.Thread(target=work, name=f"penstock {name}", daemon=True)
            for work in (self._server.serve_forever, self._deliver)
        ]
        for thread in self._threads:
            thread.start()

    def read_as(self, schema: pa.Schema) -> None:
        """Lines have these columns from now on: more of them, at the end, or of wider types."""
        self._schema = schema

    def close(self) -> None:
        """Stop listening; what has come is received first."""
        self._server.shutdown()
        self._server.server_close()
        self._closed.set()
        with self._room:
            open_ones = dict(self._connections)
            self._room.notify_all()
        for connection, thread in open_ones.items():
            with suppress(OSError):  # the other side has closed it
                connection.shutdown(socket.SHUT_RD)
            thread.join()
        for thread in self._threads:
            thread.join()

    def _bound(self, port: int) -> socketserver.ThreadingTCPServer:
        listener = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                listener._read(self.request, f"{self.client_address[0]}:{self.client_address[1]}")

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

        try:
            return Server(("127.0.0.1", port), Handler)
        except OSError as error:
            raise PlanError(
                f"source {self.name} cannot listen on port {port}: {error.strerror}; "
                "another program may use it, so choose another port"
            ) from error

    # --- reading --------------------------------------------------------------------------------

    def _read(self, connection: socket.socket, sender: str) -> None:
        """The lines of one connection, until it ends."""
        with self._room:
            self._connections[connection] = threading.current_thread()
        lines = _Lines()
        try:
            while data := _received(connection):
                for line in lines.add(data):
                    self._take(line, lines.count, sender)
            if lines.rest is not None:
                self._reject(lines.rest, lines.count + 1, sender, "it has no end")
        finally:
            with self._room:
                del self._connections[connection]

    def _take(self, line: bytes, number: int, sender: str) -> None:
        """One line; empty lines are no records."""
        if len(line) > _LONGEST_LINE:
            why = f"it is longer than {_LONGEST_LINE} bytes"
            self._reject(line[:_SHOWN], number, sender, why)
        elif line.strip():
            try:
                text = line.decode()
                row = record_of(text, self._schema)
            except ValueError as error:
                self._reject(line, number, sender, str(error))
            else:
                self._wait(len(line))
                with self._room:
                    self._rows.append((text.strip(), _place(number, sender), row))

    def _reject(self, line: bytes, number: int, sender: str, reason: str) -> None:
        self._wait(len(line))
        text = line.decode("utf-8", "replace").strip()
        with self._room:
            place = _place(number, sender)
            self._bad.append(Rejected(text, shortened(reason), f"port {self.port}", place))

    def _wait(self, size: int) -> None:
        """Until there is room for one more line; when all is over there is."""
        with self._room:
            self._room.wait_for(lambda: self._waiting < _MOST_WAITING or self._closed.is_set())
            self._waiting += size

    # --- delivering -----------------------------------------------------------------------------

    def _deliver(self) -> None:
        """Receive what has come, now and then; again, and less often, what could not be."""
        pause = _GATHER_SECONDS
        while not self._closed.wait(pause):
            done = self._flush()
            pause = _GATHER_SECONDS if done else min(2 * pause, _LONGEST_PAUSE)
        with self._room:
            reading = list(self._connections.values())
        for thread in reading:
            thread.join()
        if not self._flush():
            logger.error("source %s: what came last is not received: %s", self.name, self.problem)

    def _flush(self) -> bool:
        """Receive what waits; whether that was done. What fails waits on."""
        with self._room:
            rows, bad, size = list(self._rows), list(self._bad), self._waiting
        if not rows and not bad:
            return True
        schema = self._schema
        whole = [[*row, *([None] * (len(schema) - len(row)))] for _, _, row in rows]
        fitted = fitted_values([[row[i] for row in whole] for i in range(len(schema))], schema)
        for i, reason in sorted(fitted.reasons.items()):
            text, place, _ = rows[i]
            bad.append(Rejected(text, reason, f"port {self.port}", place))
        before = len(bad) - len(fitted.reasons)
        try:
            self._receive(pa.Table.from_batches([fitted.good]), bad)
        except Exception as error:  # whatever it is, the rows are still to be received
            if self.problem is None or str(self.problem) != str(error):
                logger.error("source %s: a batch is not received yet: %s", self.name, error)
            self.problem = error
            return False
        self.problem = None
        self.rejected += len(bad)
        with self._room:
            del self._rows[: len(rows)], self._bad[:before]
            self._waiting -= size
            self._room.notify_all()
        return True


class _Lines:
    """Cuts what comes into lines; of one that is too long only the beginning is kept."""

    def __init__(self) -> None:
        self.count = 0
        self._begun = bytearray()

    def add(self, data: bytes) -> Iterator[bytes]:
        """The lines that end in what comes now."""
        *ends, last = data.split(b"\n")
        for end in ends:
            self._more(end)
            self.count += 1
            line, self._begun = bytes(self._begun), bytearray()
            yield line
        self._more(last)

    def _more(self, data: bytes) -> None:
        self._begun += data[: _LONGEST_LINE + 1 - len(self._begun)]

    @property
    def rest(self) -> bytes | None:
        return bytes(self._begun[:_SHOWN]) if self._begun.strip() else None


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(_READ)
    except OSError:
        return b""  # the connection is broken, which ends it


def _place(number: int, sender: str) -> str:
    return f"line {number} from {sender}"
