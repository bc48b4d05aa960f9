"""A source that listens on a port of this machine: one record a line, as JSON or CSV.

Lines are gathered for a moment and received as one batch, in the order they came on each
connection. A line that does not fit the source is counted and reported, and holds nobody up.
"""

from __future__ import annotations

import csv
import json
import logging
import socketserver
import threading
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from penstock.errors import PlanError

logger = logging.getLogger("penstock")
_GATHER_SECONDS = 0.1
_LONGEST_LINE = 1 << 20


class Listener:
    """Listens until it is closed; `receive` gets each batch as a table of the schema."""

    def __init__(
        self, name: str, port: int, schema: pa.Schema, receive: Callable[[pa.Table], Any]
    ) -> None:
        self.name = name
        self.rejected = 0
        self._schema = schema
        self._receive = receive
        self._rows: list[dict[str, Any]] = []
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._server = self._bound(port)
        self.port: int = self._server.server_address[1]
        self._threads = [
            threading.Thread(target=work, name=f"penstock {name}", daemon=True)
            for work in (self._server.serve_forever, self._deliver)
        ]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Stop listening; what has come is received first."""
        self._server.shutdown()
        self._server.server_close()
        self._closed.set()
        for thread in self._threads:
            thread.join()

    def _bound(self, port: int) -> socketserver.ThreadingTCPServer:
        listener = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                for line in iter(lambda: self.rfile.readline(_LONGEST_LINE), b""):
                    listener.take(line.decode("utf-8", "replace"))

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

    def take(self, line: str) -> None:
        """One record; empty lines are none."""
        if not line.strip():
            return
        try:
            row = record_of(line, self._schema)
            with self._lock:
                self._rows.append(row)
        except (ValueError, pa.ArrowException) as error:
            self.rejected += 1
            logger.warning("source %s: %s is not a record: %s", self.name, line.strip(), error)

    def _deliver(self) -> None:
        while not self._closed.wait(_GATHER_SECONDS):
            self._flush()
        self._flush()

    def _flush(self) -> None:
        with self._lock:
            rows, self._rows = self._rows, []
        if rows:
            self._receive(pa.Table.from_pylist(rows, schema=self._schema))


def record_of(line: str, schema: pa.Schema) -> dict[str, Any]:
    """The record in a line: an object or array of JSON, or values separated by commas."""
    text = line.strip()
    if text.startswith(("{", "[")):
        found = json.loads(text)
        row = found if isinstance(found, dict) else dict(zip(schema.names, found, strict=True))
        unknown = [name for name in row if name not in schema.names]
        if unknown:
            raise ValueError(f"there is no column {unknown[0]!r}")
        table = pa.Table.from_pylist([row], schema=schema)
    else:
        (values,) = csv.reader([text], skipinitialspace=True)
        if len(values) != len(schema):
            raise ValueError(f"it has {len(values)} values, expected {len(schema)}")
        columns = [pa.array([value or None]) for value in values]
        table = pa.table(columns, names=schema.names).cast(schema)
    return dict(table.to_pylist()[0])
