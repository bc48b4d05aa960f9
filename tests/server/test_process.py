"""`penstock serve` as a process, with Spark: killed, started again, and told to stop."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from penstock.cli.main import main
from penstock.client import Changes, Client, Row, Update
from tests.server.served import ADMIN, PIPELINE, fold

PATIENCE = 600.0


@dataclass
class Process:
    """The service on a directory of its own, which is a temporary one."""

    directory: Path
    port: int

    def __post_init__(self) -> None:
        assert Path(tempfile.gettempdir()).resolve() in self.directory.resolve().parents
        (self.directory / "pipeline.sql").write_text(PIPELINE)

    def start(self) -> subprocess.Popen[bytes]:
        root = Path(__file__).parents[2]
        command = [sys.executable, "-m", "penstock", "serve", "pipeline.sql", "--path", "state"]
        environment = {
            **os.environ,
            "PYTHONPATH": str(root / "src"),
            "PENSTOCK_ADMIN_TOKEN": ADMIN,
            "PENSTOCK_HEARTBEAT_SECONDS": "0.5",
            "PENSTOCK_QUERY_SECONDS": str(PATIENCE),
        }
        with (self.directory / "printed").open("ab") as printed:
            return subprocess.Popen(
                [*command, "--port", str(self.port), "--log-format", "json"],
                cwd=self.directory,
                env=environment,
                stdout=printed,
                stderr=printed,
            )

    @property
    def printed(self) -> str:
        return (self.directory / "printed").read_text("utf-8")

    def is_ready(self, process: subprocess.Popen[bytes]) -> None:
        end = time.monotonic() + PATIENCE
        while True:
            assert process.poll() is None, self.printed
            assert time.monotonic() < end, self.printed
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/readyz").status_code == 200:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


@pytest.mark.spark
def test_whoever_follows_hears_exactly_what_was_missed(tmp_path: Path) -> None:
    service = Process(tmp_path, free_port())
    heard: list[Update] = []
    rows: Counter[Any] = Counter()
    process = service.start()
    try:
        service.is_ready(process)
        client = Client(f"http://127.0.0.1:{service.port}", ADMIN, timeout=PATIENCE)
        source, updates = client.source("readings"), client.view("lately").subscribe("beginning")

        def hears(frontier: int) -> None:
            nonlocal rows
            for update in updates:
                heard.append(update)
                rows = fold(rows, update, ("room",))
                if isinstance(update.frontier, int) and update.frontier >= frontier:
                    return

        def send(batch: int) -> None:
            made = [{"room": f"room {i % 3}", "temp": 10 * i, "t": 5 * batch + i} for i in range(5)]
            answer = source.append(made, batch=f"test/{batch}")
            assert answer.accepted == 5
            assert source.append(made, batch=f"test/{batch}").duplicate

        send(0)
        send(1)
        hears(9)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process = service.start()
        service.is_ready(process)
        for batch in range(2, 5):
            send(batch)
        source.advance(30)
        hears(30)
        changes = [row for u in heard if isinstance(u, Changes) for row in u.changes]
        everything: list[Row] = []
        since, complete = None, False
        while not complete:
            page = client.view("lately").changes(since)
            everything += page.rows
            since, complete = page.position, page.complete
        assert changes == everything
        assert rows == Counter(
            tuple(sorted(row.items())) for row in client.view("lately").snapshot().rows
        )
        asked = client.sql("SELECT room, n FROM lately ORDER BY room")
        assert [row["room"] for row in asked.rows] == sorted(dict(row)["room"] for row in rows)
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE) == 0, service.printed
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
    assert "Stopped. All that was done is kept." in service.printed
    assert ADMIN not in service.printed


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--host", "0.0.0.0"], "needs a token"),
        (["--port", "70000"], "expected a number from 0 to 65535"),
        (["--tls-key", "pipeline.sql"], "TLS needs both"),
    ],
)
def test_what_is_not_safe_or_not_right_is_not_served(
    arguments: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pipeline.sql").write_text(PIPELINE)
    ran = CliRunner().invoke(main, ["serve", "pipeline.sql", "--path", "state", *arguments])
    assert ran.exit_code == 2
    assert told in ran.output
    assert not Path("state").exists()


def test_a_port_that_is_in_use_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pipeline.sql").write_text(PIPELINE)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ran = CliRunner().invoke(main, ["serve", "pipeline.sql", "--path", "state", "--port", port])
    assert ran.exit_code == 2
    assert "Another program uses the port" in ran.output
