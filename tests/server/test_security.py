"""Who may do what: tokens and roles, hosts and origins, limits."""

from __future__ import annotations

import logging
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect as websocket
from websockets.typing import Origin

from penstock.client import Client, ServiceError
from penstock.errors import ArgumentError
from penstock.server import Settings, Tokens, load_tokens
from penstock.server.tokens import Role
from tests.server.served import ADMIN, READ, Served, quick, served

TOKENS = Tokens.of(READ, ADMIN)


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "state", quick(), TOKENS) as found:
        yield found


def paths(api: Served) -> Iterator[tuple[str, str]]:
    """Every path of the API, and how it is asked."""
    with api.http(ADMIN) as http:
        for path, ways in http.get("/openapi.json").json()["paths"].items():
            for way in ways:
                yield way.upper(), path.replace("{name}", "hot")


def test_without_a_token_nothing_is_read_or_changed(api: Served) -> None:
    before = api.db.engine.manifest.version
    with api.http() as nobody, api.http("x" * 32) as stranger:
        found = [*paths(api), ("GET", "/openapi.json"), ("GET", "/metrics"), ("GET", "/nowhere")]
        for way, path in found:
            for http in (nobody, stranger):
                answer = http.request(way, path)
                is_open = path in ("/healthz", "/readyz")
                assert answer.status_code == (200 if is_open else 401), path
                assert "hot" not in answer.text
    assert len(found) > 20
    assert api.db.engine.manifest.version == before
    with pytest.raises(InvalidStatus, match="401"):
        websocket(api.url.replace("http", "ws") + "/v1/views/hot/subscribe/ws")


def test_the_read_token_changes_nothing(api: Served) -> None:
    before = api.db.engine.manifest.version
    with api.http(READ) as http:
        assert http.get("/v1/views").status_code == 200
        for way, path in paths(api):
            if way != "GET" and path != "/v1/sql":
                answer = http.request(way, path.replace("hot", "readings"))
                assert (answer.status_code, answer.json()["condition"]) == (403, "READ_ONLY"), path
    assert api.db.engine.manifest.version == before


@pytest.mark.parametrize(
    "text",
    [
        "DROP VIEW hot",
        "CREATE VIEW more AS SELECT room FROM hot",
        "SELECT room FROM hot; DROP VIEW hot",
        "PUNCTUATE readings WHERE room = 'a'",
        "CREATE SOURCE s (v INT, t INT) USING json OPTIONS (path '/') EVENT TIME t",
        "SELECT reflect('java.lang.System', 'exit', 1) FROM hot",
        "SELECT room FROM hot WHERE room = (SELECT max(JAVA_METHOD('a.B', 'c')) FROM hot)",
        "EXPLAIN SELECT try_reflect('java.lang.System', 'exit', 1) FROM hot",
    ],
)
def test_readers_may_only_ask(api: Served, text: str) -> None:
    before = api.db.engine.manifest.version
    with pytest.raises(ServiceError) as caught:
        api.client(READ).sql(text)
    assert caught.value.condition == "READ_ONLY"
    assert api.db.engine.manifest.version == before


@pytest.mark.parametrize(
    "text",
    ["SELECT room FROM hot", "EXPLAIN SELECT room FROM hot", "SHOW VIEWS", "DESCRIBE hot",
     "EXPLAIN MEMORY CREATE VIEW x AS SELECT room FROM hot", "SHOW LATE FOR readings"],
)  # fmt: skip
def test_readers_may_ask(api: Served, text: str) -> None:
    api.client(READ).sql(text)


def test_administrators_may_do_all(api: Served) -> None:
    client = api.client(ADMIN)
    assert client.source("readings").append([{"room": "a", "temp": 60, "t": 1}]).accepted == 1
    client.sql("DROP VIEW hot")
    assert "hot" not in [view.name for view in client.views()]


@pytest.mark.parametrize(
    ("authorization", "role"),
    [
        (f"Bearer {READ}", Role.READ),
        (f"bearer  {ADMIN}", Role.ADMIN),
        (f"Basic {ADMIN}", Role.NONE),
        (f"Bearer {ADMIN}x", Role.NONE),
        (f"Bearer {ADMIN[:-1]}", Role.NONE),
        ("Bearer ü\udcff", Role.NONE),
        ("Bearer", Role.NONE),
        ("", Role.NONE),
        (None, Role.NONE),
    ],
)
def test_tokens(authorization: str | None, role: Role) -> None:
    assert TOKENS.role(authorization) is role


def test_where_there_are_no_tokens_anybody_of_this_machine_may_do_all() -> None:
    assert Tokens().role(None) is Role.ADMIN


def test_beyond_loopback_a_token_is_needed() -> None:
    for host in ("0.0.0.0", "::", "192.0.2.1", "penstock.example"):
        settings = Settings(host=host)
        with pytest.raises(ArgumentError, match="needs a token"):
            load_tokens(settings, {})
        assert load_tokens(settings, {"PENSTOCK_READ_TOKEN": READ}).role(None) is Role.NONE
    for host in ("127.0.0.1", "::1", "localhost", "127.1.2.3"):
        assert load_tokens(Settings(host=host), {}).role(None) is Role.ADMIN


