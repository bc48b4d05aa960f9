"""A service, its sources and its views."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import quote

import httpx

from penstock.client.answers import (
    Appended,
    Page,
    Row,
    Rows,
    SourceInfo,
    Status,
    Update,
    ViewInfo,
    of,
)
from penstock.client.requests import checked, http_client
from penstock.client.subscription import updates

if TYPE_CHECKING:
    import pyarrow as pa

ARROW = "application/vnd.apache.arrow.stream"
Start: TypeAlias = Literal["snapshot", "beginning", "now"]
_MOST = 1_000_000


class Client:
    """A service at a URL; a context manager. `verify` is a path of certificates, or a context."""

    def __init__(
        self, url: str, token: str | None = None, *, timeout: float = 90.0, verify: Any = True
    ) -> None:
        self._http = http_client(url, token, timeout, verify)

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.close()

    def status(self) -> Status:
        return of(Status, checked(self._http.get("/v1/status")).json())

    def sources(self) -> list[SourceInfo]:
        return [of(SourceInfo, one) for one in checked(self._http.get("/v1/sources")).json()]

    def views(self) -> list[ViewInfo]:
        return [of(ViewInfo, one) for one in checked(self._http.get("/v1/views")).json()]

    def source(self, name: str) -> Source:
        return Source(self._http, name)

    def view(self, name: str) -> View:
        return View(self._http, name)

    def sql(self, text: str, limit: int = 10_000) -> Rows:
        """Carry out statements; the answer is that of the last one."""
        asked = {"sql": text, "limit": limit}
        return of(Rows, checked(self._http.post("/v1/sql", json=asked)).json())


class Source:
    """Rows in, and promises about them."""

    def __init__(self, http: httpx.Client, name: str) -> None:
        self.name = name
        self._http, self._path = http, f"/v1/sources/{quote(name, safe='')}"

    def info(self) -> SourceInfo:
        return of(SourceInfo, checked(self._http.get(self._path)).json())

    def append(self, rows: Sequence[Row] | pa.Table, batch: str | None = None) -> Appended:
        """One batch, of rows that JSON can tell, or an Arrow table.

        With a name, `producer/number`, it is received once, however often it is sent.
        """
        form, data = "application/json", b""
        if isinstance(rows, Sequence):
            data = json.dumps(list(rows)).encode()
        else:
            form, data = ARROW, _as_stream(rows)
        parameters = {} if batch is None else {"batch": batch}
        headers = {"Content-Type": form}
        path = f"{self._path}/rows"
        answer = self._http.post(path, content=data, params=parameters, headers=headers)
        return of(Appended, checked(answer).json())

    def punctuate(self, where: str) -> None:
        """No more rows come that match conditions, joined by AND."""
        checked(self._http.post(f"{self._path}/punctuations", json={"where": where}))

    def advance(self, to: int | str) -> None:
        """A heartbeat: no more rows before a time."""
        checked(self._http.post(f"{self._path}/advance", json={"to": to}))

    def end(self) -> None:
        """The stream is over."""
        checked(self._http.post(f"{self._path}/end"))

    def idle(self) -> None:
        """Hold nobody back until the next batch comes."""
        checked(self._http.post(f"{self._path}/idle"))

    def late(self) -> Sequence[Row]:
        return _rows(self._http, f"{self._path}/late", {}).rows

    def rejected(self) -> Sequence[Row]:
        return _rows(self._http, f"{self._path}/rejected", {}).rows


class View:
    """Rows out: now, then, and as they change."""

    def __init__(self, http: httpx.Client, name: str) -> None:
        self.name = name
        self._http, self._path = http, f"/v1/views/{quote(name, safe='')}"

    def info(self) -> ViewInfo:
        return of(ViewInfo, checked(self._http.get(self._path)).json())

    def snapshot(self, at: int | str | None = None, limit: int = _MOST) -> Rows:
        """The rows as of the frontier, or as of an earlier time."""
        time = {} if at is None else {"at": str(at)}
        return _rows(self._http, f"{self._path}/snapshot", {**time, "limit": str(limit)})

    def snapshot_arrow(self, at: int | str | None = None, limit: int = _MOST) -> pa.Table:
        """The same as an Arrow table, with the types of the columns."""
        import pyarrow as pa

        time = {} if at is None else {"at": str(at)}
        path, headers = f"{self._path}/snapshot", {"Accept": ARROW}
        answer = self._http.get(path, params={**time, "limit": str(limit)}, headers=headers)
        with pa.ipc.open_stream(checked(answer).content) as reader:
            return reader.read_all()

    def history(self, limit: int = _MOST) -> Sequence[Row]:
        """Every row with the times from and to which it was there."""
        return _rows(self._http, f"{self._path}/history", {"limit": str(limit)}).rows

    def changes(self, since: str | None = None, limit: int = 10_000) -> Page:
        """Some changes after a position; those of one time stay together."""
        after = {} if since is None else {"since": since}
        path, parameters = f"{self._path}/changes", {**after, "limit": str(limit)}
        return of(Page, checked(self._http.get(path, params=parameters)).json())

    def subscribe(
        self, start: Start = "snapshot", after: str | None = None, patience: float = 300.0
    ) -> Iterator[Update]:
        """Follow the view from a position on, or from a start; never ends by itself.

        Where the connection breaks, or the service restarts, it goes on where it was. It gives up
        when the service has not been there for so many seconds.
        """
        return updates(self._http, f"{self._path}/subscribe", start, after, patience)


def _rows(http: httpx.Client, path: str, parameters: dict[str, str]) -> Rows:
    return of(Rows, checked(http.get(path, params=parameters)).json())


def _as_stream(rows: Any) -> bytes:
    import pyarrow as pa

    out = io.BytesIO()
    with pa.ipc.new_stream(out, rows.schema) as writer:
        writer.write_table(rows)
    return out.getvalue()
