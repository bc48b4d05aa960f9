"""Settings of a file, the environment and flags, and what is none of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import ArgumentError
from penstock.server import Settings, load


def test_flags_are_stronger_than_the_environment_and_that_than_a_file(tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text('port = 1\nhost = "::1"\nquery_seconds = 5\nallowed_hosts = ["a", "b"]\n')
    environment = {"PENSTOCK_PORT": "2", "PENSTOCK_QUERY_SECONDS": "7", "OTHER": "x"}
    found = load(file, environment, {"port": 3, "host": None})
    assert (found.port, found.host, found.query_seconds) == (3, "::1", 7.0)
    assert found.allowed_hosts == ("a", "b")
    assert load(None, {}, {}) == Settings()


def test_paths_of_a_file_are_beside_it(tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text('read_token_file = "token"\n')
    assert load(file, {}, {}).read_token_file == tmp_path / "token"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("prot = 1", "did you mean port"),
        ("port = 'x'", "port is 'x', expected a whole number"),
        ("port = true", "port is True"),
        ("port = 70000", "expected a number from 0 to 65535"),
        ("query_seconds = 0", "query_seconds is 0.0"),
        ("log_format = 'xml'", "expected text or json"),
        ("tls_key = 'x'", "TLS needs both"),
        ("port = ", "no TOML"),
    ],
)
def test_what_is_no_setting_is_refused_by_name(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "penstock.toml"
    file.write_text(text)
    with pytest.raises(ArgumentError, match=told):
        load(file, {}, {})


def test_what_kubernetes_sets_is_told() -> None:
    with pytest.raises(ArgumentError, match="enableServiceLinks"):
        load(None, {"PENSTOCK_PORT": "tcp://10.0.0.1:8420"}, {})