def test_tokens_of_files(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(f"{ADMIN}\n")
    file.chmod(0o600)
    settings = Settings(admin_token_file=file)
    assert load_tokens(settings, {}).role(f"Bearer {ADMIN}") is Role.ADMIN
    with pytest.raises(ArgumentError, match="both set"):
        load_tokens(settings, {"PENSTOCK_ADMIN_TOKEN": ADMIN})
    file.chmod(0o644)
    with pytest.raises(ArgumentError, match="every user"):
        load_tokens(settings, {})


def test_tokens_that_are_none() -> None:
    with pytest.raises(ArgumentError, match="at least 16"):
        Tokens.of("short", None)
    with pytest.raises(ArgumentError, match="the same"):
        Tokens.of(READ, READ)


def test_tokens_are_never_shown(api: Served, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with api.http(ADMIN) as http:
        http.get("/v1/views")
        http.post("/v1/sql", json={"sql": "SELECT nothing"})
        shown = http.get("/metrics").text
    assert ADMIN not in shown + caplog.text + repr(TOKENS) + repr(api.service.settings)


def test_a_name_that_resolves_to_loopback_is_not_answered(tmp_path: Path) -> None:
    with served(tmp_path / "state", quick(allowed_hosts=("views.example",))) as api:
        port = api.server.port
        for host, status in {
            "evil.example": 421,
            f"evil.example:{port}": 421,
            "": 421,
            f"localhost:{port}": 200,
            "127.0.0.1": 200,
            f"[::1]:{port}": 200,
            "Views.Example:80": 200,
        }.items():
            with api.http(host=host) as http:
                assert http.get("/v1/views").status_code == status, host


def test_pages_of_other_sites_are_not_answered(tmp_path: Path) -> None:
    with served(tmp_path / "state", quick()) as api:
        with api.http(Origin="https://evil.example") as http:
            csv = {"Content-Type": "text/csv"}
            answer = http.post("/v1/sources/readings/rows", content=b"{}", headers=csv)
            assert (answer.status_code, answer.json()["condition"]) == (403, "FOREIGN_ORIGIN")
            assert "access-control-allow-origin" not in answer.headers
        with api.http(**{"Sec-Fetch-Site": "cross-site"}) as http:
            assert http.get("/v1/views").status_code == 403
        with api.http(Origin=api.url) as http:
            assert http.get("/v1/views").status_code == 200
        url = api.url.replace("http", "ws") + "/v1/views/hot/subscribe/ws"
        with pytest.raises(InvalidStatus, match="403"):
            websocket(url, origin=Origin("https://evil.example"))


def test_bodies_have_a_size(tmp_path: Path) -> None:
    with served(tmp_path / "state", quick(max_body_bytes=1000)) as api:
        headers = {"Content-Type": "application/x-ndjson"}
        path = "/v1/sources/readings/rows"

        def pieces() -> Iterator[bytes]:
            yield from [b"x" * 300] * 5

        with api.http() as http:
            for content in (b"x" * 1001, pieces()):
                answer = http.post(path, content=content, headers=headers)
                assert (answer.status_code, answer.json()["condition"]) == (413, "BODY_TOO_LARGE")
            packed = {**headers, "Content-Encoding": "gzip"}
            assert http.post(path, content=b"x", headers=packed).status_code == 415
    assert api.db.engine.source_state("readings").rejected == 0


def test_a_body_that_does_not_come_is_not_waited_for(tmp_path: Path) -> None:
    with (
        served(tmp_path / "state", quick(body_seconds=0.2)) as api,
        closing(socket.create_connection(("127.0.0.1", api.server.port), 10)) as slow,
    ):
        slow.sendall(
            b"POST /v1/sources/readings/rows HTTP/1.1\r\nHost: localhost\r\n"
            b"Content-Type: text/csv\r\nContent-Length: 100\r\n\r\nroom"
        )
        assert b"408" in slow.recv(4096).split(b"\r\n")[0]


def test_what_takes_too_long_is_told_and_no_more_is_begun_than_there_are_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(tmp_path / "state", quick(query_seconds=0.3, max_queries=1)) as api:
        begun: list[str] = []
        over = threading.Event()

        def slow(text: str) -> None:
            begun.append(text)
            over.wait(30)

        monkeypatch.setattr(api.db, "sql", slow)
        started = time.monotonic()
        with api.http() as http:
            for _ in range(2):
                answer = http.post("/v1/sql", json={"sql": "SELECT room FROM hot"})
                assert (answer.status_code, answer.json()["condition"]) == (504, "TOOK_TOO_LONG")
            assert http.get("/v1/views").status_code == 200
        assert time.monotonic() - started < 10
        assert len(begun) == 1
        over.set()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make certificates")
def test_with_tls_plain_requests_and_foreign_clients_are_not_answered(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost"
    )
    name = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", *make.split(), *name], check=True, capture_output=True)
    tls = {"tls_certificate": certificate, "tls_key": key, "tls_client_ca": certificate}
    with served(tmp_path / "state", quick(**tls)) as api:
        safe, context = api.url.replace("http:", "https:"), ssl.create_default_context()
        context.load_verify_locations(certificate)
        for url, verify in ((api.url, True), (safe, context)):
            with pytest.raises(httpx.TransportError):
                Client(url, verify=verify).status()
        context.load_cert_chain(certificate, key)
        assert Client(safe, verify=context).status().running


def test_connections_have_a_number(tmp_path: Path) -> None:
    with served(tmp_path / "state", quick(max_connections=3)) as api, api.http() as http:
        held = [socket.create_connection(("127.0.0.1", api.server.port)) for _ in range(4)]
        time.sleep(0.1)
        assert http.get("/healthz").status_code == 503
        for one in held:
            one.close()
